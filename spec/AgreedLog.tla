------------------------------ MODULE AgreedLog ------------------------------
(* Why a quorum gives what Agreement promises, under the policy `persisted`: a  *)
(* replica acknowledges only what it has synced.                              *)
(*                                                                           *)
(* There is one log, that of the latest leader; held[r] and stable[r] say how     *)
(* much of it r has journaled and synced. Left out, since raft has a specification *)
(* of its own: terms, votes and messages. What a leader change cuts off may come    *)
(* back only as a new proposal.                                               *)
EXTENDS Agreement, FiniteSets

CONSTANTS
    Replicas,
    Values,          \* what may be proposed
    AckBeforeSync,   \* defect switches
    AnyoneLeads

VARIABLES held, stable

vars == <<agreement, held, stable>>

Quorums == {Q \in SUBSET Replicas : 2 * Cardinality(Q) > Cardinality(Replicas)}
Least(a, b) == IF a < b THEN a ELSE b

(* Limits of a model are put here by its MC module. *)
MayAdd == TRUE

(* What r has acknowledged. *)
Acked(r) ==
    \* DEFECT AckBeforeSync: what is journaled counts before it is synced
    IF AckBeforeSync THEN held[r] ELSE stable[r]

AgreedInit ==
    /\ AgreementInit
    /\ held = [r \in Replicas |-> 0]
    /\ stable = [r \in Replicas |-> 0]

(* ACTION ProposeAt
   WHO    a leader, which holds the whole log
   Journals a new op. *)
ProposeAt(r, v) ==
    /\ MayAdd
    /\ held[r] = Len(log)
    /\ AddProposal(v)
    /\ held' = [held EXCEPT ![r] = @ + 1]
    /\ UNCHANGED stable

(* ACTION Receive
   WHO    replica r
   Journals the next op of the log. *)
Receive(r) ==
    /\ held[r] < Len(log)
    /\ held' = [held EXCEPT ![r] = @ + 1]
    /\ UNCHANGED <<agreement, stable>>

(* ACTION SyncJournal
   WHO    replica r
   Makes its journal durable. *)
SyncJournal(r) ==
    /\ stable[r] < held[r]
    /\ stable' = [stable EXCEPT ![r] = held[r]]
    /\ UNCHANGED <<agreement, held>>

(* ACTION CommitBy
   WHO    a leader
   Op n is acknowledged by all of Q. *)
CommitBy(Q, n) ==
    /\ n <= Len(log)
    /\ \A r \in Q : Acked(r) >= n
    /\ CommitNext(n, log[n])
    /\ UNCHANGED <<held, stable>>

(* ACTION LosePower
   WHO    the environment
   Of what r has journaled and not synced, what is above n is gone. *)
LosePower(r, n) ==
    /\ n \in stable[r] .. held[r] - 1
    /\ held' = [held EXCEPT ![r] = n]
    /\ UNCHANGED <<agreement, stable>>

(* ACTION Elect
   WHO    the replicas of Q
   r, which holds as much as any of them, leads; its log is the log. *)
Elect(r, Q) ==
    /\ r \in Q
       \* DEFECT AnyoneLeads: votes do not ask whose log is longer
    /\ AnyoneLeads \/ \A q \in Q : held[q] <= held[r]
    /\ log' = SubSeq(log, 1, held[r])
    /\ held' = [q \in Replicas |-> Least(held[q], held[r])]
    /\ stable' = [q \in Replicas |-> Least(stable[q], held[r])]
    /\ UNCHANGED commit

AgreedNext ==
    \/ \E r \in Replicas, v \in Values : ProposeAt(r, v)
    \/ \E r \in Replicas : Receive(r)
    \/ \E r \in Replicas : SyncJournal(r)
    \/ \E Q \in Quorums : CommitBy(Q, commit + 1)
    \/ \E r \in Replicas : LosePower(r, held[r] - 1)
    \/ \E r \in Replicas, Q \in Quorums : Elect(r, Q)

AgreedSpec == AgreedInit /\ [][AgreedNext]_vars

-----------------------------------------------------------------------------
(* Committed ops are never dropped or replaced within an incarnation. *)
CommittedPrefixSafe ==
    [][ commit <= Len(log') /\ SubSeq(log', 1, commit) = SubSeq(log, 1, commit) ]_vars

(* What was acknowledged survives: a quorum has every committed op synced. *)
AckDurable == \E Q \in Quorums : \A r \in Q : stable[r] >= commit
=============================================================================
