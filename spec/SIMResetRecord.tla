--------------------------- MODULE SIMResetRecord ---------------------------
(* Behaviours of ResetRecord that an implementation can be driven through.             *)
(* A loss of power that changes nothing on the disk is left out: it is a ProcessCrash.  *)
EXTENDS MCResetRecord, ResetRecordDriven

SimInit == Init /\ DrivenInit

Drivable ==
    /\ ServesAtOnce
    /\ ItsWay
    /\ last'.a = "PowerLoss" => disk' # disk

(* What an implementation is asked for, and has to show. *)
SimShown == [log |-> log, up |-> up, mem |-> mem, work |-> work, disk |-> disk, undoable |-> undoable, finishing |-> finishing,
             found |-> found, cut |-> cut]

(* Whoever reads behaviours off has this print each state that is gone on from.      *)
Taken == TRUE

SimNext ==
    /\ Taken
    /\ \/ Next
       \/ \E q \in SimReads : Answer(q)
    /\ Drivable
    /\ DrivenNext

SimSpec == SimInit /\ [][SimNext]_<<vars, driven>>

(* A trace in which nobody has applied an op shows nothing, so what is created again has      *)
(* applied its log. And a file whose name was not synced leaves nothing that comes back       *)
(* because the sync of its removal failed.                                       *)
Led ==
    /\ last'.a = "Recreate" => up # "down" /\ mem.applied = Len(log)
    /\ RetrySync /\ last'.a = "UnlinkBookmarks" => disk.files[last'.k].synced = Len(disk.files[last'.k].es)

(* Crashes are counted and not shown: behaviours that take every transition may have more  *)
(* of them than the model.                                                    *)
SimView == <<store, driven, ghost_crashes>>
=============================================================================
