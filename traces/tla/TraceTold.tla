------------------------------ MODULE TraceTold ------------------------------
(* What the trace of a group tells and its specification has no words for: who has    *)
(* begun to lead, in which terms, who comes first to an op, and what may be answered.   *)
(*                                                                           *)
(* Event fields: a action, r replica, t term, k kind, o offset, n count, st and en the      *)
(* bounds, and u, 1 if the event is not in the trace, as in TraceOrderedGroup.          *)
EXTENDS Integers

VARIABLES
    term,      \* of the last committed op of this incarnation
    led,       \* terms that have a leader
    leaders,   \* replicas that began to lead since they came up
    comes      \* the replica that told an op and comes to it next, 0 if there is none

told == <<term, led, leaders, comes>>

ToldInit ==
    /\ term = 0
    /\ led = {}
    /\ leaders = {}
    /\ comes = 0

(* An op is told by the first replica that comes to it, which does it at once: the event   *)
(* after that is its own, unless the op waits. A Commit that was put where it stands is   *)
(* told of a later moment.                                                      *)
ComesNext(e, waits) ==
    IF e.a = "Commit" /\ e.u = 1
    THEN comes' = comes
    ELSE /\ comes \in {0, e.r}
         /\ comes' = IF e.a = "Commit" /\ ~waits THEN e.r ELSE 0

(* In each term one replica begins to lead; a new incarnation has terms of its own.     *)
Leading(e, anew) ==
    /\ e.a = "BecomeLeader" => e.t \notin led
    /\ led' = IF anew THEN {} ELSE IF e.a = "BecomeLeader" THEN led \cup {e.t} ELSE led
    /\ leaders' = CASE anew -> {}
                    [] e.a = "BecomeLeader" -> leaders \cup {e.r}
                    [] e.a \in {"ProcessCrash", "PowerLoss"} -> leaders \ {e.r}
                    [] OTHER -> leaders

(* Terms do not fall, and the first op of a term is one without effect, of its leader;   *)
(* where a driver said what is agreed on, nobody elects a leader.                   *)
InTerm(e, elects) ==
    /\ e.t >= term
    /\ elects => e.t \in led /\ (e.t > term => e.k = "other")
    /\ term' = e.t

(* Whoever answers leads, or has led: a poll that was applied is read to its end.       *)
LedOnce(e, elects) == elects => e.r \in leaders

(* What is read is within the bounds that the event shows, and an empty poll is one at     *)
(* the end. Of a bookmark that is not set (-1), and of a time that nothing is as late as,    *)
(* the offset is 0. A refusal has none, but for one of what is gone, which was planned.     *)
AnswerFits(e, bookmark) ==
    CASE e.k = "poll"         -> IF e.n = 0 THEN e.o = e.en ELSE e.o >= e.st /\ e.o + e.n <= e.en
      [] e.k = "get-bookmark" -> e.o = IF bookmark = -1 THEN 0 ELSE bookmark
      [] e.k = "list-offsets" -> e.o \in {0} \cup e.st .. e.en
      [] e.k = "gone"         -> e.o >= 0 /\ e.n > 0
      [] OTHER                -> e.o = -1
=============================================================================
