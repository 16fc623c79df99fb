----------------------------- MODULE OrderedShows -----------------------------
(* What the one replica of Ordered shows, in the words of Properties, and how   *)
(* Ordered refines Partition.                                                 *)
EXTENDS Ordered

CONSTANT Asked   \* every request that clients may have sent

Replicas == {1}
One(x)   == [r \in Replicas |-> x]
Opened   == disk.dirs[OpenedAtBoot(disk)]
Entries(s) == {s[i] : i \in DOMAIN s}

P == INSTANCE Properties WITH
    Owners   <- Keys,
    Callers  <- Sessions,
    truth    <- ghost_hist,
    did      <- last.a,
    running  <- One(Running),
    serving  <- One(up = "serve"),
    applied  <- One(mem.applied),
    gen      <- One(mem.gen),
    boundary <- One(mem.boundary),
    start    <- One(mem.start),
    end      <- One(mem.end),
    top      <- One(ghost_top),
    bm       <- One(mem.bm),
    msgs     <- One(Readable(Using.segs, mem.applied, mem.start)),
    seen     <- One([s \in Sessions |-> -1]),
    marker   <- One(disk.marker),
    folders  <- One({[g |-> g, applied |-> disk.dirs[g].ckpt.applied] : g \in Folders(disk)}),
    safe     <- One(Readable(SubSeq(Opened.segs, 1, Opened.segsSynced), Len(log), 0)),
    safeAt   <- One(Opened.ckpt.applied),
    marks    <- One(Entries(Opened.bms))

HistoryAgreement      == P!HistoryAgreement
NoResurrectedMessage  == P!NoResurrectedMessage
NoResurrectedBookmark == P!NoResurrectedBookmark
NoFreshLoss           == P!NoFreshLoss
NoHiddenFresh         == P!NoHiddenFresh
RetryIdempotent       == P!RetryIdempotent
GenerationMonotone    == P!GenerationMonotone
CompletionLast        == P!CompletionLast
NoErrorNoAdvance      == P!NoErrorNoAdvance
BoundaryScope         == P!BoundaryScope
OffsetUnique          == P!OffsetUnique
CommittedOnlyDurable  == P!CommittedOnlyDurable
BookmarkBound         == P!BookmarkBound
NextContract          == P!NextContract
NoLateProgress        == P!NoLateProgress
EarliestIsStart       == P!EarliestIsStart
CommittedPrefixSafe   == P!CommittedPrefixSafe

-----------------------------------------------------------------------------
(* Witnesses: models that must fail, because what these say never happens does.  *)

(* A purge cut off after its marker is finished after a boot. *)
NeverFinishesBegun == [][ ~(ghost_found = "begun" /\ last'.a = "PurgeComplete") ]_vars

(* A purge cut off after the new folder is finished after a boot. *)
NeverFinishesSwitched == [][ ~(ghost_found = "switched" /\ last'.a = "PurgeComplete") ]_vars

(* A purge cut off after its completion is cleaned up after a boot. *)
NeverReclaimsAfterBoot == [][ ~(ghost_crashes > 0 /\ up = "replay" /\ last'.a = "Reclaim") ]_vars

(* A crash falls into the recovery of a purge. *)
NeverCrashesInRecovery ==
    [][ ~(ghost_found # "none" /\ last'.a \in {"ProcessCrash", "PowerLoss"}) ]_vars

(* A power loss takes messages that replay then writes again. *)
NeverWritesAgain ==
    [][ ~(last'.a = "Materialize" /\ mem.applied < Len(log) /\ disk' # disk) ]_vars

-----------------------------------------------------------------------------
(* Clients see the committed log, and reads that a current replica answers. *)
LacksNothing(q) == FALSE

Client == INSTANCE Partition WITH
    core <- ghost_hist[Len(ghost_hist)],
    sent <- [s \in Sessions |-> [q |-> [f |-> "none"], done |-> FALSE, i |-> 0]],
    loose <- {},
    past <- {},
    Begins <- FALSE,
    MayLack <- LacksNothing,
    last <- ghost_last,
    Open <- <<>>,
    Requests <- Asked

RefinesPartition == Client!NamedSpec
=============================================================================
