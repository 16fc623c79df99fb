--------------------------- MODULE MCTransferReset ---------------------------
(* Bounds for one replica of reset-record that installs. *)
EXTENDS TransferResetShows

CONSTANTS MaxOps, MaxCrashes, MaxFails, MaxInstalls, MaxLag, MaxSeqs, k1

MCOps == {AppendOp(NoSession, 1), StoreOp(k1, -1, 0)}
Appends == {AppendOp(NoSession, 1), AppendOp(NoSession, 2)}

(* See MCTransfer: staging reads nothing that other steps change. *)
Apart == stage.x = NoOffer \/ stage.state # "no"

(* The journal is at most one op ahead of what is applied, or, that a floor may lie above  *)
(* what is offered, two.                                                        *)
MCMayJournal(o) == Len(log) < MaxOps /\ Len(log) <= mem.applied
MCMayRunAhead(o) == Len(log) < MaxOps /\ Len(log) <= mem.applied + 1
MCMayCut        == Len(log) > 1
MCMayCrash      == ghost_crashes < MaxCrashes
MCMayFail       == Apart /\ MaxFails > 0
MCMayBegin      == Apart /\ ghost_seqs < MaxSeqs /\ MayCrash
MCMayLag        == Apart /\ Len(common) < MaxOps /\ Len(common) - Len(log) < MaxLag
MCMayInstall    == ghost_installs < MaxInstalls
MCMayCompact    == Apart
MCMayStep       == Apart
MCForeign(d)    == log = <<>> /\ d.reset.floor > 0   \* a journal that was cut is not empty

(* A floor counts ops that are committed, or one more; early is what a floor lies above. *)
MCOffers == [n : 1 .. MaxOps, g : Generations, floor : 0 .. MaxOps] \cup [n : 1 .. MaxOps, g : {0}, floor : {0}]
MCOffersEarly == [n : {1}, g : Generations, floor : {0, 2}]
MCOffersFew == {x \in MCOffers : x.n = MaxOps}

View == <<store, ghosts, transfer>>
=============================================================================
