-------------------------- MODULE ResetRecordDriven --------------------------
(* Behaviours of ResetRecord that an implementation can be driven through: of what   *)
(* the specification leaves open, the way in which the implementation does it.     *)
(*                                                                           *)
(*   - it serves as soon as it may, but not before it has come to what its disk       *)
(*     showed when it booted, though a purge may have removed that since, and makes   *)
(*     no checkpoint before: of a bookmark it keeps no version for it;              *)
(*   - a boot that finds a cleanup pending ends it before it does anything else;     *)
(*   - a reset that a boot finds begun is gone on with, and no other;             *)
(*   - a sync makes all of a file stable, entries of later ops among them;       *)
(*   - a boot cuts messages off from the first one that does not agree with the       *)
(*     checkpoint, and that makes what is left stable;                          *)
(*   - a boot syncs the folders, after which no removal can be undone;            *)
(*   - a step that fails and does nothing is no sync: it stops at one that fails;     *)
(*   - what a new leader replaces is there until something comes in its place.       *)
EXTENDS ResetRecord

VARIABLES
    undoable,    \* keys of bookmarks, and "segs", whose removal a power loss can undo
    finishing,   \* a boot ends a cleanup
    found,       \* the highest op that the disk gave evidence of at the last boot
    cut          \* the journal is about to go on with another op than it did

driven == <<undoable, finishing, found, cut>>

SimSyncedTo(f, n) ==
    IF f.es # <<>> /\ "base" \in DOMAIN f.es[1] /\ f.es[1].op > n THEN f   \* no file of messages is used yet
    ELSE [f EXCEPT !.synced = Len(f.es)]

SimFitting(d) ==
    LET es == d.segs.es
        Fits(e) == e.base < d.ckpt.end \/ e.op > d.ckpt.applied
        n == CHOOSE x \in 0 .. Len(es) :
                /\ \A i \in 1 .. x : Fits(es[i])
                /\ x = Len(es) \/ ~Fits(es[x + 1])
    IN [es |-> SubSeq(es, 1, n), synced |-> IF n < Len(es) THEN n ELSE d.segs.synced]

DrivenInit == undoable = {} /\ finishing = FALSE /\ found = 0 /\ cut = FALSE

Begins(s, t) == Len(s) <= Len(t) /\ s = SubSeq(t, 1, Len(s))

ServesAtOnce ==
    (up = "replay" /\ ~mem.orphan /\ ~Resetting /\ ~Pending /\ mem.applied >= Max(Front(disk), found))
        => last'.a \in {"Serve", "ProcessCrash", "PowerLoss"}

ItsWay ==
    /\ cut => last'.a \in {"Cut", "Journal"}
    /\ last'.a \in {"Serve", "Checkpoint"} => mem.applied >= Max(Front(disk), found)
    /\ finishing => last'.a \in {"UnlinkBookmarks", "SyncBookmarks", "PurgeComplete", "ProcessCrash", "PowerLoss"}
    /\ (last'.a = "ResetFrontier" /\ disk.ckpt.resetting > mem.gen) => last'.g = disk.ckpt.resetting
    /\ (last'.a = "StepFails" /\ work' = NoWork) =>
        \/ work.step \in {"empty", "cleaned"}
        \/ work.step = "reset" /\ disk.segs.es # <<>>
        \/ work.step = "clean" /\ \E k \in Keys : disk.files[k].es # <<>>
    /\ last'.a = "PowerLoss" =>
        /\ "segs" \in undoable \/ Begins(disk'.segs.es, disk.segs.es)
        /\ \A k \in Keys : k \in undoable \/ Begins(disk'.files[k].es, disk.files[k].es)

(* What clients ask a replica that serves and has applied all that it has. ResetRecord     *)
(* answers no reads; here they are answered what the contract says.               *)
SimReads ==
    UNION {{[f |-> "poll", key |-> k, strategy |-> "next", max |-> 3, reset |-> "earliest", auto |-> "no"],
            [f |-> "poll", key |-> k, strategy |-> "first", max |-> 3, reset |-> "earliest", auto |-> "no"],
            [f |-> "poll", key |-> k, strategy |-> "last", max |-> 1, reset |-> "earliest", auto |-> "no"],
            [f |-> "get", key |-> k]} : k \in Keys}
        \cup {[f |-> "list", which |-> "earliest", t |-> 0],
              [f |-> "list", which |-> "latest", t |-> 0]}

Answer(q) ==
    /\ up = "serve"
    /\ ~Resetting
    /\ last' = [a |-> "Answer", q |-> q, r |-> Do(AsContract(mem, disk.segs.es), q).r]
    /\ UNCHANGED <<store, ghosts>>

DrivenNext ==
    /\ undoable' =
        CASE last'.a = "UnlinkSegments" -> IF disk.segs.es = <<>> THEN undoable ELSE undoable \cup {"segs"}
          [] last'.a = "UnlinkBookmarks" -> undoable \cup {last'.k}
          [] last'.a = "SyncSegments" -> undoable \ {"segs"}
          [] last'.a = "SyncBookmarks" -> {x \in undoable : x = "segs" \/ disk'.back[x] # <<>>}
          [] last'.a \in {"PowerLoss", "Boot", "CommitInstall"} -> {}
          [] OTHER -> undoable
    /\ finishing' =
        CASE last'.a = "Boot" -> PendingOnDisk
          [] last'.a \in {"PurgeComplete", "ProcessCrash", "PowerLoss"} -> FALSE
          [] OTHER -> finishing
    /\ found' =
        CASE last'.a = "Boot" -> IF PendingOnDisk THEN Max(disk'.ckpt.applied, LastOpOf(disk'.segs)) ELSE Front(disk')
          [] last'.a \in {"ProcessCrash", "PowerLoss", "CommitInstall"} -> 0
          [] OTHER -> found
    /\ cut' = (last'.a = "Cut")
=============================================================================
