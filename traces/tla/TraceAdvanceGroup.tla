------------------------- MODULE TraceAdvanceGroup --------------------------
(* Could the replicas of a partition of the design advance have done together what  *)
(* a trace says?                                                             *)
(*                                                                           *)
(* There is no specification of this group apart from OrderedGroup, because there is   *)
(* nothing that it would say: a purge is a deletion of all records, an op of the log    *)
(* like any other, and OrderedGroup has it. What is left of OrderedGroup when the log    *)
(* holds no purge is one agreed log, and replicas whose facts are those of its first     *)
(* `applied` ops. That the log holds none, and that no event begins a generation, is      *)
(* assumed here, so that a trace for which it is not so is judged by nobody.           *)
EXTENDS TraceOrderedGroup

ASSUME \A i \in DOMAIN TraceLogs : \A l \in DOMAIN TraceLogs[i] : \A n \in DOMAIN TraceLogs[i][l] :
           TraceLogs[i][l][n].k \notin {"purge", "settle"}
ASSUME \A i \in DOMAIN TracePieces : \A j \in DOMAIN TracePieces[i] :
           TracePieces[i][j].a \notin {"PurgeComplete", "PurgeDuplicate"}
=============================================================================
