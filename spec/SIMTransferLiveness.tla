------------------------- MODULE SIMTransferLiveness -------------------------
(* What MCTransferLiveness asks, of three replicas that can be driven: see SIMTransferGroup.  *)
(* One of them is down until the log's beginning is gone. Who leads purges while that one     *)
(* takes a state, lets go what it offered, and offers what is left.                        *)
EXTENDS SIMTransferGroup

Forget(hist, n, o) == hist
ForgetLast(hist, n, o, before) == before
Uncounted(x) == x

LivelyOps     == {AppendOp(NoSession, 1)}
MayGoOn(o)    == o.k = "purge" \/ (Len(log) < 2 /\ Running = Replicas)
MayAskAmid(g) == SimMayAsk(g) /\ ~Quiet
MayLeave(r)   == r = r2 /\ SimMayCrash(r) /\ commit = 0 /\ Len(log) = 2
MayNot(r)     == FALSE

Does(actions) == SimTransferNext /\ last'.a \in actions

Fairly ==
    /\ SF_<<all, sim, simTransfer>>(Does(Applying \cup {"Reconcile", "Commit", "StageChunk", "CommitInstall", "DropTransfer"}))
    /\ SF_<<all, sim, simTransfer>>(Does({"OfferTransfer", "DropOffer"}))
    /\ SF_<<all, sim, simTransfer>>(Does({"StageManifest"}))

(* Of behaviours those in which nothing is done that makes no difference. The last op that is *)
(* dropped may still be in the file that is being written, so it is not the first.          *)
LedLively ==
    /\ last'.a \notin {"PowerLoss", "RefuseTransfer"}
    /\ last'.a = "Compact" => last'.n > 1
    /\ last'.a \in Applying => last'.r # r3 \/ last'.n <= rep[r1].applied

(* Every replica that runs comes to be up to date. *)
NoStuckReplica == <>[](\A r \in Replicas : rep[r].up => rep[r].applied = commit)
=============================================================================
