---------------------------- MODULE TraceAdvance ----------------------------
(* Could one replica, as Advance describes it, have done what a trace says?     *)
(* Works as TraceOrdered does, and has the same event fields. Of a Boot and of a   *)
(* Reclaim, o is the base of the first segment that is left; of an install, of the first  *)
(* one that came.                                                             *)
(*                                                                           *)
(* A replica that takes the state of another does what Transfer says of it, here upon the  *)
(* disk that Advance has. A transfer leaves the same as in Ordered: a checkpoint, and all    *)
(* that it covers, durable.                                                     *)
EXTENDS Advance, TraceData

VARIABLES
    piece, cursor,
    stage,      \* the state that is taken: op, 0 for none, and whether it is whole
    compacted   \* the journal begins after this op

TraceRemember(hist, n, o) == hist     \* the contract is not judged here
NoStage == [n |-> 0, whole |-> FALSE]
Same    == UNCHANGED <<stage, compacted>>

Events == TracePieces[piece]
E      == Events[cursor]

TraceBeginning ==
    /\ log = [n \in 1 .. TraceFirst |-> OtherOp]
    /\ up = "down"
    /\ mem = NoFacts
    /\ disk = [ckpt |-> [applied |-> TraceFirst, start |-> 0, end |-> 0], segs |-> <<>>, synced |-> 0,
               gone |-> {}, bms |-> <<>>, bmsSynced |-> 0]
    /\ last = [a |-> "Init"]
    /\ ghost_hist = <<>>
    /\ ghost_shown = [start |-> 0, end |-> 0]
    /\ ghost_crashes = 0
    /\ stage = NoStage
    /\ compacted = 0

(* A long sequence is judged in parts: the state that TLC prints at the end of one is the   *)
(* one that the next begins in.                                                  *)
TraceState == [log |-> log, up |-> up, mem |-> mem, disk |-> disk, last |-> last,
               ghost_hist |-> ghost_hist, ghost_shown |-> ghost_shown,
               ghost_crashes |-> ghost_crashes, stage |-> stage, compacted |-> compacted]

Resumes(s) ==
    /\ log = s.log
    /\ up = s.up
    /\ mem = s.mem
    /\ disk = s.disk
    /\ last = s.last
    /\ ghost_hist = s.ghost_hist
    /\ ghost_shown = s.ghost_shown
    /\ ghost_crashes = s.ghost_crashes
    /\ stage = s.stage
    /\ compacted = s.compacted

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
    /\ mem'.gen = E.g

(* The base of the first segment that is there, or where the first one will begin. *)
LowestBase == IF There = <<>> THEN disk.ckpt.end ELSE There[1].base

(* The op that had the effect of the event; see TraceOrdered. *)
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
    /\ Shows
    /\ Same

TakeCheckpoint ==
    /\ Takes("Checkpoint")
    /\ Checkpoint(E.op)
    /\ Shows
    /\ Same

(* A file holds several batches, which Advance removes one by one: the first of them  *)
(* until the event's is the lowest.                                             *)
TakeReclaim ==
    /\ cursor <= Len(Events)
    /\ E.a = "Reclaim"
    /\ E.o > LowestBase
    /\ Reclaim(Lowest)
    /\ Shows
    /\ UNCHANGED <<piece, cursor>>
    /\ Same

TakeReclaimed ==
    /\ Takes("Reclaim")
    /\ Running
    /\ There # <<>> => E.o = LowestBase
    /\ UNCHANGED vars
    /\ Shows
    /\ Same

TakeProcessCrash ==
    /\ Takes("ProcessCrash")
    /\ ProcessCrash
    /\ Same

(* The Boot that follows tells the highest op that was left, and the first segment    *)
(* that is there. See TraceOrdered.                                            *)
TakePowerLoss ==
    /\ Takes("PowerLoss")
    /\ LET upTo(entries) == Cardinality({j \in DOMAIN entries : entries[j].op <= E.f})
           back == {disk.segs[i].op : i \in {j \in DOMAIN disk.segs : disk.segs[j].base >= E.o}}
       IN PowerLossLeaving(Max(disk.synced, upTo(disk.segs)), Max(disk.bmsSynced, upTo(disk.bms)),
                           disk.gone \cap back)
    /\ Same

TakeBoot ==
    /\ Takes("Boot")
    /\ Boot(E.ap)
    /\ E.f \in {0, Front}
    /\ E.o = LowestBase
    /\ E.n = Cardinality({k \in Keys : mem'.bm[k].o # -1})
    /\ Shows
    /\ Same

TakeServe ==
    /\ Takes("Serve")
    /\ Serve
    /\ Shows
    /\ Same

(* Transfer!CommitElsewhere. *)
TakeCommitElsewhere ==
    /\ Takes("CommitElsewhere")
    /\ E.op = Len(log) + 1
    /\ log' = Append(log, TraceLogs[piece][1][E.op])
    /\ UNCHANGED <<up, mem, disk, last, ghosts>>
    /\ Same

(* What a member offers that has applied ops n to m after offering p; see TraceOrdered. *)
RECURSIVE PeerUpTo(_, _, _)
PeerUpTo(p, n, m) ==
    IF n > m THEN p
    ELSE IF n = m
    THEN LET e == Effect(p.m, log[n])
         IN [m    |-> After(p.m, n, e),
             segs |-> IF e.k = "append" THEN Append(p.segs, [op |-> n, base |-> e.base, n |-> e.n]) ELSE p.segs,
             bms  |-> CASE e.k = "store"  -> Append(p.bms, [op |-> n, key |-> e.key, o |-> e.o])
                        [] e.k = "delete" -> Append(p.bms, [op |-> n, key |-> e.key, o |-> -1])
                        [] OTHER -> p.bms]
    ELSE LET half == (n + m) \div 2 IN PeerUpTo(PeerUpTo(p, n, half), half + 1, m)

Offered(n) == PeerUpTo([m |-> FreshFacts(TraceFirst, 0, 0), segs |-> <<>>, bms |-> <<>>], TraceFirst + 1, n)

(* The disk that the state as of op n makes: messages from offset o on, so that the batch   *)
(* that the start lies in may be cut there.                                        *)
Home(n, o) ==
    LET p == Offered(n)
        kept == SelectSeq(p.segs, LAMBDA e : e.base + e.n > o)
        segs == [i \in DOMAIN kept |-> IF kept[i].base >= o THEN kept[i]
                                       ELSE [kept[i] EXCEPT !.base = o, !.n = kept[i].base + kept[i].n - o]]
    IN [ckpt |-> [applied |-> n, start |-> p.m.start, end |-> p.m.end],
        segs |-> segs, synced |-> Len(segs), gone |-> {}, bms |-> p.bms, bmsSynced |-> Len(p.bms)]

(* Nothing at or above the start is missing. *)
Whole(n, o) ==
    LET p == Offered(n) IN o <= p.m.start \/ p.m.start = p.m.end

TakeCompact ==
    /\ Takes("Compact")
    /\ Running
    /\ E.op > compacted
    /\ E.op <= disk.ckpt.applied
    /\ compacted' = E.op
    /\ UNCHANGED <<vars, stage>>
    /\ Shows

(* Op n is above all that the replica has. *)
Newer(n) == n > mem.applied /\ n > E.l

TakeStageManifest ==
    /\ Takes("StageManifest")
    /\ Running
    /\ stage = NoStage
    /\ E.op \in 1 .. Len(log)
    /\ Newer(E.op)
    /\ E.g = 0 /\ E.b = 0
    /\ stage' = [NoStage EXCEPT !.n = E.op]
    /\ UNCHANGED <<vars, compacted>>
    /\ Shows

TakeStageState ==
    /\ Takes("StageState")
    /\ Running
    /\ stage = [NoStage EXCEPT !.n = E.op]
    /\ stage' = [stage EXCEPT !.whole = TRUE]
    /\ UNCHANGED <<vars, compacted>>
    /\ Shows

TakeCommitInstall ==
    /\ Takes("CommitInstall")
    /\ Running
    /\ stage = [n |-> E.op, whole |-> TRUE]
    /\ Newer(E.op)
    /\ Whole(E.op, E.o)
    /\ disk' = Home(E.op, E.o)
    /\ up' = "down"
    /\ mem' = NoFacts
    /\ stage' = NoStage
    /\ UNCHANGED <<log, last, ghosts, compacted>>

TakeDropTransfer ==
    /\ Takes("DropTransfer")
    /\ Running
    /\ stage.n = E.op
    /\ stage' = NoStage
    /\ UNCHANGED <<vars, compacted>>

(* See TraceOrdered. *)
TakeCopyState ==
    /\ Takes("CopyState")
    /\ ~Running
    /\ E.op \in 1 .. Len(log)
    /\ Whole(E.op, E.o)
    /\ disk' = Home(E.op, E.o)
    /\ disk'.ckpt = [applied |-> E.ap, start |-> E.st, end |-> E.en]
    /\ E.g = 0
    /\ UNCHANGED <<log, up, mem, last, ghosts>>
    /\ Same

TraceNext ==
    \/ TakeMaterialize
    \/ TakeCheckpoint
    \/ TakeReclaim
    \/ TakeReclaimed
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
TraceView == <<piece, cursor, disk.gone>>

TraceSpec == TraceInit /\ [][TraceNext]_<<vars, piece, cursor, stage, compacted>>

-----------------------------------------------------------------------------
(* Prints when a sequence, or a part of it, is accepted, and how far others have come.    *)
Consumed ==
    IF cursor > Len(Events)
    THEN PrintT(<<"DONE", piece, IF TraceGoesOn[piece] THEN ToString(TraceState) ELSE "">>)
    ELSE cursor % 64 # 0 \/ PrintT(<<"STEP", piece, cursor>>)

(* The actions of the specification, and of transfers, that are enabled in this state,     *)
(* whatever the trace says next.                                                *)
Enabled ==
    LET If(b, name) == IF b THEN {name} ELSE {}
    IN If(ENABLED Boot(disk.ckpt.applied), "Boot")
       \cup If(ENABLED ProcessCrash, "ProcessCrash")
       \cup If(ENABLED PowerLossLeaving(disk.synced, disk.bmsSynced, {}), "PowerLoss")
       \cup IF ~Running THEN {} ELSE
            LET n == mem.applied + 1
            IN If(ENABLED Materialize(n, IF n <= Len(log) THEN log[n] ELSE OtherOp), "Materialize")
               \cup If(ENABLED Checkpoint(mem.applied), "Checkpoint")
               \cup If(ENABLED Reclaim(Lowest), "Reclaim")
               \cup If(ENABLED Serve, "Serve")
               \cup If(compacted < disk.ckpt.applied, "Compact")
               \cup If(stage = NoStage /\ mem.applied < Len(log), "StageManifest")
               \cup If(stage.n # 0 /\ ~stage.whole, "StageState")
               \cup If(stage.whole /\ stage.n > mem.applied, "CommitInstall")
               \cup If(stage.n # 0, "DropTransfer")

(* Prints states from a given step on when rejected sequences are run again;    *)
(* after the last one no action explains the next event.                       *)
Told ==
    cursor < TraceFrom[piece] \/
    PrintT(<<"AT", piece, cursor,
             [up |-> up, now |-> mem, stage |-> stage, dropped |-> compacted, agreed |-> Len(log), disk |-> Booted, front |-> Front, lowest |-> LowestBase,
              batch |-> IF There = <<>> THEN [op |-> 0, base |-> 0, n |-> 0] ELSE There[1],
              ckpt |-> disk.ckpt,
              next |-> IF Running /\ mem.applied < Len(log) THEN log[mem.applied + 1] ELSE [k |-> "any"]],
             Enabled>>)
=============================================================================
