----------------------------- MODULE MCAgreedLog -----------------------------
(* Bounds for the log that a quorum agrees on. *)
EXTENDS AgreedLog, TLC

CONSTANTS MaxLog, MaxTerm, MaxLosses, MaxReplaced, MaxInc, r1, r2, r3

MCMayAdd(v)     == Len(log) < MaxLog
MCMayElect      == term < MaxTerm
MCMayLose(r)    == ghost_losses < MaxLosses
MCMayReplace(r) == ghost_losses < MaxReplaced
MCMayBegin      == inc < MaxInc

(* An op says its policy. *)
MCPersisted(o) == o.v = "persisted"

Symmetric == Permutations(Replicas)
=============================================================================
