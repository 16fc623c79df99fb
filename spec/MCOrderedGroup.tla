--------------------------- MODULE MCOrderedGroup ---------------------------
(* Bounds for three replicas. *)
EXTENDS OrderedGroupShows, TLC

CONSTANTS MaxOps, MaxIntent, MaxCrashes, k1, c1, r1, r2, r3

MCOps == {AppendOp(c1, 1), AppendOp(NoSession, 1), StoreOp(k1, 0, 0), CommitOp(k1, 1)}

(* Enough for purges that race appends, retries and auto-commits. *)
FewOps == {AppendOp(c1, 1), AppendOp(NoSession, 1), CommitOp(k1, 1)}

(* Every kind of op. *)
AllOps == {AppendOp(c1, 1), AppendOp(NoSession, 2), StoreOp(k1, 0, 0), CommitOp(k1, 1), DeleteOp(k1), AdvanceOp(-1)}

MCOpen == <<c1>>

MCReads == {[f |-> "poll", key |-> k1, strategy |-> "next", max |-> 3, reset |-> "earliest", auto |-> "no"],
            [f |-> "poll", key |-> k1, strategy |-> "first", max |-> 3, reset |-> "earliest", auto |-> "no"]}

MCAsked == MCReads \cup {RequestOf(n, o) : n \in 1 .. MaxOps, o \in MCOps \cup AllOps \cup {PurgeOp(g) : g \in 1 .. MaxIntent}}

MCMayPropose(o)   == Len(log) < MaxOps
MCMayAsk(g)       == g <= MaxIntent
MCMayCrash(r)     == ghost_crashes < MaxCrashes
MCMayRejoin(r)    == rep[r].applied > 0

(* New incarnations. A store names a bare offset: which positions live on is       *)
(* Partition's matter.                                                         *)
SuccessionOps == {AppendOp(c1, 1), AppendOp(NoSession, 1), CommitOp(k1, 1)}
SuccessionAsked ==
    MCReads \cup {RequestOf(n, o) : n \in 1 .. MaxOps + 1, o \in SuccessionOps \cup {PurgeOp(g) : g \in 1 .. MaxIntent}}
SuccessionRests == {<<>>, <<AppendOp(NoSession, 1)>>, <<PurgeOp(1)>>}
SuccessionOffsets == 0 .. 1
SuccessionMayBegin == Current.inc < 2
SuccessionMayPropose(o) == Len(log) < MaxOps + Current.inc - 1

(* The same for the design advance: its purge is a deletion of all records.            *)
AdvanceOps == {AppendOp(c1, 1), AdvanceOp(-1), CommitOp(k1, 1)}
AdvanceAsked == MCReads \cup {RequestOf(n, o) : n \in 1 .. MaxOps + 1, o \in AdvanceOps \cup {AppendOp(NoSession, 1)}}
AdvanceRests == {<<>>, <<AppendOp(NoSession, 1)>>, <<AdvanceOp(-1)>>}

(* Policies. A purge takes messages and bookmarks, and is as durable as the stricter of   *)
(* the two.                                                                    *)
VolatileMessages(o)  == o.k \notin {"append", "advance"}
VolatileBookmarks(o) == o.k \notin {"commit", "store", "delete"}
VolatileAll(o)       == FALSE

View == <<store, ghost_crashes>>
Symmetric == Permutations(Replicas)
=============================================================================
