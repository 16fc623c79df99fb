----------------------------- MODULE OrderedGroup -----------------------------
(* The ordered purge in a group of replicas: leader changes, proposals dropped   *)
(* and made again, several purges of one generation in the log, crashes.         *)
(*                                                                           *)
(* Made atomic: the durable steps of a purge, for Ordered shows that a crash      *)
(* between them leaves the era before or the era after. A crash here falls back    *)
(* to some op since the boundary, and later ones are reached by applying. Who      *)
(* leads is left out: purge needs to know only what a change of leader drops. And    *)
(* the replay of the log with which a new incarnation begins: nothing is served       *)
(* before it is over. Its op numbers go on here, and begin anew in replicas.          *)
EXTENDS Effects, Agreement, Intent

CONSTANTS
    Replicas,
    Ops,                   \* what clients propose
    Reads,                 \* what clients ask
    Open,                  \* sessions registered from the beginning
    LocalBoundary,         \* defect switches
    DuplicatePurgeWipes,
    SessionsLostAtPurge,
    StaleAutoCommit,
    StaleRead

VARIABLES
    rep,            \* per replica: its facts, segs (segment entries), seen (per session
                    \* the op that executed its request, and the offset), up
    last,           \* the last action with its parameters
    ghost_hist,     \* the contract's state after each committed op
    ghost_last,     \* what a client last saw, in the shape of Partition's `last`
    ghost_crashes   \* number of crashes

store  == <<log, commit, intent, rep>>
ghosts == <<ghost_hist, ghost_last, ghost_crashes>>
vars   == <<store, last, ghosts>>

NotSeen == [op |-> 0, o |-> -1]

(* The facts of a replica at the beginning of an era, as its first checkpoint    *)
(* holds them: sessions live on.                                             *)
EraStart(n, g, seen) ==
    [applied |-> n, gen |-> g, boundary |-> n, start |-> 0, end |-> 0, settled |-> g,
     bm |-> [k \in Keys |-> NoBookmark], segs |-> <<>>, seen |-> seen, up |-> TRUE]

(* A replica that has applied nothing. *)
Newborn == EraStart(0, 0, [s \in Sessions |-> NotSeen])

(* Defect switches that a model may turn on. *)
SettledAtProposal == FALSE
BoundaryOutlives  == FALSE

(* Whether new incarnations begin. *)
Begins == FALSE

(* Limits of a model are put here by its MC module. *)
MayPropose(o)   == TRUE
MayAsk(g)       == TRUE
MayLead(r)      == TRUE
MayCrash(r)     == TRUE
MayLosePower(r) == MayCrash(r)
MayBegin        == TRUE
MaxBack         == 0           \* ops that a new incarnation may lack
Rests           == {<<>>}      \* what may follow in the log of the replica from which it goes on
Offsets         == {0}
MayRejoin(r)    == FALSE

Init ==
    /\ AgreementInit
    /\ IntentInit
    /\ rep = [r \in Replicas |-> Newborn]
    /\ last = [a |-> "Init"]
    /\ ghost_hist = <<Fresh(Open)>>
    /\ ghost_last = [a |-> "Init", s |-> NoSession, q |-> [f |-> "none"], r |-> NoReply]
    /\ ghost_crashes = 0

(* Facts f after op n, which is o and no purge with an effect. Ops at or below    *)
(* the boundary are never materialized; a request executed before is not again.  *)
Step(f, n, o) ==
    LET again == o.k = "append" /\ o.id # NoSession /\ f.seen[o.id].op # 0
        e == IF n <= f.boundary \/ again THEN NoEffect ELSE EffectOf(f, o)
        a == After(f, n, e)
    IN IF e.k # "append" THEN a
       ELSE [a EXCEPT !.segs = Append(@, [op |-> n, base |-> e.base, n |-> e.n]),
                      !.seen = IF o.id = NoSession THEN @
                               ELSE [@ EXCEPT ![o.id] = [op |-> n, o |-> e.base]]]

RECURSIVE Replayed(_, _)
Replayed(f, n) ==
    IF f.applied >= n THEN f ELSE Replayed(Step(f, f.applied + 1, log[f.applied + 1]), n)

(* A replica that boots from a checkpoint at op n of its era. *)
Booted(f, n) ==
    Replayed(EraStart(f.boundary, f.gen,
                      [s \in Sessions |-> IF f.seen[s].op <= f.boundary THEN f.seen[s] ELSE NotSeen]),
             n)

(* The contract's state after all that is committed. *)
Current == ghost_hist[Len(ghost_hist)]

(* The op from which replica r may boot. *)
BootPoints(r) == rep[r].boundary .. rep[r].applied

(* Replica r may answer a read now. *)
MayAnswer(r) ==
    \* DEFECT StaleRead: reads do not wait for what is committed
    StaleRead \/ rep[r].applied = commit

(* What is proposed for o. An auto-commit poll is computed at apply. *)
Proposed(o) ==
    \* DEFECT StaleAutoCommit: computed at proposal, by the facts of a current replica
    IF StaleAutoCommit /\ o.k = "commit"
    THEN {[o EXCEPT !.at = LET e == EffectOf(rep[r], o) IN IF e.k = "store" THEN e.o ELSE -1] :
              r \in {x \in Replicas : rep[x].applied = commit}}
    ELSE {o}

PurgesUnderWay == {o.g : o \in {x \in Outstanding : x.k = "purge"}}

-----------------------------------------------------------------------------
(* ACTION RequestPurge
   WHO    an operator
   Intent g is committed on the metadata plane. *)
RequestPurge(g) ==
    /\ MayAsk(g)
    /\ Ask(g)
    /\ last' = [a |-> "RequestPurge", g |-> g]
    /\ UNCHANGED <<log, commit, rep, ghosts>>

(* ACTION Reconcile
   WHO    the reconciler on replica r
   Proposes purge(g), which r has not settled and of which none is under way. *)
Reconcile(r, g) ==
    /\ rep[r].up
    /\ g \in Wanted(rep[r].settled, PurgesUnderWay)
    /\ MayPropose(PurgeOp(g))
    /\ AddProposal(PurgeOp(g))
       \* DEFECT SettledAtProposal: what was proposed counts as settled
    /\ rep' = IF SettledAtProposal THEN [rep EXCEPT ![r].settled = g] ELSE rep
    /\ last' = [a |-> "Reconcile", r |-> r, g |-> g]
    /\ UNCHANGED <<intent, ghosts>>

(* ACTION Propose
   WHO    a leader, for a client
   Appends an op to the log; a client may ask for the same one again. *)
Propose(o) ==
    /\ MayPropose(o)
    /\ \E p \in Proposed(o) :
        /\ AddProposal(p)
        /\ last' = [a |-> "Propose", o |-> p]
    /\ UNCHANGED <<intent, rep, ghosts>>

(* ACTION Commit
   WHO    a quorum
   Op n, which is o, is committed. *)
Commit(n, o) ==
    /\ CommitNext(n, o)
    /\ ghost_hist' = Remember(ghost_hist, n, o)
    /\ ghost_last' = Seen(ghost_hist, n, o, ghost_last)
    /\ last' = [a |-> "Commit", n |-> n, o |-> o]
    /\ UNCHANGED <<intent, rep, ghost_crashes>>

(* ACTION BecomeLeader
   WHO    replica r
   Leads; of the ops that are not committed the first `kept` stay in the log. *)
BecomeLeader(r, kept) ==
    /\ rep[r].up
    /\ MayLead(r)
    /\ ChangeLeader(kept)
    /\ last' = [a |-> "BecomeLeader", r |-> r, kept |-> kept]
    /\ UNCHANGED <<intent, rep, ghosts>>

(* Replica r comes to op n, committed as o. *)
Comes(r, n, o) ==
    /\ rep[r].up
    /\ n = rep[r].applied + 1
    /\ n <= commit
    /\ log[n] = o

(* ACTION Materialize
   WHO    replica r
   Applies op n, which is o and not a purge. *)
Materialize(r, n, o) ==
    /\ Comes(r, n, o)
    /\ o.k # "purge"
    /\ rep' = [rep EXCEPT ![r] = Step(@, n, o)]
    /\ last' = [a |-> "Materialize", r |-> r, n |-> n, o |-> o]
    /\ UNCHANGED <<log, commit, intent, ghosts>>

(* ACTION PurgeComplete
   WHO    replica r
   Applies purge n of generation g: an empty era begins. *)
PurgeComplete(r, n, g) ==
    /\ Comes(r, n, PurgeOp(g))
       \* DEFECT DuplicatePurgeWipes: a purge of a settled generation wipes again
    /\ DuplicatePurgeWipes \/ g > rep[r].settled
    /\ LET \* DEFECT SessionsLostAtPurge: the session table goes with the messages
           seen == IF SessionsLostAtPurge THEN [s \in Sessions |-> NotSeen] ELSE rep[r].seen
           \* DEFECT LocalBoundary: the highest op that the journal holds, not the purge's own
           b == IF LocalBoundary THEN Len(log) ELSE n
       IN rep' = [rep EXCEPT ![r] = [EraStart(n, g, seen) EXCEPT !.boundary = b]]
    /\ last' = [a |-> "PurgeComplete", r |-> r, n |-> n, g |-> g]
    /\ UNCHANGED <<log, commit, intent, ghosts>>

(* ACTION PurgeDuplicate
   WHO    replica r
   Purge n of a generation settled before only takes its number. *)
PurgeDuplicate(r, n, g) ==
    /\ Comes(r, n, PurgeOp(g))
    /\ g <= rep[r].settled
    /\ rep' = [rep EXCEPT ![r].applied = n]
    /\ last' = [a |-> "PurgeDuplicate", r |-> r, n |-> n, g |-> g]
    /\ UNCHANGED <<log, commit, intent, ghosts>>

Stop(r) ==
    /\ rep[r].up
    /\ rep' = [rep EXCEPT ![r].up = FALSE]
    /\ ghost_crashes' = ghost_crashes + 1
    /\ UNCHANGED <<log, commit, intent, ghost_hist, ghost_last>>

(* ACTION ProcessCrash
   WHO    the environment
   Replica r stops; its disk keeps what was written. *)
ProcessCrash(r) ==
    /\ MayCrash(r)
    /\ Stop(r)
    /\ last' = [a |-> "ProcessCrash", r |-> r]

(* ACTION PowerLoss
   WHO    the environment
   Replica r stops; its disk keeps at least what was synced. *)
PowerLoss(r) ==
    /\ MayLosePower(r)
    /\ Stop(r)
    /\ last' = [a |-> "PowerLoss", r |-> r]

(* ACTION Boot
   WHO    replica r
   Starts from a checkpoint at op n, at or above its era's boundary. *)
Boot(r, n) ==
    /\ ~rep[r].up
    /\ n \in BootPoints(r)
    /\ rep' = [rep EXCEPT ![r] = Booted(@, n)]
    /\ last' = [a |-> "Boot", r |-> r, n |-> n]
    /\ UNCHANGED <<log, commit, intent, ghosts>>

(* ACTION Rejoin
   WHO    replica r
   Its disk is damaged, or does not hold what it promised: it comes back as a new
   member that knows nothing and is given the log from its beginning. *)
Rejoin(r) ==
    /\ ~rep[r].up
    /\ MayRejoin(r)
    /\ rep' = [rep EXCEPT ![r] = [Newborn EXCEPT !.up = FALSE]]
    /\ last' = [a |-> "Rejoin", r |-> r]
    /\ UNCHANGED <<log, commit, intent, ghosts>>

(* ACTION Answer
   WHO    replica r
   Answers read q, having applied all that is committed. *)
Answer(r, q) ==
    /\ rep[r].up
    /\ MayAnswer(r)
    /\ LET reply == Do([AsContract(rep[r], rep[r].segs) EXCEPT !.inc = Current.inc, !.began = Current.began], q).r
       IN /\ last' = [a |-> "Answer", r |-> r, q |-> q, reply |-> reply]
          /\ ghost_last' = [a |-> CASE q.f = "poll" -> "Poll"
                                    [] q.f = "get"  -> "GetBookmark"
                                    [] q.f = "list" -> "ListOffsets",
                            s |-> NoSession, q |-> q, r |-> reply]
    /\ UNCHANGED <<store, ghost_hist, ghost_crashes>>

(* Facts f after ops, which begin with the one after f.applied. *)
RECURSIVE Carried(_, _)
Carried(f, ops) ==
    IF ops = <<>> THEN f
    ELSE LET n == f.applied + 1
             o == Head(ops)
         IN Carried(IF o.k = "purge" /\ o.g > f.settled THEN EraStart(n, o.g, f.seen)
                    ELSE Step(f, n, o),
                    Tail(ops))

(* ACTION NewIncarnation
   WHO    the metadata plane, when a majority of the replicas are suspect
   All members go on from the log of one: n committed ops of the log, and perhaps
   one that was never committed, rest. What ends at offset o is known to have been
   agreed on. *)
NewIncarnation(n, rest, o) ==
    /\ Begins /\ MayBegin
    /\ n \in Floor .. commit
    /\ o \in 0 .. End(ghost_hist[n + 1])
    /\ ContinueFrom(n, rest \o <<BeginOp(o)>>)
    /\ rep' = [r \in Replicas |->
                  LET f == Carried(Newborn, log')
                  \* DEFECT BoundaryOutlives: compared with the numbers that ops have in the new one
                  IN IF BoundaryOutlives THEN [f EXCEPT !.boundary = @ + f.applied] ELSE f]
    /\ LET kept == SubSeq(ghost_hist, 1, n + 1)
           all  == IF rest = <<>> THEN kept ELSE Remember(kept, n + 1, Head(rest))
       IN /\ ghost_hist' = Append(all, Begin(all[Len(all)], kept[n + 1].gen, o))
          /\ ghost_last' = [a |-> "NewIncarnation", s |-> NoSession, r |-> NoReply,
                            q |-> [f |-> "new-incarnation", kept |-> kept[n + 1], o |-> o,
                                   q |-> IF rest = <<>> THEN [f |-> "none"] ELSE RequestOf(n + 1, Head(rest))]]
    /\ last' = [a |-> "NewIncarnation", n |-> n, rest |-> rest, o |-> o]
    /\ UNCHANGED <<intent, ghost_crashes>>

NextOf(r) == rep[r].applied + 1

(* The op that r applies next, and its generation if it is a purge. *)
Arriving(r) == IF NextOf(r) <= commit THEN log[NextOf(r)] ELSE OtherOp
PurgeAt(r)  == IF Arriving(r).k = "purge" THEN Arriving(r).g ELSE 0

(* Ranges are constant and parameters are computed, for TLC to keep the names of   *)
(* actions. So elections drop one op at a time, and a boot goes back to the          *)
(* boundary: more is dropped by more elections, later ops are reached by applying.  *)
Next ==
    \/ RequestPurge(intent + 1)
    \/ \E r \in Replicas : Reconcile(r, intent)
    \/ \E o \in Ops : Propose(o)
    \/ Commit(commit + 1, log[commit + 1])
    \/ \E r \in Replicas : BecomeLeader(r, Len(log) - commit - 1)
    \/ \E r \in Replicas : Materialize(r, NextOf(r), Arriving(r))
    \/ \E r \in Replicas : PurgeComplete(r, NextOf(r), PurgeAt(r))
    \/ \E r \in Replicas : PurgeDuplicate(r, NextOf(r), PurgeAt(r))
    \/ \E r \in Replicas : ProcessCrash(r)
    \/ \E r \in Replicas : PowerLoss(r)
    \/ \E r \in Replicas : Boot(r, rep[r].boundary)
    \/ \E r \in Replicas : Rejoin(r)
    \/ \E r \in Replicas, q \in Reads : Answer(r, q)
    \/ \E k \in 0 .. MaxBack, rest \in Rests, o \in Offsets : NewIncarnation(commit - k, rest, o)

Spec == Init /\ [][Next]_vars
=============================================================================
