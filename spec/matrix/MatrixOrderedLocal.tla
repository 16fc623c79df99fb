-------------------------- MODULE MatrixOrderedLocal --------------------------
(* One replica of the design ordered under one class of faults.                  *)
(*                                                                           *)
(* Some classes need no step of their own. A failed sync of messages or bookmarks      *)
(* stops the replica and restarts its machine: a power loss. Until a record whose       *)
(* folder could not be synced is written again nothing is applied, so what follows is    *)
(* what follows a power loss before the record or after it. A replica that refuses a      *)
(* damaged record has crashed and never boots again. Partitions share nothing, so a       *)
(* crash between the purges of two is a crash at some step for each.                  *)
EXTENDS MCOrderedLocal

CONSTANTS
    Faults,     \* crashes that may happen, by the names of actions
    InRecovery  \* a crash after the first falls into the recovery from it

Recovering == up = "replay" \/ ghost_found # "none"

May(fault) ==
    /\ fault \in Faults
    /\ ghost_crashes < MaxCrashes
    /\ InRecovery /\ ghost_crashes > 0 => Recovering

MatrixMayCrash     == May("ProcessCrash")
MatrixMayLosePower == May("PowerLoss")
=============================================================================
