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

(* Enough for a segment that is removed. *)
FewOps == {AppendOp(NoSession, 2), AdvanceOp(-1)}

SimInit == Init /\ undoable = {}

Drivable ==
    /\ (up = "replay" /\ mem.applied >= Front) => last'.a \in {"Serve", "ProcessCrash", "PowerLoss"}
    /\ last'.a = "Reclaim" => Len(There) > 1
    /\ last'.a = "PowerLoss" => last'.back \subseteq undoable

(* What clients ask a replica that serves and has applied all that is committed. Advance  *)
(* shows its clients start and end only; here they are answered what the contract says.  *)
SimReads == {[f |-> "poll", key |-> k1, strategy |-> "next", max |-> 3, reset |-> "earliest", auto |-> "no"],
             [f |-> "poll", key |-> k1, strategy |-> "next", max |-> 3, reset |-> "error", auto |-> "no"],
             [f |-> "poll", key |-> k1, strategy |-> "first", max |-> 3, reset |-> "earliest", auto |-> "no"],
             [f |-> "poll", key |-> k1, strategy |-> "last", max |-> 1, reset |-> "earliest", auto |-> "no"],
             [f |-> "get", key |-> k1]}

Answer(q) ==
    /\ Keys # {}
    /\ up = "serve"
    /\ mem.applied = Len(log)
    /\ last' = [a |-> "Answer", q |-> q, r |-> Do(AsContract(mem, disk.segs), q).r]
    /\ UNCHANGED <<store, ghosts>>

(* What an implementation is asked for, and has to show. *)
SimShown == [log |-> log, up |-> up, mem |-> mem, disk |-> disk, undoable |-> undoable]

(* Whoever reads behaviours off has this print each state that is gone on from.      *)
Taken == TRUE

SimNext ==
    /\ Taken
    /\ \/ Next
       \/ \E q \in SimReads : Answer(q)
    /\ Drivable
    /\ undoable' =
        CASE last'.a = "Reclaim" -> undoable \cup {last'.n}
          [] last'.a \in {"Checkpoint", "PowerLoss", "Boot"} -> {}
          [] OTHER -> undoable

SimSpec == SimInit /\ [][SimNext]_<<vars, undoable>>

(* Crashes are not counted: there may be any number of them. *)
SimView == <<store, undoable>>
=============================================================================
