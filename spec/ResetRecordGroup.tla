--------------------------- MODULE ResetRecordGroup ---------------------------
(* The design reset-record on several replicas that agree on their log: all that   *)
(* it takes to see what the design cannot give. A replica learns the intent when   *)
(* it does and takes the end of its own journal for the floor, so floors differ     *)
(* whenever journals do, without any crash, loss or retry.                        *)
(*                                                                           *)
(* There is one log, that of the latest leader (see AgreedLog); clients ask the       *)
(* replica that leads. One of them reads, and may store how far it has come at any    *)
(* later time: as a position with its generation or, Bare, as a mere offset.         *)
(*                                                                           *)
(* Made atomic: the steps of a purge and of a boot, for ResetRecord shows that a       *)
(* crash between them leaves a replica as it was, or purged. So one that has booted    *)
(* is where it was before. A retry that finds the reset done changes nothing, and is   *)
(* no step here. Under the policy `replicated` only the loss of all journals at once   *)
(* is here (BeginSequence): then op numbers begin anew in the same incarnation.       *)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
    Replicas,
    Ops,         \* what clients propose besides stores: "append", "advance"
    Bare,        \* positions are mere offsets
    KeepFloor    \* variant: a floor of an op sequence that was lost is kept

VARIABLES
    log,         \* ops that the leader journaled: [k, id, era, o, ids]
    commit,      \* how many of them a majority has journaled
    leader,
    intent,      \* highest generation on the metadata plane
    rep,         \* per replica: see Blank
    progress,    \* how far the consumer has read: [era, o, ids]; o = -1: nowhere
    last,
    ghost_made,  \* appends ever proposed: each message has a number of its own
    ghost_told,  \* what clients know: message id is at offset o of generation g
    ghost_seen,  \* highest generation that was answered, and its bounds
    ghost_seqs,  \* op sequences that began anew
    ghost_down,  \* crashes
    ghost_terms  \* leaders after the first

store  == <<log, commit, leader, intent, rep, progress>>
ghosts == <<ghost_made, ghost_told, ghost_seen, ghost_seqs, ghost_down, ghost_terms>>
vars   == <<store, last, ghosts>>

Nowhere == [era |-> 0, o |-> -1, ids |-> {}]

(* msgs are the messages of the generation from offset 0, start hides some of them;   *)
(* old is the generation before with its end: ops at or below the floor count there.  *)
Blank == [up |-> TRUE, held |-> 0, applied |-> 0, gen |-> 0, floor |-> 0,
          msgs |-> <<>>, start |-> 0, bm |-> Nowhere, old |-> [g |-> 0, end |-> 0]]

(* Limits of a model are put here by its MC module. *)
MayPropose(k)   == TRUE
MayAsk(g)       == TRUE
MayLead(r)      == TRUE
MayCrash(S)     == TRUE
MayLosePower(S) == TRUE
MayBegin        == TRUE

Init ==
    /\ log = <<>>
    /\ commit = 0
    /\ leader \in Replicas
    /\ intent = 0
    /\ rep = [r \in Replicas |-> Blank]
    /\ progress = Nowhere
    /\ last = [a |-> "Init"]
    /\ ghost_made = 0
    /\ ghost_told = {}
    /\ ghost_seen = [g |-> 0, start |-> 0, end |-> 0]
    /\ ghost_seqs = 0
    /\ ghost_down = 0
    /\ ghost_terms = 0

Majority(S) == 2 * Cardinality(S) > Cardinality(Replicas)
Most(a, b)  == IF a > b THEN a ELSE b
Fewest(a, b) == IF a < b THEN a ELSE b
Leads(r)    == r = leader /\ rep[r].up

(* Op e comes into the leader's journal. *)
Journaled(e) ==
    /\ log' = Append(log, e)
    /\ rep' = [rep EXCEPT ![leader].held = Len(log) + 1]
    /\ UNCHANGED <<commit, leader, intent>>

-----------------------------------------------------------------------------
(* ACTION Propose
   WHO    the leader, for a client
   An append of one message, or a deletion of all records, is in the log. *)
Propose(k) ==
    /\ Leads(leader)
    /\ MayPropose(k)
    /\ ghost_made' = ghost_made + 1
    /\ Journaled([k |-> k, id |-> ghost_made + 1, era |-> rep[leader].gen, o |-> -1, ids |-> {}])
    /\ last' = [a |-> "Propose", k |-> k]
    /\ UNCHANGED <<progress, ghost_told, ghost_seen, ghost_seqs, ghost_down, ghost_terms>>

(* ACTION StoreProgress
   WHO    the leader, for the consumer
   A bookmark where the consumer has come to is in the log. *)
StoreProgress ==
    /\ Leads(leader)
    /\ MayPropose("store")
    /\ progress.o # -1
    /\ Journaled([k |-> "store", id |-> 0, era |-> progress.era, o |-> progress.o, ids |-> progress.ids])
    /\ progress' = Nowhere
    /\ last' = [a |-> "StoreProgress"]
    /\ UNCHANGED ghosts

(* ACTION Receive
   WHO    replica r
   Journals the next op. *)
Receive(r) ==
    /\ rep[r].up
    /\ rep[leader].up
    /\ rep[r].held < Len(log)
    /\ rep' = [rep EXCEPT ![r].held = @ + 1]
    /\ last' = [a |-> "Receive", r |-> r]
    /\ UNCHANGED <<log, commit, leader, intent, progress, ghosts>>

(* ACTION Commit
   WHO    the group
   A majority has journaled one more op. *)
Commit ==
    /\ rep[leader].up
    /\ commit < Len(log)
    /\ Majority({r \in Replicas : rep[r].held > commit})
    /\ commit' = commit + 1
    /\ last' = [a |-> "Commit"]
    /\ UNCHANGED <<log, leader, intent, rep, progress, ghosts>>

(* ACTION RequestPurge
   WHO    a client
   Intent g is committed on the metadata plane, and acknowledged. *)
RequestPurge(g) ==
    /\ g > intent
    /\ MayAsk(g)
    /\ intent' = g
    /\ last' = [a |-> "RequestPurge", g |-> g]
    /\ UNCHANGED <<log, commit, leader, rep, progress, ghosts>>

(* Op e upon replica f, which is above its floor. *)
Upon(f, e) ==
    CASE e.k = "append"  -> [f EXCEPT !.msgs = Append(@, e.id)]
      [] e.k = "advance" -> [f EXCEPT !.start = Len(f.msgs)]
      [] e.k = "store"   ->
            IF (Bare \/ e.era = f.gen) /\ e.o < Len(f.msgs)
            THEN [f EXCEPT !.bm = [era |-> e.era, o |-> e.o, ids |-> e.ids]] ELSE f

(* The position that an append by op e gets on replica f, as op n. *)
Placed(f, n, e) ==
    IF n <= f.floor THEN [g |-> f.old.g, o |-> f.old.end, id |-> e.id]
    ELSE [g |-> f.gen, o |-> Len(f.msgs), id |-> e.id]

(* ACTION Apply
   WHO    replica r
   Applies the next committed op; one at or below the floor is filtered. The leader
   tells the client of an append where its message is. *)
Apply(r) ==
    /\ rep[r].up
    /\ rep[r].applied < Fewest(commit, rep[r].held)
    /\ LET f == rep[r]
           n == f.applied + 1
           e == log[n]
           h == IF n > f.floor THEN Upon(f, e)
                ELSE IF e.k = "append" THEN [f EXCEPT !.old.end = @ + 1] ELSE f
       IN /\ rep' = [rep EXCEPT ![r] = [h EXCEPT !.applied = n]]
          /\ ghost_told' = IF r = leader /\ e.k = "append" THEN ghost_told \cup {Placed(f, n, e)}
                           ELSE ghost_told
    /\ last' = [a |-> "Apply", r |-> r]
    /\ UNCHANGED <<log, commit, leader, intent, progress, ghost_made, ghost_seen, ghost_seqs, ghost_down, ghost_terms>>

(* The highest op that replica f has journaled. In a trace an event tells it. *)
FloorOf(f) == f.held

(* ACTION PurgeLocally
   WHO    replica r
   Learns intent g and purges; its floor is the highest op that it has journaled. *)
PurgeLocally(r, g) ==
    /\ rep[r].up
    /\ g <= intent
    /\ g > rep[r].gen
    /\ LET f == rep[r]
       IN rep' = [rep EXCEPT ![r] = [f EXCEPT !.gen = g, !.floor = FloorOf(f), !.msgs = <<>>, !.start = 0,
                                             !.bm = Nowhere, !.old = [g |-> f.gen, end |-> Len(f.msgs)]]]
    /\ last' = [a |-> "PurgeLocally", r |-> r, g |-> g]
    /\ UNCHANGED <<log, commit, leader, intent, progress, ghosts>>

(* What replica f shows from its start: where each message is. *)
Shown(f) == {[g |-> f.gen, o |-> i - 1, id |-> f.msgs[i]] : i \in f.start + 1 .. Len(f.msgs)}

(* A replica that leads and has applied what is committed answers reads. *)
Serves(r) == Leads(r) /\ rep[r].applied = commit

(* ACTION Answer
   WHO    the leader
   Tells the consumer the bounds and all messages from its bookmark on. *)
Answer ==
    /\ Serves(leader)
    /\ LET f    == rep[leader]
           from == Most(f.start, f.bm.o + 1)
           read == {x \in Shown(f) : x.o >= from}
       IN /\ ghost_told' = ghost_told \cup read
          /\ ghost_seen' = IF f.gen >= ghost_seen.g THEN [g |-> f.gen, start |-> f.start, end |-> Len(f.msgs)]
                           ELSE ghost_seen
          /\ progress' = IF read = {} THEN progress
                         ELSE [era |-> f.gen, o |-> Len(f.msgs) - 1,
                               ids |-> {x.id : x \in read} \cup (IF f.bm.o = -1 THEN {} ELSE f.bm.ids)]
    /\ last' = [a |-> "Answer"]
    /\ UNCHANGED <<log, commit, leader, intent, rep, ghost_made, ghost_seqs, ghost_down, ghost_terms>>

(* ACTION BecomeLeader
   WHO    replica r
   Leads, having journaled as much as a majority that is up; its journal is the log. *)
BecomeLeader(r) ==
    /\ r # leader
    /\ rep[r].up
    /\ MayLead(r)
    /\ Majority({q \in Replicas : rep[q].up /\ rep[q].held <= rep[r].held})
    /\ leader' = r
    /\ log' = SubSeq(log, 1, rep[r].held)
    /\ rep' = [q \in Replicas |-> [rep[q] EXCEPT !.held = Fewest(@, rep[r].held)]]
    /\ ghost_terms' = ghost_terms + 1
    /\ last' = [a |-> "BecomeLeader", r |-> r]
    /\ UNCHANGED <<commit, intent, progress, ghost_made, ghost_told, ghost_seen, ghost_seqs, ghost_down>>

(* The replicas of S stop together. *)
Stop(S) ==
    /\ S # {}
    /\ \A r \in S : rep[r].up
    /\ rep' = [r \in Replicas |-> [rep[r] EXCEPT !.up = @ /\ r \notin S]]
    /\ ghost_down' = ghost_down + 1
    /\ UNCHANGED <<log, commit, leader, intent, progress, ghost_made, ghost_told, ghost_seen, ghost_seqs, ghost_terms>>

(* ACTION ProcessCrash
   WHO    the environment
   The processes of S die. *)
ProcessCrash ==
    \E S \in SUBSET Replicas :
        /\ MayCrash(S)
        /\ Stop(S)
        /\ last' = [a |-> "ProcessCrash", s |-> S]

(* ACTION PowerLoss
   WHO    the environment
   The machines of S lose power together; journals are synced. *)
PowerLoss ==
    \E S \in SUBSET Replicas :
        /\ MayLosePower(S)
        /\ Stop(S)
        /\ last' = [a |-> "PowerLoss", s |-> S]

(* ACTION Boot
   WHO    replica r
   Starts where it was. *)
Boot(r) ==
    /\ ~rep[r].up
    /\ rep' = [rep EXCEPT ![r].up = TRUE]
    /\ last' = [a |-> "Boot", r |-> r]
    /\ UNCHANGED <<log, commit, leader, intent, progress, ghosts>>

(* ACTION BeginSequence
   WHO    the environment
   All lose power, and no journal was synced: the group begins with op 1 anew. Of a
   replica's disk only the records of its purges are left. What clients were told the
   policy did not promise to keep: they begin anew, too, though their old positions
   would be taken, since generation and incarnation are the same. *)
BeginSequence(r) ==
    /\ MayBegin
    /\ log # <<>>
    /\ log' = <<>>
    /\ commit' = 0
    /\ leader' = r
    /\ rep' = [q \in Replicas |-> [Blank EXCEPT !.gen = rep[q].gen, !.floor = IF KeepFloor THEN rep[q].floor ELSE 0,
                                               !.old = [g |-> rep[q].old.g, end |-> 0]]]
    /\ progress' = Nowhere
    /\ ghost_told' = {}
    /\ ghost_seen' = [g |-> 0, start |-> 0, end |-> 0]
    /\ ghost_seqs' = ghost_seqs + 1
    /\ last' = [a |-> "BeginSequence", r |-> r]
    /\ UNCHANGED <<intent, ghost_made, ghost_down, ghost_terms>>

Next ==
    \/ \E k \in Ops : Propose(k)
    \/ StoreProgress
    \/ \E r \in Replicas : Receive(r)
    \/ Commit
    \/ RequestPurge(intent + 1)
    \/ \E r \in Replicas : Apply(r)
    \/ \E r \in Replicas : PurgeLocally(r, intent)
    \/ Answer
    \/ \E r \in Replicas : BecomeLeader(r)
    \/ ProcessCrash
    \/ PowerLoss
    \/ \E r \in Replicas : Boot(r)
    \/ \E r \in Replicas : BeginSequence(r)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
(* The named properties, as far as several replicas and their clients show them.   *)
Up    == {r \in Replicas : rep[r].up}
Shows == UNION {Shown(rep[r]) : r \in Up}
Ids(f) == {f.msgs[i] : i \in DOMAIN f.msgs}

(* A replica is in no generation that is not committed, and no answer goes back to one. *)
GenerationMonotone ==
    /\ \A r \in Replicas : rep[r].gen <= intent
    /\ Serves(leader) => rep[leader].gen >= ghost_seen.g

(* A replica shows no message that a client knows to be of an older generation. *)
NoResurrectedMessage ==
    \A x \in Shows, y \in ghost_told : x.id = y.id => x.g <= y.g

(* What was proposed in a generation, or is shown in it by one replica, every replica
   shows that is in it and has executed it. *)
NoHiddenFresh ==
    \A r \in Up : \A n \in 1 .. rep[r].applied :
        LET e == log[n]
        IN e.k = "append" /\ (e.era = rep[r].gen
                               \/ \E s \in Up : rep[s].gen = rep[r].gen /\ e.id \in Ids(rep[s]))
           => e.id \in Ids(rep[r])

(* For each generation all replicas discard the same ops. *)
BoundaryAgreement ==
    \A r, s \in Replicas : rep[r].gen = rep[s].gen => rep[r].floor = rep[s].floor

(* One payload per position, ever. *)
OffsetUnique ==
    LET all == Shows \cup ghost_told
    IN \A x, y \in all : x.g = y.g /\ x.o = y.o => x.id = y.id

(* A request is executed once: a message has one position in a generation. *)
SessionOnce ==
    LET all == Shows \cup ghost_told
    IN \A x, y \in all : x.g = y.g /\ x.id = y.id => x.o = y.o

(* What a client knows is there on every replica that is in that generation and has
   applied what is committed. *)
AckDurable ==
    \A r \in Up, x \in ghost_told :
        rep[r].gen = x.g /\ rep[r].applied = commit => Len(rep[r].msgs) > x.o

(* Committed ops are never dropped or replaced within an op sequence. *)
CommittedPrefixSafe ==
    [][ ghost_seqs' = ghost_seqs => commit <= Len(log') /\ SubSeq(log', 1, commit) = SubSeq(log, 1, commit) ]_store

(* The log is one that replicas agree on: AgreedLog shows how. One that begins anew, since
   nothing was synced, lacks everything. *)
Consensus == INSTANCE Agreement
RefinesAgreement ==
    /\ Consensus!AgreementInit
    /\ [][ IF ghost_seqs' = ghost_seqs THEN Consensus!AgreementNext \/ Consensus!Replace
           ELSE log' = <<>> /\ commit' = 0 ]_<<log, commit>>

(* No answer by a replica that has not applied what is committed. *)
NoPhantomEmpty == [][ last'.a = "Answer" => rep[leader].applied = commit ]_<<store, last>>

(* Within an era what clients are told of start and end never falls. *)
StartMonotone ==
    Serves(leader) /\ rep[leader].gen = ghost_seen.g => rep[leader].start >= ghost_seen.start

LatestMonotone ==
    Serves(leader) /\ rep[leader].gen = ghost_seen.g => Len(rep[leader].msgs) >= ghost_seen.end

(* A bookmark never lies at or above the end of its era. *)
BookmarkBound == \A r \in Up : rep[r].bm.o < Most(Len(rep[r].msgs), 0)

(* Progress computed in one era is never applied in another. *)
NoLateProgress == \A r \in Up : rep[r].bm.o # -1 => rep[r].bm.era = rep[r].gen

(* `next` skips no message that the consumer had not read when it stored its progress. *)
NextContract ==
    LET f == rep[leader]
    IN Serves(leader) => \A i \in f.start + 1 .. f.bm.o + 1 : f.msgs[i] \in f.bm.ids

(* What clients are told has an order that the contract allows: one message has one place,
   nothing that was there is missing, nothing goes back. This can show that there is no
   such order, and not that there is one. *)
Linearizable ==
    /\ \A x, y \in ghost_told : (x.g = y.g /\ x.o = y.o) <=> x.id = y.id
    /\ GenerationMonotone /\ StartMonotone /\ LatestMonotone
    /\ Serves(leader) => \A x \in ghost_told :
            x.g = rep[leader].gen /\ x.o >= rep[leader].start => x \in Shown(rep[leader])
=============================================================================
