-------------------------- MODULE SIMTransferReset --------------------------
(* Behaviours of TransferReset that an implementation can be driven through: of what   *)
(* the specification leaves open, the way in which the implementation does it, as in  *)
(* ResetRecordDriven, and                                                      *)
(*                                                                           *)
(*   - the journal is given what the group has committed, and what is committed is what it  *)
(*     has: who leads leads on, but where MayReplace says otherwise;                    *)
(*   - what a power loss left of a chunk is stable;                            *)
(*   - who is given a state looks at no other offer;                             *)
(*   - the journal is compacted for a checkpoint, and not for the record that begins a reset;  *)
(*   - an install does not make a replica forget the intents that it was told, or that a  *)
(*     boot found begun: it makes no checkpoint before it has purged, and purges for the  *)
(*     one that it knew of first.                                                 *)
EXTENDS MCTransferReset, ResetRecordDriven

VARIABLES
    kept,   \* chunks that are safe before all are synced
    told    \* the highest intent that the replica knows of

(* Another leader may have other ops in the place of those that were not committed. *)
MayReplace == FALSE

(* For models that are smaller still. *)
FewOps    == {AppendOp(NoSession, 1)}
FewOffers == {x \in MCOffersFew : x.floor \in {0, x.n}}

(* For behaviours that are drawn: auto-commits are asked for, too, a floor is near the op of   *)
(* its offer, or 0, and so that something happens crashes, purges and installs wait for      *)
(* ops, and an offer is not lost at once.                                            *)
LongOps    == MCOps \cup {CommitOp(k1, 1)}
LongOffers == {x \in MCOffers : x.floor \in {0, x.n - 1, x.n + 1}}

Shaped == TRUE

LongShaped ==
    /\ last'.a \in {"ProcessCrash", "PowerLoss"} => ghost_crashes < Len(log)
    /\ last'.a = "ResetFrontier" => mem.applied > 0
    /\ last'.a = "StageManifest" => last.a # "DropTransfer" /\ mem.applied > 2 * ghost_installs
    /\ last'.a = "DropTransfer" => last.a # "StageManifest" /\ (stage.state # "no" => ~Newer(stage.x))
    /\ last'.a \in {"Answer", "RefuseTransfer"} => last.a \in {"Serve", "Materialize", "Filtered", "PurgeComplete"}

SimInit == TransferInit /\ DrivenInit /\ kept = 0 /\ told = 0

Drivable ==
    /\ Apart => ServesAtOnce
    /\ ItsWay
    /\ last'.a = "CommitElsewhere" => MayReplace \/ Begins(common', log) \/ Begins(log, common')
    /\ last'.a = "Cut" => ~Holds(Len(log))
    /\ last'.a = "Journal" => Begins(log, common) \/ Begins(common, log)
    /\ last'.a = "PowerLoss" => stage'.got >= kept /\ <<disk', stage', root'>> # <<disk, stage, root>>
    /\ last'.a = "RefuseTransfer" => stage = NoStage
    /\ last'.a = "Compact" => disk.ckpt.resetting = 0
    /\ last'.a = "Checkpoint" => told <= mem.settled
    /\ (last'.a = "ResetFrontier" /\ told > mem.gen) => last'.g = told

(* What an implementation is asked for, and has to show. *)
SimShown ==
    [log |-> log, up |-> up, mem |-> mem, work |-> work, disk |-> disk, undoable |-> undoable, finishing |-> finishing,
     found |-> found, cut |-> cut, common |-> common, first |-> first, root |-> root, stage |-> stage, kept |-> kept, told |-> told]

(* Whoever reads behaviours off has this print each state that is gone on from.      *)
Taken == TRUE

SimNext ==
    /\ Taken
    /\ \/ TransferNext
       \/ \E q \in SimReads : MayStep /\ Answer(q) /\ UNCHANGED transfer
    /\ Drivable
    /\ Shaped
    /\ DrivenNext
    /\ kept' =
        CASE stage'.x = NoOffer \/ stage'.synced -> 0
          [] last'.a = "PowerLoss" -> stage'.got
          [] OTHER -> kept
    /\ told' =
        CASE last'.a = "ResetFrontier" -> Max(told, last'.g)
          [] last'.a = "Boot" -> IF disk.ckpt.resetting > disk.reset.g THEN disk.ckpt.resetting ELSE told
          [] last'.a \in {"ProcessCrash", "PowerLoss"} -> 0
          [] OTHER -> told

(* Counterexamples that do harm: of a state in which nothing is nothing is lost. *)
Led == last'.a = "StageManifest" => Chunks(last'.x) > 0

(* And those that show what can happen without harm: two floors of a generation do some.     *)
LedShowing == (up' # "down" /\ stage'.x # NoOffer /\ stage'.x.g = mem'.gen) => stage'.x.floor = mem'.boundary

SimSpec == SimInit /\ [][SimNext]_<<all, driven, kept, told>>

(* Crashes are counted and not shown: see SIMResetRecord. *)
SimView == <<store, transfer, driven, kept, told, ghost_crashes>>
=============================================================================
