------------------------------ MODULE MCLiveness ------------------------------
(* Purges come through: bounds that leave room in the log for them, one replica  *)
(* that stays up, fairness of its own steps, of the reconciler and of the group   *)
(* that gets a chance to commit again and again. No symmetry, no view.            *)
EXTENDS OrderedGroup

CONSTANTS MaxOps, MaxIntent, MaxCrashes, k1, r1, r2

MCOps == {AppendOp(NoSession, 1)}
Nobody == <<>>

(* Clients leave room for one purge more than there are intents. *)
MCMayPropose(o) == IF o.k = "purge" THEN Len(log) < MaxOps ELSE Len(log) < MaxOps - MaxIntent
MCMayAsk(g)     == g <= MaxIntent
MCMayCrash(r)   == r # r1 /\ ghost_crashes < MaxCrashes
Forget(hist, n, o) == hist
ForgetLast(hist, n, o, before) == before

Fair ==
    /\ WF_store(\E r \in Replicas : Reconcile(r, intent))
    /\ SF_store(Commit(commit + 1, log[commit + 1]))
    /\ WF_store(Materialize(r1, NextOf(r1), Arriving(r1)))
    /\ WF_store(PurgeComplete(r1, NextOf(r1), PurgeAt(r1)))
    /\ WF_store(PurgeDuplicate(r1, NextOf(r1), PurgeAt(r1)))

FairSpec == Spec /\ Fair

(* A committed intent is settled on every replica that stays up. *)
PurgeEventuallyApplied ==
    \A g \in 1 .. MaxIntent : (intent >= g) ~> (rep[r1].gen >= g)
=============================================================================
