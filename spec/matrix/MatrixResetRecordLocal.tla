------------------------ MODULE MatrixResetRecordLocal ------------------------
(* One replica of the design reset-record under one class of faults. What needs no      *)
(* step of its own is said in MatrixOrderedLocal.                                  *)
EXTENDS MCResetRecord

CONSTANTS
    Faults,     \* what may happen, by the names of actions
    InRecovery  \* a crash after the first falls into the recovery from it

Recovering == up = "replay" \/ work.step # "none"

May(fault) ==
    /\ fault \in Faults
    /\ ghost_crashes < MaxCrashes
    /\ InRecovery /\ ghost_crashes > 0 => Recovering

MatrixMayCrash     == May("ProcessCrash")
MatrixMayLosePower == May("PowerLoss")
MatrixMayBegin     == "BeginSequence" \in Faults /\ ghost_seqs < MaxSeqs
MatrixMayFail      == "StepFails" \in Faults
MatrixMayFailSync  == "SyncFails" \in Faults /\ ghost_crashes < MaxCrashes
=============================================================================
