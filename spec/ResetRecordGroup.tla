--------------------------- MODULE ResetRecordGroup ---------------------------
(* The design reset-record on several replicas that agree on their log: all that   *)
(* it takes to see what the design cannot give. A replica learns the intent when   *)
(* it does and takes the end of its own journal for the floor, so floors differ     *)
(* whenever journals do, without any crash, loss or retry.                        *)
(*                                                                           *)
(* The steps of a purge are folded into one (see ResetRecord), ops are appends of    *)
(* one message, and the leader's journal is the log.                              *)
EXTENDS Integers, Sequences, FiniteSets

CONSTANT Replicas

VARIABLES
    log,      \* ops that the leader proposed
    commit,   \* how many of them a majority has journaled
    intent,   \* highest generation on the metadata plane
    rep,      \* per replica [held, applied, gen, floor, msgs]
    last

vars == <<log, commit, intent, rep, last>>

(* Limits of a model are put here by its MC module. *)
MayPropose == TRUE
MayAsk(g)  == TRUE

Init ==
    /\ log = 0
    /\ commit = 0
    /\ intent = 0
    /\ rep = [r \in Replicas |-> [held |-> 0, applied |-> 0, gen |-> 0, floor |-> 0, msgs |-> <<>>]]
    /\ last = [a |-> "Init"]

(* ACTION Propose
   WHO    the leader
   One more append is in the log. *)
Propose ==
    /\ MayPropose
    /\ log' = log + 1
    /\ last' = [a |-> "Propose"]
    /\ UNCHANGED <<commit, intent, rep>>

(* ACTION Receive
   WHO    replica r
   Journals the next op. *)
Receive(r) ==
    /\ rep[r].held < log
    /\ rep' = [rep EXCEPT ![r].held = @ + 1]
    /\ last' = [a |-> "Receive", r |-> r]
    /\ UNCHANGED <<log, commit, intent>>

(* ACTION Commit
   WHO    the group
   A majority has journaled one more op. *)
Commit ==
    /\ commit < log
    /\ 2 * Cardinality({r \in Replicas : rep[r].held > commit}) > Cardinality(Replicas)
    /\ commit' = commit + 1
    /\ last' = [a |-> "Commit"]
    /\ UNCHANGED <<log, intent, rep>>

(* ACTION RequestPurge
   WHO    a client
   Intent g is committed on the metadata plane, and acknowledged. *)
RequestPurge(g) ==
    /\ g > intent
    /\ MayAsk(g)
    /\ intent' = g
    /\ last' = [a |-> "RequestPurge", g |-> g]
    /\ UNCHANGED <<log, commit, rep>>

(* ACTION Apply
   WHO    replica r
   Applies the next committed op; one at or below the floor is filtered. *)
Apply(r) ==
    /\ rep[r].applied < commit
    /\ rep[r].applied < rep[r].held
    /\ LET n == rep[r].applied + 1
       IN rep' = [rep EXCEPT ![r].applied = n,
                             ![r].msgs = IF n <= rep[r].floor THEN @ ELSE Append(@, n)]
    /\ last' = [a |-> "Apply", r |-> r]
    /\ UNCHANGED <<log, commit, intent>>

(* ACTION PurgeLocally
   WHO    replica r
   Learns intent g and purges; its floor is the highest op that it has journaled. *)
PurgeLocally(r, g) ==
    /\ g = intent
    /\ g > rep[r].gen
    /\ rep' = [rep EXCEPT ![r].gen = g, ![r].floor = rep[r].held, ![r].msgs = <<>>]
    /\ last' = [a |-> "PurgeLocally", r |-> r, g |-> g]
    /\ UNCHANGED <<log, commit, intent>>

Next ==
    \/ Propose
    \/ \E r \in Replicas : Receive(r)
    \/ Commit
    \/ RequestPurge(intent + 1)
    \/ \E r \in Replicas : Apply(r)
    \/ \E r \in Replicas : PurgeLocally(r, intent)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
(* What it keeps. *)

(* The applied generation never exceeds the committed one. *)
GenerationMonotone == \A r \in Replicas : rep[r].gen <= intent

(* A replica shows no message of ops at or below its own floor, and all above it. *)
NoResurrectedMessage ==
    \A r \in Replicas : \A i \in DOMAIN rep[r].msgs : rep[r].msgs[i] > rep[r].floor

NoHiddenFresh ==
    \A r \in Replicas : \A n \in rep[r].floor + 1 .. rep[r].applied :
        \E i \in DOMAIN rep[r].msgs : rep[r].msgs[i] = n

(* What it cannot give. *)

(* For each generation all replicas discard the same ops. *)
BoundaryAgreement ==
    \A r, s \in Replicas : rep[r].gen = rep[s].gen => rep[r].floor = rep[s].floor

(* One payload per position, ever. *)
OffsetUnique ==
    \A r, s \in Replicas : rep[r].gen = rep[s].gen =>
        \A i \in DOMAIN rep[r].msgs \cap DOMAIN rep[s].msgs : rep[r].msgs[i] = rep[s].msgs[i]
=============================================================================
