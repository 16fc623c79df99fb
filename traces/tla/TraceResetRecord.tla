-------------------------- MODULE TraceResetRecord --------------------------
(* Could one replica, as ResetRecord describes it, have done what a trace says, and as  *)
(* TransferReset does, if it took the state of another? Works as TraceOrdered does.      *)
(*                                                                           *)
(* Event fields beyond those of TraceOrdered: does, of an op that comes into the     *)
(* journal, the op itself, and n how many had begun to lead; l the last op of the journal; x a generation whose reset   *)
(* was begun and is not recorded. A PowerLoss has what the Boot after it shows. Of a    *)
(* StageManifest g and b are the generation and the floor of what is offered, l up to     *)
(* which op the replica has that in its log, and o says which of TraceLogs holds the ops     *)
(* above that floor, as whoever has this floor told them: what an op does may depend on      *)
(* the era that it is executed in.                                             *)
EXTENDS TransferReset, TraceData

VARIABLES piece, cursor

TraceProposed(o) == log     \* a Journal tells what came of a proposal
TraceMayCut      == TRUE
TraceForeign(d)  == FALSE   \* where op numbers begin anew a sequence of events ends

TraceReached(n)  == TRUE    \* who committed what is judged in the group
TraceHolds(n)    == FALSE   \* the event says up to which op
TraceAgreed(n)   == [j \in 1 .. n |-> OtherOp]   \* nothing below an install is read
TraceOffered(x)  == Made(x, [j \in x.floor + 1 .. x.n |-> TraceLogs[piece][x.ops][j - x.floor]])

Events == TracePieces[piece]
E      == Events[cursor]

(* The event is the last one of the whole sequence. *)
AtEnd == cursor = Len(Events) /\ ~TraceGoesOn[piece]

(* What outlived the op sequence before, if there was one. A floor of it counts only    *)
(* if it is kept: it was dropped before the first boot.                           *)
Start == TraceStarts[piece][1]

TraceBeginning ==
    /\ log = [n \in 1 .. TraceFirst |-> OtherOp]
    /\ up = "down"
    /\ mem = NoFacts
    /\ work = NoWork
    /\ held = <<>>
    /\ disk = [BlankDisk EXCEPT !.ckpt.applied = TraceFirst, !.done = Start.done,
                                !.reset = [g |-> Start.g, floor |-> IF KeepFloor THEN Start.floor ELSE 0]]
    /\ last = [a |-> "Init"]
    /\ ghost_era = disk.reset
    /\ ghost_top = Start.done
    /\ ghost_owed = <<>>
    /\ ghost_seqs = 0
    /\ ghost_crashes = 0
    /\ common = <<>>
    /\ first = TraceFirst
    /\ stage = NoStage
    /\ root = [n |-> 0, there |-> "yes"]
    /\ ghost_installs = 0

(* A long sequence is judged in parts: the state that TLC prints at the end of one is the   *)
(* one that the next begins in.                                                  *)
TraceState == [log |-> log, up |-> up, mem |-> mem, disk |-> disk, work |-> work,
               held |-> held, last |-> last, ghost_era |-> ghost_era,
               ghost_top |-> ghost_top, ghost_owed |-> ghost_owed,
               ghost_seqs |-> ghost_seqs, ghost_crashes |-> ghost_crashes,
               common |-> common, first |-> first, stage |-> stage, root |-> root,
               ghost_installs |-> ghost_installs]

Resumes(s) ==
    /\ log = s.log
    /\ up = s.up
    /\ mem = s.mem
    /\ disk = s.disk
    /\ work = s.work
    /\ held = s.held
    /\ last = s.last
    /\ ghost_era = s.ghost_era
    /\ ghost_top = s.ghost_top
    /\ ghost_owed = s.ghost_owed
    /\ ghost_seqs = s.ghost_seqs
    /\ ghost_crashes = s.ghost_crashes
    /\ common = s.common
    /\ first = s.first
    /\ stage = s.stage
    /\ root = s.root
    /\ ghost_installs = s.ghost_installs

TraceInit ==
    /\ piece \in DOMAIN TracePieces
    /\ cursor = 1
    /\ IF TraceCarried[piece] = <<>> THEN TraceBeginning
       ELSE \E i \in DOMAIN TraceCarried[piece] : Resumes(TraceCarried[piece][i])

At(a)  == cursor <= Len(Events) /\ E.a = a
Stays  == UNCHANGED <<piece, cursor>>

Takes(a) ==
    /\ At(a)
    /\ cursor' = cursor + 1
    /\ UNCHANGED piece

SameMoves == UNCHANGED transfer

(* The facts after the step are those that the event shows. *)
Shows ==
    /\ mem'.applied = E.ap
    /\ mem'.start = E.st
    /\ mem'.end = E.en

ShowsAll == Shows /\ mem'.gen = E.g

OpOf(e) ==
    CASE e.k = "append" -> AppendOp(NoSession, e.n)
      [] e.k = "store"  -> StoreOp(e.key, -1, e.o)
      [] e.k = "delete" -> DeleteOp(e.key)
      [] e.k = "other"  -> OtherOp

EffectShown(e, f) ==
    CASE e.k = "append"  -> f = [k |-> "append", base |-> e.o, n |-> e.n]
      [] e.k = "store"   -> f = [k |-> "store", key |-> e.key, o |-> e.o]
      [] e.k = "delete"  -> f = [k |-> "delete", key |-> e.key]
      [] e.k = "advance" -> f = [k |-> "advance", o |-> e.o]
      [] e.k = "other"   -> f = NoEffect

(* What the journal holds from the event's op on is replaced, by a second leader at the     *)
(* earliest, or lost by the crash.                                              *)
TakeCut ==
    /\ cursor <= Len(Events)
    /\ \/ E.a = "Journal" /\ E.n > 1 /\ Cut(E.op - 1)
       \/ E.a \in {"ProcessCrash", "PowerLoss"} /\ Cut(E.l)
    /\ Stays

TakeJournal ==
    /\ Takes("Journal")
    /\ E.op = Len(log) + 1
    /\ Journal(E.does)
    /\ E.u = 0 => Shows    \* of what only the next boot tells nothing is shown

TakeFiltered ==
    /\ Takes("Filtered")
    /\ Filtered(E.op)
    /\ ShowsAll

TakeMaterialize ==
    /\ Takes("Materialize")
    /\ Materialize(E.op)
    /\ EffectShown(E, last'.e)
    /\ ShowsAll

TakeCheckpoint ==
    /\ Takes("Checkpoint")
    /\ Checkpoint(E.op)
    /\ ShowsAll

(* What was held during the purge before was released before this one begins.       *)
TakeResetFrontier ==
    /\ Takes("ResetFrontier")
    /\ held = <<>> \/ Resetting
    /\ ResetFrontier(E.g)
    /\ E.op = work'.floor
    /\ Shows

(* The purge under way is the one that the event tells. *)
OfPurge == work.g = E.g /\ work.floor = E.op

TakeUnlinkSegments ==
    /\ Takes("UnlinkSegments")
    /\ UnlinkSegments
    /\ OfPurge
    /\ Shows

TakeSyncSegments ==
    /\ Takes("SyncSegments")
    /\ SyncSegments
    /\ OfPurge
    /\ Shows

TakeResetRecord ==
    /\ Takes("ResetRecord")
    /\ ResetRecord(E.g, E.op)
    /\ ShowsAll

(* The event says that all files are removed, which ResetRecord does one by one. *)
Filed == {k \in Keys : disk.files[k].es # <<>>}

TakeUnlinkBookmarks ==
    \/ /\ At("UnlinkBookmarks")
       /\ Filed # {}
       /\ UnlinkBookmarks(CHOOSE k \in Filed : TRUE)
       /\ Stays
    \/ /\ Takes("UnlinkBookmarks")
       /\ work.step \in {"clean", "late"}
       /\ Filed = {}
       /\ UNCHANGED vars
       /\ OfPurge
       /\ Shows

TakeSyncBookmarks ==
    /\ Takes("SyncBookmarks")
    /\ SyncBookmarks
    /\ OfPurge
    /\ Shows

TakePurgeComplete ==
    /\ Takes("PurgeComplete")
    /\ OfPurge
    /\ PurgeComplete(E.g)
    /\ ShowsAll

TakeStepFails ==
    /\ Takes("StepFails")
    /\ StepFails

TakeSyncFails ==
    /\ Takes("SyncFails")
    /\ RetrySync
    /\ SyncFails

TakeRecordNotSynced ==
    /\ Takes("RecordNotSynced")
    /\ RecordNotSynced(E.g)

TakeRetryPurge ==
    /\ Takes("RetryPurge")
    /\ RetryPurge(E.g)

TakeHold ==
    /\ Takes("Hold")
    /\ Hold(OpOf(E))

TakeRelease ==
    /\ Takes("Release")
    /\ held # <<>>
    /\ Head(held) = OpOf(E)
    /\ Release

TakeRefuse ==
    /\ Takes("Refuse")
    /\ held # <<>>
    /\ Head(held) = OpOf(E)
    /\ Refuse

TakeProcessCrash ==
    /\ Takes("ProcessCrash")
    /\ Len(log) <= E.l
    /\ ProcessCrash

(* Of the events this is the last one: the op sequence after it is judged by itself. *)
TakeBeginSequence ==
    /\ Takes("BeginSequence")
    /\ AtEnd
    /\ BeginSequence

(* What a boot on disk d would show. *)
KindOf(d) == IF d.reset.g > d.done THEN "begun" ELSE IF d.reset.g = 0 THEN "none" ELSE "complete"
Marked(d, n) == Cardinality({k \in Keys : Loaded(d, n)[k].o # -1})

(* The first entries of a file, up to the highest op that was left. *)
Upto(f) ==
    LET n == Max(f.synced, Cardinality({j \in DOMAIN f.es : f.es[j].op <= E.f}))
    IN [es |-> SubSeq(f.es, 1, n), synced |-> n]

(* The Boot that follows tells the highest op that was left, the records, and how       *)
(* many bookmarks there are: unlinked files are back only if that says so. While a      *)
(* reset is begun its checkpoint speaks of bookmarks that need not have been synced,     *)
(* and their number says nothing. See TraceOrdered.                               *)
TakePowerLoss ==
    /\ Takes("PowerLoss")
    /\ Len(log) <= E.l
    /\ LET undone == Undone(disk)
           d == IF undone.reset.g = E.g /\ KindOf(undone) = E.k /\ undone.ckpt.applied = E.ap
                THEN undone ELSE Durable(disk)
           kept == [k \in Keys |-> Upto(disk.files[k])]
           back == [k \in Keys |-> IF disk.back[k] = <<>> THEN kept[k]
                                   ELSE [es |-> disk.back[k], synced |-> Len(disk.back[k])]]
           none == E.k = "begun" \/ E.x > 0 \/ Marked([d EXCEPT !.files = kept], d.ckpt.applied) = E.n
       IN PowerLossLeaving(d, Upto(disk.segs), IF none THEN kept ELSE back)

TakeBoot ==
    /\ Takes("Boot")
    /\ Boot(E.ap)
    /\ E.k = KindOf(disk)
    /\ E.op = mem'.boundary
    /\ E.l = Len(log)
    /\ E.k # "begun" => E.f \in {0, Front(disk')}
    /\ E.x = 0 => E.n = Cardinality({k \in Keys : mem'.bm[k].o # -1})
    /\ E.x = IF disk.ckpt.resetting > disk.reset.g THEN disk.ckpt.resetting ELSE 0
    /\ ShowsAll

TakeServe ==
    /\ Takes("Serve")
    /\ Serve
    /\ ShowsAll

TakeCompact ==
    /\ Takes("Compact")
    /\ Compact(E.op)
    /\ ShowsAll

(* The replica has journaled at least what it applied. *)
TakeStageManifest ==
    /\ Takes("StageManifest")
    /\ E.op > E.l
    /\ E.l \in mem.applied .. Len(log)
    /\ StageManifest([n |-> E.op, g |-> E.g, floor |-> E.b, ops |-> E.o])
    /\ Shows

(* The chunks that are staged before it, and their syncs, are one with it. *)
TakeStageState ==
    /\ Takes("StageState")
    /\ Running
    /\ stage.x.n = E.op
    /\ stage.state = "no"
    /\ Staging([x |-> stage.x, got |-> Chunks(stage.x), synced |-> TRUE, state |-> "yes"])
    /\ UNCHANGED last
    /\ ShowsAll

TakeCommitInstall ==
    /\ Takes("CommitInstall")
    /\ E.op > E.l
    /\ stage.x.n = E.op
    /\ stage.x.g = E.g
    /\ CommitInstall(stage.x)

TakeDropTransfer ==
    /\ Takes("DropTransfer")
    /\ stage.x.n = E.op
    /\ DropTransfer

(* The steps of ResetRecord. *)
TakeOwn ==
    \/ TakeCut
    \/ TakeJournal
    \/ TakeFiltered
    \/ TakeMaterialize
    \/ TakeCheckpoint
    \/ TakeResetFrontier
    \/ TakeUnlinkSegments
    \/ TakeSyncSegments
    \/ TakeResetRecord
    \/ TakeUnlinkBookmarks
    \/ TakeSyncBookmarks
    \/ TakePurgeComplete
    \/ TakeStepFails
    \/ TakeSyncFails
    \/ TakeRecordNotSynced
    \/ TakeRetryPurge
    \/ TakeHold
    \/ TakeRelease
    \/ TakeRefuse
    \/ TakeProcessCrash
    \/ TakePowerLoss
    \/ TakeBeginSequence
    \/ TakeBoot
    \/ TakeServe

TraceNext ==
    \/ TakeOwn /\ SameMoves
    \/ TakeCompact
    \/ TakeStageManifest
    \/ TakeStageState
    \/ TakeCommitInstall
    \/ TakeDropTransfer

(* The search has no branches: a state is told by how far it has come. *)
TraceView == <<piece, cursor, Len(log), Filed>>

TraceSpec == TraceInit /\ [][TraceNext]_<<all, piece, cursor>>

-----------------------------------------------------------------------------
(* Prints when a sequence, or a part of it, is accepted, and how far others have come.    *)
Consumed ==
    IF cursor > Len(Events)
    THEN PrintT(<<"DONE", piece, IF TraceGoesOn[piece] THEN ToString(TraceState) ELSE "">>)
    ELSE cursor % 64 # 0 \/ PrintT(<<"STEP", piece, cursor>>)

(* The actions of the specification that are enabled in this state, whatever the trace  *)
(* says next. An op, a bookmark or a state on its way may be any. See TraceOrdered of the    *)
(* guards that are written out.                                                *)
Enabled ==
    LET If(b, name) == IF b THEN {name} ELSE {}
        n == mem.applied + 1
    IN If(ENABLED Boot(disk.ckpt.applied), "Boot")
       \cup If(ENABLED ProcessCrash, "ProcessCrash")
       \cup If(ENABLED PowerLossLeaving(Durable(disk), disk.segs, disk.files), "PowerLoss")
       \cup If(AtEnd /\ ENABLED BeginSequence, "BeginSequence")
       \cup IF ~Running THEN {} ELSE
            If(ENABLED Journal(OtherOp), "Journal")
            \cup If(ENABLED Filtered(n), "Filtered")
            \cup If(ENABLED Materialize(n), "Materialize")
            \cup If(ENABLED Checkpoint(mem.applied), "Checkpoint")
            \cup If(ENABLED ResetFrontier(mem.gen + 1), "ResetFrontier")
            \cup If(ENABLED UnlinkSegments, "UnlinkSegments")
            \cup If(ENABLED SyncSegments, "SyncSegments")
            \cup If(ENABLED ResetRecord(work.g, work.floor), "ResetRecord")
            \cup If(work.step \in {"clean", "late"}, "UnlinkBookmarks")    \* of none, too
            \cup If(ENABLED SyncBookmarks, "SyncBookmarks")
            \cup If(ENABLED PurgeComplete(work.g), "PurgeComplete")
            \cup If(ENABLED StepFails, "StepFails")
            \cup If(RetrySync /\ ENABLED SyncFails, "SyncFails")
            \cup If(ENABLED RecordNotSynced(IF work.step = "none" THEN mem.gen + 1 ELSE work.g), "RecordNotSynced")
            \cup If(ENABLED RetryPurge(mem.gen), "RetryPurge")
            \cup If(ENABLED Hold(OtherOp), "Hold")
            \cup If(ENABLED Release, "Release")
            \cup If(ENABLED Refuse, "Refuse")
            \cup If(ENABLED DropFloor, "DropFloor")
            \cup If(ENABLED Serve, "Serve")
            \cup If(ENABLED Compact(CompactTo), "Compact")
            \cup If(ENABLED StageManifest([NoOffer EXCEPT !.n = n, !.g = mem.gen]), "StageManifest")
            \cup If(stage.x # NoOffer /\ stage.state = "no", "StageState")
            \cup If(stage.state = "yes" /\ held = <<>> /\ Newer(stage.x), "CommitInstall")
            \cup If(ENABLED DropTransfer, "DropTransfer")

(* Prints states from a given step on when rejected sequences are run again;    *)
(* after the last one no action explains the next event.                       *)
Told ==
    cursor < TraceFrom[piece] \/
    PrintT(<<"AT", piece, cursor,
             [up |-> up, now |-> mem, purge |-> work, pending |-> Pending, resetting |-> Resetting,
              disk |-> [applied |-> disk.ckpt.applied, start |-> disk.ckpt.start, end |-> disk.ckpt.end,
                        gen |-> disk.reset.g, boundary |-> disk.reset.floor, settled |-> disk.done,
                        kind |-> KindOf(disk), marks |-> Marked(disk, disk.ckpt.applied)],
              journal |-> Len(log), dropped |-> first, front |-> Front(disk), stage |-> stage.x,
              held |-> IF held = <<>> THEN [k |-> "none"] ELSE Head(held),
              next |-> IF Running /\ mem.applied < Len(log) THEN log[mem.applied + 1] ELSE [k |-> "any"]],
             Enabled>>)
=============================================================================
