-------------------------- MODULE TransferResetShows --------------------------
(* What the replica of TransferReset shows. What ResetRecordShows says of ResetRecord    *)
(* holds here as well, but for RetryIdempotent: an install brings another floor. An era     *)
(* begins with the floor that this replica chose, or that came with a state.             *)
EXTENDS TransferReset, ResetRecordShows

(* After a crash at any step of an install: exactly the old state or exactly the new. The   *)
(* home that the record names is there, and after the install it holds exactly what the     *)
(* ops above the floor of the offer make of its op. Nothing of that is lost, since the        *)
(* journal does not have it.                                                        *)
InstallAtomic ==
    /\ root.there # "gone"
    /\ last.a = "CommitInstall" =>
        LET x == last.x
            p == Offered(x)
        IN /\ disk.ckpt = [applied |-> x.n, start |-> p.m.start, end |-> p.m.end, resetting |-> 0]
           /\ disk.reset.g = x.g /\ disk.done = x.g
           /\ disk.segs.es = p.segs
           /\ \A k \in Keys : Loaded(disk, x.n)[k].o = p.m.bm[k].o
    /\ disk.ckpt.resetting <= disk.reset.g /\ disk.reset.g = ghost_era.g =>
        Fresh1(first) \subseteq Readable(disk.segs.es, Len(log), 0)

(* No install of an op that the replica holds, or of a generation before its own. *)
OfferFreshness ==
    [][ last'.a = "CommitInstall" =>
            last'.x.n > mem.applied /\ ~Holds(last'.x.n) /\ last'.x.g >= mem.gen ]_all

(* What the replica acknowledged survives: a checkpoint or the journal has it. *)
AckDurable == first <= CHOOSE n \in {disk.ckpt.applied, Undone(disk).ckpt.applied} :
                            n <= disk.ckpt.applied /\ n <= Undone(disk).ckpt.applied

-----------------------------------------------------------------------------
(* Witnesses: models that must fail, because what these say never happens does.  *)

(* A state replaces a floor that lies above its op. *)
NeverRebases ==
    [][ ~(last'.a = "CommitInstall" /\ mem.boundary > last'.x.n) ]_all

(* A state comes with a floor that its sender has not come to, and is purged no more. *)
NeverFiltersOn ==
    [][ ~(last'.a = "Filtered" /\ ghost_installs > 0) ]_all

(* An install ends a purge whose messages are reset and whose bookmarks are not. *)
NeverEndsReset ==
    [][ ~(last'.a = "CommitInstall" /\ Pending) ]_all

(* An offer is refused because the replica has purged, though its op is above all here. *)
NeverRefusesGeneration ==
    [][ ~(last'.a = "RefuseTransfer" /\ last'.x.n > Len(log)) ]_all
=============================================================================
