---------------------------- MODULE MatrixAdvance ----------------------------
(* One replica of the design advance under one class of faults. What needs no step of    *)
(* its own is said in MatrixOrderedLocal. Numbering goes on and there is one generation,   *)
(* so that a bare position means what a tagged one means.                            *)
EXTENDS MCAdvance

CONSTANTS
    Faults,     \* crashes that may happen, by the names of actions
    InRecovery  \* a crash after the first falls into the recovery from it

May(fault) ==
    /\ fault \in Faults
    /\ ghost_crashes < MaxCrashes
    /\ InRecovery /\ ghost_crashes > 0 => up = "replay"

MatrixMayCrash     == May("ProcessCrash")
MatrixMayLosePower == May("PowerLoss")
=============================================================================
