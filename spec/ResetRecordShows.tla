--------------------------- MODULE ResetRecordShows ---------------------------
(* What one replica of ResetRecord shows. Properties says its names of a log     *)
(* that all replicas share, purges included; here an era begins at the floor that  *)
(* this replica chose when it first reset the generation, so the same names are     *)
(* said once more, of that.                                                    *)
EXTENDS ResetRecord

(* The facts that ops above the floor should have left, as of op n. *)
RECURSIVE Carried(_, _)
Carried(m, n) ==
    IF m.applied >= n THEN m
    ELSE Carried(After(m, m.applied + 1, EffectOf(m, log[m.applied + 1])), n)

Truth(n) == Carried(FreshFacts(ghost_era.floor, ghost_era.g, ghost_era.g), n)

(* Messages of ops above a floor up to n, with their offsets. *)
Above(floor, n) ==
    {<<Carried(FreshFacts(floor, ghost_era.g, ghost_era.g), x - 1).end, x>> :
        x \in {y \in floor + 1 .. n : log[y].k = "append"}}

Fresh1(n) == Above(ghost_era.floor, n)

Shown  == Readable(disk.segs.es, mem.applied, mem.start)
Stable == Readable(SubSeq(disk.segs.es, 1, disk.segs.synced), Len(log), 0)

(* Bookmarks in use: none while they are cleaned up. *)
Used == {k \in Keys : mem.bm[k].o # -1}

(* Messages and purge record of a replica that serves belong to one era. A bookmark of an
   older one is a matter of NoResurrectedBookmark. *)
HistoryAgreement ==
    up = "serve" /\ ~Resetting =>
        /\ mem.gen = ghost_era.g
        /\ \A x \in Shown : x[2] > ghost_era.floor

(* After a replica applied generation g it shows no message of an older one. *)
NoResurrectedMessage == up = "serve" /\ ~Resetting => \A x \in Shown : x[2] > ghost_era.floor

(* A bookmark stored in one era is never visible in another. *)
NoResurrectedBookmark ==
    Running /\ ~Resetting => \A k \in Used : mem.bm[k].op > ghost_era.floor

(* A message above the floor is never removed by a retry or by recovery. One that a floor
   hides which outlived its op sequence was never there: see NoHiddenFresh. *)
NoFreshLoss ==
    disk.ckpt.resetting <= disk.reset.g /\ disk.reset.g = ghost_era.g =>
        Above(IF KeepFloor THEN Max(ghost_era.floor, disk.reset.floor) ELSE ghost_era.floor,
              disk.ckpt.applied) \subseteq Stable

(* Every op above the floor is visible on a replica that executes it. *)
NoHiddenFresh == up = "serve" /\ ~Resetting => Fresh1(mem.applied) \subseteq Shown

(* A purge whose reset is durable, and counts, keeps its floor however often it is delivered. *)
RetryIdempotent ==
    [][ Running /\ mem.gen = disk.reset.g /\ disk'.reset.g = disk.reset.g =>
            \/ disk'.reset = disk.reset
            \/ last'.a = "DropFloor" ]_<<disk, last>>

(* The applied generation never falls, and never exceeds the one that was reset. *)
GenerationMonotone ==
    /\ KnownDone >= ghost_top
    /\ KnownDone <= KnownReset.g
    /\ Running => mem.settled <= KnownDone /\ mem.gen <= KnownReset.g

(* A completion is recorded when no older bookmark and no older message can be seen again,
   as far as syncs told the truth: of the others NoResurrectedBookmark speaks. *)
CompletionLast ==
    [][ last'.a = "PurgeComplete" =>
            /\ disk.reset.g = disk'.done
            /\ disk.segsBack = <<>> \/ disk.segsLost
            /\ \A k \in Keys : disk.files[k].es = <<>> /\ (disk.back[k] = <<>> \/ k \in disk.lost)
      ]_<<disk, last>>

(* A step that reports failure leaves generation and records as they were. *)
NoErrorNoAdvance ==
    [][ last'.a = "StepFails" => UNCHANGED <<disk, mem>> ]_<<store, last>>

(* What filters ops is the floor that was chosen, or what became of its record. *)
BoundaryScope == Running /\ ~mem.orphan => mem.boundary \in {ghost_era.floor, disk.reset.floor}

(* What an older incarnation recorded has no effect: before the first reset of this one
   there is no generation and no floor. *)
IncarnationIsolation == Running /\ ~mem.orphan /\ ghost_era.g = 0 => mem.gen = 0 /\ mem.boundary = 0

(* Changes of bookmarks held during a cleanup wait in order, until each is in the log. *)
HeldCommits == held = ghost_owed

(* A bookmark never lies at or above the end of its era; one of an older era is another matter. *)
BookmarkBound ==
    up = "serve" /\ ~Resetting =>
        \A k \in Used : mem.bm[k].op > ghost_era.floor => mem.bm[k].o < mem.end

(* `next` is what the stores of this era made it, as far as they were not filtered. *)
NextContract ==
    up = "serve" /\ ~Resetting =>
        LET floor == Max(ghost_era.floor, mem.boundary)
            truth == Carried(FreshFacts(floor, ghost_era.g, ghost_era.g), mem.applied)
        IN \A k \in Keys : mem.bm[k].o = truth.bm[k].o
=============================================================================
