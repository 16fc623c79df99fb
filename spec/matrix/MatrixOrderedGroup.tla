-------------------------- MODULE MatrixOrderedGroup --------------------------
(* Replicas of the design ordered, or of advance, under one class of faults; and a      *)
(* consumer that reads, and stores how far it has come at any later time: as a position   *)
(* with its generation or, Untagged, as a mere offset. See MatrixOrderedLocal for classes      *)
(* without steps of their own. Several replicas that lose power together are the same as   *)
(* several that lose it before any of them boots. Of three, one is a minority.            *)
EXTENDS MCOrderedGroup

CONSTANTS
    Faults,  \* what may happen, by the names of actions; "Retry": a request comes twice
    Untagged, \* positions are mere offsets
    Kinds    \* ops that clients propose: "append", "request" (numbered), "store",
             \* "commit", "advance"

(* The offset 0 that the consumer read in generation e. *)
Progress(e) == [k |-> "store", key |-> k1, g |-> IF Untagged THEN -1 ELSE e, o |-> 0, era |-> e]

MatrixOps ==
    (IF "append" \in Kinds THEN {AppendOp(NoSession, 1)} ELSE {})
    \cup (IF "request" \in Kinds THEN {AppendOp(c1, 1)} ELSE {})
    \cup (IF "store" \in Kinds THEN {Progress(e) : e \in 0 .. MaxIntent} ELSE {})
    \cup (IF "commit" \in Kinds THEN {CommitOp(k1, 1)} ELSE {})
    \cup (IF "advance" \in Kinds THEN {AdvanceOp(-1)} ELSE {})

MatrixAsked ==
    MCReads \cup {RequestOf(n, o) : n \in 1 .. MaxOps, o \in MatrixOps \cup {PurgeOp(g) : g \in 1 .. MaxIntent}}

InLog(o) == \E n \in DOMAIN log : log[n] = o

(* Some message at offset 0 of generation e was there to be read. *)
WasRead(e) == \E n \in DOMAIN ghost_hist : ghost_hist[n].gen = e /\ End(ghost_hist[n]) > 0

Down == {r \in Replicas : ~rep[r].up}

May(fault) ==
    /\ fault \in Faults
    /\ ghost_crashes < MaxCrashes
    /\ Cardinality(Down) = ghost_crashes

MatrixMayPropose(o) ==
    /\ Len(log) < MaxOps
    /\ o.k = "store" => WasRead(o.era)
    /\ o.k = "purge" \/ (o.k = "append" /\ o.id # NoSession) => "Retry" \in Faults \/ ~InLog(o)
MatrixMayLead(r)      == "BecomeLeader" \in Faults
MatrixMayCrash(r)     == May("ProcessCrash")
MatrixMayLosePower(r) == May("PowerLoss")

-----------------------------------------------------------------------------
Stored(r, k) == rep[r].bm[k].o # -1 /\ log[rep[r].bm[k].op].k = "store"

(* Progress computed in one era is never applied in another. *)
NoLateProgressOfConsumer ==
    /\ NoLateProgress
    /\ \A r \in Replicas, k \in Keys : rep[r].up /\ Stored(r, k) => log[rep[r].bm[k].op].era = rep[r].gen

(* `next` skips no message that no store or auto-commit of that consumer in this era covered. *)
NextContractOfConsumer ==
    /\ NextContract
    /\ \A r \in Replicas, k \in Keys :
        rep[r].up /\ Stored(r, k) =>
            \E n \in rep[r].boundary + 1 .. rep[r].bm[k].op :
                \/ log[n].k = "store" /\ log[n].era = rep[r].gen
                \/ log[n].k = "commit"

(* Within an era, start and end of the committed log never fall. *)
StartMonotone  == P!StartMonotone
LatestMonotone == P!LatestMonotone
=============================================================================
