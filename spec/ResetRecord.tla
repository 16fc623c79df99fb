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
(* Made atomic: a record write (see Disk), but for the sync of its folder, which     *)
(* may fail and leave the record visible and not durable (RecordNotSynced); all     *)
(* segment files, which are unlinked before anything depends on one; both folders   *)
(* of bookmarks, since completion waits for the sync of both and keys do not meet:    *)
(* so both kinds of bookmarks are keys here. A failed sync of a folder either leaves  *)
(* its names as they were (StepFails) or drops them (SyncFails).                  *)
(*                                                                           *)
(* Of the ways to store a bookmark the quorum's and the auto-commit are ops of the   *)
(* log; one that nobody acknowledges is the same op, or, refused during a cleanup,   *)
(* none at all.                                                               *)
(*                                                                           *)
(* Several replicas, and what this design cannot give: ResetRecordGroup.          *)
EXTENDS ResetRecordState

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

(* ACTION Cut
   WHO    the group
   A new leader replaces what is above op n, which is not committed, or a power loss
   takes it before it was synced. *)
Cut(n) ==
    /\ Running
    /\ MayCut
    /\ n >= Max(mem.applied, Front(disk))   \* what it applied is committed
    /\ n < Len(log)
    /\ log' = SubSeq(log, 1, n)
    /\ last' = [a |-> "Cut", n |-> n]
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
    /\ log[n].k \in {"store", "commit", "delete"} => work.step = "none" /\ ~Pending
    /\ LET e == EffectOf(mem, log[n])
       IN /\ mem' = After(mem, n, e)
          /\ disk' =
                CASE e.k = "append" ->
                        [disk EXCEPT !.segs = Added(@, [op |-> n, base |-> e.base, n |-> e.n])]
                  [] e.k = "store" ->
                        [disk EXCEPT !.files[e.key] = Added(@, [op |-> n, o |-> e.o, g |-> mem.gen])]
                  [] e.k = "delete" ->
                        [disk EXCEPT !.files[e.key] = Added(@, [op |-> n, o |-> -1, g |-> mem.gen])]
                  [] OTHER -> disk
          /\ last' = [a |-> "Materialize", n |-> n, o |-> log[n], e |-> e]
    /\ UNCHANGED <<log, up, work, held, ghosts>>

(* ACTION Checkpoint
   WHO    the replica
   Syncs what ops up to n wrote, and the folders, and makes the record of op n durable. *)
Checkpoint(n) ==
    /\ Running
    /\ ~mem.orphan
    /\ ~Resetting
    /\ ~Pending
    /\ work.step = "none"
    /\ \/ n > disk.ckpt.applied
       \/ n = disk.ckpt.applied /\ disk.ckpt.resetting > 0   \* the reset is over
    /\ n <= mem.applied
    /\ LET m == FactsAt(n)
           named == {k \in Keys : disk.files[k].es # <<>>}   \* their new names are durable
       IN disk' = [Durable(disk) EXCEPT
            !.ckpt = [applied |-> n, start |-> m.start, end |-> m.end, resetting |-> 0],
            !.segs = SyncedTo(@, n),
            !.segsBack = IF disk.segs.es = <<>> THEN @ ELSE <<>>,
            !.segsLost = @ /\ disk.segs.es = <<>>,
            !.files = [k \in Keys |-> SyncedTo(@[k], n)],
            !.back = [k \in Keys |-> IF k \in named THEN <<>> ELSE @[k]],
            !.lost = @ \ named]
    /\ last' = [a |-> "Checkpoint", n |-> n]
    /\ UNCHANGED <<log, up, mem, work, held, ghosts>>

-----------------------------------------------------------------------------
(* The checkpoint of a log that is empty because g is being reset. *)
EmptyAt(g) == [applied |-> mem.applied, start |-> 0, end |-> 0, resetting |-> g]

MayReset(g) ==
    /\ \/ g > mem.gen
          \* DEFECT RetryResetsAgain: a generation that is reset is reset again
       \/ RetryResetsAgain /\ Pending /\ g = mem.gen
    /\ g >= disk.ckpt.resetting

(* ACTION ResetFrontier
   WHO    the replica
   Begins to reset messages for g: the record says that the log is empty. *)
ResetFrontier(g) ==
    /\ Running
    /\ ~mem.orphan
    /\ work.step = "none"
    /\ MayReset(g)
    /\ work' = [step |-> "reset", g |-> g, floor |-> Len(log)]
    /\ disk' = [Durable(disk) EXCEPT !.ckpt = EmptyAt(g)]
    /\ last' = [a |-> "ResetFrontier", g |-> g, n |-> Len(log)]
    /\ UNCHANGED <<log, up, mem, held, ghosts>>

(* ACTION UnlinkSegments
   WHO    the replica
   Removes the messages' files; a power loss may bring them back. *)
UnlinkSegments ==
    /\ work.step = "reset"
    /\ work' = [work EXCEPT !.step = "unlinked"]
    /\ disk' = [disk EXCEPT !.segs = NoFile,
                            !.segsBack = IF disk.segsLost \/ disk.segs.es = <<>> THEN @ ELSE disk.segs.es]
    /\ last' = [a |-> "UnlinkSegments"]
    /\ UNCHANGED <<log, up, mem, held, ghosts>>

(* ACTION SyncSegments
   WHO    the replica
   Syncs the folder of messages: they are gone for good. *)
SyncSegments ==
    /\ work.step = "unlinked"
    /\ work' = [work EXCEPT !.step = "empty"]
    /\ disk' = IF disk.segsLost THEN disk ELSE [disk EXCEPT !.segsBack = <<>>]
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
    /\ disk' = [Durable(disk) EXCEPT !.reset = [g |-> g, floor |-> n]]
    /\ mem' = [mem EXCEPT !.gen = g, !.boundary = n, !.start = 0, !.end = 0, !.bm = NoMarks]
    /\ ghost_era' = IF g > ghost_era.g THEN [g |-> g, floor |-> n] ELSE ghost_era
    /\ last' = [a |-> "ResetRecord", g |-> g, n |-> n]
    /\ UNCHANGED <<log, up, held, ghost_top, ghost_owed, ghost_seqs, ghost_crashes>>

(* ACTION UnlinkBookmarks
   WHO    the replica
   Removes the file of bookmark k; a power loss may bring it back. *)
UnlinkBookmarks(k) ==
    /\ work.step \in {"clean", "late"}
    /\ disk.files[k].es # <<>>
    /\ disk' = [disk EXCEPT !.files[k] = NoFile,
                            !.back[k] = IF k \in disk.lost THEN @ ELSE disk.files[k].es]
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
    /\ disk' = IF BookmarkNoDirSync THEN disk
               ELSE [disk EXCEPT !.back = [k \in Keys |-> IF k \in disk.lost THEN @[k] ELSE <<>>]]
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
    /\ disk' = [Durable(disk) EXCEPT !.done = g]
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
       \* DEFECT DirsyncFailureIgnored: the purge goes on though a folder was not synced
    /\ work' = IF DirsyncFailureIgnored /\ work.step = "clean" /\ (\A k \in Keys : disk.files[k].es = <<>>)
               THEN [work EXCEPT !.step = "cleaned"] ELSE NoWork
    /\ mem' = CASE work.step = "cleaned" ->
                    \* DEFECT CompletionFailureIgnored: without its record the purge counts as complete
                    IF CompletionFailureIgnored THEN [mem EXCEPT !.settled = work.g] ELSE mem
                [] work.step = "empty" ->
                    \* DEFECT AdvancedOnFailure: without its record the era changes
                    IF AdvancedOnFailure THEN [mem EXCEPT !.gen = work.g, !.end = 0] ELSE mem
                [] OTHER -> mem
    /\ last' = [a |-> "StepFails", step |-> work.step]
    /\ UNCHANGED <<log, up, held, disk, ghosts>>

(* ACTION RecordNotSynced
   WHO    the environment
   A record of the purge is in place, and the sync of its folder fails: the step has
   failed, a power loss may take the record back, and a reader sees it until then. *)
RecordNotSynced(g) ==
    /\ MayFail
    /\ disk.undo = NoUndo
    /\ \/ /\ Running /\ ~mem.orphan /\ work.step = "none" /\ MayReset(g)
          /\ disk' = [disk EXCEPT !.ckpt = EmptyAt(g), !.undo = [k |-> "ckpt", v |-> disk.ckpt]]
          /\ last' = [a |-> "RecordNotSynced", step |-> "none"]
       \/ /\ work.step = "empty" /\ g = work.g
          /\ disk' = [disk EXCEPT !.reset = [g |-> g, floor |-> work.floor],
                                  !.undo = [k |-> "reset", v |-> disk.reset]]
          /\ last' = [a |-> "RecordNotSynced", step |-> work.step]
       \/ /\ work.step = "cleaned" /\ g = work.g
          /\ disk' = [disk EXCEPT !.done = g, !.undo = [k |-> "done", v |-> disk.done]]
          /\ last' = [a |-> "RecordNotSynced", step |-> work.step]
    /\ work' = NoWork
    /\ UNCHANGED <<log, up, mem, held, ghosts>>

(* ACTION RetryPurge
   WHO    the replica
   The purge of g is done again: its messages are reset, only its cleanup is left. *)
RetryPurge(g) ==
    /\ Running
    /\ work.step = "none"
    /\ Pending
    /\ g = mem.gen
    /\ ~RetryResetsAgain
    /\ work' = [step |-> "clean", g |-> g, floor |-> disk.reset.floor]
    /\ last' = [a |-> "RetryPurge", g |-> g]
    /\ UNCHANGED <<log, up, mem, held, disk, ghosts>>

-----------------------------------------------------------------------------
(* ACTION Hold
   WHO    a client
   Asks a leader that purges for o, a change of a bookmark: it waits outside the log. *)
Hold(o) ==
    /\ up = "serve"
    /\ work.step # "none" \/ Pending
    /\ MayHold
    /\ held' = Append(held, o)
    /\ ghost_owed' = Append(ghost_owed, o)
    /\ last' = [a |-> "Hold", o |-> o]
    /\ UNCHANGED <<log, up, mem, work, disk, ghost_era, ghost_top, ghost_seqs, ghost_crashes>>

(* The log with o proposed. In a trace a Journal tells by itself what came of it. *)
Proposed(o) == Append(log, o)

(* ACTION Release
   WHO    the replica
   The cleanup is over: the first change that was held goes into the log. *)
Release ==
    /\ up = "serve"
    /\ work.step = "none"
    /\ ~Pending
    /\ held # <<>>
    /\ LET \* DEFECT HeldReordered: the last one goes first
           i == IF HeldReordered THEN Len(held) ELSE 1
       IN /\ log' = Proposed(held[i])
          /\ held' = [j \in 1 .. Len(held) - 1 |-> held[IF j < i THEN j ELSE j + 1]]
          /\ last' = [a |-> "Release", n |-> Len(log) + 1, o |-> held[i]]
    /\ ghost_owed' = Tail(ghost_owed)
    /\ UNCHANGED <<up, mem, work, disk, ghost_era, ghost_top, ghost_seqs, ghost_crashes>>

(* ACTION Refuse
   WHO    the replica
   Does not lead any more: the client of the first change that was held is told that
   it was not proposed. *)
Refuse ==
    /\ Running
    /\ held # <<>>
    /\ held' = Tail(held)
    /\ ghost_owed' = Tail(ghost_owed)
    /\ last' = [a |-> "Refuse", o |-> Head(held)]
    /\ UNCHANGED <<log, up, mem, work, disk, ghost_era, ghost_top, ghost_seqs, ghost_crashes>>

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

(* The disk loses any part of what is not stable. *)
LosesCache(a) ==
    \E s \in Left(disk.segs, disk.segsBack), d \in {Durable(disk), Undone(disk)} :
    \E f \in [Keys -> UNION {Left(disk.files[k], disk.back[k]) : k \in Keys}] :
        /\ \A k \in Keys : f[k] \in Left(disk.files[k], disk.back[k])
        /\ Leaving(a, d, s, f)

(* ACTION PowerLoss
   WHO    the environment
   Memory is gone, and any part of what was not synced; unlinked files may be back. *)
PowerLoss ==
    /\ Running
    /\ MayLosePower
    /\ LosesCache("PowerLoss")
    /\ Stops
    /\ UNCHANGED <<log, ghost_era, ghost_top, ghost_seqs>>

(* The same, with what is left. *)
PowerLossLeaving(d, s, f) ==
    /\ Running
    /\ MayCrash
    /\ Leaving("PowerLoss", d, s, f)
    /\ Stops
    /\ UNCHANGED <<log, ghost_era, ghost_top, ghost_seqs>>

(* What waits for a sync of files or of a folder. *)
Syncs ==
    \/ work.step = "unlinked"
    \/ work.step \in {"clean", "late"} /\ \A k \in Keys : disk.files[k].es = <<>>
    \/ work.step = "none" /\ ~Pending /\ mem.applied > disk.ckpt.applied

(* ACTION SyncFails
   WHO    the environment
   A sync fails, once, and drops what it was to make durable, though the cache shows
   it. The replica stops, and its machine is restarted so that no cache shows what the
   disk lost. Variant RetrySync: a step of a purge is given up instead and taken again;
   the next sync of the folder succeeds and proves nothing. *)
SyncFails ==
    /\ Running
    /\ MayFailSync
    /\ Syncs
    /\ IF RetrySync /\ work.step # "none"
       THEN /\ work' = NoWork
            /\ disk' = IF work.step = "unlinked" THEN [disk EXCEPT !.segsLost = disk.segsBack # <<>>]
                       ELSE [disk EXCEPT !.lost = {k \in Keys : disk.back[k] # <<>>}]
            /\ last' = [a |-> "SyncFails", step |-> work.step]
            /\ UNCHANGED <<up, mem, held, ghost_owed, ghost_crashes>>
       ELSE LosesCache("SyncFails") /\ Stops
    /\ UNCHANGED <<log, ghost_era, ghost_top, ghost_seqs>>

(* ACTION BeginSequence
   WHO    the environment
   Power fails on all replicas, and no journal was synced: the group begins with op 1
   anew. Of this replica's disk only the two records of its purges are left. *)
BeginSequence ==
    /\ MayBegin
    /\ log # <<>>
    /\ log' = <<>>
    /\ disk' = [BlankDisk EXCEPT !.reset = disk.reset, !.done = disk.done]
    /\ Stops
    /\ ghost_era' = [g |-> disk.reset.g, floor |-> 0]
    /\ ghost_seqs' = ghost_seqs + 1
    /\ last' = [a |-> "BeginSequence"]
    /\ UNCHANGED ghost_top

(* ACTION Recreate
   WHO    an operator
   Deletes the partition and creates it again: another incarnation, with op numbers of
   its own, of which nothing is there yet. *)
Recreate ==
    /\ MayRecreate
    /\ log # <<>>
    /\ log' = <<>>
       \* DEFECT FloorKeptAcrossIncarnations: the floor in its namesake's record counts
    /\ disk' = IF FloorKeptAcrossIncarnations THEN [BlankDisk EXCEPT !.reset.floor = disk.reset.floor]
               ELSE BlankDisk
    /\ Stops
    /\ ghost_era' = [g |-> 0, floor |-> 0]
    /\ ghost_top' = 0
    /\ ghost_seqs' = ghost_seqs + 1
    /\ last' = [a |-> "Recreate"]

(* ACTION Boot
   WHO    the replica
   Syncs its folders and opens the checkpoint at op n. Bookmarks are loaded only if no
   cleanup is pending; one that is pending goes on. *)
Boot(n) ==
    /\ ~Running
    /\ n = disk.ckpt.applied
    /\ up' = "replay"
    /\ mem' = FactsOf(disk)
    /\ disk' = [Durable(disk) EXCEPT !.segs = Fitting(disk)]
    /\ work' = IF PendingOnDisk THEN [step |-> "clean", g |-> disk.reset.g, floor |-> disk.reset.floor]
               ELSE NoWork
    /\ ghost_era' = IF disk.reset.g > ghost_era.g THEN disk.reset ELSE ghost_era
    /\ last' = [a |-> "Boot", n |-> n, g |-> disk.reset.g]
    /\ UNCHANGED <<log, held, ghost_top, ghost_owed, ghost_seqs, ghost_crashes>>

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
    \/ Cut(Len(log) - 1)
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
    \/ \E g \in Generations : RecordNotSynced(g)
    \/ RetryPurge(mem.gen)
    \/ \E k \in Keys : Hold(StoreOp(k, -1, Len(held)))
    \/ Release
    \/ Refuse
    \/ ProcessCrash
    \/ PowerLoss
    \/ SyncFails
    \/ BeginSequence
    \/ Recreate
    \/ Boot(disk.ckpt.applied)
    \/ DropFloor
    \/ Serve

Spec == Init /\ [][Next]_vars
=============================================================================
