-------------------------- MODULE TraceOrderedGroup --------------------------
(* Could the replicas of a partition, as OrderedGroup describes them, have done *)
(* together what a trace says? Works as TraceOrdered does; in addition           *)
(* TraceData holds, for each sequence of events, the ops that were committed in    *)
(* it. They stand in the log from the beginning: who proposed them, and which       *)
(* others a leader change dropped, is not in a trace. They are committed one by     *)
(* one, as the events say.                                                     *)
(*                                                                           *)
(* Event fields beyond those of TraceOrdered: r replica, t term.                 *)
EXTENDS OrderedGroup, TraceData, TLC

VARIABLES
    piece, cursor,
    term,   \* of the last committed op
    led     \* terms that have a leader

trace == <<piece, cursor, term, led>>

TraceRemember(hist, n, o)     == hist     \* the contract is not judged here
TraceSeen(hist, n, o, before) == before
TraceOpen == <<>>
TraceMayRejoin(r) == TRUE
TraceNewborn == [EraStart(TraceFirst, 0, <<>>) EXCEPT !.settled = 0]

Events == TracePieces[piece]
E      == Events[cursor]

TraceInit ==
    /\ piece \in DOMAIN TracePieces
    /\ cursor = 1
    /\ term = 0
    /\ led = {}
    /\ log = TraceLogs[piece]
    /\ commit = TraceFirst
    /\ intent = 0
    /\ rep = [r \in Replicas |-> [Newborn EXCEPT !.up = FALSE]]
    /\ last = [a |-> "Init"]
    /\ ghost_hist = <<Fresh(Open)>>
    /\ ghost_last = [a |-> "Init"]
    /\ ghost_crashes = 0

Takes(a) ==
    /\ cursor <= Len(Events)
    /\ E.a = a
    /\ cursor' = cursor + 1
    /\ UNCHANGED piece

SameTerms == UNCHANGED <<term, led>>

(* The facts of the event's replica after the step are those that it shows. *)
Shows ==
    /\ rep'[E.r].applied = E.ap
    /\ rep'[E.r].start = E.st
    /\ rep'[E.r].end = E.en

ShowsAll == Shows /\ rep'[E.r].gen = E.g

(* What op o was asked to be; what was refused has no effect but its number. *)
Asked(e, o) ==
    CASE e.k = "append"  -> o.k = "other" \/ o = AppendOp(NoSession, e.n)
      [] e.k = "store"   -> o.k = "other" \/ o = StoreOp(e.key, -1, e.o)
      [] e.k = "delete"  -> o.k = "other" \/ o = DeleteOp(e.key)
      [] e.k = "advance" -> o.k = "other" \/ (o.k = "advance" /\ (e.o = -1 \/ o.o = e.o))
      [] e.k = "purge"   -> o = PurgeOp(e.g) \/ o = SettleOp(e.g)
      [] e.k = "other"   -> o.k = "other" \/ o.k = "store"   \* an auto-commit poll

EffectShown(e, f) ==
    CASE e.k = "append"  -> f = [k |-> "append", base |-> e.o, n |-> e.n]
      [] e.k = "store"   -> f = [k |-> "store", key |-> e.key, o |-> e.o]
      [] e.k = "delete"  -> f = [k |-> "delete", key |-> e.key]
      [] e.k = "advance" -> f = [k |-> "advance", o |-> e.o]
      [] e.k = "other"   -> f = NoEffect

(* The op with number n, if it is in the log. *)
Op(n) == IF n \in DOMAIN log THEN log[n] ELSE [k |-> "none"]

TakeCommit ==
    /\ Takes("Commit")
    /\ Op(E.op).k # "none"
    /\ Asked(E, Op(E.op))
    /\ Commit(E.op, Op(E.op))
    /\ E.t >= term
    /\ term' = E.t
    /\ UNCHANGED led

TakeBecomeLeader ==
    /\ Takes("BecomeLeader")
    /\ E.t \notin led
    /\ BecomeLeader(E.r, Len(log) - commit)
    /\ led' = led \cup {E.t}
    /\ UNCHANGED term

TakeMaterialize ==
    /\ Takes("Materialize")
    /\ Materialize(E.r, E.op, Op(E.op))
    /\ EffectShown(E, EffectOf(rep[E.r], Op(E.op)))
    /\ ShowsAll
    /\ SameTerms

TakePurgeComplete ==
    /\ Takes("PurgeComplete")
    /\ PurgeComplete(E.r, E.op, E.g)
    /\ ShowsAll
    /\ SameTerms

(* See TraceOrdered: a purge that expected another position settles its intent. *)
TakePurgeDuplicate ==
    /\ Takes("PurgeDuplicate")
    /\ IF E.q <= rep[E.r].settled THEN PurgeDuplicate(E.r, E.op, E.q)
       ELSE E.g = E.q /\ Op(E.op).k = "settle" /\ Materialize(E.r, E.op, SettleOp(E.q))
    /\ Shows
    /\ SameTerms

TakeProcessCrash == Takes("ProcessCrash") /\ ProcessCrash(E.r) /\ SameTerms
TakePowerLoss    == Takes("PowerLoss") /\ PowerLoss(E.r) /\ SameTerms

TakeBoot ==
    /\ Takes("Boot")
    /\ Boot(E.r, E.ap)
    /\ ShowsAll
    /\ SameTerms

TakeRejoin == Takes("Rejoin") /\ Rejoin(E.r) /\ SameTerms

(* Reads have phases, and other ops may be committed before the last of them;   *)
(* so the answer is held to the state of the replica that gave it, and the       *)
(* order that clients saw is left to the judgement of their history.             *)
TakeAnswer ==
    /\ Takes("Answer")
    /\ rep[E.r].up
    /\ UNCHANGED vars
    /\ ShowsAll
    /\ CASE E.k = "poll" -> IF E.n = 0 THEN E.o = E.en
                            ELSE E.o >= E.st /\ E.o + E.n <= E.en
         [] E.k = "get-bookmark" -> E.o = rep[E.r].bm[E.key].o
                                    \/ (rep[E.r].bm[E.key].o = -1 /\ E.o = 0)
         [] E.k = "list-offsets" -> E.o \in 0 .. E.en
         [] OTHER -> TRUE
    /\ SameTerms

TraceNext ==
    \/ TakeCommit
    \/ TakeBecomeLeader
    \/ TakeMaterialize
    \/ TakePurgeComplete
    \/ TakePurgeDuplicate
    \/ TakeProcessCrash
    \/ TakePowerLoss
    \/ TakeBoot
    \/ TakeRejoin
    \/ TakeAnswer

(* The search has no branches: a state is told by how far it has come. *)
TraceView == <<piece, cursor>>

TraceSpec == TraceInit /\ [][TraceNext]_<<vars, trace>>

-----------------------------------------------------------------------------
(* Prints when a sequence is accepted, and how far others have come.           *)
Consumed ==
    IF cursor > Len(Events) THEN PrintT(<<"DONE", piece>>)
    ELSE cursor % 64 # 0 \/ PrintT(<<"STEP", piece, cursor>>)

(* The replica that the event under the cursor is about. *)
Who == IF cursor <= Len(Events) THEN E.r ELSE 1

(* What could happen to that replica, whatever the trace says next. *)
Enabled ==
    LET If(b, name) == IF b THEN {name} ELSE {}
        n == rep[Who].applied + 1
    IN If(commit < Len(log), "Commit")
       \cup IF ~rep[Who].up THEN {"Boot"}
            ELSE {"ProcessCrash", "PowerLoss", "BecomeLeader", "Answer"}
                 \cup If(ENABLED Materialize(Who, n, Op(n)), "Materialize")
                 \cup If(Op(n).k = "purge" /\ ENABLED PurgeComplete(Who, n, Op(n).g), "PurgeComplete")
                 \cup If(Op(n).k = "purge" /\ ENABLED PurgeDuplicate(Who, n, Op(n).g), "PurgeDuplicate")

(* Prints states from a given step on when rejected sequences are run again;    *)
(* after the last one no action explains the next event.                       *)
Told ==
    cursor < TraceFrom[piece] \/
    PrintT(<<"AT", piece, cursor,
             [up |-> rep[Who].up, commit |-> commit, term |-> term, led |-> led,
              now |-> [f \in DOMAIN rep[Who] \ {"segs", "seen", "up"} |-> rep[Who][f]],
              next |-> Op(rep[Who].applied + 1),
              op |-> IF cursor <= Len(Events) /\ "op" \in DOMAIN E THEN Op(E.op) ELSE [k |-> "none"]],
             Enabled>>)
=============================================================================
