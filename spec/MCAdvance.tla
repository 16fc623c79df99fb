------------------------------ MODULE MCAdvance ------------------------------
(* Bounds for one replica of the design advance. *)
EXTENDS AdvanceShows

CONSTANTS MaxOps, MaxCrashes, k1

MCOps == {AppendOp(NoSession, 2), AdvanceOp(1), AdvanceOp(-1), AdvanceOp(9)}

(* With bookmarks, one of them deleted again. *)
MarkOps == {AppendOp(NoSession, 2), AdvanceOp(1), AdvanceOp(-1), StoreOp(k1, -1, 0), CommitOp(k1, 1), DeleteOp(k1)}

MCMayGrow(o) == Len(log) < MaxOps
MCMayCrash   == ghost_crashes < MaxCrashes

View == <<store, ghosts>>
=============================================================================
