--------------------------- MODULE MCOrderedLocal ---------------------------
(* Bounds for one replica. *)
EXTENDS OrderedShows

CONSTANTS MaxOps, MaxCrashes, k1

MCOps == {AppendOp(NoSession, 1), StoreOp(k1, -1, 0), CommitOp(k1, 1), DeleteOp(k1),
          AdvanceOp(-1), PurgeOp(1), PurgeOp(2)}

(* Enough for every step of a purge and of replay. *)
FewOps == {AppendOp(NoSession, 1), CommitOp(k1, 1), PurgeOp(1)}

MCReads == {[f |-> "poll", key |-> k1, strategy |-> "next", max |-> 3, reset |-> "earliest", auto |-> "no"],
            [f |-> "poll", key |-> k1, strategy |-> "first", max |-> 3, reset |-> "earliest", auto |-> "no"],
            [f |-> "get", key |-> k1],
            [f |-> "list", which |-> "earliest", t |-> 0],
            [f |-> "list", which |-> "latest", t |-> 0]}

MCAsked == MCReads \cup {RequestOf(n, o) : n \in 1 .. MaxOps, o \in MCOps}

MCMayGrow(o) == Len(log) < MaxOps
MCMayCrash   == ghost_crashes < MaxCrashes

View == <<store, ghost_top, ghost_found, ghost_crashes>>
=============================================================================
