-------------------------------- MODULE Disk --------------------------------
(* What one replica's disk holds and what a crash leaves of it.              *)
(*                                                                           *)
(* marker is what a reader sees, stable what a power loss cannot undo. dirs   *)
(* maps each generation to its folder: a checkpoint record, the segments and  *)
(* the bookmark log, both append-only, of which the first `synced` entries     *)
(* are stable. gone are folders whose removal is not stable.                  *)
(*                                                                           *)
(* Made atomic: the steps inside one record write (temporary file, sync,      *)
(* rename, sync of the directory), because the record module answers the old   *)
(* or the new value at each of them; and the syncs before a checkpoint record, *)
(* because a crash between them leaves what a crash before them may leave too. *)
(* A power loss keeps any longer prefix of what was not synced, so no action   *)
(* of its own writes back.                                                    *)
EXTENDS Integers, Sequences, FiniteSets, TLC

CONSTANT MarkerNoDirSync   \* defect switch

NoMarker         == [st |-> "none", g |-> 0, p |-> 0]
MarkerOf(st, g, p) == [st |-> st, g |-> g, p |-> p]

(* An empty folder whose checkpoint record is durable. *)
Folder(ckpt) == [ckpt |-> ckpt, segs |-> <<>>, segsSynced |-> 0, bms |-> <<>>, bmsSynced |-> 0]

BlankDisk(ckpt) ==
    [marker |-> NoMarker, stable |-> NoMarker, dirs |-> (0 :> Folder(ckpt)), gone |-> {}]

LastOp(entries) == IF entries = <<>> THEN 0 ELSE entries[Len(entries)].op

(* Appends an entry unless it is there already: writes are idempotent by op. *)
Keep(entries, e) == IF e.op <= LastOp(entries) THEN entries ELSE Append(entries, e)

WriteMarker(d, m) ==
    [d EXCEPT !.marker = m,
              \* DEFECT MarkerNoDirSync: renamed into place, directory not synced
              !.stable = IF MarkerNoDirSync THEN @ ELSE m]

MakeFolder(d, g, ckpt) ==
    [d EXCEPT !.dirs = (g :> Folder(ckpt)) @@ @, !.gone = @ \ {g}]

RemoveFolder(d, g) == [d EXCEPT !.gone = @ \cup {g}]

Folders(d) == DOMAIN d.dirs \ d.gone

(* The generation that a boot opens: an incomplete purge is not begun anew, it *)
(* is finished from the generation before it.                                 *)
OpenedAtBoot(d) ==
    CASE d.marker.st = "none"     -> 0
      [] d.marker.st = "complete" -> d.marker.g
      [] d.marker.st = "begun"    ->
            LET older == {g \in Folders(d) : g < d.marker.g}
            IN CHOOSE g \in older : \A h \in older : h <= g

(* The highest op that the disk gives evidence of. *)
Front(d) ==
    LET f    == d.dirs[OpenedAtBoot(d)]
        seen == {f.ckpt.applied, LastOp(f.segs), LastOp(f.bms), d.marker.p}
    IN CHOOSE x \in seen : \A y \in seen : y <= x

(* After a power loss: marker m, the first s segment entries and the first b    *)
(* bookmark entries of the folder in use, and the folders of back, which had    *)
(* been removed, are there. Folders not in use are left whole: that keeps the   *)
(* most stale data.                                                           *)
AfterPowerLoss(d, m, s, b, back) ==
    LET g == OpenedAtBoot(d)
        f == d.dirs[g]
    IN [d EXCEPT !.marker = m, !.stable = m, !.gone = @ \ back,
                 !.dirs[g] = [f EXCEPT !.segs = SubSeq(@, 1, s), !.segsSynced = s,
                                       !.bms = SubSeq(@, 1, b), !.bmsSynced = b]]

(* What a power loss may choose. *)
MarkersLeft(d)   == {d.marker, d.stable}
SegsLeft(d)      == LET f == d.dirs[OpenedAtBoot(d)] IN f.segsSynced .. Len(f.segs)
BookmarksLeft(d) == LET f == d.dirs[OpenedAtBoot(d)] IN f.bmsSynced .. Len(f.bms)
=============================================================================
