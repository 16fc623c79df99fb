---------------------- MODULE SIMTransferGroupSuccession ----------------------
(* Behaviours of TransferGroup in which new incarnations begin: as in SIMTransferGroup, in   *)
(* SIMOrderedGroupSuccession, and                                                 *)
(*                                                                           *)
(*   - what was offered in an incarnation before may still be on its way when the next one   *)
(*     begins, and is refused then; whoever took a state then has nothing of it;            *)
(*   - nobody drops ops from the log: what is not synced is in one file, of which a loss of    *)
(*     power takes any part;                                                      *)
(*   - who has lost its memory comes back in the next incarnation only;                     *)
(*   - a new incarnation goes on from a whole journal: from one that goes on from a state that *)
(*     was installed it would begin with a state, which is made atomic in the specification.    *)
EXTENDS SIMTransferGroup, SIMOrderedGroupSuccession

VARIABLE above   \* replicas whose journal goes on from a state that they installed

BeginsInit == SimTransferInit /\ SuccessionInit /\ above = {}

BeginsView == <<SimTransferView, members, above>>

(* As TransferOps. A store names a bare offset. *)
TransferOpsBare == {IF o.k = "store" THEN StoreOp(k1, -1, 0) ELSE o : o \in TransferOps}

MayNot          == FALSE
MayNotRejoin(r) == FALSE

BeginsSyncedBy == {"PurgeComplete", "OfferTransfer", "CommitInstall"}

(* Nothing is dropped: a replica lacks what members lack. *)
BeginsLacks(r) == MemberLacks(r)

(* One that stopped comes back when it is offered what it lacks.                           *)
BeginsMayReturn(r) == leader = {} \/ \E s \in leader : Takes(r, s)

(* Who is behind, and runs; and who is, and does not, while who leads could offer.           *)
Behind == {r \in Running \ leader : \E s \in leader : Takes(r, s)}
Ripe   == \E s \in leader, r \in Replicas \ Running :
              pin[s] = NoOffer /\ rep[s].applied = commit /\ member[r] = "voter" /\ shared[r] < commit

(* Replicas stop when nobody does yet, and lose power when there is an offer; after the first  *)
(* one another does soon.                                                        *)
BeginsMayCrash(r) == MemberMayCrash(r) /\ Running = Replicas /\ Len(log) > 2 * ghost_crashes /\ Quiet
BeginsMayLosePower(r) ==
    /\ SimMayLosePower(r)
    /\ Voters # Replicas \/ (Running = Replicas /\ \E s \in Replicas : pin[s] # NoOffer)

(* What is offered is taken before the log goes on.                                       *)
BeginsDrivable ==
    LET a == last'.a IN
    /\ Behind # {} => a \notin {"Commit", "BecomeLeader"} /\ ~(a \in Applying /\ last'.r \in Behind)
    /\ a = "Propose" /\ last'.o # OtherOp => Behind = {} /\ ~Ripe
    /\ Ripe => a \notin {"Commit", "BecomeLeader", "Answer"}

BeginsGoesOn ==
    /\ TransferStep
    /\ BeginsDrivable
    /\ SuccessionAllowed
    /\ MembersTrack
    /\ above' = IF last'.a = "CommitInstall" THEN above \cup {last'.r} ELSE above
    /\ (NoQuorum => \A r \in above : journal[r] # Best)'

BeginsBegins ==
    /\ SuccessionBegins
    /\ known' = [r \in Replicas |-> Len(log')]
    /\ saved' = [r \in Replicas |-> rep'[r].boundary]
    /\ shared' = [r \in Replicas |-> Len(log')]
    /\ live' = {}
    /\ owed' = {}
    /\ above' = {}
    /\ UNCHANGED <<dropped, pin, pull, counts>>

BeginsRejoins ==
    /\ SuccessionRejoins
    /\ LET r == last'.r IN
       /\ known' = [known EXCEPT ![r] = 0]
       /\ pull' = [pull EXCEPT ![r] = NoPull]
       /\ saved' = [saved EXCEPT ![r] = 0]
       /\ shared' = [shared EXCEPT ![r] = basis]
       /\ live' = live \ {r}
       /\ owed' = owed \ {r}
       /\ above' = above \ {r}
    /\ UNCHANGED <<dropped, pin, counts>>

BeginsNext == Taken /\ (BeginsGoesOn \/ BeginsBegins \/ BeginsRejoins)

BeginsSpec == BeginsInit /\ [][BeginsNext]_<<all, sim, simTransfer, members, above>>

(* Of behaviours of models with a defect those in which somebody takes a state, of which each  *)
(* half has messages, and then all others lose their memory, who made the offer with its disk; *)
(* and of those that show what can happen those in which who offers forgets nothing.           *)
LedMayRejoin(r) == SimMayRejoin(r) /\ r = r1
LedMayReturn(r) == TRUE
LedOlder ==
    LET a == last'.a
        taken == pull[r2] # NoPull /\ pull[r2].got = 2
    IN
    /\ a \notin {"BecomeLeader", "RequestPurge", "Answer", "DropTransfer", "DropOffer"}
    /\ a = "Propose" => ghost_crashes = 0 /\ commit = 0
    /\ a = "ProcessCrash" => OlderIncarnationAccepted /\ IF taken THEN last'.r = r1 ELSE last'.r = r2 /\ commit = 0
    /\ a \in Applying => last'.r \in leader
    /\ a = "OfferTransfer" => last'.n = Len(log)
    /\ a = "Boot" => last'.r = r2 /\ \E s \in Replicas : pin[s] # NoOffer
    /\ a = "PowerLoss" => IF OlderIncarnationAccepted THEN last'.r = r3 /\ taken ELSE last'.r \notin leader
    /\ a = "RefuseTransfer" => Older(pin[last'.s])

(* Whose offers, and whose parts of a state, are of an incarnation before.                  *)
BeginsShown ==
    [x \in DOMAIN TransferShown \cup DOMAIN MembersShown \cup {"older"} |->
        IF x = "older" THEN {s \in Replicas : Older(pin[s])}
        ELSE IF x \in DOMAIN MembersShown THEN MembersShown[x] ELSE TransferShown[x]]
=============================================================================
