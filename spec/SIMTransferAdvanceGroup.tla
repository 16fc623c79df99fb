----------------------- MODULE SIMTransferAdvanceGroup -----------------------
(* The same for the design advance: a purge is a deletion of all records, and there   *)
(* are no intents.                                                            *)
EXTENDS SIMTransferGroup
=============================================================================
