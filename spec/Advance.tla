------------------------------- MODULE Advance -------------------------------
(* The design advance on one replica: a purge is delete-records of everything, an  *)
(* op of the log like any other. The start is a stored fact, numbering goes on,     *)
(* bookmarks stay, and removing what lies below the start is left to reclaim.      *)
(*                                                                           *)
(* log holds committed ops; one is chosen only when everything so far is applied,   *)
(* and it can always be had again (see Ordered). Segments hold one batch each.      *)
(* Bookmarks are an append-only log, as in Ordered. Made atomic: the syncs before    *)
(* a checkpoint, and the record (see Disk).                                     *)
(*                                                                           *)
(* There is no group level of its own: replicas choose nothing, each op of the agreed  *)
(* log has one effect, so several of them are those of OrderedGroup with no purge in   *)
(* its log. What they show is said in AdvanceShows.                               *)
EXTENDS Effects, TLC

CONSTANTS
    Ops,                 \* what the adversary may put into the log
    StartNotStored,      \* defect switches
    WholeBatchDeleted

VARIABLES
    log,
    up,             \* "down", "replay" (booted, not yet serving) or "serve"
    mem,            \* facts in memory; NoFacts while down
    disk,           \* [ckpt, segs, synced, gone, bms, bmsSynced]: see Init
    last,
    ghost_hist,     \* the contract's state after each op, see Committed
    ghost_shown,    \* start and end that clients were last told
    ghost_crashes

store  == <<log, up, mem, disk>>
ghosts == <<ghost_hist, ghost_shown, ghost_crashes>>
vars   == <<store, last, ghosts>>

NoFacts == [applied |-> 0]

(* Limits of a model are put here by its MC module. *)
MayGrow(o)   == TRUE
MayCrash     == TRUE
MayLosePower == MayCrash

(* segs are append-only, the first `synced` are stable; gone are ops whose segments  *)
(* are removed, not yet durably: a power loss may bring any of them back. bms are     *)
(* entries of bookmarks, of which the first `bmsSynced` are stable.               *)
Init ==
    /\ log = <<>>
    /\ up = "down"
    /\ mem = NoFacts
    /\ disk = [ckpt |-> [applied |-> 0, start |-> 0, end |-> 0], segs |-> <<>>, synced |-> 0,
               gone |-> {}, bms |-> <<>>, bmsSynced |-> 0]
    /\ last = [a |-> "Init"]
    /\ ghost_hist = <<Fresh(<<>>)>>
    /\ ghost_shown = [start |-> 0, end |-> 0]
    /\ ghost_crashes = 0

Running == up # "down"
LastOf(entries) == IF entries = <<>> THEN 0 ELSE entries[Len(entries)].op
Keep(entries, e) == IF e.op <= LastOf(entries) THEN entries ELSE Append(entries, e)
There   == SelectSeq(disk.segs, LAMBDA e : e.op \notin disk.gone)

(* The op of the first segment that is there, or 0. Reclaim goes from below. *)
Lowest == IF There = <<>> THEN 0 ELSE There[1].op

(* The highest op that the disk gives evidence of. *)
Front == Max(disk.ckpt.applied, Max(LastOf(disk.segs), LastOf(disk.bms)))

(* Bookmarks as of op n. *)
Loaded(n) ==
    [k \in Keys |->
        LET mine == SelectSeq(disk.bms, LAMBDA e : e.key = k /\ e.op <= n)
        IN IF mine = <<>> THEN NoBookmark
           ELSE [op |-> mine[Len(mine)].op, o |-> mine[Len(mine)].o]]

(* The facts that a boot reads. *)
Booted ==
    [FreshFacts(disk.ckpt.applied, 0, 0) EXCEPT !.start = disk.ckpt.start, !.end = disk.ckpt.end,
        !.bm = Loaded(disk.ckpt.applied)]

(* The offset below which a deletion up to o removes, given the batches. *)
Cut(o) ==
    LET around == {i \in DOMAIN disk.segs :
                     disk.segs[i].base < o /\ o < disk.segs[i].base + disk.segs[i].n}
    IN \* DEFECT WholeBatchDeleted: the batch around the cut goes as a whole
       IF WholeBatchDeleted /\ around # {}
       THEN LET i == CHOOSE x \in around : TRUE IN disk.segs[i].base + disk.segs[i].n
       ELSE o

(* What op o does upon facts m. *)
Effect(m, o) ==
    LET e == EffectOf(m, o)
    IN IF e.k = "advance" THEN [e EXCEPT !.o = Cut(@)] ELSE e

(* Facts m carried on to op n, and the facts as they were at op n. *)
RECURSIVE Replayed(_, _)
Replayed(m, n) ==
    IF m.applied >= n THEN m
    ELSE Replayed(After(m, m.applied + 1, Effect(m, log[m.applied + 1])), n)

FactsAt(n) == IF n = mem.applied THEN mem ELSE Replayed(Booted, n)

(* The disk after op n had effect e; nothing is synced. *)
Stored(n, e) ==
    CASE e.k = "append" -> [disk EXCEPT !.segs = Keep(@, [op |-> n, base |-> e.base, n |-> e.n])]
      [] e.k = "store"  -> [disk EXCEPT !.bms = Keep(@, [op |-> n, key |-> e.key, o |-> e.o])]
      [] e.k = "delete" -> [disk EXCEPT !.bms = Keep(@, [op |-> n, key |-> e.key, o |-> -1])]
      [] OTHER          -> disk

-----------------------------------------------------------------------------
(* ACTION Materialize
   WHO    the replica
   Applies op n; a deletion moves the start and removes nothing. *)
Materialize(n, o) ==
    /\ Running
    /\ n = mem.applied + 1
    /\ IF n <= Len(log)
       THEN /\ log[n] = o
            /\ UNCHANGED <<log, ghost_hist>>
       ELSE /\ MayGrow(o)
            /\ log' = Append(log, o)
            /\ ghost_hist' = Remember(ghost_hist, n, o)
    /\ LET e == Effect(mem, o)
       IN /\ mem' = After(mem, n, e)
          /\ disk' = Stored(n, e)
          /\ last' = [a |-> "Materialize", n |-> n, o |-> o, e |-> e]
    /\ UNCHANGED <<up, ghost_shown, ghost_crashes>>

(* How many entries are stable once what ops up to n wrote is synced. More may be, and *)
(* need not.                                                                  *)
Covered(entries, n) == Cardinality({j \in DOMAIN entries : entries[j].op <= n})

(* ACTION Checkpoint
   WHO    the replica
   Syncs what ops up to n wrote and makes the record of op n durable: applied, start
   and end. *)
Checkpoint(n) ==
    /\ Running
    /\ n > disk.ckpt.applied
    /\ n <= mem.applied
    /\ LET m == FactsAt(n)
       IN disk' = [disk EXCEPT
            !.synced = Max(@, Covered(disk.segs, n)),
            !.bmsSynced = Max(@, Covered(disk.bms, n)),
            !.ckpt = [applied |-> n, end |-> m.end,
                      \* DEFECT StartNotStored: the record does not hold the start
                      start |-> IF StartNotStored THEN 0 ELSE m.start]]
    /\ last' = [a |-> "Checkpoint", n |-> n]
    /\ UNCHANGED <<log, up, mem, ghosts>>

(* ACTION Reclaim
   WHO    the replica
   Removes the segment of op n, which lies wholly below the checkpointed start. *)
Reclaim(n) ==
    /\ Running
    /\ \E i \in 1 .. disk.synced :
        /\ disk.segs[i].op = n
        /\ disk.segs[i].base + disk.segs[i].n <= disk.ckpt.start
    /\ n = Lowest
    /\ disk' = [disk EXCEPT !.gone = @ \cup {n}]
    /\ last' = [a |-> "Reclaim", n |-> n]
    /\ UNCHANGED <<log, up, mem, ghosts>>

(* ACTION ListOffsets
   WHO    a client
   Is told earliest and latest by a replica that has applied all that is committed. *)
ListOffsets ==
    /\ up = "serve"
    /\ mem.applied = Len(log)
    /\ ghost_shown' = [start |-> mem.start, end |-> mem.end]
    /\ last' = [a |-> "ListOffsets", start |-> mem.start, end |-> mem.end]
    /\ UNCHANGED <<store, ghost_hist, ghost_crashes>>

Stops ==
    /\ up' = "down"
    /\ mem' = NoFacts
    /\ ghost_crashes' = ghost_crashes + 1
    /\ UNCHANGED <<log, ghost_hist, ghost_shown>>

(* ACTION ProcessCrash
   WHO    the environment
   Memory is gone; the disk stays as a reader saw it. *)
ProcessCrash ==
    /\ Running
    /\ MayCrash
    /\ Stops
    /\ last' = [a |-> "ProcessCrash"]
    /\ UNCHANGED disk

(* Of the disk s segment and b bookmark entries are left, and the segments of the ops *)
(* of back are there again.                                                    *)
PowerLossLeaving(s, b, back) ==
    /\ Running
    /\ MayLosePower
    /\ disk' = [disk EXCEPT !.segs = SubSeq(@, 1, s), !.synced = s,
                            !.bms = SubSeq(@, 1, b), !.bmsSynced = b, !.gone = @ \ back]
    /\ last' = [a |-> "PowerLoss", s |-> s, b |-> b, back |-> back]
    /\ Stops

(* ACTION PowerLoss
   WHO    the environment
   Memory is gone, and any part of what was not synced; removed segments may be back. *)
PowerLoss ==
    \E s \in disk.synced .. Len(disk.segs), b \in disk.bmsSynced .. Len(disk.bms),
       back \in SUBSET disk.gone :
        PowerLossLeaving(s, b, back)

(* ACTION Boot
   WHO    the replica
   Opens the checkpoint at op n; start and end come from it, not from segments. *)
Boot(n) ==
    /\ ~Running
    /\ n = disk.ckpt.applied
    /\ up' = "replay"
    /\ mem' = Booted
    /\ last' = [a |-> "Boot", n |-> n]
    /\ UNCHANGED <<log, disk, ghosts>>

(* ACTION Serve
   WHO    the replica
   Replay has reached all that the disk gives evidence of. *)
Serve ==
    /\ up = "replay"
    /\ mem.applied >= Front
    /\ up' = "serve"
    /\ last' = [a |-> "Serve"]
    /\ UNCHANGED <<log, mem, disk, ghosts>>

Next ==
    \/ \E o \in Ops : Materialize(mem.applied + 1, o)
    \/ Checkpoint(mem.applied)
    \/ Reclaim(Lowest)
    \/ ListOffsets
    \/ ProcessCrash
    \/ PowerLoss
    \/ Boot(disk.ckpt.applied)
    \/ Serve

Spec == Init /\ [][Next]_vars
=============================================================================
