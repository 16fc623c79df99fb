------------------------------ MODULE Partition ------------------------------
(* The client contract of one partition: each operation happens at one       *)
(* instant. A request may also be lost: then its outcome is unknown, and it   *)
(* takes effect once, later, or never. The designs below must refine this.   *)
(* When a majority of the replicas lost their memory, a new incarnation goes *)
(* on from what the log of one of them holds.                                *)
(*                                                                           *)
(* last = [a, s, q, r]: the action, the caller, its request and its reply. It *)
(* is written and never read, so models keep it out of their view.           *)
EXTENDS Contract

CONSTANTS
    NoSession,   \* the caller of an unnumbered request
    Open,        \* sessions registered from the beginning, a sequence
    Requests,    \* every request that a client may send
    Begins,      \* whether new incarnations begin
    MayLack(_)   \* requests that may be missing in one though they took effect in the
                 \* one before: those whose policy is `replicated`

VARIABLES
    core,        \* the state of the contract
    sent,        \* sent[s] = [q, done, i]: a numbered request whose caller knows no
                 \* outcome, and the incarnation that it means
    loose,       \* unnumbered requests, and asynchronous raises, still on their way
    past,        \* states from which the next incarnation may go on
    last

vars == <<core, sent, loose, past, last>>

NoRequest == [q |-> [f |-> "none"], done |-> FALSE, i |-> 0]
Callers   == Sessions \cup {NoSession}

Of(f) == {q \in Requests : q.f = f}
Appends         == Of("append")
Polls           == {q \in Of("poll") : q.auto # "yes"}
AutoCommitPolls == {q \in Of("poll") : q.auto = "yes"}
Stores          == Of("store")
Deletes         == Of("delete")
Gets            == Of("get")
Lists           == Of("list")
Cuts            == Of("delete-records")
Purges          == Of("purge")
Mutations       == {q \in Requests : Mutates(q)}

Refusals == {"Transient", "NotLeader", "NotReady", "StorageError"}

(* Limits of a model are put here by its MC module. *)
MayLose(q) == TRUE
MayDo(q) == TRUE

MayBegin == TRUE
Ends == 0 .. 0   \* offsets up to which an incarnation may have been agreed on

(* Defect switch that a model may turn on. *)
AgreedToTheEnd == FALSE

(* What an op took effect upon is kept if the op is.                            *)
Keep(q) ==
    past' = IF ~(Begins /\ MayBegin') THEN {}
            ELSE IF core' = core THEN past
            ELSE IF MayLack(q) THEN past \cup {core'}
            ELSE {core'}

Saw(a, s, q, r) == last' = [a |-> a, s |-> s, q |-> q, r |-> r]

Init ==
    /\ core = Fresh(Open)
    /\ sent = [s \in Sessions |-> NoRequest]
    /\ loose = {}
    /\ past = IF Begins /\ MayBegin THEN {core} ELSE {}
    /\ last = [a |-> "Init", s |-> NoSession, q |-> NoRequest.q, r |-> NoReply]

(* A mutation with a known outcome: one outstanding request per session. *)
Mutate(a, s, q) ==
    /\ MayDo(q)
    /\ LET d == IF s = NoSession THEN Do(core, q) ELSE DoNumbered(core, s, q)
       IN /\ core' = d.c
          /\ Saw(a, s, q, d.r)
    /\ IF s = NoSession THEN TRUE
       ELSE Numbered(q) /\ core.sess[s].st # "none" /\ sent[s] = NoRequest
    /\ Keep(q)
    /\ UNCHANGED <<sent, loose>>

(* A read changes nothing. *)
Look(a, q) ==
    /\ Saw(a, NoSession, q, Do(core, q).r)
    /\ UNCHANGED <<core, sent, loose, past>>

-----------------------------------------------------------------------------
(* ACTION Register
   WHO    a client
   Opens a session; a full table evicts the one least recently used. *)
Register(s) ==
    /\ core.sess[s].st = "none"
    /\ core' = DoRegister(core, s)
    /\ Keep([f |-> "register"])
    /\ Saw("Register", s, [f |-> "register"], [code |-> "ok"])
    /\ UNCHANGED <<sent, loose>>

(* ACTION AppendMessages
   WHO    a client
   Stores a batch at the end. *)
AppendMessages(s, q) ==
    /\ q.f = "append"
    /\ Mutate("AppendMessages", s, q)

(* ACTION Poll
   WHO    a client
   Reads records; an asynchronous auto-commit leaves a raise on its way. *)
Poll(q) ==
    /\ q.f = "poll" /\ q.auto # "yes"
    /\ LET d == Do(core, q)
       IN /\ Saw("Poll", NoSession, q, d.r)
          /\ loose' = IF q.auto = "async" /\ d.r.code = "ok" /\ d.r.n > 0
                      THEN loose \cup {[f |-> "raise", key |-> q.key,
                                        pos |-> [d.r.pos EXCEPT !.o = @ + d.r.n - 1]]}
                      ELSE loose
    /\ UNCHANGED <<core, sent, past>>

(* ACTION PollAutoCommit
   WHO    a client
   Reads records and raises the bookmark to the last of them, in one instant. *)
PollAutoCommit(s, q) ==
    /\ q.f = "poll" /\ q.auto = "yes"
    /\ Mutate("PollAutoCommit", s, q)

(* ACTION PollAutoCommitGone
   WHO    a client
   As PollAutoCommit, but the records were removed before they could be read. *)
PollAutoCommitGone(s, q) ==
    /\ q.f = "poll" /\ q.auto = "yes"
    /\ LET d == IF s = NoSession THEN Do(core, q) ELSE DoNumbered(core, s, q)
       IN /\ d.r.code = "ok" /\ d.r.n > 0
          /\ core' = d.c
          /\ Saw("PollAutoCommitGone", s, q, [code |-> "Gone", pos |-> d.r.pos, n |-> d.r.n])
    /\ IF s = NoSession THEN TRUE
       ELSE core.sess[s].st # "none" /\ sent[s] = NoRequest
    /\ Keep(q)
    /\ UNCHANGED <<sent, loose>>

(* ACTION StoreBookmark
   WHO    a client
   Sets a bookmark; it may move back. *)
StoreBookmark(s, q) ==
    /\ q.f = "store"
    /\ Mutate("StoreBookmark", s, q)

(* ACTION DeleteBookmark
   WHO    a client
   Removes a bookmark. *)
DeleteBookmark(s, q) ==
    /\ q.f = "delete"
    /\ Mutate("DeleteBookmark", s, q)

(* ACTION GetBookmark
   WHO    a client
   Reads a bookmark. *)
GetBookmark(q) ==
    /\ q.f = "get"
    /\ Look("GetBookmark", q)

(* ACTION ListOffsets
   WHO    a client
   Reads the earliest offset, the latest, or the first at a timestamp. *)
ListOffsets(q) ==
    /\ q.f = "list"
    /\ Look("ListOffsets", q)

(* ACTION DeleteRecords
   WHO    a client
   Moves the start up to a cutoff. *)
DeleteRecords(s, q) ==
    /\ q.f = "delete-records"
    /\ Mutate("DeleteRecords", s, q)

(* ACTION Purge
   WHO    a client
   Drops messages and bookmarks together and begins a generation. *)
Purge(s, q) ==
    /\ q.f = "purge"
    /\ Mutate("Purge", s, q)

(* ACTION Repeat
   WHO    a client
   Sends its last answered request again and gets the first reply. *)
Repeat(s) ==
    /\ sent[s] = NoRequest
    /\ (core.sess[s].st = "expired" \/ core.sess[s].reply # NoReply)
    /\ Saw("Repeat", s, [f |-> "repeat"], ReplyAgain(core, s))
    /\ UNCHANGED <<core, sent, loose, past>>

(* ACTION RepeatOlder
   WHO    the network
   Delivers a request again that its session has gone past. *)
RepeatOlder(s) ==
    /\ core.sess[s].older
    /\ Saw("RepeatOlder", s, [f |-> "repeat"], [code |-> "StaleSequence"])
    /\ UNCHANGED <<core, sent, loose, past>>

(* ACTION Refuse
   WHO    a replica
   Answers before anything was proposed: no effect. *)
Refuse(code) ==
    /\ code \in Refusals
    /\ Saw("Refuse", NoSession, [f |-> "any"], [code |-> code])
    /\ UNCHANGED <<core, sent, loose, past>>

(* ACTION Misdirect
   WHO    a client
   Means an older incarnation: no effect, whatever it asks. *)
Misdirect ==
    /\ core.inc > 1
    /\ Saw("Misdirect", NoSession, [f |-> "any"], Fails(core, "StaleIncarnation").r)
    /\ UNCHANGED <<core, sent, loose, past>>

(* ACTION Lose
   WHO    the network
   A mutation is on its way and its caller stops waiting: outcome unknown.
   Unnumbered, it is also what ack=none sends. *)
Lose(s, q) ==
    /\ MayLose(q)
    /\ IF s = NoSession
       THEN /\ loose' = loose \cup {q}
            /\ UNCHANGED sent
       ELSE /\ Numbered(q)
            /\ core.sess[s].st # "none"
            /\ sent[s] = NoRequest
            /\ sent' = [sent EXCEPT ![s] = [q |-> q, done |-> FALSE, i |-> core.inc]]
            /\ UNCHANGED loose
    /\ Saw("Lose", s, q, [code |-> "unknown"])
    /\ UNCHANGED <<core, past>>

(* ACTION LateNumbered
   WHO    the partition
   A numbered request of unknown outcome takes effect; nobody sees the reply. *)
LateNumbered(s) ==
    /\ sent[s] # NoRequest
    /\ ~sent[s].done
    /\ sent[s].i = core.inc
    /\ MayDo(sent[s].q)
    /\ core' = DoNumbered(core, s, sent[s].q).c
    /\ Keep(sent[s].q)
    /\ sent' = [sent EXCEPT ![s].done = TRUE]
    /\ Saw("LateNumbered", s, sent[s].q, NoReply)
    /\ UNCHANGED loose

(* ACTION LateLoose
   WHO    the partition
   An unnumbered request of unknown outcome takes effect, once. *)
LateLoose ==
    /\ \E q \in loose :
        /\ MayDo(q)
        /\ core' = Do(core, q).c
        /\ Keep(q)
        /\ loose' = loose \ {q}
        /\ Saw("LateLoose", NoSession, q, NoReply)
    /\ UNCHANGED sent

(* ACTION Drop
   WHO    the network
   An unnumbered request of unknown outcome never takes effect. *)
Drop ==
    /\ \E q \in loose :
        /\ loose' = loose \ {q}
        /\ Saw("Drop", NoSession, q, NoReply)
    /\ UNCHANGED <<core, sent, past>>

(* ACTION Retry
   WHO    a client
   Sends its unanswered request again: executed unless it was, answered as first;
   refused if it means an older incarnation. *)
Retry(s) ==
    /\ sent[s] # NoRequest
    /\ (sent[s].done \/ MayDo(sent[s].q))
    /\ LET d == IF sent[s].i # core.inc THEN Fails(core, "StaleIncarnation")
                ELSE IF sent[s].done THEN Gives(core, ReplyAgain(core, s))
                ELSE DoNumbered(core, s, sent[s].q)
       IN /\ core' = d.c
          /\ Saw("Retry", s, sent[s].q, d.r)
    /\ Keep(sent[s].q)
    /\ sent' = [sent EXCEPT ![s] = NoRequest]
    /\ UNCHANGED loose

(* ACTION NewIncarnation
   WHO    the metadata plane, when a majority of the replicas lost their memory
   The log of one replica goes on under new op numbers. It begins as the partition
   did; q may follow, whose outcome nobody knew. Of the former, what ends at offset
   o is known to have been agreed on. What is on its way means the incarnation
   before and is lost; an intent is not. *)
NewIncarnation(q, o) ==
    /\ Begins /\ MayBegin
    /\ q = NoRequest.q \/ (q \in Mutations /\ MayLose(q) /\ MayDo(q))
    /\ \E k \in past :
        LET c == IF q = NoRequest.q THEN k ELSE Do(k, q).c
        IN \* DEFECT AgreedToTheEnd: all that the log holds counts as agreed on
           /\ o \in 0 .. End(IF AgreedToTheEnd THEN c ELSE k)
           /\ core' = Begin(c, k.gen, o)
           /\ Saw("NewIncarnation", NoSession, [f |-> "new-incarnation", kept |-> k, q |-> q, o |-> o], NoReply)
    /\ past' = IF MayBegin' THEN {core'} ELSE {}
    /\ loose' = {x \in loose : x.f = "purge"}
    /\ UNCHANGED sent

Next ==
    \/ \E s \in Sessions : Register(s)
    \/ \E s \in Callers, q \in Appends : AppendMessages(s, q)
    \/ \E q \in Polls : Poll(q)
    \/ \E s \in Callers, q \in AutoCommitPolls : PollAutoCommit(s, q)
    \/ \E s \in Callers, q \in AutoCommitPolls : PollAutoCommitGone(s, q)
    \/ \E s \in Callers, q \in Stores : StoreBookmark(s, q)
    \/ \E s \in Callers, q \in Deletes : DeleteBookmark(s, q)
    \/ \E q \in Gets : GetBookmark(q)
    \/ \E q \in Lists : ListOffsets(q)
    \/ \E s \in Callers, q \in Cuts : DeleteRecords(s, q)
    \/ \E s \in Callers, q \in Purges : Purge(s, q)
    \/ \E s \in Sessions : Repeat(s)
    \/ \E s \in Sessions : RepeatOlder(s)
    \/ \E code \in Refusals : Refuse(code)
    \/ \E s \in Callers, q \in Mutations : Lose(s, q)
    \/ \E s \in Sessions : LateNumbered(s)
    \/ LateLoose
    \/ Drop
    \/ \E s \in Sessions : Retry(s)
    \/ Misdirect
    \/ \E q \in Mutations \cup {NoRequest.q}, o \in Ends : NewIncarnation(q, o)

Spec == Init /\ [][Next]_vars

(* The same steps, found by the name that `last` gives: one action to evaluate     *)
(* in place of all, when a design is checked against this module.                *)
Named ==
    LET a == last'.a
        s == last'.s
        q == last'.q
    IN CASE a = "Register"       -> Register(s)
         [] a = "AppendMessages" -> q \in Appends /\ AppendMessages(s, q)
         [] a = "Poll"           -> q \in Polls /\ Poll(q)
         [] a = "PollAutoCommit" -> q \in AutoCommitPolls /\ PollAutoCommit(s, q)
         [] a = "PollAutoCommitGone" -> q \in AutoCommitPolls /\ PollAutoCommitGone(s, q)
         [] a = "StoreBookmark"  -> q \in Stores /\ StoreBookmark(s, q)
         [] a = "DeleteBookmark" -> q \in Deletes /\ DeleteBookmark(s, q)
         [] a = "GetBookmark"    -> q \in Gets /\ GetBookmark(q)
         [] a = "ListOffsets"    -> q \in Lists /\ ListOffsets(q)
         [] a = "DeleteRecords"  -> q \in Cuts /\ DeleteRecords(s, q)
         [] a = "Purge"          -> q \in Purges /\ Purge(s, q)
         [] a = "Repeat"         -> Repeat(s)
         [] a = "RepeatOlder"    -> RepeatOlder(s)
         [] a = "Refuse"         -> Refuse(last'.r.code)
         [] a = "Lose"           -> q \in Mutations /\ Lose(s, q)
         [] a = "LateNumbered"   -> LateNumbered(s)
         [] a = "LateLoose"      -> LateLoose
         [] a = "Drop"           -> Drop
         [] a = "Retry"          -> Retry(s)
         [] a = "Misdirect"      -> Misdirect
         [] a = "NewIncarnation" -> NewIncarnation(q.q, q.o)
         [] OTHER                -> FALSE

(* Whether nothing changed is asked first, since most steps of a design change nothing.  *)
NamedSpec == Init /\ [][UNCHANGED vars \/ Named]_vars
=============================================================================
