------------------------------- MODULE Intent -------------------------------
(* The metadata plane: purge generations that operators have asked for. An      *)
(* intent is committed there before any partition knows of it; the reconciler    *)
(* of a partition's leader proposes purge(g) for as long as the partition has    *)
(* not settled g. A dropped proposal or a new leader only means: once more.      *)
EXTENDS Integers

VARIABLE intent   \* the highest generation committed on the metadata plane

IntentInit == intent = 0

Ask(g) ==
    /\ g > intent
    /\ intent' = g

(* What a reconciler that has settled s may propose; not what it has under way. *)
Wanted(s, underway) == {g \in s + 1 .. intent : g \notin underway}
=============================================================================
