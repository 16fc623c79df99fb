--------------------------- MODULE SIMOrderedGroup ---------------------------
(* Behaviours of OrderedGroup that three replicas can be driven through: of what      *)
(* the specification leaves open, the way in which the implementation does it.     *)
(*                                                                           *)
(*   - one replica leads, and proposes; a new leader's first op is an empty one,      *)
(*     and nothing is known to be committed before that is;                       *)
(*   - of the log a replica has what it was brought: as little as a commit or an       *)
(*     election needs, but then all that run are brought it;                     *)
(*   - who is elected was brought all that stays, and no more, and gets the vote of    *)
(*     one who runs, does not lead, and does not have a better log. One that has        *)
(*     what was dropped keeps it until it is overwritten;                        *)
(*   - a leader proposes a purge that it was told of once, and when it has settled that   *)
(*     one, or leads anew, the next; of one that it was told of before at once;       *)
(*   - a client is heard by a leader that has applied all that its disk may show;       *)
(*   - who lets an election pass and applies nothing is not elected.                  *)
(* And so that something happens: at most two ops wait for their commit, and three for    *)
(* a replica that runs; no two reads follow each other.                          *)
EXTENDS MCOrderedGroup

VARIABLES
    leader,    \* who leads: a set of at most one
    floor,     \* the first op of its term
    held,      \* per replica: how much its journal holds
    stale,     \* replicas whose journal goes on with what was dropped
    told,      \* per replica: the highest intent that it knows
    proposed,  \* the op by which the leader proposed a purge that it waits for
    top,       \* per replica: the highest op that it ever applied
    still      \* per replica: elections since it applied one

sim == <<leader, floor, held, stale, told, proposed, top, still>>

SimInit ==
    /\ Init
    /\ leader = {r1}
    /\ floor = 0
    /\ held = [r \in Replicas |-> 0]
    /\ stale = {}
    /\ told = [r \in Replicas |-> 0]
    /\ proposed = 0
    /\ top = [r \in Replicas |-> 0]
    /\ still = [r \in Replicas |-> 0]

GroupOps    == {AppendOp(NoSession, 1), StoreOp(k1, 0, 0), CommitOp(k1, 1), DeleteOp(k1), AdvanceOp(-1), OtherOp}
AdvanceOnly == {AppendOp(NoSession, 2), StoreOp(k1, -1, 0), CommitOp(k1, 1), AdvanceOp(-1), AdvanceOp(1), OtherOp}
GroupAsked == MCReads
Nobody == <<>>

Running == {r \in Replicas : rep[r].up}

(* What a model with transfers puts here: replica r lacks ops that are in no log any      *)
(* more, so it cannot be brought what follows; and actions that a leader takes no part in,  *)
(* before which it need not propose what it has to.                                 *)
Lacks(r) == FALSE
Besides  == FALSE

(* What a model in which members come and go puts here: who counts in a majority, that the  *)
(* leader has an op to propose that only takes a number, that it may, and how much of its    *)
(* journal a replica may have after a loss of power.                                  *)
Votes(r)  == TRUE
Owed      == Len(log) < floor
MayNumber == Owed
Left(r)   == {held[r]}

(* The op with which an incarnation begins is materialized: there nothing is done. *)
Begun == last'.a = "Materialize" /\ last'.o.k = "begin"

Applying == {"Materialize", "PurgeComplete", "PurgeDuplicate"}

(* The leader has a purge to propose that it knows, and is not waiting for one. *)
Due == \E r \in leader : told[r] > rep[r].settled /\ proposed = 0

(* r can be elected and have the first n ops. *)
Electable(r, n) ==
    /\ r \notin leader
    /\ Votes(r)
    /\ still[r] = 0
    /\ ~Lacks(r)
    /\ IF leader = {} THEN held[r] = n /\ r \notin stale
       ELSE IF r \in stale THEN n >= floor ELSE held[r] <= n
    /\ \E q \in {x \in Running \ (leader \cup {r}) : Votes(x)} : IF q \in stale THEN n >= floor ELSE held[q] <= n
    /\ told[r] > rep[r].settled =>
        /\ told[r] = intent
        /\ PurgeOp(intent) \notin {log[m] : m \in commit + 1 .. n}

Drivable ==
    LET a == last'.a IN
    /\ Owed => (a = "Propose" /\ last'.o = OtherOp) \/ Besides
    /\ (~Owed /\ Due) => a = "Reconcile" \/ Besides
    /\ a = "Reconcile" => last'.r \in leader /\ proposed = 0
    /\ a = "Answer" => last.a # "Answer"
    /\ a = "Propose" =>
        \/ last'.o = OtherOp
        \/ Len(log) - commit < 2 /\ \A r \in Running : commit - rep[r].applied < 3 \/ Lacks(r)
    /\ a = "Propose" =>
        \E r \in leader : IF last'.o = OtherOp THEN MayNumber ELSE rep[r].applied >= top[r]
    /\ a = "Commit" =>
        /\ leader # {}
        /\ \E q \in Running \ leader : Votes(q) /\ ~Lacks(q) /\ (q \notin stale \/ last'.n >= floor)
    /\ a = "BecomeLeader" => Electable(last'.r, Len(log'))
    /\ a \in Applying => leader # {} /\ commit >= floor

(* Brought up to op n, unless it has what was dropped and that is not overwritten. *)
Brought(r, n) ==
    IF ~rep[r].up \/ r \in leader \/ Lacks(r) THEN held[r]
    ELSE IF r \in stale THEN IF n >= floor THEN n ELSE held[r]
    ELSE Max(held[r], n)

(* What an implementation is asked for, and has to show. *)
SimShown == [log |-> log, commit |-> commit, intent |-> intent, rep |-> rep, leader |-> leader, floor |-> floor, due |-> Due]

(* Whoever leads, and what journals hold, after a step. *)
Track ==
    LET a == last'.a IN
    /\ leader' =
         CASE a = "BecomeLeader" -> {last'.r}
           [] a \in {"ProcessCrash", "PowerLoss"} -> leader \ {last'.r}
           [] OTHER -> leader
    /\ floor' = IF a = "BecomeLeader" THEN Len(log') + 1 ELSE floor
    /\ held' \in
         CASE a \in {"Propose", "Reconcile"} -> {[r \in Replicas |-> IF r \in leader THEN Len(log') ELSE held[r]]}
           [] a = "Commit" -> {[r \in Replicas |-> Brought(r, last'.n)]}
           [] a = "BecomeLeader" -> {[held EXCEPT ![last'.r] = Len(log')]}
           [] a \in Applying -> {[held EXCEPT ![last'.r] = Brought(last'.r, last'.n)]}
           [] a = "PowerLoss" -> {[held EXCEPT ![last'.r] = n] : n \in Left(last'.r)}
           [] a = "CommitInstall" -> {[held EXCEPT ![last'.r] = last'.n]}
           [] OTHER -> {held}
    /\ stale' =
         CASE a = "Commit" /\ last'.n >= floor -> {r \in stale : r \notin Running \/ Lacks(r)}
           [] a \in Applying /\ last'.n >= floor -> stale \ {last'.r}
           [] a = "BecomeLeader" -> (stale \cup {r \in Replicas : held[r] > Len(log')}) \ {last'.r}
           [] a = "CommitInstall" -> stale \ {last'.r}
           [] OTHER -> stale
    /\ told' =
         CASE a = "Reconcile" -> [told EXCEPT ![last'.r] = last'.g]
           [] a \in {"ProcessCrash", "PowerLoss"} -> [told EXCEPT ![last'.r] = 0]
           [] OTHER -> told
    /\ proposed' =
         CASE a = "Reconcile" -> Len(log')
           [] a \in {"PurgeComplete", "PurgeDuplicate"} /\ last'.r \in leader /\ last'.n = proposed -> 0
           [] leader' # leader -> 0
           [] OTHER -> proposed
    /\ top' = [r \in Replicas |-> Max(top[r], rep'[r].applied)]
    /\ still' =
         [r \in Replicas |->
             CASE a = "BecomeLeader" -> IF r \in leader THEN still[r] ELSE still[r] + 1
               [] rep'[r] # rep[r] /\ ~Begun -> 0
               [] OTHER -> still[r]]

(* How many lots a step has when the next one is drawn. A model that draws puts DrawnLots     *)
(* here: logs grow and are applied, and what is purged is not often empty.                  *)
Lots == 1

Holding(r) == rep[r].end > rep[r].start
Marking(r) == \E k \in Keys : rep[r].bm[k].o # -1

DrawnLots ==
    LET a == last'.a IN
    CASE a = "Commit" -> 16
      [] a \in Applying -> 8
      [] a = "Reconcile" -> IF \E r \in Replicas : Marking(r) THEN 16 ELSE 4
      [] a = "Propose" ->
            CASE last'.o.k = "append" -> 6
              [] last'.o.k \in {"commit", "store"} -> IF \E r \in Replicas : Holding(r) THEN 6 ELSE 1
              [] OTHER -> 1
      [] a = "RequestPurge" -> IF \E r \in Replicas : Marking(r) THEN 4 ELSE 1
      [] a = "Boot" -> 4
      [] OTHER -> 1

SimStep ==
    /\ \/ Next
       \/ \E r \in Replicas : BecomeLeader(r, Len(log) - commit)
       \/ \E r \in Replicas : BecomeLeader(r, held[r] - commit)
    /\ Drivable
    /\ \E lot \in 1 .. Lots : Track

(* Whoever reads behaviours off has this print each state that is gone on from.      *)
Taken == TRUE

SimNext == Taken /\ SimStep

SimSpec == SimInit /\ [][SimNext]_<<vars, sim>>
SimView == sim

(* Of behaviours of models with a defect: clients ask who leads, when another one has     *)
(* applied more, so that they may know of it.                                       *)
LedOps    == {AppendOp(c1, 1), CommitOp(k1, 1), OtherOp}
LedReads  == IF StaleRead THEN MCReads ELSE {}
Led       == last'.a = "Answer" => last'.r \in leader /\ \E q \in Replicas : rep[q].applied > rep[last'.r].applied
Followers == Permutations({r2, r3})
=============================================================================
