------------------------------- MODULE Toggle -------------------------------
(* Starts off and, once on, stays on: what a lamp does not refine. *)
VARIABLE lit
Init == lit = FALSE
Next == ~lit /\ lit' = TRUE
Spec == Init /\ [][Next]_lit
=============================================================================
