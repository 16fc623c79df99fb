-------------------------- MODULE MCResetRecordGroup --------------------------
(* Bounds for replicas of the design reset-record. *)
EXTENDS ResetRecordGroup, TLC

CONSTANTS MaxOps, MaxIntent, MaxTerms, MaxCrashes, Sizes, MaxSeqs, r1, r2, r3

MCMayPropose(k)   == Len(log) < MaxOps
MCMayAsk(g)       == g <= MaxIntent
MCMayLead(r)      == ghost_terms < MaxTerms
MCMayCrash(S)     == Cardinality(S) = 1 /\ ghost_down < MaxCrashes
MCMayLosePower(S) == Cardinality(S) \in Sizes /\ ghost_down < MaxCrashes
MCMayBegin        == ghost_seqs < MaxSeqs

View == <<store, ghosts>>
Symmetric == Permutations(Replicas)
=============================================================================
