----------------------------- MODULE AdvanceShows -----------------------------
(* What the one replica of Advance shows, in the words of Properties. There is one   *)
(* generation, so that what they say of eras says nothing here; what a deletion      *)
(* removes is below the start, and that is said instead.                          *)
EXTENDS Advance

Replicas == {1}
One(x)   == [r \in Replicas |-> x]
Truth    == ghost_hist[mem.applied + 1]
Messages == {<<Truth.start + j - 1, Truth.msgs[j].p>> : j \in DOMAIN Truth.msgs}
Visible  == Readable(There, mem.applied, mem.start)
Entries(s) == {s[i] : i \in DOMAIN s}

P == INSTANCE Properties WITH
    Owners   <- Keys,
    Callers  <- Sessions,
    truth    <- ghost_hist,
    did      <- last.a,
    running  <- One(Running),
    serving  <- One(up = "serve"),
    applied  <- One(mem.applied),
    gen      <- One(0),
    boundary <- One(0),
    start    <- One(mem.start),
    end      <- One(mem.end),
    top      <- One(0),
    bm       <- One(mem.bm),
    msgs     <- One(Visible),
    seen     <- One([s \in Sessions |-> -1]),
    marker   <- One([st |-> "none", g |-> 0, p |-> 0]),
    folders  <- One({}),
    safe     <- One(Readable(SubSeq(disk.segs, 1, disk.synced), Len(log), 0)),
    safeAt   <- One(disk.ckpt.applied),
    marks    <- One(Entries(disk.bms))

HistoryAgreement     == P!HistoryAgreement
NoHiddenFresh        == P!NoHiddenFresh
CommittedOnlyDurable == P!CommittedOnlyDurable
BookmarkBound        == P!BookmarkBound
NextContract         == P!NextContract
NoLateProgress       == P!NoLateProgress
EarliestIsStart      == P!EarliestIsStart
CommittedPrefixSafe  == P!CommittedPrefixSafe

(* What clients are told of the start never falls. *)
StartMonotone ==
    [][ ghost_shown.start <= ghost_shown'.start ]_ghost_shown

(* What clients are told of the end never falls. *)
LatestMonotone ==
    [][ ghost_shown.end <= ghost_shown'.end ]_ghost_shown

(* No message at or above the start is removed by a deletion, reclaim or recovery. *)
NoFreshLoss == up = "serve" => Messages \subseteq Visible

(* No message below the start is shown, though reclaim is late or undone. *)
NoResurrectedMessage == up = "serve" => \A x \in Visible : x[1] >= Truth.start

(* A bookmark that was deleted is not used again. *)
NoResurrectedBookmark == Running => \A k \in Keys : mem.bm[k].o # -1 => Truth.bm[k] # -1

(* One payload per position: what is shown is what the log put there. *)
OffsetUnique == up = "serve" => Visible \subseteq Messages

(* A deletion up to an offset that is deleted already changes nothing. *)
RetryIdempotent ==
    [][ last'.a = "Materialize" /\ last'.o.k = "advance" /\ last'.o.o >= 0 /\ last'.o.o <= mem.start =>
            mem'.start = mem.start /\ mem'.end = mem.end ]_<<mem, last>>
=============================================================================
