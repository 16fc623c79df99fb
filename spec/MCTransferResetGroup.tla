------------------------- MODULE MCTransferResetGroup -------------------------
(* Bounds for replicas of reset-record that move state. *)
EXTENDS TransferResetGroup, TLC

CONSTANTS MaxOps, MaxIntent, MaxTerms, MaxCrashes, MaxInstalls, r1, r2, r3

MCMayPropose(k) == Len(log) < MaxOps
MCMayAsk(g)     == g <= MaxIntent
MCMayLead(r)    == ghost_terms < MaxTerms
MCMayCrash(S)   == Cardinality(S) = 1 /\ ghost_down < MaxCrashes
MCMayOffer(r)   == ghost_installs < MaxInstalls /\ pin[r] = NoOffer
MCMayAccept(r)  == ghost_installs < MaxInstalls

View == <<store, ghosts, transfer>>
Symmetric == Permutations(Replicas)
=============================================================================
