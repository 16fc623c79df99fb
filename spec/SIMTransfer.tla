----------------------------- MODULE SIMTransfer -----------------------------
(* Behaviours of Transfer that an implementation can be driven through: of what      *)
(* the specification leaves open, the way in which the implementation does it, as in  *)
(* SIMOrdered, and                                                            *)
(*                                                                           *)
(*   - of bookmarks a state has a table, the newest of each key;                 *)
(*   - making a home syncs the folder that it is in, after which no removal in       *)
(*     that one can be undone;                                               *)
(*   - what a power loss left of a chunk is stable;                            *)
(*   - who is given a state looks at no other offer;                             *)
(*   - a transfer that is given up before its op is reached looks for a home once more.  *)
(* It is asked more than in MCTransfer, and offered older states, too.                 *)
EXTENDS MCTransfer

VARIABLES
    undoable,   \* folders whose removal a power loss can undo
    kept        \* chunks that are safe before all are synced

SimCovered(entries, n) ==
    IF entries = <<>> THEN 0
    ELSE IF "base" \in DOMAIN entries[1] /\ entries[1].op > n THEN 0   \* no file of messages is used yet
    ELSE Len(entries)

(* With table b goes entry e: in order of ops, the newest of each key. *)
InTable(b, e) ==
    LET rest == SelectSeq(b, LAMBDA x : x.key # e.key)
    IN IF e.o = -1 THEN rest ELSE Append(rest, e)

RECURSIVE Table(_)
Table(b) == IF b = <<>> THEN <<>> ELSE InTable(Table(SubSeq(b, 1, Len(b) - 1)), b[Len(b)])

SimOffered(n) == [peers[n + 1] EXCEPT !.bms = Table(@)]

SimReads ==
    MCReads \cup {[f |-> "get", key |-> k1],
                  [f |-> "list", which |-> "earliest", t |-> 0],
                  [f |-> "list", which |-> "latest", t |-> 0]}

(* When chunk j comes, these are safe. *)
SimSafe(j) == 0

SimInit == TransferInit /\ undoable = {} /\ kept = 0

Drivable ==
    /\ (Apart /\ up = "replay" /\ mem.applied >= Front(disk)) => last'.a \in {"Serve", "ProcessCrash", "PowerLoss"}
    /\ last'.a = "Reclaim" => \A g \in Folders(disk) : last'.g <= g
    /\ last'.a = "PowerLoss" => last'.back \subseteq undoable /\ stage'.got >= kept
    /\ last'.a = "RefuseTransfer" => stage = NoStage

(* What an implementation is asked for, and has to show. *)
SimShown ==
    [log |-> log, up |-> up, mem |-> mem, disk |-> disk, undoable |-> undoable, journal |-> journal,
     root |-> root, stage |-> stage, kept |-> kept]

(* Whoever reads behaviours off has this print each state that is gone on from.      *)
Taken == TRUE

SimNext ==
    /\ Taken
    /\ \/ TransferNext
       \/ \E n \in Numbers : RefuseTransfer(n)
    /\ Drivable
    /\ undoable' =
        CASE last'.a = "Reclaim" -> undoable \cup {last'.g}
          [] last'.a \in {"PurgeBegin", "PurgeSwitch", "PurgeComplete", "PowerLoss", "Boot", "CommitInstall"} -> {}
          [] last'.a = "StageManifest" /\ root.n = 0 -> {}
          [] last'.a = "DropTransfer" /\ root.n = 0 /\ Newer(stage.n) -> {}
          [] OTHER -> undoable
    /\ kept' =
        CASE stage'.n = 0 \/ stage'.synced -> 0
          [] last'.a = "PowerLoss" -> stage'.got
          [] last'.a = "StageChunk" -> Max(kept, SimSafe(last'.j))
          [] OTHER -> kept

SimSpec == SimInit /\ [][SimNext]_<<all, undoable, kept>>

(* Crashes are not counted: there may be any number of them. *)
SimView == <<store, transfer, ghost_installs, undoable, kept>>

(* Of behaviours of models with a defect those in which it does harm: the replica had a    *)
(* boundary; a bookmark that comes with a state lies below its end; what the replica goes   *)
(* back behind it has applied.                                                     *)
LedOps == IF BoundaryNotRebased THEN MCOps \cup {PurgeOp(2)} ELSE MCOps
Led ==
    last'.a = "CommitInstall" =>
        /\ BoundaryNotRebased => mem.boundary > 0
        /\ OldGenerationBookmarksTransferred => Offered(last'.n).m.end > 0
        /\ OlderOfferAccepted => last'.n < mem.applied

(* And of those that show what can happen: a leader proposes a purge once.                *)
LedShowing == (last'.a = "CommitElsewhere" /\ last'.o.k = "purge") => last'.o \notin {log[n] : n \in DOMAIN log}
=============================================================================
