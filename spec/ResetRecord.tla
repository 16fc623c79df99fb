----------------------------- MODULE ResetRecord -----------------------------
(* The design reset-record on one replica. A purge is no op of the log: the     *)
(* replica purges when it learns the intent, and takes the highest op of its own *)
(* journal for the floor. Ops at or below the floor are filtered. Every durable   *)
(* step is an action, so that a crash can fall between any two:                  *)
(*   ResetFrontier, UnlinkSegments, SyncSegments, ResetRecord,                    *)
(*   UnlinkBookmarks (one file), SyncBookmarks, PurgeComplete.                    *)
(*                                                                           *)
(* log is the replica's journal, committed or not; it is synced, unless          *)
(* BeginSequence says that power failed everywhere under a policy that does not.   *)
(*                                                                           *)
(* Made atomic: a record write (see Disk); all segment files, which are unlinked   *)
(* before anything depends on one; both folders of bookmarks, since completion     *)
(* waits for the sync of both and keys do not meet. SyncSegments is a step of the   *)
(* design, but what a power loss brings back without it does not count either:     *)
(* the frontier, written first, says that the log is empty (see Fitting).          *)
(*                                                                           *)
(* Several replicas, and what this design cannot give: ResetRecordGroup.          *)
EXTENDS Effects, TLC

CONSTANTS
    Ops,                     \* what may come into the journal: appends, stores
    Generations,             \* intents that may be learned
    Tagged,                  \* variant: bookmarks say of which generation they are
    RetryResetsAgain,        \* defect switches
    CompleteBeforeCleanup,
    BookmarkNoDirSync,
    FloorNotKept,
    FloorKeptAcrossSequences,
    HeldDropped

VARIABLES
    log,            \* the journal
    up,             \* "down", "replay" (booted, not yet serving) or "serve"
    mem,            \* facts in memory; NoFacts while down
    work,           \* the purge under way: step, generation, floor
    held,           \* changes of bookmarks that wait for the cleanup, in order
    disk,           \* see BlankDisk
    last,           \* the last action with its parameters
    ghost_era,      \* [g, floor]: the floor that g had when it was first reset
    ghost_top,      \* highest generation that this replica completed
    ghost_owed,     \* held changes whose clients wait for an answer
    ghost_seqs,     \* op sequences that began anew
    ghost_crashes

store  == <<log, up, mem, work, held, disk>>
ghosts == <<ghost_era, ghost_top, ghost_owed, ghost_seqs, ghost_crashes>>
vars   == <<store, last, ghosts>>

NoFacts == [applied |-> 0]
NoWork  == [step |-> "none", g |-> 0, floor |-> 0]
NoMarks == [k \in Keys |-> NoBookmark]
NoFile  == [es |-> <<>>, synced |-> 0]

(* ckpt says up to which op the messages below `end` are there; resetting is a   *)
(* generation whose reset was begun. segs and the files of bookmarks are           *)
(* append-only, their first `synced` entries are stable. back is what an unlink     *)
(* removed that is not synced. reset and done are purge.reset and purge.gen.       *)
BlankDisk ==
    [ckpt |-> [applied |-> 0, end |-> 0, resetting |-> 0],
     segs |-> NoFile, files |-> [k \in Keys |-> NoFile],
     segsBack |-> <<>>, back |-> [k \in Keys |-> <<>>],
     reset |-> [g |-> 0, floor |-> 0], done |-> 0]

(* Limits of a model are put here by its MC module. *)
MayJournal(o) == TRUE
MayHold       == TRUE
MayFail       == TRUE
MayCrash      == TRUE
MayBegin      == TRUE

Init ==
    /\ log = <<>>
    /\ up = "down"
    /\ mem = NoFacts
    /\ work = NoWork
    /\ held = <<>>
    /\ disk = BlankDisk
    /\ last = [a |-> "Init"]
    /\ ghost_era = [g |-> 0, floor |-> 0]
    /\ ghost_top = 0
    /\ ghost_owed = <<>>
    /\ ghost_seqs = 0
    /\ ghost_crashes = 0

Running == up # "down"

(* Messages are reset, bookmarks are not cleaned up. *)
Pending == disk.reset.g > disk.done

(* A reset was begun and may have destroyed messages. *)
Resetting == disk.ckpt.resetting > disk.reset.g \/ work.step \in {"reset", "unlinked", "empty"}

LastOpOf(f) == IF f.es = <<>> THEN 0 ELSE f.es[Len(f.es)].op
Added(f, e) == IF e.op <= LastOpOf(f) THEN f ELSE [f EXCEPT !.es = Append(@, e)]
AllSynced(f) == [f EXCEPT !.synced = Len(f.es)]

Front(d) ==
    LET seen == {d.ckpt.applied, LastOpOf(d.segs)} \cup {LastOpOf(d.files[k]) : k \in Keys}
    IN CHOOSE x \in seen : \A y \in seen : y <= x

(* The bookmarks that a boot loads, as of op n. *)
Loaded(d, n) ==
    [k \in Keys |->
        LET mine == SelectSeq(d.files[k].es, LAMBDA e : e.op <= n /\ (~Tagged \/ e.g = d.reset.g))
        IN IF mine = <<>> THEN NoBookmark
           ELSE [op |-> mine[Len(mine)].op, o |-> mine[Len(mine)].o]]

(* Segment entries that agree with the checkpoint: below its end, or written by    *)
(* later ops. A boot cuts off the others.                                       *)
Fitting(d) ==
    LET fit == SelectSeq(d.segs.es, LAMBDA e : e.base < d.ckpt.end \/ e.op > d.ckpt.applied)
    IN [es |-> fit, synced |-> Min(d.segs.synced, Len(fit))]

-----------------------------------------------------------------------------
(* ACTION Journal
   WHO    the group
   Op o comes into the replica's journal. *)
Journal(o) ==
    /\ Running
    /\ ~mem.orphan
    /\ MayJournal(o)
    /\ log' = Append(log, o)
    /\ last' = [a |-> "Journal", n |-> Len(log) + 1, o |-> o]
    /\ UNCHANGED <<up, mem, work, held, disk, ghosts>>

(* What may be applied now: nothing while a reset is under way. *)
MayApply(n) ==
    /\ Running
    /\ ~mem.orphan
    /\ ~Resetting
    /\ n = mem.applied + 1
    /\ n <= Len(log)

(* ACTION Filtered
   WHO    the replica
   Op n is at or below the floor: it belongs to the era before. *)
Filtered(n) ==
    /\ MayApply(n)
    /\ n <= mem.boundary
    /\ mem' = [mem EXCEPT !.applied = n]
    /\ last' = [a |-> "Filtered", n |-> n]
    /\ UNCHANGED <<log, up, work, held, disk, ghosts>>

(* ACTION Materialize
   WHO    the replica
   Applies op n. A change of a bookmark waits until no cleanup is pending. *)
Materialize(n) ==
    /\ MayApply(n)
    /\ n > mem.boundary
    /\ log[n].k = "store" => work.step = "none" /\ ~Pending
    /\ LET e == EffectOf(mem, log[n])
       IN /\ mem' = After(mem, n, e)
          /\ disk' =
                CASE e.k = "append" ->
                        [disk EXCEPT !.segs = Added(@, [op |-> n, base |-> e.base, n |-> e.n])]
                  [] e.k = "store" ->
                        [disk EXCEPT !.files[e.key] = Added(@, [op |-> n, o |-> e.o, g |-> mem.gen])]
                  [] OTHER -> disk
          /\ last' = [a |-> "Materialize", n |-> n, o |-> log[n], e |-> e]
    /\ UNCHANGED <<log, up, work, held, ghosts>>

(* ACTION Checkpoint
   WHO    the replica
   Syncs messages, bookmarks and their folders, and makes the record of op n durable. *)
Checkpoint(n) ==
    /\ Running
    /\ ~mem.orphan
    /\ ~Resetting
    /\ ~Pending
    /\ work.step = "none"
    /\ n = mem.applied
    /\ n > disk.ckpt.applied
    /\ disk' = [disk EXCEPT
            !.ckpt = [applied |-> n, end |-> mem.end, resetting |-> 0],
            !.segs = AllSynced(@),
            !.files = [k \in Keys |-> AllSynced(@[k])],
            !.back = [k \in Keys |-> IF disk.files[k].es = <<>> THEN @[k] ELSE <<>>]]
    /\ last' = [a |-> "Checkpoint", n |-> n]
    /\ UNCHANGED <<log, up, mem, work, held, ghosts>>

-----------------------------------------------------------------------------
(* ACTION ResetFrontier
   WHO    the replica
   Begins to reset messages for g: the record says that the log is empty. *)
ResetFrontier(g) ==
    /\ Running
    /\ ~mem.orphan
    /\ work.step = "none"
    /\ \/ g > disk.reset.g
          \* DEFECT RetryResetsAgain: a generation that is reset is reset again
       \/ RetryResetsAgain /\ Pending /\ g = disk.reset.g
    /\ g >= disk.ckpt.resetting
    /\ work' = [step |-> "reset", g |-> g, floor |-> Len(log)]
    /\ disk' = [disk EXCEPT !.ckpt = [applied |-> mem.applied, end |-> 0, resetting |-> g]]
    /\ last' = [a |-> "ResetFrontier", g |-> g, n |-> Len(log)]
    /\ UNCHANGED <<log, up, mem, held, ghosts>>

(* ACTION UnlinkSegments
   WHO    the replica
   Removes the messages' files; a power loss may bring them back. *)
UnlinkSegments ==
    /\ work.step = "reset"
    /\ work' = [work EXCEPT !.step = "unlinked"]
    /\ disk' = [disk EXCEPT !.segs = NoFile,
                            !.segsBack = IF disk.segs.es = <<>> THEN @ ELSE disk.segs.es]
    /\ last' = [a |-> "UnlinkSegments"]
    /\ UNCHANGED <<log, up, mem, held, ghosts>>

(* ACTION SyncSegments
   WHO    the replica
   Syncs the folder of messages: they are gone for good. *)
SyncSegments ==
    /\ work.step = "unlinked"
    /\ work' = [work EXCEPT !.step = "empty"]
    /\ disk' = [disk EXCEPT !.segsBack = <<>>]
    /\ last' = [a |-> "SyncSegments"]
    /\ UNCHANGED <<log, up, mem, held, ghosts>>

(* ACTION ResetRecord
   WHO    the replica
   Makes purge.reset of g durable, floor n with it: the era changes. *)
ResetRecord(g, n) ==
    /\ work.step = "empty"
    /\ g = work.g
    /\ n = work.floor
    /\ work' = [work EXCEPT !.step = "clean"]
    /\ disk' = [disk EXCEPT !.reset = [g |-> g, floor |-> n]]
    /\ mem' = [mem EXCEPT !.gen = g, !.boundary = n, !.start = 0, !.end = 0, !.bm = NoMarks]
    /\ ghost_era' = IF g > disk.reset.g THEN [g |-> g, floor |-> n] ELSE ghost_era
    /\ last' = [a |-> "ResetRecord", g |-> g, n |-> n]
    /\ UNCHANGED <<log, up, held, ghost_top, ghost_owed, ghost_seqs, ghost_crashes>>

(* ACTION UnlinkBookmarks
   WHO    the replica
   Removes the file of bookmark k; a power loss may bring it back. *)
UnlinkBookmarks(k) ==
    /\ work.step \in {"clean", "late"}
    /\ disk.files[k].es # <<>>
    /\ disk' = [disk EXCEPT !.files[k] = NoFile, !.back[k] = disk.files[k].es]
    /\ last' = [a |-> "UnlinkBookmarks", k |-> k]
    /\ UNCHANGED <<log, up, mem, work, held, ghosts>>

(* ACTION SyncBookmarks
   WHO    the replica
   All files of bookmarks are removed: syncs their folders. *)
SyncBookmarks ==
    /\ work.step \in {"clean", "late"}
    /\ \A k \in Keys : disk.files[k].es = <<>>
    /\ work' = IF work.step = "late" THEN NoWork ELSE [work EXCEPT !.step = "cleaned"]
       \* DEFECT BookmarkNoDirSync: the folders are not synced after the unlinks
    /\ disk' = IF BookmarkNoDirSync THEN disk ELSE [disk EXCEPT !.back = [k \in Keys |-> <<>>]]
    /\ last' = [a |-> "SyncBookmarks"]
    /\ UNCHANGED <<log, up, mem, held, ghosts>>

(* ACTION PurgeComplete
   WHO    the replica
   Makes purge.gen of g durable. *)
PurgeComplete(g) ==
    /\ \/ work.step = "cleaned"
          \* DEFECT CompleteBeforeCleanup: completion does not wait for the cleanup
       \/ CompleteBeforeCleanup /\ work.step = "clean"
    /\ g = work.g
    /\ work' = IF work.step = "clean" THEN [work EXCEPT !.step = "late"] ELSE NoWork
    /\ disk' = [disk EXCEPT !.done = g]
    /\ mem' = [mem EXCEPT !.settled = g]
       \* DEFECT HeldDropped: what was held is forgotten
    /\ held' = IF HeldDropped THEN <<>> ELSE held
    /\ ghost_top' = g
    /\ last' = [a |-> "PurgeComplete", g |-> g]
    /\ UNCHANGED <<log, up, ghost_era, ghost_owed, ghost_seqs, ghost_crashes>>

(* ACTION StepFails
   WHO    the environment
   A step of the purge reports failure and has done nothing; the purge is given up. *)
StepFails ==
    /\ work.step # "none"
    /\ MayFail
    /\ work' = NoWork
    /\ last' = [a |-> "StepFails", step |-> work.step]
    /\ UNCHANGED <<log, up, mem, held, disk, ghosts>>

(* ACTION RetryPurge
   WHO    the replica
   The purge of g is done again: its messages are reset, only its cleanup is left. *)
RetryPurge(g) ==
    /\ Running
    /\ work.step = "none"
    /\ Pending
    /\ g = disk.reset.g
    /\ ~RetryResetsAgain
    /\ work' = [step |-> "clean", g |-> g, floor |-> disk.reset.floor]
    /\ last' = [a |-> "RetryPurge", g |-> g]
    /\ UNCHANGED <<log, up, mem, held, disk, ghosts>>

-----------------------------------------------------------------------------
(* ACTION Hold
   WHO    a client
   Stores bookmark k of a leader that purges: the change waits outside the log. *)
Hold(k) ==
    /\ up = "serve"
    /\ work.step # "none" \/ Pending
    /\ MayHold
    /\ held' = Append(held, StoreOp(k, -1, Len(held)))
    /\ ghost_owed' = Append(ghost_owed, StoreOp(k, -1, Len(held)))
    /\ last' = [a |-> "Hold", k |-> k]
    /\ UNCHANGED <<log, up, mem, work, disk, ghost_era, ghost_top, ghost_seqs, ghost_crashes>>

(* ACTION Release
   WHO    the replica
   The cleanup is over: the first change that was held goes into the log. *)
Release ==
    /\ up = "serve"
    /\ work.step = "none"
    /\ ~Pending
    /\ held # <<>>
    /\ log' = Append(log, Head(held))
    /\ held' = Tail(held)
    /\ ghost_owed' = Tail(ghost_owed)
    /\ last' = [a |-> "Release", n |-> Len(log) + 1, o |-> Head(held)]
    /\ UNCHANGED <<up, mem, work, disk, ghost_era, ghost_top, ghost_seqs, ghost_crashes>>

-----------------------------------------------------------------------------
(* Memory is gone; clients of what was held learn nothing. *)
Stops ==
    /\ up' = "down"
    /\ mem' = NoFacts
    /\ work' = NoWork
    /\ held' = <<>>
    /\ ghost_owed' = <<>>
    /\ ghost_crashes' = ghost_crashes + 1

(* ACTION ProcessCrash
   WHO    the environment
   Memory is gone; the disk stays as a reader saw it. *)
ProcessCrash ==
    /\ Running
    /\ MayCrash
    /\ Stops
    /\ last' = [a |-> "ProcessCrash"]
    /\ UNCHANGED <<log, disk, ghost_era, ghost_top, ghost_seqs>>

(* What a power loss may leave of a file f, or of b that an unlink removed. *)
Left(f, b) ==
    {[es |-> SubSeq(f.es, 1, n), synced |-> n] : n \in f.synced .. Len(f.es)}
        \cup (IF b = <<>> THEN {} ELSE {[es |-> b, synced |-> Len(b)]})

(* ACTION PowerLoss
   WHO    the environment
   Memory is gone, and any part of what was not synced; unlinked files may be back. *)
PowerLoss ==
    /\ Running
    /\ MayCrash
    /\ \E s \in Left(disk.segs, disk.segsBack) :
       \E f \in [Keys -> UNION {Left(disk.files[k], disk.back[k]) : k \in Keys}] :
        /\ \A k \in Keys : f[k] \in Left(disk.files[k], disk.back[k])
        /\ disk' = [disk EXCEPT !.segs = s, !.segsBack = <<>>,
                                !.files = f, !.back = [k \in Keys |-> <<>>]]
        /\ last' = [a |-> "PowerLoss", segs |-> Len(s.es), files |-> f]
    /\ Stops
    /\ UNCHANGED <<log, ghost_era, ghost_top, ghost_seqs>>

(* ACTION BeginSequence
   WHO    the environment
   Power fails on all replicas, and no journal was synced: the group begins with op 1
   anew. Of this replica's disk only the two records of its purges are left. *)
BeginSequence ==
    /\ MayCrash
    /\ MayBegin
    /\ log # <<>>
    /\ log' = <<>>
    /\ disk' = [BlankDisk EXCEPT !.reset = disk.reset, !.done = disk.done]
    /\ Stops
    /\ ghost_era' = [g |-> disk.reset.g, floor |-> 0]
    /\ ghost_seqs' = ghost_seqs + 1
    /\ last' = [a |-> "BeginSequence"]
    /\ UNCHANGED ghost_top

(* ACTION Boot
   WHO    the replica
   Opens the checkpoint at op n. Bookmarks are loaded only if no cleanup is pending;
   one that is pending goes on. *)
Boot(n) ==
    /\ ~Running
    /\ n = disk.ckpt.applied
    /\ up' = "replay"
    /\ mem' = [applied |-> n, gen |-> disk.reset.g,
               \* DEFECT FloorNotKept: the floor is forgotten
               boundary |-> IF FloorNotKept THEN 0 ELSE disk.reset.floor,
               start |-> 0, end |-> disk.ckpt.end, settled |-> disk.done,
               bm |-> IF Pending THEN NoMarks ELSE Loaded(disk, n),
               \* DEFECT FloorKeptAcrossSequences: a floor is used for ops that it never saw
               orphan |-> ~FloorKeptAcrossSequences /\ Len(log) < disk.reset.floor]
    /\ disk' = [disk EXCEPT !.segs = Fitting(disk)]
    /\ work' = IF Pending THEN [step |-> "clean", g |-> disk.reset.g, floor |-> disk.reset.floor]
               ELSE NoWork
    /\ last' = [a |-> "Boot", n |-> n, g |-> disk.reset.g]
    /\ UNCHANGED <<log, held, ghosts>>

(* ACTION DropFloor
   WHO    the replica
   The journal is shorter than the floor: its op sequence is another. The floor is
   dropped, durably, before any op of the new sequence is taken. *)
DropFloor ==
    /\ Running
    /\ mem.orphan
    /\ disk' = [disk EXCEPT !.reset.floor = 0]
    /\ mem' = [mem EXCEPT !.boundary = 0, !.orphan = FALSE]
    /\ work' = [work EXCEPT !.floor = 0]
    /\ last' = [a |-> "DropFloor"]
    /\ UNCHANGED <<log, up, held, ghosts>>

(* ACTION Serve
   WHO    the replica
   Replay has reached all that the disk gives evidence of, and no purge is left over. *)
Serve ==
    /\ up = "replay"
    /\ ~mem.orphan
    /\ ~Resetting
    /\ ~Pending
    /\ mem.applied >= Front(disk)
    /\ up' = "serve"
    /\ last' = [a |-> "Serve"]
    /\ UNCHANGED <<log, mem, work, held, disk, ghosts>>

NextOp == mem.applied + 1

Next ==
    \/ \E o \in Ops : Journal(o)
    \/ Filtered(NextOp)
    \/ Materialize(NextOp)
    \/ Checkpoint(mem.applied)
    \/ \E g \in Generations : ResetFrontier(g)
    \/ UnlinkSegments
    \/ SyncSegments
    \/ ResetRecord(work.g, work.floor)
    \/ \E k \in Keys : UnlinkBookmarks(k)
    \/ SyncBookmarks
    \/ PurgeComplete(work.g)
    \/ StepFails
    \/ RetryPurge(disk.reset.g)
    \/ \E k \in Keys : Hold(k)
    \/ Release
    \/ ProcessCrash
    \/ PowerLoss
    \/ BeginSequence
    \/ Boot(disk.ckpt.applied)
    \/ DropFloor
    \/ Serve

Spec == Init /\ [][Next]_vars
=============================================================================
