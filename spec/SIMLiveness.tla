----------------------------- MODULE SIMLiveness -----------------------------
(* What MCLiveness asks, of three replicas that can be driven: see SIMOrderedGroup. They     *)
(* elect each other as long as the log has room for what is to come.                        *)
EXTENDS SIMOrderedGroup

Forget(hist, n, o) == hist
ForgetLast(hist, n, o, before) == before

(* Clients ask for nothing. A leader begins with an op of its own, and then comes the purge.   *)
LivelyOps     == {OtherOp}
MayGoOn(o)    == Len(log) < MaxOps
MayLeadOn(r)  == Len(log) + 2 <= MaxOps

Does(actions) == SimNext /\ last'.a \in actions

Fairly ==
    /\ SF_<<vars, sim>>(Does({"Reconcile"}))
    /\ WF_<<vars, sim>>(Does({"Propose"}))
    /\ SF_<<vars, sim>>(Does({"Commit"}))
    /\ WF_<<vars, sim>>(Does(Applying))

(* Of behaviours of models with a defect those in which a purge that was proposed is dropped.  *)
LedLively == last'.a = "Commit" => last'.o.k # "purge"

(* A committed intent is settled on every replica that stays up. *)
PurgeEventuallyApplied == \A g \in 1 .. MaxIntent : (intent >= g) ~> (rep[r1].gen >= g)
=============================================================================
