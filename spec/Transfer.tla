------------------------------ MODULE Transfer ------------------------------
(* A replica that may take another's state instead of the ops that led to it:         *)
(* every durable step of an install, beside every durable step of a purge by Ordered,   *)
(* with crashes between any two and crashes again in recovery.                        *)
(*                                                                           *)
(* The state of a replica lies in a home: marker, folders and checkpoint, as Ordered     *)
(* has them, and the journal. What is offered goes into a home of its own, whose journal    *)
(* begins after its op, and becomes the state by one record, which names the home: what is   *)
(* in the one before is not read any more. Then the replica opens the home as a boot does.   *)
(* An op is journaled before it is applied, and of a journal nothing is lost here.          *)
(*                                                                           *)
(* Made atomic: the records that complete a home, for none of them is read before the     *)
(* record of the install. Left out: who offers, from whom a chunk comes, sessions and      *)
(* incarnations (TransferGroup); the removal of a home that is not the present one,          *)
(* since nobody reads it.                                                            *)
EXTENDS Ordered

CONSTANTS
    InstallBeforeSync,   \* defect switches
    StagedRenameWithoutSync,
    OldGenerationBookmarksTransferred,
    OlderOfferAccepted,
    PurgeRacesInstall,
    BoundaryNotRebased,
    ReplayCoveredOps,
    JournaledOpsDropped,
    CompactPastCheckpoint

VARIABLES
    peers,          \* after each committed op what an up-to-date member offers
    journal,        \* [first, held]: its files, old homes' too, hold ops first + 1 to held
    stage,          \* the home that is being filled, see NoStage
    root,           \* the home that the record names: [n, there], its op, 0 for the first
                    \* home; "yes", "unsynced" or "gone"
    ghost_installs  \* number of installs

transfer == <<journal, stage, root>>
all      == <<vars, peers, transfer, ghost_installs>>

(* Of the offer at op n the first `got` chunks are written, and synced or not; state:     *)
(* whether the rest of the home is there, "no", "unsynced" or "yes".                    *)
NoStage == [n |-> 0, got |-> 0, synced |-> FALSE, state |-> "no"]

(* Limits of a model are put here by its MC module. *)
MayLag     == TRUE     \* an op may be committed without this replica
MayInstall == TRUE
MayCompact == TRUE
MayStep    == TRUE     \* the replica takes a step of Ordered
Numbers    == {1}      \* ops at which something may be offered

TransferInit ==
    /\ Init
    /\ peers = [n \in 1 .. FirstOp + 1 |-> [m |-> FreshFacts(n - 1, 0, 0), segs |-> <<>>, bms |-> <<>>]]
    /\ journal = [first |-> 0, held |-> FirstOp]
    /\ stage = NoStage
    /\ root = [n |-> 0, there |-> "yes"]
    /\ ghost_installs = 0

(* What a member offers that has applied op n, which is o, after offering p. *)
PeerAfter(p, n, o) ==
    IF o.k = "purge"
    THEN IF o.g <= p.m.settled THEN [p EXCEPT !.m.applied = n]
         ELSE [m |-> [FreshFacts(n, o.g, o.g) EXCEPT !.boundary = n], segs |-> <<>>,
               \* DEFECT OldGenerationBookmarksTransferred: all that the bookmark files hold
               bms |-> IF OldGenerationBookmarksTransferred THEN p.bms ELSE <<>>]
    ELSE LET e == EffectOf(p.m, o)
         IN [m |-> After(p.m, n, e),
             segs |-> IF e.k = "append" THEN Append(p.segs, [op |-> n, base |-> e.base, n |-> e.n])
                      ELSE p.segs,
             bms |-> CASE e.k = "store"  -> Append(p.bms, [op |-> n, key |-> e.key, o |-> e.o])
                       [] e.k = "delete" -> Append(p.bms, [op |-> n, key |-> e.key, o |-> -1])
                       [] OTHER -> p.bms]

(* The log has grown by at most one op. *)
Follow ==
    peers' = IF Len(log') = Len(log) THEN peers
             ELSE Append(peers, PeerAfter(peers[Len(peers)], Len(log'), log'[Len(log')]))

(* What is offered at op n, and how many chunks it has. *)
Offered(n) == peers[n + 1]
Chunks(n)  == Len(Offered(n).segs)

(* The home that an install at op n makes: the state offered, in its era. *)
Home(n) ==
    LET p == Offered(n)
        \* DEFECT BoundaryNotRebased: this replica keeps the boundary that it has
        b == IF BoundaryNotRebased THEN mem.boundary ELSE p.m.boundary
        c == [Checkpointed(p.m) EXCEPT !.boundary = b]
        m == IF p.m.gen = 0 THEN NoMarker ELSE MarkerOf("complete", p.m.gen, b)
        synced == IF stage.synced THEN Len(p.segs) ELSE 0
    IN [marker |-> m, stable |-> m, gone |-> {},
        dirs |-> (p.m.gen :> [Folder(c) EXCEPT !.segs = p.segs, !.segsSynced = synced,
                                               !.bms = p.bms, !.bmsSynced = Len(p.bms)])]

(* Op n is above all of the log that this replica has journaled, hence above what it       *)
(* knows to be committed, and nothing is lost with its journal that it acknowledged. If it   *)
(* holds op n it needs no install; if it holds another one in its place, what follows that    *)
(* was never committed.                                                             *)
Newer(n) ==
    \/ n > journal.held
    \* DEFECT JournaledOpsDropped: what it does not know to be committed may go
    \/ JournaledOpsDropped /\ n > mem.applied
    \* DEFECT OlderOfferAccepted: an offer is an offer
    \/ OlderOfferAccepted

(* Up to here the journal may be compacted. *)
CompactTo ==
    \* DEFECT CompactPastCheckpoint: what is applied need not be durable
    IF CompactPastCheckpoint THEN mem.applied ELSE Using.ckpt.applied

(* What else a step of Ordered does: the log may grow, and what is applied is journaled. *)
Beside ==
    /\ Follow
    /\ journal' = [journal EXCEPT !.held = IF "n" \in DOMAIN last' THEN Max(@, last'.n) ELSE @]
    /\ UNCHANGED <<stage, root, ghost_installs>>

-----------------------------------------------------------------------------
(* ACTION CommitElsewhere
   WHO    the other members
   The next op of the log is committed, and this replica was not given it yet. *)
CommitElsewhere(o) ==
    /\ MayLag
    /\ Given(Len(log) + 1, o)
    /\ Follow
    /\ last' = [a |-> "CommitElsewhere", o |-> o]
    /\ UNCHANGED <<up, mem, disk, ghost_top, ghost_found, ghost_crashes, transfer, ghost_installs>>

(* ACTION Compact
   WHO    the replica
   Drops the ops up to n from the journal: a checkpoint has what they did. *)
Compact(n) ==
    /\ Running
    /\ MayCompact
    /\ n > journal.first
    /\ n <= CompactTo
    /\ journal' = [journal EXCEPT !.first = n]
    /\ last' = [a |-> "Compact", n |-> n]
    /\ UNCHANGED <<store, ghosts, peers, stage, root, ghost_installs>>

(* ACTION StageManifest
   WHO    the replica
   Begins to take the state as of op n. *)
StageManifest(n) ==
    /\ Running
    /\ MayInstall
    /\ n \in 1 .. Len(log)
    /\ Newer(n)
    /\ stage = NoStage
    /\ stage' = [NoStage EXCEPT !.n = n]
    /\ last' = [a |-> "StageManifest", n |-> n]
    /\ UNCHANGED <<store, ghosts, peers, journal, root, ghost_installs>>

(* ACTION RefuseTransfer
   WHO    the replica
   It has what is offered. *)
RefuseTransfer(n) ==
    /\ Running
    /\ n \in 1 .. Len(log)
    /\ ~Newer(n)
    /\ last' = [a |-> "RefuseTransfer", n |-> n]
    /\ UNCHANGED <<store, ghosts, peers, transfer, ghost_installs>>

(* ACTION StageChunk
   WHO    the replica
   Chunk j has come, fits its checksum, and is written. *)
StageChunk(j) ==
    /\ Running
    /\ stage.n # 0
    /\ ~stage.synced
    /\ stage.state = "no"
    /\ j = stage.got + 1
    /\ j <= Chunks(stage.n)
    /\ stage' = [stage EXCEPT !.got = j]
    /\ last' = [a |-> "StageChunk", j |-> j]
    /\ UNCHANGED <<store, ghosts, peers, journal, root, ghost_installs>>

(* All chunks are written, and the rest is not. *)
Whole == stage.n # 0 /\ stage.got = Chunks(stage.n) /\ stage.state = "no"

(* ACTION SyncPiece
   WHO    the replica
   All chunks are there: they are synced. *)
SyncPiece ==
    /\ Running
    /\ Whole
    /\ ~stage.synced
    /\ stage' = [stage EXCEPT !.synced = TRUE]
    /\ last' = [a |-> "SyncPiece"]
    /\ UNCHANGED <<store, ghosts, peers, journal, root, ghost_installs>>

(* ACTION StageState
   WHO    the replica
   Bookmarks, checkpoint, marker and an empty journal are in their places, durably: the
   home is whole. *)
StageState ==
    /\ Running
    /\ Whole
       \* DEFECT InstallBeforeSync: the messages need not be durable
    /\ InstallBeforeSync \/ stage.synced
       \* DEFECT StagedRenameWithoutSync: the folders that they were renamed in are not synced
    /\ stage' = [stage EXCEPT !.state = IF StagedRenameWithoutSync THEN "unsynced" ELSE "yes"]
    /\ last' = [a |-> "StageState"]
    /\ UNCHANGED <<store, ghosts, peers, journal, root, ghost_installs>>

(* ACTION CommitInstall
   WHO    the replica
   One record makes the home of op n the present one, if the replica has not come to n
   by itself meanwhile. *)
CommitInstall(n) ==
    /\ Running
    /\ stage.state # "no"
    /\ n = stage.n
       \* DEFECT PurgeRacesInstall: what was journaled since the offer is not looked at
    /\ PurgeRacesInstall \/ Newer(n)
    /\ disk' = Home(n)
    /\ root' = [n |-> n, there |-> stage.state]
    /\ journal' = [journal EXCEPT !.held = n]
    /\ stage' = NoStage
    /\ up' = "down"
    /\ mem' = NoFacts
    /\ ghost_top' = Max(ghost_top, Offered(n).m.gen)
    /\ ghost_found' = "none"
    /\ ghost_installs' = ghost_installs + 1
    /\ last' = [a |-> "CommitInstall", n |-> n]
    /\ UNCHANGED <<log, peers, ghost_hist, ghost_last, ghost_crashes>>

(* ACTION DropTransfer
   WHO    the replica
   The offer is given up: nobody has it any more, a sync failed, or this replica came
   to its op by itself. *)
DropTransfer ==
    /\ Running
    /\ stage.n # 0
    /\ stage' = NoStage
    /\ last' = [a |-> "DropTransfer"]
    /\ UNCHANGED <<store, ghosts, peers, journal, root, ghost_installs>>

-----------------------------------------------------------------------------
(* The op after which a boot replays. *)
ReplayFrom ==
    \* DEFECT ReplayCoveredOps: files of the journal from before the install are replayed
    IF ReplayCoveredOps /\ journal.first < root.n THEN journal.first ELSE Facts(disk).applied

(* Boot of Ordered, in the home that the record names. *)
OpenHome(n, g) ==
    /\ ~Running
    /\ root.there # "gone"
    /\ n = ReplayFrom
    /\ g = OpenedAtBoot(disk)
    /\ up' = "replay"
    /\ mem' = [Facts(disk) EXCEPT !.applied = n]
    /\ ghost_found' = IF disk.marker.st = "begun" THEN "begun" ELSE "none"
    /\ last' = [a |-> "Boot", n |-> n, g |-> g, m |-> disk.marker]
    /\ UNCHANGED <<log, disk, ghost_hist, ghost_last, ghost_top, ghost_crashes>>
    /\ UNCHANGED <<peers, transfer, ghost_installs>>

Crash ==
    /\ ProcessCrash
    /\ UNCHANGED <<peers, transfer, ghost_installs>>

(* PowerLoss of Ordered, and of what is staged a beginning is left. *)
LosePower ==
    \E m \in MarkersLeft(disk), s \in SegsLeft(disk), b \in BookmarksLeft(disk), back \in SUBSET disk.gone,
       got \in (IF stage.synced THEN stage.got ELSE 0) .. stage.got,
       state \in IF stage.state = "unsynced" THEN {"yes", "no"} ELSE {stage.state},
       there \in IF root.there = "unsynced" THEN {"yes", "gone"} ELSE {root.there} :
        /\ PowerLossLeaving(m, s, b, back)
        /\ stage' = [stage EXCEPT !.got = got, !.state = state]
        /\ root' = [root EXCEPT !.there = there]
        /\ UNCHANGED <<peers, journal, ghost_installs>>

(* The steps of Ordered; an op is journaled before it is applied. *)
Own ==
    /\ MayStep
    /\ \/ \E o \in Ops : Materialize(NextOp, o)
       \/ \E g \in Generations : PurgeBegin(NextOp, g)
       \/ PurgeSwitch(disk.marker.p, disk.marker.g)
       \/ PurgeComplete(disk.marker.p, disk.marker.g)
       \/ \E g \in Generations : PurgeDuplicate(NextOp, g)
       \/ Checkpoint(mem.applied)
       \/ \E g \in Generations \cup {0} : Reclaim(g)
       \/ Serve
       \/ \E q \in Reads : Answer(q)
    /\ Beside

TransferNext ==
    \/ Own
    \/ \E o \in Ops : CommitElsewhere(o)
    \/ Compact(CompactTo)
    \/ \E n \in Numbers : StageManifest(n)
    \/ RefuseTransfer(journal.held)
    \/ StageChunk(stage.got + 1)
    \/ SyncPiece
    \/ StageState
    \/ CommitInstall(stage.n)
    \/ DropTransfer
    \/ Crash
    \/ LosePower
    \/ OpenHome(ReplayFrom, OpenedAtBoot(disk))

TransferSpec == TransferInit /\ [][TransferNext]_all
=============================================================================
