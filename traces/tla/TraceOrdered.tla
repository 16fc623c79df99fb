---------------------------- MODULE TraceOrdered ----------------------------
(* Could one replica, as Ordered describes it, have done what a trace says?    *)
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
(* the disk gives evidence of.                                                 *)
EXTENDS Ordered, TraceData

VARIABLES piece, cursor

TraceRemember(hist, n, o)     == hist     \* the contract is not judged here
TraceSeen(hist, n, o, before) == before

Events == TracePieces[piece]
E      == Events[cursor]

TraceInit ==
    /\ Init
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

TakePurgeBegin ==
    /\ Takes("PurgeBegin")
    /\ PurgeBegin(E.op, E.g)
    /\ Shows

TakePurgeSwitch ==
    /\ Takes("PurgeSwitch")
    /\ PurgeSwitch(E.op, E.g)
    /\ Shows

TakePurgeComplete ==
    /\ Takes("PurgeComplete")
    /\ PurgeComplete(E.op, E.g)
    /\ ShowsAll

(* A purge that settles its intent without a new generation, because it        *)
(* expected another position, is told as a duplicate too.                      *)
TakePurgeDuplicate ==
    /\ Takes("PurgeDuplicate")
    /\ Running
    /\ IF E.q <= mem.settled THEN PurgeDuplicate(E.op, E.q)
       ELSE E.g = E.q /\ Materialize(E.op, SettleOp(E.q))
    /\ Shows

TakeCheckpoint ==
    /\ Takes("Checkpoint")
    /\ Checkpoint(E.op)
    /\ ShowsAll

(* The event says of which generation a file was removed. The first file of a    *)
(* generation left behind counts as its folder; segments of the present one       *)
(* below its start are left out of Ordered.                                    *)
TakeReclaim ==
    /\ Takes("Reclaim")
    /\ Running
    /\ IF disk.marker.st = "complete" /\ E.g \in Folders(disk) /\ E.g < disk.marker.g
       THEN Reclaim(E.g)
       ELSE E.g <= mem.gen /\ UNCHANGED vars

TakeProcessCrash ==
    /\ Takes("ProcessCrash")
    /\ ProcessCrash

(* The Boot that follows tells the highest op that was left. Of what lies below   *)
(* it, replay writes again what is not there: so all of it may count as left.     *)
TakePowerLoss ==
    /\ Takes("PowerLoss")
    /\ LET f == disk.dirs[OpenedAtBoot(disk)]
           upTo(entries) == Cardinality({j \in DOMAIN entries : entries[j].op <= E.f})
       IN PowerLossLeaving(disk.stable, Max(f.segsSynced, upTo(f.segs)), Max(f.bmsSynced, upTo(f.bms)), {})

TakeBoot ==
    /\ Takes("Boot")
    /\ Boot(E.ap, E.g)
    /\ E.k = disk.marker.st
    /\ E.k = "none" \/ E.op = disk.marker.p
    /\ E.f \in {0, Front(disk)}
    /\ E.n = Cardinality({k \in Keys : mem'.bm[k].o # -1})
    /\ ShowsAll

TakeServe ==
    /\ Takes("Serve")
    /\ Serve
    /\ ShowsAll

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

(* The search has no branches: a state is told by how far it has come. *)
TraceView == <<piece, cursor>>

TraceSpec == TraceInit /\ [][TraceNext]_<<vars, piece, cursor>>

-----------------------------------------------------------------------------
(* Prints when a sequence is accepted, and how far others have come.           *)
Consumed ==
    IF cursor > Len(Events) THEN PrintT(<<"DONE", piece>>)
    ELSE cursor % 64 # 0 \/ PrintT(<<"STEP", piece, cursor>>)

(* What could happen in this state, whatever the trace says next. *)
Enabled ==
    LET If(b, name) == IF b THEN {name} ELSE {}
        next == mem.applied + 1
    IN IF ~Running THEN {"Boot", "PowerLoss"}
       ELSE {"ProcessCrash", "PowerLoss"}
            \cup If(ENABLED Materialize(next, OtherOp), "Materialize")
            \cup If(ENABLED PurgeBegin(next, mem.settled + 1), "PurgeBegin")
            \cup If(ENABLED PurgeSwitch(disk.marker.p, disk.marker.g), "PurgeSwitch")
            \cup If(ENABLED PurgeComplete(disk.marker.p, disk.marker.g), "PurgeComplete")
            \cup If(ENABLED PurgeDuplicate(next, mem.settled), "PurgeDuplicate")
            \cup If(ENABLED Checkpoint(mem.applied), "Checkpoint")
            \cup If(ENABLED Serve, "Serve")

(* Prints states from a given step on when rejected sequences are run again;    *)
(* after the last one no action explains the next event.                       *)
Told ==
    cursor < TraceFrom[piece] \/
    PrintT(<<"AT", piece, cursor,
             [up |-> up, now |-> mem, disk |-> Facts(disk), marker |-> disk.marker, front |-> Front(disk),
              next |-> IF Running /\ mem.applied < Len(log) THEN log[mem.applied + 1] ELSE [k |-> "any"]],
             Enabled>>)
=============================================================================
