---------------------------- MODULE TransferShows ----------------------------
(* What the replica of Transfer shows. All that OrderedShows says of Ordered holds    *)
(* here as well, that clients see a behaviour of Partition among it.                *)
EXTENDS Transfer, OrderedShows

(* After a crash at any step of an install: exactly the old state or exactly the new.   *)
(* The home that the record names is there and holds exactly what the log makes of its   *)
(* op, which is the op of the install or a later one.                               *)
InstallAtomic ==
    /\ root.there # "gone"
    /\ LET f == Opened
           n == f.ckpt.applied
       IN /\ n >= root.n
          /\ OpenedAtBoot(disk) = P!Era(n)
          /\ Readable(f.segs, n, f.ckpt.start) = P!Shown(P!At(n))
          /\ \A k \in Keys : Loaded(f.bms, n)[k].o = P!At(n).bm[k]

(* Without a purge that explains it no install lowers the end. *)
NoRewindInstall ==
    [][ last'.a = "CommitInstall" =>
            Opened'.ckpt.end >= mem.end \/ OpenedAtBoot(disk)' > mem.gen ]_all

(* No install of an op that the replica holds. *)
OfferFreshness ==
    [][ last'.a = "CommitInstall" => last'.n > journal.held ]_all

(* What the replica acknowledged survives: a checkpoint or the journal has it. *)
AckDurable ==
    [][ journal.held <= journal'.held /\ journal'.first <= Opened'.ckpt.applied ]_all

-----------------------------------------------------------------------------
(* Witnesses: models that must fail, because what these say never happens does.  *)

(* A power loss falls between the record of an install and the boot that opens its home. *)
NeverLosesPowerInstalled ==
    [][ ~(up = "down" /\ last.a = "CommitInstall" /\ last'.a = "PowerLoss") ]_all

(* A pull goes on after a crash, with chunks staged before it. *)
NeverResumes ==
    [][ ~(ghost_crashes > 0 /\ last.a = "Boot" /\ stage.got > 0 /\ last'.a = "StageChunk") ]_all

(* An install that was complete but for its record comes about after a crash. *)
NeverCommitsLater ==
    [][ ~(ghost_crashes > 0 /\ last.a = "Boot" /\ last'.a = "CommitInstall") ]_all

(* Power fails right after an install, and something stops the replica again while it     *)
(* recovers.                                                                    *)
NeverStopsInRecovery ==
    [][ ~(ghost_crashes > 1 /\ last.a = "Boot" /\ last'.a \in {"ProcessCrash", "PowerLoss"}
          /\ root.n > 0 /\ mem.applied = root.n) ]_all

(* An install ends a purge that this replica had begun. *)
NeverEndsPurge ==
    [][ ~(last'.a = "CommitInstall" /\ disk.marker.st = "begun") ]_all

(* A purge is completed while a state of the generation before is staged. *)
NeverOvertaken ==
    [][ ~(last'.a = "PurgeComplete" /\ stage.got > 0 /\ Offered(stage.n).m.gen < last'.g) ]_all
=============================================================================
