------------------------ MODULE SIMTransferResetGroup ------------------------
(* Behaviours of TransferResetGroup that three replicas can be driven through: as in       *)
(* SIMResetRecordGroup, and                                                     *)
(*                                                                           *)
(*   - who leads offers, as of a checkpoint that it saves for it; the next one when it has     *)
(*     let that one go, since it purged or leads anew, or nobody asked while much was         *)
(*     committed, or one booted, which takes long;                                 *)
(*   - who is given a state is brought nothing of the log meanwhile, and gives it up only if    *)
(*     it has purged more than that;                                              *)
(*   - the journal of who installed begins after that, so it leads only those who need no       *)
(*     more of it.                                                             *)
(* Nobody stops, and nobody else comes to lead, while one is given a state: what is left of     *)
(* it then is the matter of SIMTransferReset, and of SIMTransferGroup. And so that something    *)
(* happens: who leads stays for a while, and does not purge before somebody was given what it      *)
(* offers; who is behind waits for that; purges wait for ops.                              *)
EXTENDS TransferResetGroup, SIMResetRecordGroup

VARIABLES
    offering,  \* the leader offers, and can be asked for it
    begins     \* per replica: its journal has no op up to here

simTransfer == <<offering, begins>>

SimTransferInit ==
    /\ SimInit
    /\ TransferInit
    /\ offering = FALSE
    /\ begins = [r \in Replicas |-> 0]

Quiet == \A r \in Replicas : pull[r] = NoOffer

TransferDrivable ==
    LET a == last'.a IN
    /\ a = "OfferTransfer" =>
        /\ last'.r = leader
        /\ ~offering
        /\ commit >= first
        /\ \E r \in Replicas : rep[r].held < commit
    /\ a = "StageManifest" =>
        /\ offering
        /\ last'.s = leader
        /\ last'.r \notin stale
    /\ a = "DropTransfer" => ~Newer(last'.r, pull[last'.r])
    /\ a \in {"Receive", "Apply"} => pull[last'.r] = NoOffer
    /\ a = "Receive" => last'.r \in stale \/ rep[last'.r].held >= commit
    /\ a = "PurgeLocally" /\ last'.r = leader => ~offering \/ ~Quiet
    /\ a = "RequestPurge" => commit > 3 * intent
    /\ a \in {"ProcessCrash", "PowerLoss", "BecomeLeader"} => Quiet
    /\ a = "BecomeLeader" => commit > first + 1 \/ ~rep[leader].up
    /\ a = "BecomeLeader" => \A r \in Replicas : rep[r].held >= begins[last'.r]

TransferTrack ==
    /\ offering' =
         CASE last'.a = "OfferTransfer" -> TRUE
           [] last'.a = "Boot" \/ leader' # leader \/ pin'[leader] = NoOffer \/ commit' > pin'[leader].n + 2 -> FALSE
           [] OTHER -> offering
    /\ begins' = IF last'.a = "CommitInstall" THEN [begins EXCEPT ![last'.r] = last'.n] ELSE begins

TransferReaches(r) == rep[r].held >= commit

TransferLots ==
    CASE last'.a = "OfferTransfer" -> 8
      [] last'.a \in {"StageManifest", "CommitInstall", "DropTransfer"} -> 12
      [] last'.a = "PurgeLocally" /\ pull[last'.r] # NoOffer -> 6
      [] OTHER -> DrawnLots

TransferShown ==
    [log |-> log, commit |-> commit, leader |-> leader, intent |-> intent, rep |-> rep, first |-> first, stale |-> stale,
     given |-> [r \in Replicas |-> [n |-> pull[r].n]]]

SimTransferNext ==
    /\ Taken
    /\ \/ TransferNext
       \/ ProposeEmpty /\ UNCHANGED transfer
    /\ Drivable
    /\ TransferDrivable
    /\ \E lot \in 1 .. Lots : Track
    /\ TransferTrack

SimTransferSpec == SimTransferInit /\ [][SimTransferNext]_<<all, first, stale, still, simTransfer>>
SimTransferView == <<transfer, first, stale, still, simTransfer>>
=============================================================================
