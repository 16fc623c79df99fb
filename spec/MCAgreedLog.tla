----------------------------- MODULE MCAgreedLog -----------------------------
(* Bounds for the log that a quorum agrees on. *)
EXTENDS AgreedLog, TLC

CONSTANTS MaxLog, r1, r2, r3

MCMayAdd == Len(log) < MaxLog
Symmetric == Permutations(Replicas)
=============================================================================
