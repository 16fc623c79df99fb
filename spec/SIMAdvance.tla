----------------------------- MODULE SIMAdvance -----------------------------
(* Behaviours of Advance that an implementation can be driven through: of what      *)
(* the specification leaves open, the way in which the implementation does it.     *)
(*                                                                           *)
(*   - it serves as soon as it may;                                            *)
(*   - the last segment stays, for what is appended next;                       *)
(*   - a sync makes all of the log of bookmarks stable, entries of later ops among   *)
(*     them; each batch of messages is a file of its own;                        *)
(*   - a boot and a checkpoint sync the folder, after which no removal can be undone. *)
EXTENDS MCAdvance

VARIABLE undoable   \* ops of segments whose removal a power loss can undo

SimCovered(entries, n) ==
    IF entries # <<>> /\ "key" \in DOMAIN entries[1] THEN Len(entries)
    ELSE Cardinality({j \in DOMAIN entries : entries[j].op <= n})

SimOps == MarkOps \cup {AdvanceOp(9)}

SimInit == Init /\ undoable = {}

Drivable ==
    /\ (up = "replay" /\ mem.applied >= Front) => last'.a \in {"Serve", "ProcessCrash", "PowerLoss"}
    /\ last'.a = "Reclaim" => Len(There) > 1
    /\ last'.a = "PowerLoss" => last'.back \subseteq undoable

(* What an implementation is asked for, and has to show. *)
Shown == [log |-> log, up |-> up, mem |-> mem, disk |-> disk, undoable |-> undoable]

(* Whoever reads behaviours off has this print each state that is gone on from.      *)
Taken == TRUE

SimNext ==
    /\ Taken
    /\ Next
    /\ Drivable
    /\ undoable' =
        CASE last'.a = "Reclaim" -> undoable \cup {last'.n}
          [] last'.a \in {"Checkpoint", "PowerLoss", "Boot"} -> {}
          [] OTHER -> undoable

SimSpec == SimInit /\ [][SimNext]_<<vars, undoable>>

SimView == <<store, undoable, ghost_crashes>>
=============================================================================
