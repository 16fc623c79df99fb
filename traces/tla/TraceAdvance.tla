---------------------------- MODULE TraceAdvance ----------------------------
(* Could one replica, as Advance describes it, have done what a trace says?     *)
(* Works as TraceOrdered does, and has the same event fields. Of a Boot and of a   *)
(* Reclaim, o is the base of the first segment that is left.                     *)
EXTENDS Advance, TraceData

VARIABLES piece, cursor

TraceRemember(hist, n, o) == hist     \* the contract is not judged here

Events == TracePieces[piece]
E      == Events[cursor]

TraceInit ==
    /\ log = [n \in 1 .. TraceFirst |-> OtherOp]
    /\ up = "down"
    /\ mem = NoFacts
    /\ disk = [ckpt |-> [applied |-> TraceFirst, start |-> 0, end |-> 0], segs |-> <<>>, synced |-> 0,
               gone |-> {}, bms |-> <<>>, bmsSynced |-> 0]
    /\ last = [a |-> "Init"]
    /\ ghost_hist = <<>>
    /\ ghost_shown = [start |-> 0, end |-> 0]
    /\ ghost_crashes = 0
    /\ piece \in DOMAIN TracePieces
    /\ cursor = 1

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

TakeCheckpoint ==
    /\ Takes("Checkpoint")
    /\ Checkpoint(E.op)
    /\ Shows

(* A file holds several batches, which Advance removes one by one: the first of them  *)
(* until the event's is the lowest.                                             *)
TakeReclaim ==
    /\ cursor <= Len(Events)
    /\ E.a = "Reclaim"
    /\ E.o > LowestBase
    /\ Reclaim(Lowest)
    /\ UNCHANGED <<piece, cursor>>

TakeReclaimed ==
    /\ Takes("Reclaim")
    /\ Running
    /\ E.o = LowestBase \/ There = <<>>
    /\ UNCHANGED vars

TakeProcessCrash ==
    /\ Takes("ProcessCrash")
    /\ ProcessCrash

(* The Boot that follows tells the highest op that was left, and the first segment    *)
(* that is there. See TraceOrdered.                                            *)
TakePowerLoss ==
    /\ Takes("PowerLoss")
    /\ LET upTo(entries) == Cardinality({j \in DOMAIN entries : entries[j].op <= E.f})
           back == {disk.segs[i].op : i \in {j \in DOMAIN disk.segs : disk.segs[j].base >= E.o}}
       IN PowerLossLeaving(Max(disk.synced, upTo(disk.segs)), Max(disk.bmsSynced, upTo(disk.bms)),
                           disk.gone \cap back)

TakeBoot ==
    /\ Takes("Boot")
    /\ Boot(E.ap)
    /\ E.f \in {0, Front}
    /\ E.o = LowestBase
    /\ E.n = Cardinality({k \in Keys : mem'.bm[k].o # -1})
    /\ Shows

TakeServe ==
    /\ Takes("Serve")
    /\ Serve
    /\ Shows

TraceNext ==
    \/ TakeMaterialize
    \/ TakeCheckpoint
    \/ TakeReclaim
    \/ TakeReclaimed
    \/ TakeProcessCrash
    \/ TakePowerLoss
    \/ TakeBoot
    \/ TakeServe

(* The search has no branches: a state is told by how far it has come. *)
TraceView == <<piece, cursor, disk.gone>>

TraceSpec == TraceInit /\ [][TraceNext]_<<vars, piece, cursor>>

-----------------------------------------------------------------------------
(* Prints when a sequence is accepted, and how far others have come.           *)
Consumed ==
    IF cursor > Len(Events) THEN PrintT(<<"DONE", piece>>)
    ELSE cursor % 64 # 0 \/ PrintT(<<"STEP", piece, cursor>>)

(* What could happen in this state, whatever the trace says next. *)
Enabled ==
    LET If(b, name) == IF b THEN {name} ELSE {}
    IN IF ~Running THEN {"Boot", "PowerLoss"}
       ELSE {"Materialize", "ProcessCrash", "PowerLoss"}
            \cup If(ENABLED Checkpoint(mem.applied), "Checkpoint")
            \cup If(ENABLED Reclaim(Lowest), "Reclaim")
            \cup If(ENABLED Serve, "Serve")

(* Prints states from a given step on when rejected sequences are run again;    *)
(* after the last one no action explains the next event.                       *)
Told ==
    cursor < TraceFrom[piece] \/
    PrintT(<<"AT", piece, cursor,
             [up |-> up, now |-> mem, disk |-> Booted, front |-> Front, lowest |-> LowestBase,
              batch |-> IF There = <<>> THEN [op |-> 0, base |-> 0, n |-> 0] ELSE There[1],
              ckpt |-> disk.ckpt,
              next |-> IF Running /\ mem.applied < Len(log) THEN log[mem.applied + 1] ELSE [k |-> "any"]],
             Enabled>>)
=============================================================================
