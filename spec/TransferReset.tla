---------------------------- MODULE TransferReset ----------------------------
(* State transfer under reset-record: a replica that may take another's state instead  *)
(* of the ops that led to it. Every durable step of an install, beside every durable     *)
(* step of its own purges, with crashes between any two; the steps have the names and     *)
(* the meaning that they have in Transfer.                                          *)
(*                                                                           *)
(* Replicas that have applied the same ops need not have the same state here: each purged  *)
(* where it stood. So an offer says more than its op: the generation that its sender is in,  *)
(* and the floor that it has in that. What is in it is what the ops above that floor did.    *)
(* A sender that has yet to apply ops up to its floor offers a state in which nothing is;    *)
(* these ops are filtered by the receiver, too.                                       *)
(*                                                                           *)
(* The floor that the receiver had is of no use any more: it may count ops that were never  *)
(* committed, or those of a sequence that was lost. The floor that came with the state      *)
(* takes its place. Generations are no ops here, so an offer is compared by both.          *)
(*                                                                           *)
(* The home that the receiver had is the backup of the install: it is whole, its journal     *)
(* too, until the record of the install names another one, and nobody reads it then.         *)
(*                                                                           *)
(* Made atomic: the records that complete a home, for none of them is read before the      *)
(* record of the install. Left out: who offers and what it has, for an offer of any op in    *)
(* any generation with any floor may come (TransferResetGroup); the removal of a home.       *)
EXTENDS ResetRecord

CONSTANTS
    FloorNotRebased,            \* defect switches
    OlderGenerationInstalled,
    InstallBeforeSync,
    StagedRenameWithoutSync,
    PurgeRacesInstall,
    CompactPastCheckpoint

VARIABLES
    common,         \* the ops that the group has committed
    first,          \* the journal has dropped the ops up to here
    stage,          \* the home that is being filled, see NoStage
    root,           \* the home that the record names: [n, there], its op, 0 for the first
                    \* home; "yes", "unsynced" or "gone"
    ghost_installs  \* number of installs

transfer == <<common, first, stage, root, ghost_installs>>
all      == <<vars, transfer>>

(* Of offer x the first `got` chunks are written, and synced or not; state: whether the    *)
(* rest of the home is there, "no", "unsynced" or "yes".                              *)
NoOffer == [n |-> 0, g |-> 0, floor |-> 0]
NoStage == [x |-> NoOffer, got |-> 0, synced |-> FALSE, state |-> "no"]

(* Limits of a model are put here by its MC module. *)
MayLag     == TRUE     \* an op may be committed without this replica
MayInstall == TRUE
MayCompact == TRUE
MayStep    == TRUE     \* the replica takes a step of ResetRecord
Offers     == {}       \* what may be offered

TransferInit ==
    /\ Init
    /\ common = <<>>
    /\ first = 0
    /\ stage = NoStage
    /\ root = [n |-> 0, there |-> "yes"]
    /\ ghost_installs = 0

(* The committed ops up to n, if there are so many. *)
Agreed(n) == SubSeq(common, 1, n)
Reached(n) == n \in 1 .. Len(common)

(* The journal has op n of the group. *)
Holds(n) == n <= Len(log) /\ Reached(n) /\ SubSeq(log, 1, n) = Agreed(n)

(* What a member has that applies op o as op n, having had p. *)
PeerAfter(p, n, o) ==
    LET e == EffectOf(p.m, o)
    IN [m |-> After(p.m, n, e),
        segs |-> IF e.k = "append" THEN Append(p.segs, [op |-> n, base |-> e.base, n |-> e.n])
                 ELSE p.segs,
        files |-> CASE e.k = "store"  -> [p.files EXCEPT ![e.key] = <<[op |-> n, o |-> e.o, g |-> p.m.gen]>>]
                    [] e.k = "delete" -> [p.files EXCEPT ![e.key] = <<>>]
                    [] OTHER -> p.files]

(* ... ops n to m of the list; in halves, for depth. *)
RECURSIVE PeerUpTo(_, _, _, _)
PeerUpTo(p, ops, n, m) ==
    IF n > m THEN p
    ELSE IF n = m THEN PeerAfter(p, n, ops[n])
    ELSE LET half == (n + m) \div 2 IN PeerUpTo(PeerUpTo(p, ops, n, half), ops, half + 1, m)

(* What offer x holds, of which the ops are these. *)
Made(x, ops) ==
    PeerUpTo([m |-> FreshFacts(x.floor, x.g, x.g), segs |-> <<>>, files |-> [k \in Keys |-> <<>>]],
             ops, x.floor + 1, x.n)

Offered(x) == Made(x, common)

Chunks(x) == Len(Offered(x).segs)

(* The home that an install of what is staged makes. *)
Home(x) ==
    LET p == Offered(x)
        File(es) == [es |-> es, synced |-> Len(es)]
    IN [BlankDisk EXCEPT
        !.ckpt = [applied |-> x.n, start |-> p.m.start, end |-> p.m.end, resetting |-> 0],
        !.segs = [es |-> p.segs, synced |-> IF stage.synced THEN Len(p.segs) ELSE 0],
        !.files = [k \in Keys |-> File(p.files[k])],
        !.reset = [g |-> x.g,
                   \* DEFECT FloorNotRebased: this replica keeps the floor that it has
                   floor |-> IF FloorNotRebased THEN disk.reset.floor ELSE x.floor],
        !.done = x.g]

(* Op n is above all of the log that this replica is known to share, and what it has       *)
(* purged does not come back.                                                       *)
Newer(x) ==
    /\ x.n > mem.applied
    /\ ~Holds(x.n)
       \* DEFECT OlderGenerationInstalled: a state is above another if its op is
    /\ OlderGenerationInstalled \/ x.g >= mem.gen

(* Up to here the journal may be compacted: a power loss does not take this checkpoint back. *)
CompactTo ==
    \* DEFECT CompactPastCheckpoint: what is applied need not be durable
    IF CompactPastCheckpoint THEN mem.applied
    ELSE IF disk.undo.k = "ckpt" THEN disk.undo.v.applied ELSE disk.ckpt.applied

Staging(s) ==
    /\ stage' = s
    /\ UNCHANGED <<store, ghosts, common, first, root, ghost_installs>>

-----------------------------------------------------------------------------
(* ACTION CommitElsewhere
   WHO    the other members
   The next op is committed: one that this replica holds, or another one, which it was
   not given yet, and which replaces what it holds in that place. *)
CommitElsewhere(o) ==
    /\ MayLag
    /\ common' = Append(common, o)
    /\ last' = [a |-> "CommitElsewhere", n |-> Len(common) + 1, o |-> o]
    /\ UNCHANGED <<store, ghosts, first, stage, root, ghost_installs>>

(* ACTION Compact
   WHO    the replica
   Drops the ops up to n from the journal: a checkpoint has what they did. *)
Compact(n) ==
    /\ Running
    /\ MayCompact
    /\ n > first
    /\ n <= CompactTo
    /\ first' = n
    /\ last' = [a |-> "Compact", n |-> n]
    /\ UNCHANGED <<store, ghosts, common, stage, root, ghost_installs>>

(* ACTION StageManifest
   WHO    the replica
   Begins to take offer x. *)
StageManifest(x) ==
    /\ Running
    /\ MayInstall
    /\ Reached(x.n)
    /\ Newer(x)
    /\ stage = NoStage
    /\ last' = [a |-> "StageManifest", x |-> x]
    /\ Staging([NoStage EXCEPT !.x = x])

(* ACTION RefuseTransfer
   WHO    the replica
   It has what is offered, or has purged more. *)
RefuseTransfer(x) ==
    /\ Running
    /\ Reached(x.n)
    /\ ~Newer(x)
    /\ last' = [a |-> "RefuseTransfer", x |-> x]
    /\ UNCHANGED <<store, ghosts, transfer>>

(* ACTION StageChunk
   WHO    the replica
   Chunk j has come, fits its checksum, and is written. *)
StageChunk(j) ==
    /\ Running
    /\ stage.x # NoOffer
    /\ ~stage.synced
    /\ stage.state = "no"
    /\ j = stage.got + 1
    /\ j <= Chunks(stage.x)
    /\ last' = [a |-> "StageChunk", j |-> j]
    /\ Staging([stage EXCEPT !.got = j])

(* All chunks are written, and the rest is not. *)
Whole == stage.x # NoOffer /\ stage.got = Chunks(stage.x) /\ stage.state = "no"

(* ACTION SyncPiece
   WHO    the replica
   All chunks are there: they are synced. *)
SyncPiece ==
    /\ Running
    /\ Whole
    /\ ~stage.synced
    /\ last' = [a |-> "SyncPiece"]
    /\ Staging([stage EXCEPT !.synced = TRUE])

(* ACTION StageState
   WHO    the replica
   Bookmarks, checkpoint, purge.reset, purge.gen and an empty journal are in their
   places, durably: the home is whole. *)
StageState ==
    /\ Running
    /\ Whole
       \* DEFECT InstallBeforeSync: the messages need not be durable
    /\ InstallBeforeSync \/ stage.synced
    /\ last' = [a |-> "StageState"]
       \* DEFECT StagedRenameWithoutSync: the folders that they were renamed in are not synced
    /\ Staging([stage EXCEPT !.state = IF StagedRenameWithoutSync THEN "unsynced" ELSE "yes"])

(* ACTION CommitInstall
   WHO    the replica
   One record makes the home of offer x the present one, if that is still above what the
   replica has. A purge that was under way ends with the home that it was of; nothing is
   held, since who installs does not lead. *)
CommitInstall(x) ==
    /\ Running
    /\ stage.state # "no"
    /\ x = stage.x
    /\ held = <<>>
       \* DEFECT PurgeRacesInstall: what was done since the offer is not looked at
    /\ PurgeRacesInstall \/ Newer(x)
    /\ disk' = Home(x)
    /\ root' = [n |-> x.n, there |-> stage.state]
    /\ log' = Agreed(x.n)
    /\ first' = x.n
    /\ stage' = NoStage
    /\ up' = "down"
    /\ mem' = NoFacts
    /\ work' = NoWork
    /\ ghost_era' = [g |-> x.g, floor |-> x.floor]
    /\ ghost_top' = Max(ghost_top, x.g)
    /\ ghost_installs' = ghost_installs + 1
    /\ last' = [a |-> "CommitInstall", x |-> x]
    /\ UNCHANGED <<common, held, ghost_owed, ghost_seqs, ghost_crashes>>

(* ACTION DropTransfer
   WHO    the replica
   The offer is given up: nobody has it any more (a purge of its sender removes it), a
   sync failed, or this replica came to it by itself. *)
DropTransfer ==
    /\ Running
    /\ stage.x # NoOffer
    /\ last' = [a |-> "DropTransfer"]
    /\ Staging(NoStage)

-----------------------------------------------------------------------------
(* Boot of ResetRecord, in the home that the record names. *)
OpenHome(n) ==
    /\ root.there # "gone"
    /\ Boot(n)
    /\ UNCHANGED transfer

Crash == ProcessCrash /\ UNCHANGED transfer

(* Of what is staged a power loss leaves a beginning. *)
LosesStaged ==
    \E got \in (IF stage.synced THEN stage.got ELSE 0) .. stage.got,
       state \in IF stage.state = "unsynced" THEN {"yes", "no"} ELSE {stage.state},
       there \in IF root.there = "unsynced" THEN {"yes", "gone"} ELSE {root.there} :
        /\ stage' = [stage EXCEPT !.got = got, !.state = state]
        /\ root' = [root EXCEPT !.there = there]

(* What the journal does not have any more is not durable: it takes a defect. *)
Unsafe ==
    \/ root.there = "unsynced"
    \/ \E j \in disk.segs.synced + 1 .. Len(disk.segs.es) : disk.segs.es[j].op <= first

(* Power fails between the record of an install and the boot that opens its home: of a home   *)
(* that is safe nothing is lost.                                                    *)
LosesInstalled ==
    /\ ~Running
    /\ Unsafe
    /\ MayLosePower
    /\ LosesCache("PowerLoss")
    /\ ghost_crashes' = ghost_crashes + 1
    /\ UNCHANGED <<log, up, mem, work, held, ghost_era, ghost_top, ghost_owed, ghost_seqs>>

LosePower == (PowerLoss \/ SyncFails \/ LosesInstalled) /\ LosesStaged /\ UNCHANGED <<common, first, ghost_installs>>

(* All journals are lost, or all of the partition: nothing is committed, and nothing staged. *)
BeginAnew ==
    /\ BeginSequence \/ Recreate
    /\ common' = <<>>
    /\ first' = 0
    /\ stage' = NoStage
    /\ UNCHANGED <<root, ghost_installs>>

(* Op n is applied when it is committed; what is not may be replaced. *)
Applies(n) ==
    /\ Reached(n)
    /\ log[n] = common[n]
    /\ Filtered(n) \/ Materialize(n)

(* The steps of ResetRecord. What is journaled after an op of the group is its next one, if   *)
(* there is one. Who holds changes of bookmarks leads, and takes no state: Hold is left out.  *)
Own ==
    /\ MayStep
    /\ \/ \E o \in Ops : Journal(o) /\ (Len(log) < Len(common) => o = common[Len(log) + 1])
       \/ Cut(Len(log) - 1)
       \/ NextOp <= Len(log) /\ Applies(NextOp)
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
       \/ DropFloor
       \/ Serve
    /\ UNCHANGED transfer

TransferNext ==
    \/ Own
    \/ \E o \in Ops : CommitElsewhere(o)
    \/ Compact(CompactTo)
    \/ \E x \in Offers : StageManifest(x)
    \/ \E x \in Offers : RefuseTransfer(x)
    \/ StageChunk(stage.got + 1)
    \/ SyncPiece
    \/ StageState
    \/ CommitInstall(stage.x)
    \/ DropTransfer
    \/ Crash
    \/ LosePower
    \/ BeginAnew
    \/ OpenHome(disk.ckpt.applied)

TransferSpec == TransferInit /\ [][TransferNext]_all
=============================================================================
