-------------------------- MODULE TransferGroupShows --------------------------
(* What the replicas of TransferGroup show. All that OrderedGroupShows says of          *)
(* OrderedGroup holds here as well, that clients see a behaviour of Partition among it.   *)
EXTENDS TransferGroup, OrderedGroupShows

(* The state of a replica that has applied the first n ops of the log. *)
Truth(n) == Carried(Newborn, SubSeq(log, 1, n))

(* After an install a replica has exactly the new state. *)
InstallAtomic ==
    [][ last'.a = "CommitInstall" => rep'[last'.r] = Truth(last'.n) ]_all

(* Without a purge that explains it no install lowers the end. *)
NoRewindInstall ==
    [][ last'.a = "CommitInstall" =>
            LET f == rep[last'.r]  g == rep'[last'.r]
            IN g.end >= f.end \/ g.gen > f.gen ]_all

(* No install of an older incarnation, or of an op that the receiver holds. *)
OfferFreshness ==
    [][ last'.a = "CommitInstall" => pull[last'.r].i = Incarnation /\ last'.n > known[last'.r] ]_all

-----------------------------------------------------------------------------
(* Witnesses: models that must fail, because what these say never happens does.  *)

(* A replica that has nothing, and cannot have the log, installs. *)
NeverFromNothing ==
    [][ ~(last'.a = "CommitInstall" /\ rep[last'.r].applied = 0 /\ dropped > 0) ]_all

(* A state is taken in part from one replica and in part from another. *)
NeverFromTwo ==
    [][ ~(last'.a = "StageChunk" /\ last'.j = 2 /\ rep[last'.s].up
          /\ \E s \in Replicas : s # last'.s /\ s # last'.r /\ ~rep[s].up) ]_all

(* A purge is committed while a state from before it is taken, which is installed. *)
NeverPurgedMeanwhile ==
    [][ ~(last'.a = "CommitInstall" /\ Current.gen > pull[last'.r].f.gen) ]_all

(* An offer of the incarnation before is refused. *)
NeverRefusesOlder ==
    [][ ~(last'.a = "RefuseTransfer" /\ pin[last'.s].i < Incarnation) ]_all
=============================================================================
