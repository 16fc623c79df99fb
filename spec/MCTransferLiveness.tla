-------------------------- MODULE MCTransferLiveness --------------------------
(* Whoever is behind comes to be up to date, though the log's beginning is gone and who  *)
(* offers its state stops, or lets the offer go for a later one. Fairness of what replicas  *)
(* do; none of what clients ask, and none of compaction. No symmetry, no view.              *)
EXTENDS TransferGroup

CONSTANTS MaxOps, MaxCrashes, k1, r1, r2

MCOps == {AppendOp(NoSession, 1)}
Nobody == <<>>

MCMayPropose(o) == Len(log) = commit /\ Len(log) < MaxOps
MCMayAsk(g)     == FALSE   \* a purge is an op like any other here
MCMayLead(r)    == FALSE
MCMayCrash(r)   == r = r2 /\ ghost_crashes < MaxCrashes
MCMayAccept(r)  == r = r1
MCMayDrop(r)    == FALSE
MCMayLetGo(s)   == {r \in Replicas : pull[r].n = pin[s].n} = {}   \* while somebody asks
Forget(hist, n, o) == hist
ForgetLast(hist, n, o, before) == before
Uncounted(x)    == x

(* A chunk is asked for again until it comes; an offer is made to whoever asks. *)
Fair ==
    /\ WF_all(Applies)
    /\ WF_all(Boots)
    /\ WF_all(Agrees /\ last'.a = "Commit")
    /\ WF_all(OfferTransfer(r2, commit))
    /\ SF_all(StageManifest(r1, r2))
    /\ SF_all(StageChunk(r1, r2))
    /\ SF_all(CommitInstall(r1, pull[r1].n))
    /\ WF_all(DropTransfer(r1))

FairSpec == TransferSpec /\ Fair

(* After faults stop, the replica that was behind is up to date. *)
NoStuckReplica == <>[](rep[r1].applied = commit)
=============================================================================
