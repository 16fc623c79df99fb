---------------------------- MODULE MCResetRecord ----------------------------
(* Bounds for one replica of the design reset-record. *)
EXTENDS ResetRecordShows

CONSTANTS MaxOps, MaxCrashes, MaxFails, FailSyncs, MaxHeld, MaxSeqs, k1

MCOps == {AppendOp(NoSession, 1), StoreOp(k1, -1, 0)}

(* Auto-commits among them. *)
AutoOps == {AppendOp(NoSession, 1), StoreOp(k1, -1, 0), CommitOp(k1, 1)}

(* The journal is at most one op ahead of what is applied. *)
MCMayJournal(o) == Len(log) < MaxOps /\ Len(log) <= mem.applied
MCMayHold       == Len(held) < MaxHeld /\ Len(log) + Len(held) < MaxOps
MCMayFail       == MaxFails > 0
MCMayFailSync   == FailSyncs /\ (RetrySync \/ ghost_crashes < MaxCrashes)
MCMayCrash      == ghost_crashes < MaxCrashes
MCMayBegin      == ghost_seqs < MaxSeqs /\ MayCrash
MCMayRecreate   == ghost_seqs < MaxSeqs
MCMayCut        == TRUE

View == <<store, ghosts>>
=============================================================================
