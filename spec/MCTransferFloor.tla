--------------------------- MODULE MCTransferFloor ---------------------------
(* Bounds for floors that meet a transfer. *)
EXTENDS TransferFloor

CONSTANTS MaxOps, MaxIntent, MaxSeqs

MCMayAppend == len < MaxOps
MCMayAsk    == intent < MaxIntent
MCMayBegin  == ghost_seqs < MaxSeqs

View == <<store, ghosts>>
=============================================================================
