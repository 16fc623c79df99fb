------------------------------ MODULE Agreement ------------------------------
(* What purge needs from consensus, and all that it sees of it: one log, of     *)
(* which the first `commit` ops never change. A leader change may drop any      *)
(* part of the rest; what was dropped may be proposed again and then has        *)
(* another number. AgreedLog shows that a quorum gives this.                   *)
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

AgreementNext ==
    \/ Len(log') > Len(log) /\ AddProposal(log'[Len(log')])
    \/ commit < Len(log) /\ CommitNext(commit + 1, log[commit + 1])
    \/ \E kept \in 0 .. Len(log) - commit : ChangeLeader(kept)

AgreementSpec == AgreementInit /\ [][AgreementNext]_agreement
=============================================================================
