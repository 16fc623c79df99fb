-------------------------- MODULE MCResetRecordGroup --------------------------
(* Bounds for two replicas of the design reset-record. *)
EXTENDS ResetRecordGroup

CONSTANTS MaxOps, MaxIntent, r1, r2

MCMayPropose == log < MaxOps
MCMayAsk(g)  == g <= MaxIntent
=============================================================================
