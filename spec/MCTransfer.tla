----------------------------- MODULE MCTransfer -----------------------------
(* Bounds for one replica that installs. *)
EXTENDS TransferShows

CONSTANTS MaxOps, MaxCrashes, MaxInstalls, MaxLag, MinInstalls, k1

(* Enough for an era before, one after, and a bookmark in each. *)
MCOps == {AppendOp(NoSession, 1), CommitOp(k1, 1), PurgeOp(1)}
(* The design advance: a purge is a deletion of all records. Another ends in a batch. *)
AdvanceOps == {AppendOp(NoSession, 2), CommitOp(k1, 1), AdvanceOp(1), AdvanceOp(-1)}

MCReads == {[f |-> "poll", key |-> k1, strategy |-> "next", max |-> 3, reset |-> "earliest", auto |-> "no"],
            [f |-> "poll", key |-> k1, strategy |-> "first", max |-> 3, reset |-> "earliest", auto |-> "no"]}

MCAsked == MCReads \cup {RequestOf(n, o) : n \in 1 .. MaxOps, o \in MCOps \cup AdvanceOps}

(* Staging reads nothing that other steps change, and they nothing of it: what they do   *)
(* while it goes on they may as well do before it or when it is complete.            *)
Apart == stage.n = 0 \/ stage.state # "no"

(* Before the first message nothing has an effect. *)
MCMayGrow(o)  == Len(log) < MaxOps /\ (log = <<>> => o.k = "append")
MCMayCrash    == ghost_crashes < MaxCrashes
MCMayInstall  == ghost_installs < MaxInstalls
MCMayLag      == Apart /\ ghost_installs < MaxInstalls /\ Len(log) - journal.held < MaxLag
MCMayStep     == Apart
MCMayCompact  == Apart /\ ghost_installs >= MinInstalls
MCNumbers     == 1 .. MaxOps

View == <<store, transfer, ghost_top, ghost_crashes, ghost_installs>>
=============================================================================
