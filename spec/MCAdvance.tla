------------------------------ MODULE MCAdvance ------------------------------
(* Bounds for one replica of the design advance. *)
EXTENDS Advance

CONSTANTS MaxOps, MaxCrashes

MCOps == {AppendOp(NoSession, 2), AdvanceOp(1), AdvanceOp(-1), AdvanceOp(9)}

MCMayGrow(o) == Len(log) < MaxOps
MCMayCrash   == ghost_crashes < MaxCrashes

View == <<store, ghosts>>
=============================================================================
