------------------------------ MODULE Agreement ------------------------------
(* What purge needs from consensus, and all that it sees of it: one log, of     *)
(* which the first `commit` ops never change. A leader change may drop any      *)
(* part of the rest; what was dropped may be proposed again and then has        *)
(* another number. A new incarnation may lack committed ops too, unless their     *)
(* policy is `persisted`. AgreedLog shows that a quorum gives this.              *)
EXTENDS Integers, Sequences

VARIABLES log, commit

agreement == <<log, commit>>

AgreementInit ==
    /\ log = <<>>
    /\ commit = 0

(* Ops that are proposed and not committed. *)
Outstanding == {log[n] : n \in commit + 1 .. Len(log)}

AddProposal(o) ==
    /\ log' = Append(log, o)
    /\ UNCHANGED commit

CommitNext(n, o) ==
    /\ n = commit + 1
    /\ n <= Len(log)
    /\ log[n] = o
    /\ commit' = n
    /\ UNCHANGED log

(* The new leader holds `kept` of the ops that are not committed. *)
ChangeLeader(kept) ==
    /\ kept \in 0 .. Len(log) - commit
    /\ log' = SubSeq(log, 1, commit + kept)
    /\ UNCHANGED commit

(* The policy of op o is `persisted`. A model may say otherwise. *)
Persisted(o) == TRUE

(* All that comes to op Floor survives whatever becomes of memories. *)
Floor ==
    LET kept == {n \in 1 .. commit : Persisted(log[n])}
    IN IF kept = {} THEN 0 ELSE CHOOSE n \in kept : \A m \in kept : m <= n

(* A new incarnation goes on from n ops of the log and what follows them in that    *)
(* of one replica, which another leader may have dropped. All of it is committed.  *)
ContinueFrom(n, rest) ==
    /\ n \in Floor .. Len(log)
    /\ log' = SubSeq(log, 1, n) \o rest
    /\ commit' = Len(log')

(* A leader change, and proposals that were dropped before, in one step.           *)
Replace ==
    /\ commit <= Len(log')
    /\ SubSeq(log', 1, commit) = SubSeq(log, 1, commit)
    /\ UNCHANGED commit

AgreementNext ==
    \/ Len(log') > Len(log) /\ AddProposal(log'[Len(log')])
    \/ commit < Len(log) /\ CommitNext(commit + 1, log[commit + 1])
    \/ \E kept \in 0 .. Len(log) - commit : ChangeLeader(kept)

AgreementSpec == AgreementInit /\ [][AgreementNext]_agreement
=============================================================================
