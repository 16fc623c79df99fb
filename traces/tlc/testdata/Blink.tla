------------------------------- MODULE Blink --------------------------------
(* Blinks for ever, so <>[]lit fails by a loop and not by stuttering. *)
EXTENDS Integers, TLC
VARIABLES lit, seen
Init == lit = 0 /\ seen = (2 :> {} @@ 3 :> {<<1, 2>>})
Next ==
    /\ lit' = (lit + 1) % 3
    /\ seen' = [seen EXCEPT ![2] = @ \cup {lit}]
Spec == Init /\ [][Next]_<<lit, seen>> /\ WF_<<lit, seen>>(Next)
Settles == <>[](lit = 1)
Dark == lit # 0
Few == lit < 2
Small == lit < 3
=============================================================================
