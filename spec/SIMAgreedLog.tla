---------------------------- MODULE SIMAgreedLog ----------------------------
(* Behaviours of AgreedLog that three replicas can be driven through: of what the      *)
(* specification leaves open, the way in which the implementation does it.         *)
(*                                                                           *)
(*   - one replica leads, and proposes; it begins its term with an empty op. Who was      *)
(*     booted hears clients only when that is committed;                             *)
(*   - what must be synced before it is acknowledged is synced before the replica goes     *)
(*     on; a leader that has to sync sends nothing. Nothing else is synced, but what a      *)
(*     vote, a later term or a boot syncs with it;                                  *)
(*   - an op is committed by the leader and others that were brought it in its term;       *)
(*   - who leads does not vote for another one, hears who is elected, and follows;         *)
(*   - a replica rejoins when nothing else is on its way: three ops that no client asked     *)
(*     for take it in, and all have all then.                                     *)
(*                                                                           *)
(* Left out: what a loss of power leaves of a journal that nobody has open is durable then.      *)
(* And who journals an op in the place of a synced one loses power before it syncs     *)
(* that. Then what it dropped is back, which AgreedLog does not say, and nobody was told     *)
(* that it was gone.                                                           *)
(*                                                                           *)
(* And so that something happens: faults come after ops, and leave enough to go on with; one    *)
(* replica at a time does not run; where a loss of power takes what is committed it often does  *)
(* at two; and while one can rejoin clients ask nothing, and nobody else comes to lead.        *)
EXTENDS MCAgreedLog

VARIABLES
    last,      \* the last action
    leader,    \* who leads: a set of at most one
    floor,     \* the first op of its term
    pending,   \* replicas that have to sync before they go on
    due,       \* replicas that synced in a step of another name: SyncJournal says it
    deaf,      \* replicas that have not heard of the present term
    fresh,     \* replicas that were booted, and led nothing to its commit since
    over,      \* replicas that dropped what was synced, and have not synced since
    basis      \* how much of the log is that of incarnations before

sim == <<leader, floor, pending, due, deaf, fresh, over, basis>>

SimInit ==
    /\ AgreedInit
    /\ last = [a |-> "Init"]
    /\ leader = {r1}
    /\ floor = 0
    /\ pending = {}
    /\ due = {}
    /\ deaf = {}
    /\ fresh = {}
    /\ over = {}
    /\ basis = 0

(* The empty op promises nothing. Where all must be synced, that must, too. *)
SimPersisted(o) == o.v = "persisted" \/ "replicated" \notin Values

MustSync(v) == Persisted([v |-> v, t |-> 0])

(* The leader has to begin its term. *)
Owed == Len(log) < floor

(* In counterexamples: what an election carried over comes with the first op of the term.    *)
Carried(r) ==
    /\ AckCarried
    /\ r \in Live
    /\ Held(r) + 2 <= Len(log)
    /\ log[Held(r) + 1].t < term
    /\ Journaled(r, Held(r) + 2)

Step ==
    \/ \E r \in Replicas, v \in Values \cup {"empty"} : ProposeAt(r, v) /\ last' = [a |-> "ProposeAt", r |-> r, v |-> v, n |-> Len(log')]
    \/ \E r \in Replicas : Receive(r) /\ last' = [a |-> "Receive", r |-> r, n |-> Len(journal'[r])]
    \/ \E r \in Replicas : Carried(r) /\ last' = [a |-> "Receive", r |-> r, n |-> Len(journal'[r])]
    \/ \E r \in Replicas : SyncJournal(r) /\ last' = [a |-> "SyncJournal", r |-> r]
    \/ \E Q \in Quorums : CommitBy(Q, commit + 1) /\ last' = [a |-> "CommitBy", by |-> Q, n |-> commit']
    \/ \E r \in Replicas, k \in 0 .. MaxForgotten :
          LosePower(r, Len(journal[r]) - k) /\ last' = [a |-> "LosePower", r |-> r, n |-> Len(journal'[r])]
    \/ \E r \in Replicas : ReplaceDisk(r) /\ last' = [a |-> "ReplaceDisk", r |-> r]
    \/ \E r \in Replicas : Stop(r) /\ last' = [a |-> "Stop", r |-> r]
    \/ \E r \in Replicas : Return(r) /\ last' = [a |-> "Return", r |-> r]
    \/ \E r \in Replicas : Rejoin(r) /\ last' = [a |-> "Rejoin", r |-> r]
    \/ \E r \in Replicas, Q \in Quorums : Elect(r, Q) /\ last' = [a |-> "Elect", r |-> r, by |-> Q]
    \/ \E r \in Replicas : NewIncarnation(journal[r]) /\ last' = [a |-> "NewIncarnation"]
    \/ \E j \in old : NewIncarnation(j) /\ last' = [a |-> "NewIncarnation"]

SimMayLose(r) == MCMayLose(r) /\ (ghost_losses < Len(log) \/ last.a = "LosePower")

(* A replica can rejoin when all else has come to rest. *)
Wanted == Live \in Quorums /\ \E r \in Replicas \ down : IsSuspect(r)

(* A replica lost power and what was committed with it, and another one can. *)
Twice ==
    /\ last.a = "LosePower"
    /\ last.n < commit
    /\ Volatile
    /\ inc < MaxInc
    /\ \E r \in Live \ over : SimMayLose(r) /\ stable[r] < Len(journal[r])

Drivable ==
    LET a == last'.a IN
    /\ due # {} => a = "SyncJournal" /\ last'.r \in due
    /\ due = {} /\ Owed => (a = "ProposeAt" /\ last'.v = "empty") \/ a \in {"LosePower", "ReplaceDisk", "Stop"}
    /\ a = "ProposeAt" =>
        /\ last'.r \in leader \ pending
        /\ IF last'.v = "empty" THEN Owed ELSE ~Wanted /\ (last'.r \in fresh => commit >= floor)
    /\ a = "Receive" =>
        /\ leader # {}
        /\ pending \cap (leader \cup {last'.r}) = {}
        /\ last'.r \in deaf => stable[last'.r] = Len(journal[last'.r])
    /\ a = "SyncJournal" => last'.r \in due \cup pending \/ (last'.r \in deaf \cap Live /\ leader # {} /\ leader \cap pending = {})
    /\ a = "CommitBy" =>
        /\ leader # {}
        /\ leader \subseteq last'.by
        /\ last'.by \cap (deaf \cup IF AckBeforeSync \/ AckCarried THEN leader \cap pending ELSE pending) = {}
    /\ a = "LosePower" => last'.r \notin over /\ (last'.r \in down => last'.n = stable[last'.r])
    /\ a = "ReplaceDisk" => (inc = 1 \/ Live \ {last'.r} # {}) /\ (FewShown \/ Showing \ {last'.r} \in Quorums)
    /\ a \in {"LosePower", "ReplaceDisk"} /\ inc = MaxInc => Trusted \ {last'.r} \in Quorums
    /\ a = "Rejoin" =>
        /\ leader # {}
        /\ commit = Len(log)
        /\ pending = {}
        /\ \A r \in Live : journal[r] = log
    /\ a = "Elect" => leader = {} \/ (leader \cap last'.by = {} /\ ~Wanted /\ (commit >= floor \/ Len(log) > floor))
    /\ a = "Stop" => down = {}
    /\ Twice => a \in {"LosePower", "Elect"}

Track ==
    LET a == last'.a
        unsynced == {r \in Replicas : stable'[r] < Len(journal'[r])}
    IN
    /\ leader' =
         CASE a = "Elect" -> {last'.r}
           [] a \in {"LosePower", "ReplaceDisk", "Stop"} -> leader \ {last'.r}
           [] a = "NewIncarnation" -> {}
           [] OTHER -> leader
    /\ floor' = IF a = "Elect" THEN Len(log') + 1 ELSE IF a = "NewIncarnation" THEN 0 ELSE floor
    /\ pending' =
         CASE a = "ProposeAt" /\ MustSync(last'.v) -> pending \cup {last'.r}
           [] a = "Receive" /\ (\E n \in Held(last'.r) + 1 .. last'.n : MustSync(log[n].v)) -> pending \cup {last'.r}
           [] a \in {"SyncJournal", "LosePower", "ReplaceDisk", "Stop"} -> pending \ {last'.r}
           [] a = "Elect" -> pending \ (last'.by \cup leader)
           [] a = "NewIncarnation" -> {}
           [] OTHER -> pending
    /\ due' =
         CASE a = "Elect" -> (last'.by \cup leader) \cap unsynced
           [] a = "LosePower" -> {last'.r} \cap unsynced \cap Trusted'
           [] a = "Return" -> {last'.r} \cap unsynced \cap Trusted
           [] a = "Rejoin" -> unsynced
           [] a = "SyncJournal" -> due \ {last'.r}
           [] OTHER -> due
    /\ deaf' =
         CASE a = "Elect" -> Replicas \ (last'.by \cup leader)
           [] a = "Receive" \/ (a = "SyncJournal" /\ due = {} /\ last'.r \notin pending) -> deaf \ {last'.r}
           [] a \in {"Rejoin", "NewIncarnation"} -> {}
           [] OTHER -> deaf
    /\ fresh' =
         CASE a \in {"LosePower", "ReplaceDisk", "Return"} -> fresh \cup {last'.r}
           [] a = "NewIncarnation" -> Replicas
           [] a = "CommitBy" /\ last'.n >= floor -> fresh \ leader
           [] OTHER -> fresh
    /\ over' = (over \cup IF a = "Receive" /\ stable'[last'.r] < stable[last'.r] THEN {last'.r} ELSE {}) \cap unsynced
    /\ basis' = IF a = "NewIncarnation" THEN Len(log') ELSE basis

(* Of behaviours of models with a defect: who goes on acknowledging has forgotten something; *)
(* and power fails where something was committed that is not durable.                       *)
Led ==
    /\ SuspectAcks /\ last'.a = "LosePower" => last'.n < Acked(last'.r)
    /\ AckCarried => /\ last'.a \notin {"ReplaceDisk", "Rejoin", "NewIncarnation"}
                     /\ last'.a = "LosePower" => commit > 0
                     /\ last'.a = "CommitBy" => last'.by \cap {r \in pending : stable[r] < Len(journal[r])} # {}

(* What was acknowledged too soon shows when power fails. *)
LedDurable ==
    IF AckCarried THEN last'.a = "LosePower" => \A m \in last'.n + 1 .. Least(commit, Acked(last'.r)) : ~Persisted(log[m])
    ELSE Durable

LedAckDurable == [][LedDurable]_vars

(* Whoever reads behaviours off has this print each state that is gone on from.      *)
Taken == TRUE

SimNext == Taken /\ Step /\ Drivable /\ Track

SimSpec == SimInit /\ [][SimNext]_<<vars, last, sim>>

(* What an implementation is asked for, and has to show. *)
SimShown ==
    [journal |-> journal, stable |-> stable, log |-> log, commit |-> commit, suspect |-> suspect, down |-> down, inc |-> inc,
     leader |-> leader, floor |-> floor, due |-> due, basis |-> basis, acked |-> [r \in Replicas |-> Acked(r)],
     persisted |-> [messages |-> "replicated" \notin Values, bookmarks |-> "persisted" \in Values]]

(* What tells states apart, of behaviours of models with a defect. *)
View    == vars
SimView == sim

Followers == Permutations({r2, r3})
=============================================================================
