------------------------------- MODULE Recovery -------------------------------
(* What comes through when faults have ended: with a quorum of members that run and    *)
(* are trusted, or with all members back and something left to show on the disks of a    *)
(* majority, the partition takes what clients ask, purges among it, and every member     *)
(* that runs has it. AgreedLog says what steps there are;     *)
(* here is which of them happen some day, and what for.                              *)
(*                                                                           *)
(* A client asks for each value again until it is agreed on; Purge is one of them, asked  *)
(* for by a reconciler. That a replica applies a purge which is agreed on, whatever        *)
(* crashes in between, is shown by MCLiveness and by the local models.                 *)
EXTENDS AgreedLog

CONSTANT Empty   \* the value of the entry with which a leader begins

Asked == Values \ {Empty}

InLog(v)    == \E n \in 1 .. Len(log) : log[n].v = v
AgreedOn(v) == \E n \in 1 .. commit : log[n].v = v

(* A leader commits what it was left by counting an entry of its own term, so it begins  *)
(* with one if there is something to commit.                                     *)
NeedsEntry == commit < Len(log) /\ log[Len(log)].t < term

(* Limits of a model are put here by its MC module. *)
MayAsk(v) == TRUE

(* Defect switch that a model may turn on. *)
NoFirstEntry == FALSE

WantsEntry(v) ==
    IF v # Empty THEN MayAsk(v) /\ ~InLog(v)
       \* DEFECT NoFirstEntry: a leader waits for clients to give it an entry
    ELSE ~NoFirstEntry /\ NeedsEntry

(* Nobody leads: an election is due. *)
NobodyLeads == \A r \in Replicas : ~Leads(r)

Fair ==
    /\ \A r \in Replicas : WF_vars(Receive(r)) /\ WF_vars(SyncJournal(r)) /\ WF_vars(Rejoin(r))
    /\ WF_vars(\E r \in Replicas, v \in Values : ProposeAt(r, v))
    /\ WF_vars(\E Q \in Quorums : CommitBy(Q, commit + 1))
    /\ WF_vars(\E r \in Replicas, Q \in Quorums : Elect(r, Q))
    /\ WF_vars(\E r \in Replicas : NewIncarnation(journal[r]))

FairSpec == AgreedSpec /\ Fair

(* Faults have ended, and left enough. *)
EnoughRun == <>[](Live \in Quorums) \/ <>[](down = {} /\ Showing \in Quorums)

(* After faults stop, every member that runs is trusted and up to date. *)
UpToDate(r) == r \in Trusted /\ Held(r) = Len(log) /\ commit = Len(log)
NoStuckReplica == EnoughRun => <>[](\A r \in Replicas \ down : UpToDate(r))

(* What clients ask is agreed on, and every member that runs has it to apply. *)
PurgeEventuallyApplied ==
    EnoughRun => <>[](\A v \in Asked : AgreedOn(v) /\ \A r \in Replicas \ down : Held(r) = Len(log))
=============================================================================
