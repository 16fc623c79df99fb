-------------------------------- MODULE Lamp --------------------------------
(* A lamp with a counter of presses: small enough to know every answer of
   TLC by heart. The tests of the runner check it in several ways.          *)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS Limit, Users

VARIABLES on, presses, last

vars == <<on, presses, last>>

Init ==
    /\ on = FALSE
    /\ presses = [u \in Users |-> 0]
    /\ last = [op |-> "none", by |-> {}, path |-> <<>>]

Press(u) ==
    /\ presses[u] < Limit
    /\ on' = ~on
    /\ presses' = [presses EXCEPT ![u] = @ + 1]
    /\ last' = [op |-> "press", by |-> {u}, path |-> <<u, presses[u]>>]

Unplug ==
    /\ on
    /\ on' = FALSE
    /\ last' = [last EXCEPT !.op = "unplug"]
    /\ UNCHANGED presses

Rest == UNCHANGED vars

Next == (\E u \in Users : Press(u)) \/ Unplug
NextRest == Next \/ Rest

Spec == Init /\ [][NextRest]_vars
SpecEnds == Init /\ [][Next]_vars
FairSpec == Spec /\ WF_vars(Next)

TypeOK == on \in BOOLEAN /\ presses \in [Users -> 0..Limit]
NeverTwice == \A u \in Users : presses[u] < 2
Broken == presses["nobody"] = 0

(* Refinement of a switch that toggles only from off to on and back. *)
Switch == INSTANCE Toggle WITH lit <- on
NeverUnplugged == Switch!Spec

EventuallyOn == <>[](on)
OnlyUp == [][last'.op = "press"]_vars
=============================================================================
