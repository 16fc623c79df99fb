---------------------------- MODULE TraceOrdered ----------------------------
(* Could one replica, as Ordered describes it, have done what a trace says, and as    *)
(* Transfer does, if it took the state of another?                             *)
(*                                                                           *)
(* TraceData holds the events of many replicas, a sequence each. An initial    *)
(* state picks one of them; then each step takes the event under the cursor    *)
(* and must be the action of Ordered that the event names, with the event's     *)
(* parameters, leading to the state that the event shows. A sequence is         *)
(* accepted if the cursor passes its end, which Consumed prints; there is no    *)
(* other output and no property to violate.                                   *)
(*                                                                           *)
(* Event fields: a action; op, g, key, o, n, k as in docs/traces.md; ap, st,    *)
(* en, and g of most, the replica's applied op, start, end and generation after *)
(* the step; q the generation that a purge op asked for; f the highest op that    *)
(* the disk gives evidence of; l, of an install, up to which op the replica has in its  *)
(* log what is offered; g and b, of what is staged, its generation and boundary.        *)
(*                                                                           *)
(* Ops that the replica was not given come into the log when it begins to take a state  *)
(* that has their effects (CommitElsewhere); TraceLogs holds what they are, of sequences  *)
(* in which that happens. What is offered is what these ops make of an empty state.      *)
EXTENDS Transfer, TraceData

VARIABLES piece, cursor

TraceRemember(hist, n, o)     == hist     \* the contract is not judged here
TraceSeen(hist, n, o, before) == before

Events == TracePieces[piece]
E      == Events[cursor]

(* What is offered is computed when it is taken; a trace has no offers that are not.   *)
TraceFollow == UNCHANGED peers

(* What a member offers that has applied ops n to m after offering p; in halves, for      *)
(* depth.                                                                     *)
RECURSIVE PeerUpTo(_, _, _)
PeerUpTo(p, n, m) ==
    IF n > m THEN p
    ELSE IF n = m THEN PeerAfter(p, n, log[n])
    ELSE LET half == (n + m) \div 2 IN PeerUpTo(PeerUpTo(p, n, half), half + 1, m)

TraceOffered(n) ==
    PeerUpTo([m |-> FreshFacts(TraceFirst, 0, 0), segs |-> <<>>, bms |-> <<>>], TraceFirst + 1, n)

TraceBeginning ==
    /\ TransferInit

(* A long sequence is judged in parts: the state that TLC prints at the end of one is the   *)
(* one that the next begins in.                                                  *)
TraceState == [log |-> log, up |-> up, mem |-> mem, disk |-> disk, last |-> last,
               ghost_hist |-> ghost_hist, ghost_last |-> ghost_last,
               ghost_top |-> ghost_top, ghost_found |-> ghost_found,
               ghost_crashes |-> ghost_crashes, peers |-> peers, journal |-> journal,
               stage |-> stage, root |-> root, ghost_installs |-> ghost_installs]

Resumes(s) ==
    /\ log = s.log
    /\ up = s.up
    /\ mem = s.mem
    /\ disk = s.disk
    /\ last = s.last
    /\ ghost_hist = s.ghost_hist
    /\ ghost_last = s.ghost_last
    /\ ghost_top = s.ghost_top
    /\ ghost_found = s.ghost_found
    /\ ghost_crashes = s.ghost_crashes
    /\ peers = s.peers
    /\ journal = s.journal
    /\ stage = s.stage
    /\ root = s.root
    /\ ghost_installs = s.ghost_installs

TraceInit ==
    /\ piece \in DOMAIN TracePieces
    /\ cursor = 1
    /\ IF TraceCarried[piece] = <<>> THEN TraceBeginning
       ELSE \E i \in DOMAIN TraceCarried[piece] : Resumes(TraceCarried[piece][i])

Takes(a) ==
    /\ cursor <= Len(Events)
    /\ E.a = a
    /\ cursor' = cursor + 1
    /\ UNCHANGED piece

(* The facts after the step are those that the event shows. *)
Shows ==
    /\ mem'.applied = E.ap
    /\ mem'.start = E.st
    /\ mem'.end = E.en

ShowsAll == Shows /\ mem'.gen = E.g

(* The op that had the effect of the event. A store, an auto-commit poll too,  *)
(* is told by the offset that it left; what had no effect by its number.       *)
OpOf(e) ==
    CASE e.k = "append"  -> AppendOp(NoSession, e.n)
      [] e.k = "store"   -> StoreOp(e.key, -1, e.o)
      [] e.k = "delete"  -> DeleteOp(e.key)
      [] e.k = "advance" -> AdvanceOp(e.o)
      [] e.k = "other"   -> OtherOp

EffectShown(e, f) ==
    CASE e.k = "append"  -> f = [k |-> "append", base |-> e.o, n |-> e.n]
      [] e.k = "store"   -> f = [k |-> "store", key |-> e.key, o |-> e.o]
      [] e.k = "delete"  -> f = [k |-> "delete", key |-> e.key]
      [] e.k = "advance" -> f = [k |-> "advance", o |-> e.o]
      [] e.k = "other"   -> f = NoEffect

TakeMaterialize ==
    /\ Takes("Materialize")
    /\ Materialize(E.op, OpOf(E))
    /\ EffectShown(E, last'.e)
    /\ ShowsAll
    /\ Beside

TakePurgeBegin ==
    /\ Takes("PurgeBegin")
    /\ PurgeBegin(E.op, E.g)
    /\ Shows
    /\ Beside

TakePurgeSwitch ==
    /\ Takes("PurgeSwitch")
    /\ PurgeSwitch(E.op, E.g)
    /\ Shows
    /\ Beside

TakePurgeComplete ==
    /\ Takes("PurgeComplete")
    /\ PurgeComplete(E.op, E.g)
    /\ ShowsAll
    /\ Beside

(* A purge that settles its intent without a new generation, because it        *)
(* expected another position, is told as a duplicate too.                      *)
TakePurgeDuplicate ==
    /\ Takes("PurgeDuplicate")
    /\ Running
    /\ IF E.q <= mem.settled THEN PurgeDuplicate(E.op, E.q)
       ELSE E.g = E.q /\ Materialize(E.op, SettleOp(E.q))
    /\ Shows
    /\ Beside

TakeCheckpoint ==
    /\ Takes("Checkpoint")
    /\ Checkpoint(E.op)
    /\ ShowsAll
    /\ Beside

(* The event says of which generation a file was removed. The first file of a    *)
(* generation left behind counts as its folder; segments of the present one       *)
(* below its start are left out of Ordered.                                    *)
TakeReclaim ==
    /\ Takes("Reclaim")
    /\ Running
    /\ IF disk.marker.st = "complete" /\ E.g \in Folders(disk) /\ E.g < disk.marker.g
       THEN Reclaim(E.g)
       ELSE E.g <= mem.gen /\ UNCHANGED vars
    /\ Shows
    /\ UNCHANGED <<peers, transfer, ghost_installs>>

TakeProcessCrash ==
    /\ Takes("ProcessCrash")
    /\ Crash

(* The Boot that follows tells the highest op that was left. Of what lies below   *)
(* it, replay writes again what is not there: so all of it may count as left.     *)
TakePowerLoss ==
    /\ Takes("PowerLoss")
    /\ LET f == disk.dirs[OpenedAtBoot(disk)]
           upTo(entries) == Cardinality({j \in DOMAIN entries : entries[j].op <= E.f})
       IN PowerLossLeaving(disk.stable, Max(f.segsSynced, upTo(f.segs)), Max(f.bmsSynced, upTo(f.bms)), {})
    /\ UNCHANGED <<peers, transfer, ghost_installs>>

TakeBoot ==
    /\ Takes("Boot")
    /\ OpenHome(E.ap, E.g)
    /\ E.k = disk.marker.st
    /\ E.k # "none" => E.op = disk.marker.p
    /\ E.f \in {0, Front(disk)}
    /\ E.n = Cardinality({k \in Keys : mem'.bm[k].o # -1})
    /\ ShowsAll

TakeServe ==
    /\ Takes("Serve")
    /\ Serve
    /\ ShowsAll
    /\ Beside

TakeCommitElsewhere ==
    /\ Takes("CommitElsewhere")
    /\ CommitElsewhere(TraceLogs[piece][1][E.op])

TakeCompact ==
    /\ Takes("Compact")
    /\ Compact(E.op)
    /\ ShowsAll

(* The replica may have journaled more than it has applied. *)
TakeStageManifest ==
    /\ Takes("StageManifest")
    /\ E.op > E.l
    /\ StageManifest(E.op)
    /\ Offered(E.op).m.gen = E.g
    /\ E.b = IF E.g = 0 THEN 0 ELSE Offered(E.op).m.boundary
    /\ Shows

(* The chunks that are staged before it, and their syncs, are one with it. *)
TakeStageState ==
    /\ Takes("StageState")
    /\ Running
    /\ stage.n = E.op
    /\ stage.state = "no"
    /\ stage' = [n |-> E.op, got |-> Chunks(E.op), synced |-> TRUE, state |-> "yes"]
    /\ UNCHANGED <<vars, peers, journal, root, ghost_installs>>
    /\ ShowsAll

TakeCommitInstall ==
    /\ Takes("CommitInstall")
    /\ E.op > E.l
    /\ CommitInstall(E.op)

TakeDropTransfer ==
    /\ Takes("DropTransfer")
    /\ stage.n = E.op
    /\ DropTransfer

(* A new incarnation may begin with a state that another one left: it is in its place   *)
(* before the replica boots for the first time.                                 *)
TakeCopyState ==
    /\ Takes("CopyState")
    /\ ~Running
    /\ E.op \in 1 .. Len(log)
    /\ disk' = LET h == Home(E.op)
               IN [h EXCEPT !.dirs = [g \in DOMAIN h.dirs |->
                                         [h.dirs[g] EXCEPT !.segsSynced = Len(h.dirs[g].segs)]]]
    /\ LET m == Facts(disk') IN m.applied = E.ap /\ m.start = E.st /\ m.end = E.en /\ m.gen = E.g
    /\ journal' = [journal EXCEPT !.held = E.op]
    /\ UNCHANGED <<log, up, mem, last, ghosts, peers, stage, root, ghost_installs>>

TraceNext ==
    \/ TakeMaterialize
    \/ TakePurgeBegin
    \/ TakePurgeSwitch
    \/ TakePurgeComplete
    \/ TakePurgeDuplicate
    \/ TakeCheckpoint
    \/ TakeReclaim
    \/ TakeProcessCrash
    \/ TakePowerLoss
    \/ TakeBoot
    \/ TakeServe
    \/ TakeCommitElsewhere
    \/ TakeCompact
    \/ TakeStageManifest
    \/ TakeStageState
    \/ TakeCommitInstall
    \/ TakeDropTransfer
    \/ TakeCopyState

(* The search has no branches: a state is told by how far it has come. *)
TraceView == <<piece, cursor>>

TraceSpec == TraceInit /\ [][TraceNext]_<<all, piece, cursor>>

-----------------------------------------------------------------------------
(* Prints when a sequence, or a part of it, is accepted, and how far others have come.    *)
Consumed ==
    IF cursor > Len(Events)
    THEN PrintT(<<"DONE", piece, IF TraceGoesOn[piece] THEN ToString(TraceState) ELSE "">>)
    ELSE cursor % 64 # 0 \/ PrintT(<<"STEP", piece, cursor>>)

(* The actions of the specification that are enabled in this state, whatever the trace  *)
(* says next. An op that is not in the log yet may be any. Of two the guards are written   *)
(* out, because TLC would make up the whole state that is offered, many times over.       *)
Enabled ==
    LET If(b, name) == IF b THEN {name} ELSE {}
        n     == NextOp
        given == Running /\ n <= Len(log)
        op    == IF given THEN log[n] ELSE OtherOp
        g     == IF given /\ op.k \in {"purge", "settle"} THEN op.g ELSE mem.settled
    IN If(ENABLED OpenHome(ReplayFrom, OpenedAtBoot(disk)), "Boot")
       \cup If(ENABLED ProcessCrash, "ProcessCrash")
       \cup If(ENABLED PowerLossLeaving(disk.stable, 0, 0, {}), "PowerLoss")
       \cup IF ~Running THEN {} ELSE
            If(ENABLED Materialize(n, op), "Materialize")
            \cup If(ENABLED PurgeBegin(n, IF given THEN g ELSE g + 1), "PurgeBegin")
            \cup If(ENABLED PurgeSwitch(disk.marker.p, disk.marker.g), "PurgeSwitch")
            \cup If(ENABLED PurgeComplete(disk.marker.p, disk.marker.g), "PurgeComplete")
            \cup If(ENABLED PurgeDuplicate(n, g) \/ ENABLED Materialize(n, SettleOp(g)), "PurgeDuplicate")
            \cup If(ENABLED Checkpoint(mem.applied), "Checkpoint")
            \cup If(\E h \in Folders(disk) : ENABLED Reclaim(h), "Reclaim")
            \cup If(ENABLED Serve, "Serve")
            \cup If(ENABLED Compact(CompactTo), "Compact")
            \cup If(ENABLED StageManifest(Len(log)), "StageManifest")
            \cup If(stage.n # 0 /\ stage.state = "no", "StageState")
            \cup If(stage.state = "yes" /\ Newer(stage.n), "CommitInstall")
            \cup If(ENABLED DropTransfer, "DropTransfer")

(* Prints states from a given step on when rejected sequences are run again;    *)
(* after the last one no action explains the next event.                       *)
Told ==
    cursor < TraceFrom[piece] \/
    PrintT(<<"AT", piece, cursor,
             [up |-> up, now |-> mem, disk |-> Facts(disk), marker |-> disk.marker, front |-> Front(disk),
              held |-> journal.held, dropped |-> journal.first, agreed |-> Len(log), stage |-> stage,
              next |-> IF Running /\ mem.applied < Len(log) THEN log[mem.applied + 1] ELSE [k |-> "any"]],
             Enabled>>)
=============================================================================
