------------------------- MODULE SIMResetRecordGroup -------------------------
(* Behaviours of ResetRecordGroup that three replicas can be driven through: of what   *)
(* the specification leaves open, the way in which the implementation does it.     *)
(*                                                                           *)
(*   - a new leader's first op is an empty one (here: a store that has no effect), and   *)
(*     nothing is known to be committed before that is;                           *)
(*   - who is elected gets the vote of one who runs, does not lead, and does not have    *)
(*     a better log; one that has what was dropped keeps it until it is overwritten,     *)
(*     and does not purge before;                                               *)
(*   - a leader hears of those who run; what is committed is heard from one that leads;  *)
(*   - who boots comes to where it was by what a leader tells it;                   *)
(*   - who lets an election pass and applies nothing is not elected.                *)
(* And so that something happens: at most two ops wait for their commit, and three for   *)
(* a replica that runs; no two reads follow each other; crashes wait for ops, and for    *)
(* a majority to run.                                                         *)
EXTENDS MCResetRecordGroup

VARIABLES
    first,   \* the first op of the leader's term
    stale,   \* replicas whose journal goes on with what was dropped
    still    \* per replica: elections since it applied an op

SimInit ==
    /\ Init
    /\ leader = r1
    /\ first = 0
    /\ stale = {}
    /\ still = [r \in Replicas |-> 0]

Empty == [k |-> "store", id |-> 0, era |-> 0, o |-> 1000, ids |-> {}]

(* The first op of a leader. *)
ProposeEmpty ==
    /\ Leads(leader)
    /\ Len(log) < first
    /\ Journaled(Empty)
    /\ last' = [a |-> "Propose", k |-> "other"]
    /\ UNCHANGED <<progress, ghosts>>

Follows == Up \ {leader}

Electable(r) ==
    /\ still[r] = 0
    /\ r \notin stale
    /\ \E q \in Follows \ {r} : rep[q].held <= rep[r].held /\ (q \in stale => rep[r].held >= first)

Drivable ==
    LET a == last'.a IN
    /\ Len(log) < first => a = "Propose" /\ last'.k = "other"
    /\ a \in {"Propose", "StoreProgress"} =>
        \/ Len(log) < first
        \/ Len(log) - commit < 2 /\ \A r \in Up : commit - rep[r].applied < 3
    /\ a = "Commit" => \E q \in Follows \ stale : rep[q].held > commit
    /\ a = "Apply" => rep[leader].up /\ commit >= first
    /\ a = "PurgeLocally" => last'.r \notin stale
    /\ a = "Answer" => last.a # "Answer"
    /\ a \in {"ProcessCrash", "PowerLoss"} => Up = Replicas /\ Len(log) > 2 * ghost_down
    /\ a = "RequestPurge" => Len(log) > 2 * intent
    /\ a = "BecomeLeader" => Electable(last'.r)
    /\ a = "Boot" => last'.r # leader /\ rep[leader].up /\ commit >= first

(* What an implementation is asked for, and has to show. *)
SimShown == [log |-> log, commit |-> commit, leader |-> leader, intent |-> intent, rep |-> rep, first |-> first, stale |-> stale, bare |-> Bare]

(* Whoever reads behaviours off has this print each state that is gone on from.      *)
Taken == TRUE

(* How many lots a step has when the next one is drawn. A model that draws puts DrawnLots    *)
(* here: clients go on, logs grow, what is purged is not often empty, and who stops leaves    *)
(* a group that goes on.                                                        *)
Lots == 1

(* What a model with transfers puts here: who leads anew can bring r its first op.      *)
Reaches(r) == TRUE

GoesOn ==
    IF rep'[leader].up THEN commit >= first \/ \E r \in Follows : rep'[r].up /\ Reaches(r)
    ELSE /\ \A r \in Follows : rep'[r].up
         /\ \E r \in Follows : MayLead(r) /\ Electable(r) /\ \E q \in Follows \ {r} : Reaches(q)

DrawnLots ==
    LET a == last'.a IN
    CASE a \in {"Receive", "Commit", "Apply"} -> 8
      [] a = "StoreProgress" -> 40
      [] a = "Answer" -> IF progress.o = -1 /\ progress'.o # -1 THEN 20 ELSE 2
      [] a = "Propose" -> IF last'.k = "append" THEN 6 ELSE 1
      [] a = "PurgeLocally" -> IF rep[last'.r].bm.o # -1 THEN 4 ELSE IF rep[last'.r].msgs # <<>> THEN 2 ELSE 1
      [] a = "RequestPurge" -> IF \E r \in Up : rep[r].bm.o # -1 THEN 4 ELSE 1
      [] a = "Boot" -> 4
      [] a \in {"ProcessCrash", "PowerLoss"} -> IF GoesOn THEN 1 ELSE 0
      [] a = "BecomeLeader" -> IF \E r \in Up \ {last'.r} : Reaches(r) THEN 1 ELSE 0
      [] OTHER -> 1

(* What is known of leaders and journals, after a step. *)
Track ==
    LET a == last'.a IN
    /\ first' = IF a = "BecomeLeader" THEN Len(log') + 1 ELSE first
    /\ stale' =
         CASE a = "Receive" -> stale \ {last'.r}
           [] a = "BecomeLeader" -> stale \cup {q \in Replicas : rep[q].held > Len(log')}
           [] OTHER -> stale
    /\ still' =
         [r \in Replicas |->
             CASE a = "BecomeLeader" -> IF r = leader THEN still[r] ELSE still[r] + 1
               [] rep'[r].applied # rep[r].applied \/ rep'[r].up # rep[r].up -> 0
               [] OTHER -> still[r]]

SimNext ==
    /\ Taken
    /\ Next \/ ProposeEmpty
    /\ Drivable
    /\ \E lot \in 1 .. Lots : Track

SimSpec == SimInit /\ [][SimNext]_<<vars, first, stale, still>>

(* What is late shows in what the client of a store is told, so that is executed by who     *)
(* leads before it is by others.                                                *)
Led == last'.a = "Apply" /\ log[rep'[last'.r].applied].k = "store" => last'.r = leader

SimView == <<first, stale, still>>
Followers == Permutations({r2, r3})
=============================================================================
