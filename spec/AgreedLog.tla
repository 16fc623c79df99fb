------------------------------ MODULE AgreedLog ------------------------------
(* Why a quorum gives what Agreement promises, under both policies: a replica     *)
(* acknowledges an op once it is journaled (`replicated`) or synced (`persisted`),  *)
(* and one that may have forgotten what it acknowledged is suspect, and neither      *)
(* votes nor acknowledges until it is a new member that was told everything.         *)
(*                                                                           *)
(* log is that of the latest leader; journal[r] is what r has written, of which        *)
(* the first stable[r] entries are synced. An entry is [v, t]: an op and the term in    *)
(* which it was proposed. Left out, since raft has a specification of its own:          *)
(* votes and messages. What a leader change cuts off may come back only as a new        *)
(* proposal, or at the end of a journal from which a new incarnation goes on. What      *)
(* comes through when faults have ended is said in Recovery. Made atomic: all replicas   *)
(* get the log with which an incarnation begins in one step. Replicas copy it one by      *)
(* one, keep what they had until then, and commit nothing before a majority has it; if     *)
(* the only copy is lost first, the choice is made again, from what the others had: as if   *)
(* this step came later, without that disk. And an acknowledgement is counted when it is     *)
(* given. One that is on its way when its replica forgets is counted all the same, and does   *)
(* no harm: that member never votes again, so whatever quorum elects a leader has one in it    *)
(* that acknowledged and did not forget; and what it synced, its disk shows.                *)
EXTENDS Agreement, FiniteSets

CONSTANTS
    Replicas,
    Values,          \* what may be proposed
    AckBeforeSync,   \* defect switches
    AckCarried,
    AnyoneLeads,
    SuspectVotes,
    SuspectAcks,
    CommitClamped,
    TwoIncarnations

VARIABLES
    journal, stable,
    suspect,       \* per replica: -1, or how much it may have acknowledged, or Gone
    down,          \* replicas that do not run
    term,          \* of the latest leader
    inc,           \* incarnations begun
    old,           \* journals of the one before; only a defect still looks at them
    ghost_losses   \* number of power losses, of disks that were lost and of stops

vars == <<agreement, journal, stable, suspect, down, term, inc, old, ghost_losses>>

Quorums == {Q \in SUBSET Replicas : 2 * Cardinality(Q) > Cardinality(Replicas)}
Least(a, b) == IF a < b THEN a ELSE b

(* Limits of a model are put here by its MC module. *)
MayAdd(v)     == TRUE
MayElect      == TRUE
MayLose(r)    == TRUE
MayReplace(r) == TRUE
MayStop(r)    == FALSE   \* whoever is down takes no step, which only liveness can tell
MayBegin      == TRUE
MaxForgotten == 2   \* ops that a power loss takes

(* Defect switches that a model may turn on. *)
SuspectsUnheard == FALSE
FewShown        == FALSE

(* Of a suspect whose disk is gone: it has nothing to show. *)
Gone == -2

(* Whether some op may be acknowledged before it is synced. *)
Volatile == \E v \in Values : ~Persisted([v |-> v, t |-> 0])

(* How much of the log r holds, from its beginning. *)
Held(r) ==
    LET same == {n \in 0 .. Least(Len(log), Len(journal[r])) : SubSeq(journal[r], 1, n) = SubSeq(log, 1, n)}
    IN CHOOSE n \in same : \A m \in same : m <= n

IsSuspect(r) == suspect[r] # -1
Showing == {r \in Replicas : suspect[r] # Gone}
Trusted == {r \in Replicas : ~IsSuspect(r)}
Live    == Trusted \ down

(* r may be the latest leader. *)
Leads(r) == r \in Live /\ journal[r] = log

(* r holds op n unsynced, and may acknowledge it all the same. *)
Early(n) ==
    \/ ~Persisted(log[n])
       \* DEFECT AckBeforeSync: what is journaled counts before it is synced
    \/ AckBeforeSync
       \* DEFECT AckCarried: so does what an election carried over
    \/ AckCarried /\ log[n].t < term

(* What r has acknowledged: everything up to the first op that it has to sync. *)
Acked(r) ==
    \* DEFECT SuspectAcks: what it acknowledged before it forgot counts
    IF IsSuspect(r) THEN IF SuspectAcks THEN Least(suspect[r], Len(log)) ELSE 0
    ELSE LET late == {n \in stable[r] + 1 .. Held(r) : ~Early(n)}
         IN IF late = {} THEN Held(r) ELSE (CHOOSE n \in late : \A m \in late : n <= m) - 1

AgreedInit ==
    /\ AgreementInit
    /\ journal = [r \in Replicas |-> <<>>]
    /\ stable = [r \in Replicas |-> 0]
    /\ suspect = [r \in Replicas |-> -1]
    /\ down = {}
    /\ term = 1
    /\ inc = 1
    /\ old = {}
    /\ ghost_losses = 0

(* ACTION ProposeAt
   WHO    a leader, which holds the whole log
   Journals a new op. *)
ProposeAt(r, v) ==
    /\ MayAdd(v)
    /\ Leads(r)
    /\ AddProposal([v |-> v, t |-> term])
    /\ journal' = [journal EXCEPT ![r] = log']
    /\ UNCHANGED <<stable, suspect, down, term, inc, old, ghost_losses>>

(* r has the log up to op n, in place of what it had there. *)
Journaled(r, n) ==
    /\ journal' = [journal EXCEPT ![r] = SubSeq(log, 1, n)]
    /\ stable' = [stable EXCEPT ![r] = Least(@, Held(r))]
    /\ UNCHANGED <<agreement, suspect, down, term, inc, old, ghost_losses>>

(* ACTION Receive
   WHO    replica r, and a leader
   Journals the next op of the log. *)
Receive(r) ==
    /\ r \in Live
    /\ \E q \in Replicas : Leads(q)
    /\ Held(r) < Len(log)
    /\ Journaled(r, Held(r) + 1)

(* ACTION SyncJournal
   WHO    replica r
   Makes its journal durable. *)
SyncJournal(r) ==
    /\ r \notin down
    /\ stable[r] < Len(journal[r])
    /\ stable' = [stable EXCEPT ![r] = Len(journal[r])]
    /\ UNCHANGED <<agreement, journal, suspect, down, term, inc, old, ghost_losses>>

(* ACTION CommitBy
   WHO    a leader
   Op n is acknowledged by all of Q, and so is one of the leader's own term. *)
CommitBy(Q, n) ==
    /\ n <= Len(log)
    /\ \E r \in Replicas : Leads(r)
    /\ \E m \in n .. Len(log) : log[m].t = term /\ \A r \in Q : Acked(r) >= m
    /\ CommitNext(n, log[n])
    /\ UNCHANGED <<journal, stable, suspect, down, term, inc, old, ghost_losses>>

Forgets(r, n) ==
    /\ journal' = [journal EXCEPT ![r] = SubSeq(@, 1, n)]
    /\ stable' = [stable EXCEPT ![r] = Least(@, n)]
    /\ ghost_losses' = ghost_losses + 1
    /\ UNCHANGED <<agreement, down, term, inc, old>>

(* Only the defect asks how much. *)
Suspected(r) == [suspect EXCEPT ![r] = IF SuspectAcks THEN Acked(r) ELSE 0]

(* ACTION LosePower
   WHO    the environment
   Of what r has journaled and not synced, what is above n is gone. If it may have
   acknowledged that, it is suspect. *)
LosePower(r, n) ==
    /\ MayLose(r)
    /\ r \in Trusted
    /\ n \in stable[r] .. Len(journal[r])
    /\ Forgets(r, n)
       \* DEFECT CommitClamped: it trusts what it still has
    /\ suspect' = IF Volatile /\ ~CommitClamped THEN Suspected(r) ELSE suspect

(* ACTION ReplaceDisk
   WHO    an operator, or rot
   All of r's journal is gone. *)
ReplaceDisk(r) ==
    /\ MayReplace(r)
    /\ r \in Showing
    /\ Forgets(r, 0)
    /\ suspect' = [suspect EXCEPT ![r] = Gone]

(* ACTION Stop
   WHO    the environment
   r does not run, perhaps for ever. *)
Stop(r) ==
    /\ MayStop(r)
    /\ r \notin down
    /\ down' = down \cup {r}
    /\ ghost_losses' = ghost_losses + 1
    /\ UNCHANGED <<agreement, journal, stable, suspect, term, inc, old>>

(* ACTION Return
   WHO    the environment
   r runs again, with the journal that it has. *)
Return(r) ==
    /\ r \in down
    /\ down' = down \ {r}
    /\ UNCHANGED <<agreement, journal, stable, suspect, term, inc, old, ghost_losses>>

(* ACTION Rejoin
   WHO    replica r, and the trusted members, a quorum of which runs
   Comes back as a new member that was told all that is committed. *)
Rejoin(r) ==
    /\ IsSuspect(r)
    /\ r \notin down
    /\ Live \in Quorums
    /\ journal' = [journal EXCEPT ![r] = SubSeq(log, 1, commit)]
    /\ stable' = [stable EXCEPT ![r] = Floor]
    /\ suspect' = [suspect EXCEPT ![r] = -1]
    /\ UNCHANGED <<agreement, down, term, inc, old, ghost_losses>>

LastTerm(j) == IF j = <<>> THEN 0 ELSE j[Len(j)].t

(* Journal a is at least as good as b. *)
AtLeast(a, b) ==
    \/ LastTerm(a) > LastTerm(b)
    \/ LastTerm(a) = LastTerm(b) /\ Len(a) >= Len(b)

(* ACTION Elect
   WHO    the replicas of Q
   r, whose journal is as good as that of any of them, leads; it is the log. *)
Elect(r, Q) ==
    /\ MayElect
    /\ r \in Q
    /\ Q \cap down = {}
       \* DEFECT SuspectVotes: under its old identity
    /\ SuspectVotes \/ Q \subseteq Trusted
       \* DEFECT AnyoneLeads: votes do not ask whose journal is better
    /\ AnyoneLeads \/ \A q \in Q : AtLeast(journal[r], journal[q])
    /\ log' = journal[r]
    /\ term' = term + 1
    /\ UNCHANGED <<commit, journal, stable, suspect, down, inc, old, ghost_losses>>

(* ACTION NewIncarnation
   WHO    the metadata plane, when the trusted members are no quorum
   All members have answered, a majority of them with something to show; the best journal
   goes on, with all in it committed. With less to show an operator decides, and then
   anything may be missing: that is left out. *)
NewIncarnation(j) ==
    /\ MayBegin
    /\ down = {}
    /\ \/ /\ Trusted \notin Quorums
          \* DEFECT FewShown: what is left is taken, though what is gone may have been more
          /\ FewShown \/ Showing \in Quorums
          \* DEFECT SuspectsUnheard: what a suspect says that it holds does not count
          /\ ~SuspectsUnheard
          /\ j \in {journal[r] : r \in Replicas}
          /\ \A r \in Replicas : AtLeast(j, journal[r])
       \* DEFECT TwoIncarnations: a second one goes on from the same one before
       \/ TwoIncarnations /\ j \in old
    /\ log' = j
    /\ commit' = Len(j)
    /\ journal' = [r \in Replicas |-> j]
    /\ stable' = [r \in Replicas |-> Len(j)]
    /\ suspect' = [r \in Replicas |-> -1]
    /\ term' = term + 1   \* it begins anew, which nothing can tell
    /\ inc' = inc + 1
    /\ old' = IF TwoIncarnations THEN {journal[r] : r \in Replicas} ELSE {}
    /\ UNCHANGED <<down, ghost_losses>>

AgreedNext ==
    \/ \E r \in Replicas, v \in Values : ProposeAt(r, v)
    \/ \E r \in Replicas : Receive(r)
    \/ \E r \in Replicas : SyncJournal(r)
    \/ \E Q \in Quorums : CommitBy(Q, commit + 1)
    \/ \E r \in Replicas, k \in 0 .. MaxForgotten : LosePower(r, Len(journal[r]) - k)
    \/ \E r \in Replicas : ReplaceDisk(r)
    \/ \E r \in Replicas : Stop(r)
    \/ \E r \in Replicas : Return(r)
    \/ \E r \in Replicas : Rejoin(r)
    \/ \E r \in Replicas, Q \in Quorums : Elect(r, Q)
    \/ \E r \in Replicas : NewIncarnation(journal[r])
    \/ \E j \in old : NewIncarnation(j)

AgreedSpec == AgreedInit /\ [][AgreedNext]_vars

-----------------------------------------------------------------------------
Same(n) == log'[n].v = log[n].v

(* Committed ops are never dropped or replaced within an incarnation. *)
CommittedPrefixSafe ==
    [][ inc' = inc => commit <= Len(log') /\ \A n \in 1 .. commit : Same(n) ]_vars

(* r has op n, and everything before it, as the policies of these ops promise. *)
Promised(r, n) ==
    /\ r \in Trusted
    /\ Held(r) >= n
    /\ \A m \in 1 .. n : Persisted(log[m]) => stable[r] >= m

(* What was acknowledged survives what its policy promises: a committed op is on a    *)
(* quorum none of which may have forgotten something, synced if it is persisted; and   *)
(* of a persisted one, and of what came before it, nothing is missing ever after.      *)
Durable ==
    /\ inc' = inc /\ commit' > commit => \E Q \in Quorums : \A r \in Q : Promised(r, commit')
    /\ Floor <= Len(log')
    /\ \A n \in 1 .. Floor : Same(n)

AckDurable == [][Durable]_vars

(* Agreement says what becomes of its log. *)
RefinesAgreement ==
    /\ AgreementInit
    /\ [][ IF inc' = inc THEN AgreementNext \/ Replace
           ELSE \E n \in Floor .. Len(log) : ContinueFrom(n, SubSeq(log', n + 1, Len(log'))) ]_agreement
=============================================================================
