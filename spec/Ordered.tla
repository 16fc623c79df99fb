------------------------------- MODULE Ordered -------------------------------
(* The ordered purge on one replica: a purge is an op of the partition's log,  *)
(* its boundary is its own number. Every durable step is an action, so that a   *)
(* crash can fall between any two.                                            *)
(*                                                                           *)
(* The log is adversarial and lazy: an op is chosen only when everything so    *)
(* far is applied. It holds committed ops only; which replica proposed them     *)
(* and how they were agreed is the matter of OrderedGroup. The journal is not    *)
(* modelled apart from it: a committed op can always be had again, from the      *)
(* replica's own journal or from the leader's.                                *)
(*                                                                           *)
(* Made atomic: see Disk. Reclaim of segments below a checkpointed start is      *)
(* left out, since no read goes below the start.                              *)
EXTENDS Effects, Disk

CONSTANTS
    FirstOp,                     \* ops that the replica starts with (a bootstrap)
    Ops,                         \* what the adversary may put into the log
    Reads,                       \* what clients ask a serving replica
    BookmarkGenerationIgnored,   \* defect switches
    ReplayBelowBoundary,
    ApplyPastPurge,
    CompleteEarly,
    CheckpointBeforeSync,
    FutureBookmarks

VARIABLES
    log,            \* committed ops, as far as this replica was given them
    up,             \* "down", "replay" (booted, not yet serving) or "serve"
    mem,            \* facts in memory; NoFacts while down
    disk,           \* see Disk
    last,           \* the last action with its parameters
    ghost_hist,     \* the contract's state after each op, see Committed
    ghost_last,     \* what a client last saw, in the shape of Partition's `last`
    ghost_top,      \* highest generation that this replica completed
    ghost_found,    \* the incomplete purge that the last boot found
    ghost_crashes   \* number of crashes

store  == <<log, up, mem, disk>>
ghosts == <<ghost_hist, ghost_last, ghost_top, ghost_found, ghost_crashes>>
vars   == <<store, last, ghosts>>

NoFacts == [applied |-> 0]

Checkpointed(m) ==
    [applied |-> m.applied, boundary |-> m.boundary, start |-> m.start, end |-> m.end,
     settled |-> m.settled]

(* Limits of a model are put here by its MC module. *)
MayGrow(o)   == TRUE
MayCrash     == TRUE
MayLosePower == MayCrash

Init ==
    /\ log = [n \in 1 .. FirstOp |-> OtherOp]
    /\ up = "down"
    /\ mem = NoFacts
    /\ disk = BlankDisk([Checkpointed(FreshFacts(FirstOp, 0, 0)) EXCEPT !.boundary = 0])
    /\ last = [a |-> "Init"]
    /\ ghost_hist = [n \in 1 .. FirstOp + 1 |-> Fresh(<<>>)]
    /\ ghost_last = [a |-> "Init", s |-> NoSession, q |-> [f |-> "none"], r |-> NoReply]
    /\ ghost_top = 0
    /\ ghost_found = "none"
    /\ ghost_crashes = 0

(* Op n is o: known to the log, or the next one of it. *)
Given(n, o) ==
    IF n <= Len(log)
    THEN /\ log[n] = o
         /\ UNCHANGED <<log, ghost_hist, ghost_last>>
    ELSE /\ n = Len(log) + 1
         /\ MayGrow(o)
         /\ log' = Append(log, o)
         /\ ghost_hist' = Remember(ghost_hist, n, o)
         /\ ghost_last' = Seen(ghost_hist, n, o, ghost_last)

(* Generations that the log may ask for. *)
Generations == {o.g : o \in {x \in Ops : x.k = "purge"}}

Using  == disk.dirs[mem.gen]

(* Bookmarks in entries written by ops up to n; later ones count when replay   *)
(* has come to them.                                                         *)
Loaded(entries, n) ==
    [k \in Keys |->
        LET \* DEFECT FutureBookmarks: entries above the checkpoint are used at once
            mine == SelectSeq(entries, LAMBDA e : e.key = k /\ (FutureBookmarks \/ e.op <= n))
        IN IF mine = <<>> THEN NoBookmark
           ELSE [op |-> mine[Len(mine)].op, o |-> mine[Len(mine)].o]]

Before(d, g) ==
    LET older == {h \in Folders(d) : h < g}
    IN IF older = {} THEN <<>> ELSE d.dirs[CHOOSE h \in older : \A x \in older : x <= h].bms

(* The facts that a boot reads from disk d. *)
Facts(d) ==
    LET g == OpenedAtBoot(d)
        f == d.dirs[g]
        \* DEFECT BookmarkGenerationIgnored: the older generation's bookmarks are loaded too
        entries == IF BookmarkGenerationIgnored THEN Before(d, g) \o f.bms ELSE f.bms
        \* DEFECT ReplayBelowBoundary: a complete marker does not stop older ops
        from == IF ReplayBelowBoundary THEN FirstOp ELSE f.ckpt.applied
    IN [applied |-> from, gen |-> g, boundary |-> f.ckpt.boundary,
        start |-> f.ckpt.start, end |-> f.ckpt.end, settled |-> f.ckpt.settled,
        bm |-> Loaded(entries, f.ckpt.applied)]

(* Facts m carried on to op n. *)
RECURSIVE Replayed(_, _)
Replayed(m, n) ==
    IF m.applied >= n THEN m
    ELSE Replayed(After(m, m.applied + 1, EffectOf(m, log[m.applied + 1])), n)

(* The facts as they were at op n, between the last checkpoint and now. *)
FactsAt(n) == IF n = mem.applied THEN mem ELSE Replayed(Facts(disk), n)

(* The disk after op n had effect e; nothing is synced. *)
Stored(n, e) ==
    CASE e.k = "append" ->
            [disk EXCEPT !.dirs[mem.gen].segs = Keep(@, [op |-> n, base |-> e.base, n |-> e.n])]
      [] e.k = "store" ->
            [disk EXCEPT !.dirs[mem.gen].bms = Keep(@, [op |-> n, key |-> e.key, o |-> e.o])]
      [] e.k = "delete" ->
            [disk EXCEPT !.dirs[mem.gen].bms = Keep(@, [op |-> n, key |-> e.key, o |-> -1])]
      [] OTHER -> disk

Running == up # "down"

-----------------------------------------------------------------------------
(* ACTION Materialize
   WHO    the replica
   Applies op n, which is not a purge: validates, appends to segments or bookmarks. *)
Materialize(n, o) ==
    /\ Running
    /\ n = mem.applied + 1
    /\ o.k # "purge"
    /\ Given(n, o)
    /\ LET e == EffectOf(mem, o)
       IN /\ mem' = After(mem, n, e)
          /\ disk' = Stored(n, e)
          /\ last' = [a |-> "Materialize", n |-> n, o |-> o, e |-> e]
    /\ UNCHANGED <<up, ghost_top, ghost_found, ghost_crashes>>

(* ACTION PurgeBegin
   WHO    the replica
   Everything below purge n of g is applied: its marker is made durable. *)
PurgeBegin(n, g) ==
    /\ Running
    /\ n = mem.applied + 1
    /\ g > mem.settled
    /\ Given(n, PurgeOp(g))
    /\ disk' = WriteMarker(disk, MarkerOf("begun", g, n))
       \* DEFECT ApplyPastPurge: ops above n are let through before n is complete
    /\ mem' = IF ApplyPastPurge THEN [mem EXCEPT !.applied = n] ELSE mem
    /\ last' = [a |-> "PurgeBegin", n |-> n, g |-> g]
    /\ UNCHANGED <<up, ghost_top, ghost_found, ghost_crashes>>

(* The purge begun and not complete that everything below was applied for. *)
Pending(n, g) ==
    /\ disk.marker = MarkerOf("begun", g, n)
    /\ mem.applied >= n - 1

(* ACTION PurgeSwitch
   WHO    the replica
   Makes the empty folder of generation g with its checkpoint at n, durably. *)
PurgeSwitch(n, g) ==
    /\ Running
    /\ Pending(n, g)
    /\ disk' = MakeFolder(disk, g, Checkpointed(FreshFacts(n, g, g)))
    /\ last' = [a |-> "PurgeSwitch", n |-> n, g |-> g]
    /\ UNCHANGED <<log, up, mem, ghosts>>

(* ACTION PurgeComplete
   WHO    the replica
   Makes the complete marker durable and turns to the new generation. *)
PurgeComplete(n, g) ==
    /\ Running
    /\ Pending(n, g)
       \* DEFECT CompleteEarly: the marker does not wait for the folder
    /\ CompleteEarly \/ (g \in Folders(disk) /\ disk.dirs[g].ckpt.applied = n)
    /\ disk' = WriteMarker(disk, MarkerOf("complete", g, n))
    /\ mem' = FreshFacts(Max(n, mem.applied), g, g)
    /\ ghost_top' = Max(g, ghost_top)
    /\ ghost_found' = "none"
    /\ last' = [a |-> "PurgeComplete", n |-> n, g |-> g]
    /\ UNCHANGED <<log, up, ghost_hist, ghost_last, ghost_crashes>>

(* ACTION PurgeDuplicate
   WHO    the replica
   Purge n of a generation settled before only takes its number. *)
PurgeDuplicate(n, g) ==
    /\ Running
    /\ n = mem.applied + 1
    /\ g <= mem.settled
    /\ Given(n, PurgeOp(g))
    /\ mem' = [mem EXCEPT !.applied = n]
    /\ last' = [a |-> "PurgeDuplicate", n |-> n, g |-> g]
    /\ UNCHANGED <<up, disk, ghost_top, ghost_found, ghost_crashes>>

(* How many entries are stable once what ops up to n wrote is synced. More may be, and *)
(* need not.                                                                  *)
Covered(entries, n) == Cardinality({j \in DOMAIN entries : entries[j].op <= n})

(* ACTION Checkpoint
   WHO    the replica
   Syncs segments and bookmarks up to op n and makes the record of n durable. *)
Checkpoint(n) ==
    /\ Running
    /\ n > Using.ckpt.applied
    /\ n <= mem.applied
    /\ disk' = [disk EXCEPT
            !.dirs[mem.gen].ckpt = Checkpointed(FactsAt(n)),
            \* DEFECT CheckpointBeforeSync: the record does not wait for the segments
            !.dirs[mem.gen].segsSynced = IF CheckpointBeforeSync THEN @ ELSE Max(@, Covered(Using.segs, n)),
            !.dirs[mem.gen].bmsSynced = Max(@, Covered(Using.bms, n))]
    /\ last' = [a |-> "Checkpoint", n |-> n]
    /\ UNCHANGED <<log, up, mem, ghosts>>

(* ACTION Reclaim
   WHO    the replica
   Removes the folder of a generation that a complete purge left behind. *)
Reclaim(g) ==
    /\ Running
    /\ disk.marker.st = "complete"
    /\ g \in Folders(disk)
    /\ g < disk.marker.g
    /\ disk' = RemoveFolder(disk, g)
    /\ last' = [a |-> "Reclaim", g |-> g]
    /\ UNCHANGED <<log, up, mem, ghosts>>

(* ACTION ProcessCrash
   WHO    the environment
   Memory is gone; the disk stays as a reader saw it. *)
ProcessCrash ==
    /\ Running
    /\ MayCrash
    /\ up' = "down"
    /\ mem' = NoFacts
    /\ ghost_crashes' = ghost_crashes + 1
    /\ ghost_found' = "none"
    /\ last' = [a |-> "ProcessCrash"]
    /\ UNCHANGED <<log, disk, ghost_hist, ghost_last, ghost_top>>

(* Of the disk, marker m, s segment and b bookmark entries are left, and the       *)
(* removal of the folders of back is undone.                                   *)
PowerLossLeaving(m, s, b, back) ==
    /\ MayLosePower
    /\ disk' = AfterPowerLoss(disk, m, s, b, back)
    /\ up' = "down"
    /\ mem' = NoFacts
    /\ ghost_crashes' = ghost_crashes + 1
    /\ ghost_found' = "none"
    /\ last' = [a |-> "PowerLoss", m |-> m, s |-> s, b |-> b, back |-> back]
    /\ UNCHANGED <<log, ghost_hist, ghost_last, ghost_top>>

(* ACTION PowerLoss
   WHO    the environment
   Memory is gone, and any part of what was not synced. *)
PowerLoss ==
    \E m \in MarkersLeft(disk), s \in SegsLeft(disk), b \in BookmarksLeft(disk),
       back \in SUBSET disk.gone :
        PowerLossLeaving(m, s, b, back)

(* ACTION Boot
   WHO    the replica
   Opens the generation that the marker names and its checkpoint at op n. *)
Boot(n, g) ==
    /\ ~Running
    /\ g = OpenedAtBoot(disk)
    /\ n = Facts(disk).applied
    /\ up' = "replay"
    /\ mem' = Facts(disk)
    /\ ghost_found' = IF disk.marker.st # "begun" THEN "none"
                      ELSE IF disk.marker.g \in Folders(disk) THEN "switched" ELSE "begun"
    /\ last' = [a |-> "Boot", n |-> n, g |-> g, m |-> disk.marker]
    /\ UNCHANGED <<log, disk, ghost_hist, ghost_last, ghost_top, ghost_crashes>>

(* ACTION Serve
   WHO    the replica
   Replay has reached the highest op that the disk gives evidence of. *)
Serve ==
    /\ up = "replay"
    /\ mem.applied >= Front(disk)
    /\ up' = "serve"
    /\ last' = [a |-> "Serve"]
    /\ UNCHANGED <<log, mem, disk, ghosts>>

(* ACTION Answer
   WHO    the replica
   Answers read q, having applied all that is committed. *)
Answer(q) ==
    /\ up = "serve"
    /\ mem.applied = Len(log)
    /\ LET r == Do(AsContract(mem, Using.segs), q).r
       IN /\ last' = [a |-> "Answer", q |-> q, r |-> r]
          /\ ghost_last' = [a |-> CASE q.f = "poll" -> "Poll"
                                    [] q.f = "get"  -> "GetBookmark"
                                    [] q.f = "list" -> "ListOffsets",
                            s |-> NoSession, q |-> q, r |-> r]
    /\ UNCHANGED <<store, ghost_hist, ghost_top, ghost_found, ghost_crashes>>

NextOp == mem.applied + 1

(* Ranges are constant and parameters are computed, for TLC to keep the names of   *)
(* actions. A checkpoint of an earlier op than the last applied is a checkpoint made  *)
(* when that op was the last.                                                  *)
Next ==
    \/ \E o \in Ops : Materialize(NextOp, o)
    \/ \E g \in Generations : PurgeBegin(NextOp, g)
    \/ PurgeSwitch(disk.marker.p, disk.marker.g)
    \/ PurgeComplete(disk.marker.p, disk.marker.g)
    \/ \E g \in Generations : PurgeDuplicate(NextOp, g)
    \/ Checkpoint(mem.applied)
    \/ \E g \in Generations \cup {0} : Reclaim(g)
    \/ ProcessCrash
    \/ PowerLoss
    \/ Boot(Facts(disk).applied, OpenedAtBoot(disk))
    \/ Serve
    \/ \E q \in Reads : Answer(q)

Spec == Init /\ [][Next]_vars
=============================================================================
