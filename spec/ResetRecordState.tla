--------------------------- MODULE ResetRecordState ---------------------------
(* What one replica of the design reset-record is made of: its journal, its memory,    *)
(* its disk, and what boots and power losses make of them. ResetRecord has the steps.   *)
EXTENDS Effects, TLC

CONSTANTS
    Ops,                     \* what may come into the journal: appends, stores
    Generations,             \* intents that may be learned
    Tagged,                  \* variants: bookmarks say of which generation they are
    KeepFloor,               \* a floor of an op sequence that was lost is kept
    RetrySync,               \* after a failed sync the step is taken again at once
    RetryResetsAgain,        \* defect switches
    CompleteBeforeCleanup,
    CompletionFailureIgnored,
    BookmarkNoDirSync,
    FloorNotKept,
    HeldDropped

VARIABLES
    log,            \* the journal
    up,             \* "down", "replay" (booted, not yet serving) or "serve"
    mem,            \* facts in memory; NoFacts while down
    work,           \* the purge under way: step, generation, floor
    held,           \* changes of bookmarks that wait for the cleanup, in order
    disk,           \* see BlankDisk
    last,           \* the last action with its parameters
    ghost_era,      \* [g, floor]: the floor that g had when it was first reset
    ghost_top,      \* highest generation that this replica completed
    ghost_owed,     \* held changes whose clients wait for an answer
    ghost_seqs,     \* op sequences that began anew, in another incarnation or in the same
    ghost_crashes

store  == <<log, up, mem, work, held, disk>>
ghosts == <<ghost_era, ghost_top, ghost_owed, ghost_seqs, ghost_crashes>>
vars   == <<store, last, ghosts>>

NoFacts == [applied |-> 0]
NoWork  == [step |-> "none", g |-> 0, floor |-> 0]
NoMarks == [k \in Keys |-> NoBookmark]
NoFile  == [es |-> <<>>, synced |-> 0]
NoUndo  == [k |-> "none"]

(* ckpt says up to which op the messages from `start` to `end` are there; resetting is a   *)
(* generation whose reset was begun. segs and the files of bookmarks are           *)
(* append-only, their first `synced` entries are stable. back is what an unlink     *)
(* removed that is not synced, and lost says of what a failed sync has dropped the    *)
(* removal, so that a later sync of the folder proves nothing. reset and done are     *)
(* purge.reset and purge.gen; undo is the value that a power loss may bring back of   *)
(* the one record whose folder is not synced.                                     *)
BlankDisk ==
    [ckpt |-> [applied |-> 0, start |-> 0, end |-> 0, resetting |-> 0],
     segs |-> NoFile, files |-> [k \in Keys |-> NoFile],
     segsBack |-> <<>>, back |-> [k \in Keys |-> <<>>], segsLost |-> FALSE, lost |-> {},
     reset |-> [g |-> 0, floor |-> 0], done |-> 0, undo |-> NoUndo]

(* Defect switches that a model may turn on. *)
DirsyncFailureIgnored == FALSE
AdvancedOnFailure     == FALSE
HeldReordered         == FALSE
FloorKeptAcrossIncarnations == FALSE

(* Limits of a model are put here by its MC module. *)
MayJournal(o) == TRUE
MayHold       == TRUE
MayFail       == TRUE
MayFailSync   == TRUE
MayCrash      == TRUE
MayLosePower  == MayCrash
MayBegin      == TRUE
MayRecreate   == FALSE
MayCut        == FALSE   \* Foreign would take a journal that was cut for another one

Init ==
    /\ log = <<>>
    /\ up = "down"
    /\ mem = NoFacts
    /\ work = NoWork
    /\ held = <<>>
    /\ disk = BlankDisk
    /\ last = [a |-> "Init"]
    /\ ghost_era = [g |-> 0, floor |-> 0]
    /\ ghost_top = 0
    /\ ghost_owed = <<>>
    /\ ghost_seqs = 0
    /\ ghost_crashes = 0

Running == up # "down"

(* The records as the replica knows them to be durable. *)
KnownReset == IF disk.undo.k = "reset" THEN disk.undo.v ELSE disk.reset
KnownDone  == IF disk.undo.k = "done" THEN disk.undo.v ELSE disk.done

(* Messages are reset, bookmarks are not cleaned up: what a running replica knows,   *)
(* and what a boot finds.                                                       *)
Pending        == Running /\ mem.gen > mem.settled
PendingOnDisk  == disk.reset.g > disk.done

(* A reset was begun and may have destroyed messages. *)
Resetting ==
    \/ disk.ckpt.resetting > (IF Running THEN mem.gen ELSE disk.reset.g)
    \/ work.step \in {"reset", "unlinked", "empty"}

LastOpOf(f) == IF f.es = <<>> THEN 0 ELSE f.es[Len(f.es)].op
Added(f, e) == IF e.op <= LastOpOf(f) THEN f ELSE [f EXCEPT !.es = Append(@, e)]

(* A sync of what ops up to n wrote; more may be synced, and need not be. *)
SyncedTo(f, n) ==
    [f EXCEPT !.synced = Max(@, Cardinality({j \in DOMAIN f.es : f.es[j].op <= n}))]

Front(d) ==
    LET seen == {d.ckpt.applied, LastOpOf(d.segs)} \cup {LastOpOf(d.files[k]) : k \in Keys}
    IN CHOOSE x \in seen : \A y \in seen : y <= x

(* The bookmarks that a boot loads, as of op n. *)
Loaded(d, n) ==
    [k \in Keys |->
        LET mine == SelectSeq(d.files[k].es, LAMBDA e : e.op <= n /\ (~Tagged \/ e.g = d.reset.g))
        IN IF mine = <<>> THEN NoBookmark
           ELSE [op |-> mine[Len(mine)].op, o |-> mine[Len(mine)].o]]

(* Segment entries that agree with the checkpoint: below its end, or written by    *)
(* later ops. A boot cuts off the others.                                       *)
Fitting(d) ==
    LET fit == SelectSeq(d.segs.es, LAMBDA e : e.base < d.ckpt.end \/ e.op > d.ckpt.applied)
    IN [es |-> fit, synced |-> Min(d.segs.synced, Len(fit))]

-----------------------------------------------------------------------------
(* The op sequence that the floor was measured in is lost: the journal is shorter. A      *)
(* trace, in which a journal may lose what was not synced, tells it by BeginSequence.      *)
Foreign(d) == Len(log) < d.reset.floor

(* The facts that a boot reads from disk d. *)
FactsOf(d) ==
    [applied |-> d.ckpt.applied, gen |-> d.reset.g,
     \* DEFECT FloorNotKept: the floor is forgotten
     boundary |-> IF FloorNotKept THEN 0 ELSE d.reset.floor,
     start |-> d.ckpt.start, end |-> d.ckpt.end, settled |-> d.done,
     bm |-> IF d.reset.g > d.done THEN NoMarks ELSE Loaded(d, d.ckpt.applied),
     orphan |-> ~KeepFloor /\ Foreign(d)]

(* Facts m carried on to op n, and the facts as they were at op n. *)
RECURSIVE Replayed(_, _)
Replayed(m, n) ==
    IF m.applied >= n THEN m
    ELSE LET x == m.applied + 1
         IN Replayed(IF x <= m.boundary THEN [m EXCEPT !.applied = x]
                     ELSE After(m, x, EffectOf(m, log[x])), n)

FactsAt(n) == IF n = mem.applied THEN mem ELSE Replayed(FactsOf(disk), n)

-----------------------------------------------------------------------------
(* A record write syncs the folder of the records, and with it any earlier one. *)
Durable(d) == [d EXCEPT !.undo = NoUndo]

(* What a power loss may leave of a file f, or of b that an unlink removed. *)
Left(f, b) ==
    {[es |-> SubSeq(f.es, 1, n), synced |-> n] : n \in f.synced .. Len(f.es)}
        \cup (IF b = <<>> THEN {} ELSE {[es |-> b, synced |-> Len(b)]})

(* Disk d with the record taken back whose folder is not synced. *)
Undone(d) ==
    Durable(CASE d.undo.k = "none"  -> d
              [] d.undo.k = "ckpt"  -> [d EXCEPT !.ckpt = d.undo.v]
              [] d.undo.k = "reset" -> [d EXCEPT !.reset = d.undo.v]
              [] d.undo.k = "done"  -> [d EXCEPT !.done = d.undo.v])

(* What is left of the records is d, of messages s, of bookmarks f. *)
Leaving(a, d, s, f) ==
    /\ disk' = [d EXCEPT !.segs = s, !.segsBack = <<>>, !.segsLost = FALSE,
                         !.files = f, !.back = [k \in Keys |-> <<>>], !.lost = {}]
    /\ last' = [a |-> a, segs |-> Len(s.es), files |-> f]
=============================================================================
