----------------------------- MODULE SIMOrdered -----------------------------
(* Behaviours of Ordered that an implementation can be driven through: of what      *)
(* the specification leaves open, the way in which the implementation does it.     *)
(*                                                                           *)
(*   - it serves as soon as it may;                                            *)
(*   - it removes folders of older generations from below;                     *)
(*   - a sync makes all of a file stable, entries of later ops among them;       *)
(*   - a boot and each step of a purge sync the folder of folders, after which     *)
(*     no removal can be undone.                                               *)
EXTENDS MCOrderedLocal

VARIABLE undoable   \* folders whose removal a power loss can undo

SimCovered(entries, n) ==
    IF entries = <<>> THEN 0
    ELSE IF "base" \in DOMAIN entries[1] /\ entries[1].op > n THEN 0   \* no file of messages is used yet
    ELSE Len(entries)

SimInit == Init /\ undoable = {}

Drivable ==
    /\ (up = "replay" /\ mem.applied >= Front(disk)) => last'.a \in {"Serve", "ProcessCrash", "PowerLoss"}
    /\ last'.a = "Reclaim" => \A g \in Folders(disk) : last'.g <= g
    /\ last'.a = "PowerLoss" => last'.back \subseteq undoable

(* What an implementation is asked for, and has to show. *)
SimShown == [log |-> log, up |-> up, mem |-> mem, disk |-> disk, undoable |-> undoable]

(* Whoever reads behaviours off has this print each state that is gone on from.      *)
Taken == TRUE

SimNext ==
    /\ Taken
    /\ Next
    /\ Drivable
    /\ undoable' =
        CASE last'.a = "Reclaim" -> undoable \cup {last'.g}
          [] last'.a \in {"PurgeBegin", "PurgeSwitch", "PurgeComplete", "PowerLoss", "Boot"} -> {}
          [] OTHER -> undoable

SimSpec == SimInit /\ [][SimNext]_<<vars, undoable>>

(* Crashes are not counted: there may be any number of them. *)
SimView == <<store, undoable>>
=============================================================================
