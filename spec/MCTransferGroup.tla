--------------------------- MODULE MCTransferGroup ---------------------------
(* Bounds for replicas that take each other's state. *)
EXTENDS TransferGroupShows, TLC

CONSTANTS MaxOps, MaxIntent, MaxCrashes, MaxOffers, MaxInstalls, k1, c1, r1, r2, r3

MCOps == {AppendOp(c1, 1), CommitOp(k1, 1)}
AllOps == {AppendOp(c1, 1), AppendOp(NoSession, 1), CommitOp(k1, 1), AdvanceOp(-1)}

MCOpen == <<c1>>

MCReads == {[f |-> "poll", key |-> k1, strategy |-> "next", max |-> 3, reset |-> "earliest", auto |-> "no"]}

MCAsked == MCReads \cup {RequestOf(n, o) : n \in 1 .. MaxOps + 1, o \in AllOps \cup {PurgeOp(g) : g \in 1 .. MaxIntent}}

(* One op after the other: what an election drops is OrderedGroup's matter. *)
MCMayPropose(o) == Len(log) = commit /\ Len(log) < MaxOps + Current.inc - 1
MCMayAsk(g)     == g <= MaxIntent
MCMayLead(r)    == FALSE
MCMayCrash(r)   == ghost_crashes < MaxCrashes
MCMayRejoin(r)  == rep[r].applied > 0
MCMayOffer(r)   == ghost_exports < MaxOffers
MCMayAccept(r)  == ghost_installs < MaxInstalls /\ \A q \in Replicas : pull[q] = NoPull
(* What others do while chunks travel they may as well do before or when all are there.   *)
MCMayStep       == {r \in Replicas : pull[r] # NoPull /\ pull[r].got < 2} = {}
MCMayBegin      == Current.inc < 2
Zero            == {0}
Volatile(o)     == FALSE

View == <<store, transfer, counts, ghost_crashes>>
Symmetric == Permutations(Replicas)
=============================================================================
