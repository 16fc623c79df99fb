------------------------ MODULE TraceResetRecordGroup -----------------------
(* Could the replicas of a partition, as ResetRecordGroup describes them, have done   *)
(* together what a trace says, and as TransferResetGroup does, if they moved state?       *)
(* Works as TraceOrderedGroup does; event fields are those of it, and b, the floor of       *)
(* what is offered or staged, with its generation g.                                  *)
(*                                                                           *)
(* Replicas agree on ops, and each has a floor of its own: the trace says which. So      *)
(* what one op does may differ, down to the offsets of messages, and is judged by the     *)
(* facts of each replica. That a floor is the end of the replica's journal is judged by     *)
(* TraceResetRecord.                                                          *)
(*                                                                           *)
(* ResetRecordGroup has appends of one message, deletions of everything, and the        *)
(* bookmark of one consumer; Upon is where an op takes effect, and is given here for all    *)
(* ops. Of a message only its place matters. A replica that boots is where it was; what     *)
(* it replays to come there is left out of the events.                             *)
(*                                                                           *)
(* What is offered as of an op is what its replica had when it had applied that op, in the   *)
(* era that it is in: was remembers that.                                          *)
EXTENDS TransferResetGroup, TraceTold, TraceData, TLC

VARIABLES
    piece, cursor,
    was,    \* per replica, of its era: [n, f, list], what it had as of op n, and then
    offers  \* what was offered

trace == <<piece, cursor, told, was, offers>>

Events == TracePieces[piece]
E      == Events[cursor]

(* What ResetRecordGroup leaves open, said by the event. *)
TraceMarks          == [k \in TraceKeys |-> -1]
TraceFloor(f)       == E.op
TraceStops(S)       == S = {E.r}
TraceMajority(S)    == TRUE      \* who acknowledged what is not told
TracePlaced(f, n, e) == [g |-> 0, o |-> 0, id |-> 0]

TraceUpon(f, e) ==
    CASE E.k = "append"  -> [f EXCEPT !.msgs = @ \o [j \in 1 .. e.n |-> 0]]
      [] E.k = "store"   -> [f EXCEPT !.bm[E.key] = E.o]
      [] E.k = "delete"  -> [f EXCEPT !.bm[E.key] = -1]
      [] E.k = "advance" -> [f EXCEPT !.start = E.o]
      [] E.k = "other"   -> f

(* What a replica has of its era as of op n, and after each op above it. *)
Remembered(n, f) == [n |-> Most(n, f.floor), f |-> f, list |-> <<>>]

TraceSnapshot(r, n) ==
    LET w == was[r]
        f == IF n <= w.n THEN w.f ELSE w.list[n - w.n]
    IN [n |-> n, g |-> f.gen, floor |-> f.floor, f |-> f]

TraceOfferable(r, n) == n <= rep[r].applied /\ rep[r].applied >= E.l
TraceJournalAfter(n) == Len(log)

(* What a replica holds that is not applied is judged by TraceResetRecord.                *)
TraceNewer(r, x) == x.n > rep[r].applied /\ x.g >= rep[r].gen

TraceBeginning ==
    /\ ToldInit
    /\ log = TraceLogs[piece][1]
    /\ commit = TraceFirst
    /\ leader = CHOOSE r \in Replicas : TRUE
    /\ intent = 0
    /\ rep = [r \in Replicas |->
                [Blank EXCEPT !.up = FALSE, !.held = Len(log), !.applied = TraceFirst,
                              !.gen = TraceStarts[piece][r].g, !.floor = TraceStarts[piece][r].floor]]
    /\ progress = TraceMarks
    /\ last = [a |-> "Init"]
    /\ ghost_made = 0
    /\ ghost_told = {}
    /\ ghost_seen = [g |-> 0, start |-> 0, end |-> 0]
    /\ ghost_seqs = 0
    /\ ghost_down = 0
    /\ ghost_terms = 0
    /\ pin = [r \in Replicas |-> NoOffer]
    /\ pull = [r \in Replicas |-> NoOffer]
    /\ ghost_installs = 0
    /\ was = [r \in Replicas |-> Remembered(TraceFirst, rep[r])]
    /\ offers = {}

(* A long sequence is judged in parts: the state that TLC prints at the end of one is the   *)
(* one that the next begins in.                                                  *)
TraceState == [log |-> log, commit |-> commit, leader |-> leader, intent |-> intent,
               rep |-> rep, progress |-> progress, last |-> last,
               ghost_made |-> ghost_made, ghost_told |-> ghost_told,
               ghost_seen |-> ghost_seen, ghost_seqs |-> ghost_seqs,
               ghost_down |-> ghost_down, ghost_terms |-> ghost_terms, pin |-> pin,
               pull |-> pull, ghost_installs |-> ghost_installs, term |-> term,
               led |-> led, leaders |-> leaders, comes |-> comes, was |-> was,
               offers |-> offers]

Resumes(s) ==
    /\ log = s.log
    /\ commit = s.commit
    /\ leader = s.leader
    /\ intent = s.intent
    /\ rep = s.rep
    /\ progress = s.progress
    /\ last = s.last
    /\ ghost_made = s.ghost_made
    /\ ghost_told = s.ghost_told
    /\ ghost_seen = s.ghost_seen
    /\ ghost_seqs = s.ghost_seqs
    /\ ghost_down = s.ghost_down
    /\ ghost_terms = s.ghost_terms
    /\ pin = s.pin
    /\ pull = s.pull
    /\ ghost_installs = s.ghost_installs
    /\ term = s.term
    /\ led = s.led
    /\ leaders = s.leaders
    /\ comes = s.comes
    /\ was = s.was
    /\ offers = s.offers

TraceInit ==
    /\ piece \in DOMAIN TracePieces
    /\ cursor = 1
    /\ IF TraceCarried[piece] = <<>> THEN TraceBeginning
       ELSE \E i \in DOMAIN TraceCarried[piece] : Resumes(TraceCarried[piece][i])

Takes(a) ==
    /\ cursor <= Len(Events)
    /\ E.a = a
    /\ cursor' = cursor + 1
    /\ ComesNext(E, E.a = "Commit" /\ E.k \notin {"append", "advance"})   \* others may be held
    /\ Leading(E, FALSE)
    /\ UNCHANGED piece

SameTerms == UNCHANGED term
SameMoves == UNCHANGED <<transfer, was, offers>>

(* The facts of the event's replica after the step are those that it shows. *)
Showing ==
    /\ rep'[E.r].applied = E.ap
    /\ rep'[E.r].start = E.st
    /\ Len(rep'[E.r].msgs) = E.en
    /\ rep'[E.r].gen = E.g

Op(n) == IF n \in DOMAIN log THEN log[n] ELSE [k |-> "none"]

(* What op o may do upon facts f, if it is not refused. An append is executed by all     *)
(* replicas or, if it repeats another one, by none.                                *)
MayDo(f, o) ==
    LET end == Len(f.msgs)
    IN CASE E.k = "append"  -> o.k = "append" /\ o.n = E.n /\ E.o = end
         [] E.k = "store"   -> o.k \in {"store", "poll"} /\ o.key = E.key /\ E.o < end
                               /\ (o.k = "store" => o.o = E.o)
         [] E.k = "delete"  -> o.k = "delete" /\ o.key = E.key /\ f.bm[E.key] # -1
         [] E.k = "advance" -> o.k = "advance" /\ E.o > f.start /\ E.o <= end
                               /\ E.o = (IF o.o = -1 THEN end ELSE o.o)
         [] E.k = "other"   -> o.k # "append"

TakeCommit ==
    /\ Takes("Commit")
    /\ E.op = commit + 1
    /\ Commit
    /\ E.u = 0 => (rep[E.r].applied = E.ap /\ rep[E.r].start = E.st /\ Len(rep[E.r].msgs) = E.en)
    /\ InTerm(E, TracePolicies[piece].elects)

TakeBecomeLeader ==
    /\ Takes("BecomeLeader")
    /\ IF E.r = leader THEN rep[E.r].up /\ UNCHANGED vars ELSE BecomeLeader(E.r)
    /\ E.ap <= rep[E.r].applied
    /\ E.ap = rep[E.r].applied => Showing    \* else it replays what it has
    /\ UNCHANGED term

TakeMaterialize ==
    /\ Takes("Materialize")
    /\ E.op = rep[E.r].applied + 1
    /\ E.op > rep[E.r].floor
    /\ MayDo(rep[E.r], Op(E.op))
    /\ Apply(E.r)
    /\ Showing
    /\ was' = [was EXCEPT ![E.r].list = Append(@, rep'[E.r])]
    /\ UNCHANGED <<transfer, offers>>
    /\ SameTerms

TakeFiltered ==
    /\ Takes("Filtered")
    /\ E.op = rep[E.r].applied + 1
    /\ E.op <= rep[E.r].floor
    /\ (E.k = "append") = (Op(E.op).k = "append")
    /\ Apply(E.r)
    /\ Showing
    /\ SameTerms

TakeRequestPurge ==
    /\ Takes("RequestPurge")
    /\ RequestPurge(E.g)
    /\ SameTerms

(* The steps of a purge are folded into the one that begins the era. A replica that     *)
(* has booted need not have come to where it was.                                  *)
TakeResetRecord ==
    /\ Takes("ResetRecord")
    /\ E.op >= rep[E.r].applied
    /\ PurgeLocally(E.r, E.g)
    /\ E.ap <= rep[E.r].applied
    /\ E.st = 0 /\ E.en = 0
    /\ was' = [was EXCEPT ![E.r] = Remembered(E.op, rep'[E.r])]
    /\ UNCHANGED <<transfer, offers>>
    /\ SameTerms

TakeProcessCrash == Takes("ProcessCrash") /\ ProcessCrash /\ SameTerms
TakePowerLoss    == Takes("PowerLoss") /\ PowerLoss /\ SameTerms

(* Told by each replica; what follows is another sequence of events. *)
TakeBeginSequence ==
    /\ Takes("BeginSequence")
    /\ ~rep[E.r].up
    /\ IF cursor = Len(Events) /\ ~TraceGoesOn[piece] THEN BeginSequence(E.r) ELSE UNCHANGED vars
    /\ SameTerms

TakeBoot ==
    /\ Takes("Boot")
    /\ Boot(E.r)
    /\ E.g = rep[E.r].gen
    /\ E.ap <= rep[E.r].applied
    /\ SameTerms

(* See TraceOrderedGroup. *)
TakeAnswer ==
    /\ Takes("Answer")
    /\ rep[E.r].up
    /\ LedOnce(E, TracePolicies[piece].elects)
    /\ UNCHANGED vars
    /\ Showing
    /\ AnswerFits(E, IF E.k = "get-bookmark" THEN rep[E.r].bm[E.key] ELSE -1)
    /\ SameTerms

(* Offer x is the one that the event tells. *)
TheOffer(x) == x.n = E.op /\ x.g = E.g /\ x.floor = E.b

(* A replica may offer the same to several, also when it has gone on. *)
TakeOfferTransfer ==
    /\ Takes("OfferTransfer")
    /\ rep[E.r].applied >= E.l
    /\ IF pin[E.r] # NoOffer /\ TheOffer(pin[E.r])
       THEN rep[E.r].up /\ UNCHANGED <<vars, transfer>>
       ELSE OfferTransfer(E.r, E.op)
    /\ TheOffer(pin'[E.r])
    /\ E.ap <= rep[E.r].applied
    /\ E.ap = rep[E.r].applied => Showing    \* else it replays what it has
    /\ offers' = offers \cup {pin'[E.r]}
    /\ UNCHANGED was
    /\ SameTerms

(* StageManifest of what anybody has offered. What was left of an earlier pull is dropped. *)
TakeStageManifest ==
    /\ Takes("StageManifest")
    /\ rep[E.r].up
    /\ E.op > E.l
    /\ \E x \in offers :
        /\ TheOffer(x)
        /\ Newer(E.r, x)
        /\ pull' = [pull EXCEPT ![E.r] = x]
    /\ UNCHANGED <<vars, pin, ghost_installs, was, offers>>
    /\ SameTerms

TakeCommitInstall ==
    /\ Takes("CommitInstall")
    /\ CommitInstall(E.r, E.op)
    /\ Showing
    /\ was' = [was EXCEPT ![E.r] = Remembered(E.op, rep'[E.r])]
    /\ UNCHANGED offers
    /\ SameTerms

TakeDropTransfer ==
    /\ Takes("DropTransfer")
    /\ DropTransfer(E.r)
    /\ UNCHANGED <<was, offers>>
    /\ SameTerms

TraceNext ==
    \/ TakeCommit /\ SameMoves
    \/ TakeBecomeLeader /\ SameMoves
    \/ TakeMaterialize
    \/ TakeFiltered /\ SameMoves
    \/ TakeRequestPurge /\ SameMoves
    \/ TakeResetRecord
    \/ TakeProcessCrash /\ SameMoves
    \/ TakePowerLoss /\ SameMoves
    \/ TakeBeginSequence /\ SameMoves
    \/ TakeBoot /\ SameMoves
    \/ TakeAnswer /\ SameMoves
    \/ TakeOfferTransfer
    \/ TakeStageManifest
    \/ TakeCommitInstall
    \/ TakeDropTransfer

(* The search has no branches: a state is told by how far it has come. *)
TraceView == <<piece, cursor>>

TraceSpec == TraceInit /\ [][TraceNext]_<<vars, trace>>

-----------------------------------------------------------------------------
(* Prints when a sequence, or a part of it, is accepted, and how far others have come.    *)
Consumed ==
    IF cursor > Len(Events)
    THEN PrintT(<<"DONE", piece, IF TraceGoesOn[piece] THEN ToString(TraceState) ELSE "">>)
    ELSE cursor % 64 # 0 \/ PrintT(<<"STEP", piece, cursor>>)

(* The replica that the event under the cursor is about. *)
Who == IF cursor <= Len(Events) THEN E.r ELSE 1

(* The actions of the specification that are enabled for that replica, whatever the      *)
(* trace says next. What an op does, a floor, and what is offered only an event tells, so    *)
(* of these the guards are written out.                                         *)
Enabled ==
    LET If(b, name) == IF b THEN {name} ELSE {}
        f == rep[Who]
        applies == f.up /\ f.applied < Fewest(commit, f.held)
    IN IF comes \notin {0, Who} THEN {}    \* who told the last op comes to it next
       ELSE
       If(ENABLED Commit, "Commit")
       \cup If(ENABLED Stop({Who}), "ProcessCrash")
       \cup If(ENABLED Stop({Who}), "PowerLoss")
       \cup If(ENABLED Boot(Who), "Boot")
       \cup If(~f.up /\ ENABLED BeginSequence(Who), "BeginSequence")
       \cup If(IF Who = leader THEN f.up ELSE ENABLED BecomeLeader(Who), "BecomeLeader")
       \cup If(f.up /\ (TracePolicies[piece].elects => Who \in leaders), "Answer")
       \cup If(applies /\ f.applied < f.floor, "Filtered")
       \cup If(applies /\ f.applied >= f.floor, "Materialize")
       \cup If(f.up /\ f.gen < intent, "ResetRecord")
       \cup If(f.up, "OfferTransfer")
       \cup If(f.up /\ \E x \in offers : Newer(Who, x), "StageManifest")
       \cup If(ENABLED CommitInstall(Who, pull[Who].n), "CommitInstall")
       \cup If(ENABLED DropTransfer(Who), "DropTransfer")

(* Prints states from a given step on when rejected sequences are run again;    *)
(* after the last one no action explains the next event.                       *)
Told ==
    cursor < TraceFrom[piece] \/
    PrintT(<<"AT", piece, cursor,
             [up |-> rep[Who].up, pull |-> pull[Who].n, offers |-> {[n |-> x.n, g |-> x.g, b |-> x.floor] : x \in offers}, commit |-> commit, term |-> term, led |-> led, leaders |-> leaders, comes |-> comes,
              leads |-> [r |-> leader, up |-> rep[leader].up], intent |-> intent,
              now |-> [applied |-> rep[Who].applied, gen |-> rep[Who].gen, boundary |-> rep[Who].floor,
                       start |-> rep[Who].start, end |-> Len(rep[Who].msgs),
                       bm |-> [k \in TraceKeys |-> [o |-> rep[Who].bm[k]]]],
              next |-> Op(rep[Who].applied + 1)],
             Enabled>>)
=============================================================================
