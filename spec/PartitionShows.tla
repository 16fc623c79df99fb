---------------------------- MODULE PartitionShows ----------------------------
(* The contract in the words of Properties: one state, no replicas.             *)
EXTENDS Partition

P == INSTANCE Properties WITH
    Replicas <- {}, Owners <- Keys, Callers <- Sessions,
    truth <- <<core>>, did <- last.a,
    running <- <<>>, serving <- <<>>, applied <- <<>>, gen <- <<>>, boundary <- <<>>,
    start <- <<>>, end <- <<>>, top <- <<>>, bm <- <<>>, msgs <- <<>>, seen <- <<>>,
    marker <- <<>>, folders <- <<>>, safe <- <<>>, safeAt <- <<>>, marks <- <<>>

StartMonotone      == P!StartMonotone
LatestMonotone     == P!LatestMonotone
AutoCommitMonotone == P!AutoCommitMonotone

(* A bookmark never lies at or above the end of its era; an empty fresh era has none. *)
BookmarkBound == \A k \in Keys : core.bm[k] < Max(End(core), 0)

(* Earliest answers the start, latest the end, even when nothing is stored. *)
EarliestIsStart ==
    [][ last'.a = "ListOffsets" /\ last'.q.which # "timestamp" =>
            last'.r.pos = Pos(core, IF last'.q.which = "earliest" THEN core.start ELSE End(core))
      ]_last

(* Within an incarnation the generation never falls. *)
GenerationMonotone ==
    [][ core'.inc = core.inc => core.gen <= core'.gen /\ core.settled <= core'.settled ]_core

(* A purge of a settled generation, and a repeat of any request, change nothing. *)
RetryIdempotent ==
    [][ \/ last'.a \in {"Repeat", "RepeatOlder"}
        \/ last'.a = "Purge" /\ Numbering = "restart" /\ last'.q.g <= core.settled
        => UNCHANGED <<core.gen, core.start, core.msgs, core.bm, core.settled>> ]_<<core, last>>

(* A numbered request is executed at most once: a repeat gets the first reply, or Gone. *)
SessionOnce ==
    [][ last'.a = "Repeat" =>
            \/ Kept(last'.r) = core.sess[last'.s].reply
            \/ last'.r.code \in {"Gone", "SessionExpired"} ]_<<core, last>>

(* `next` skips no message that no store or auto-commit of that consumer covered. *)
NextContract ==
    [][ last'.a \in {"Poll", "PollAutoCommit"} /\ last'.r.code = "ok" /\ last'.q.strategy = "next" =>
            \/ last'.r.pos.o = Max(core.bm[last'.q.key] + 1, core.start)
            \/ last'.r.pos.o = End(core) /\ last'.q.reset = "latest" ]_last

(* An asynchronous raise computed in one era is never applied in another. *)
NoLateProgress ==
    [][ last'.a = "LateLoose" /\ last'.q.f = "raise" /\ last'.q.pos.g # core.gen =>
            UNCHANGED core ]_<<core, loose>>

(* Messages and bookmarks of the old era are gone together with a purge. *)
NoResurrectedBookmark ==
    [][ core.gen # core'.gen /\ core.inc = core'.inc =>
            core'.msgs = <<>> /\ \A k \in Keys : core'.bm[k] = -1 ]_core

(* What was acknowledged survives what its policy promises: of persisted messages   *)
(* nothing is missing in any state from which an incarnation may go on, and of       *)
(* persisted bookmarks nothing that the era still has.                              *)
AckDurable ==
    \A k \in past :
        /\ ~MayLack([f |-> "append"]) =>
              <<k.gen, k.settled, k.start, k.msgs>> = <<core.gen, core.settled, core.start, core.msgs>>
        /\ ~MayLack([f |-> "store"]) /\ k.gen = core.gen => k.bm = core.bm

(* What means another incarnation has no effect. *)
IncarnationIsolation ==
    [][ \/ last'.a = "Misdirect"
        \/ last'.a \in {"Retry", "LateNumbered"} /\ sent[last'.s].i # core.inc
        => UNCHANGED core ]_<<core, sent, last>>

(* A position that lives on in a new incarnation names the message that it named. *)
OffsetUnique ==
    [][ core.inc # core'.inc =>
            \A o \in Max(core.start, core'.start) .. End(core) - 1 :
                LivesOn(core', Pos(core, o)) =>
                    o < End(core)' /\ core'.msgs[o - core'.start + 1] = core.msgs[o - core.start + 1] ]_core

(* Every step has the name that `last` gives, so NamedSpec is Spec. *)
NamesSteps == [][Named]_vars
=============================================================================
