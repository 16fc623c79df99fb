----------------------------- MODULE SIMRecovery -----------------------------
(* What Recovery asks, of three replicas that can be driven: see SIMAgreedLog. What comes    *)
(* may wait for what else has to come first, so here fairness is strong.                    *)
EXTENDS SIMAgreedLog, Recovery

CONSTANTS MaxFaults, Struck, Replicated

MayStrike(r) == ghost_losses < MaxFaults /\ r \in Struck

(* An election is due when nobody leads, whoever holds the log. *)
SimMayElect == leader = {} \/ term < MaxTerm

(* A leader begins its term, whatever it was left. *)
SimOwed     == ~NoFirstEntry /\ leader # {} /\ Len(log) < floor
SimWants(v) == IF v = Empty THEN Owed ELSE WantsEntry(v)

Does(actions) == SimNext /\ last'.a \in actions

Fairly ==
    /\ \A a \in {"Receive", "SyncJournal", "ProposeAt", "CommitBy", "Rejoin", "Elect", "NewIncarnation"} : SF_<<vars, sim>>(Does({a}))

(* Of behaviours of models with a defect those in which something was asked first.           *)
LedLively == last'.a \in {"LosePower", "ReplaceDisk", "Stop"} => log # <<>>
=============================================================================
