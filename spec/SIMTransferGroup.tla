--------------------------- MODULE SIMTransferGroup ---------------------------
(* Behaviours of TransferGroup that three replicas can be driven through: as in         *)
(* SIMOrderedGroup, and                                                        *)
(*                                                                           *)
(*   - who leads offers, as of a checkpoint that it saves for it, having applied all     *)
(*     that is committed; the next one when it has let that one go;                   *)
(*   - who leads no more lets go at once what it offers;                            *)
(*   - an offer can be had as long as its replica is in that era and has deleted no     *)
(*     record since;                                                          *)
(*   - a replica is brought what the log has and takes what it offers, not both; of what   *)
(*     its journal holds it takes no offer, committed or not;                        *)
(*   - who is given a state looks at no other offer;                                *)
(*   - a replica that has stopped, or whose leader is another one now, goes on with what    *)
(*     it was given when that is offered to it anew;                                 *)
(*   - what it gives up is still offered to it, or something newer, or it came to that      *)
(*     by itself;                                                             *)
(*   - a replica that cannot be brought what the log has applies nothing: its journal need   *)
(*     not tell what of it is committed;                                        *)
(*   - for time to pass a replica has applied all that is committed: else it takes itself for   *)
(*     one that cannot go on;                                                  *)
(*   - who installed what a leader offers is brought all that this one covers before it       *)
(*     drops more;                                                            *)
(*   - a replica boots from its last checkpoint: that of its era, that of an offer that it     *)
(*     made, or what it installed.                                              *)
(* And so that something happens: one is down at a time, now and then, until the log has      *)
(* gone on without it; who leads stays for a while, but may be lost, or replaced, when another  *)
(* one could go on with what it has given half of; who leads then offers that first; while a     *)
(* state is taken that is up to date nothing but purges is committed, and while a replica that   *)
(* lacks something takes one nothing is proposed; what can be had is let go only when nobody      *)
(* takes it, and the log begins after it; few read.                                  *)
EXTENDS TransferGroupShows, SIMOrderedGroup

VARIABLES
    saved,    \* per replica: the op of its last checkpoint
    shared,   \* per replica: its journal and the log have no more in common than this
    live,     \* replicas that go on with what they are given without being offered it anew
    owed      \* replicas that installed what the leader offered since it leads

simTransfer == <<saved, shared, live, owed>>

SimTransferInit ==
    /\ SimInit
    /\ TransferInit
    /\ saved = [r \in Replicas |-> 0]
    /\ shared = [r \in Replicas |-> 0]
    /\ live = {}
    /\ owed = {}

(* Of a journal that goes on with what was dropped nobody knows more than that it holds   *)
(* what was applied.                                                           *)
SimHolds(r) == IF r \in stale THEN known[r] ELSE Max(held[r], known[r])
SimLacks(r) == Holds(r) < dropped

TransferOps ==
    {AppendOp(NoSession, 1), AppendOp(NoSession, 2), StoreOp(k1, 0, 0), CommitOp(k1, 1), AdvanceOp(1), OtherOp}

Quiet == \A q \in Replicas : pull[q] = NoPull

(* Somebody has the first half of what r, too, could offer, if it led. *)
HalfWith(r) ==
    /\ rep[r].applied = commit
    /\ \E q \in Replicas : pull[q] # NoPull /\ pull[q].got = 1 /\ pull[q].n = commit

SimMayAsk(g)   == g <= MaxIntent /\ (commit > 3 * g \/ ~Quiet)
SimMayLead(r)  == leader = {} \/ HalfWith(r) \/ (commit > floor + 1 /\ Quiet)
SimMayCrash(r) ==
    /\ ghost_crashes < MaxCrashes
    /\ Running = Replicas
    /\ \/ Len(log) > 3 * ghost_crashes /\ Quiet /\ \A q \in Replicas : ~Lacks(q)
       \/ r \in leader /\ \E q \in Replicas \ leader : HalfWith(q)
       \/ pull[r] # NoPull /\ pull[r].got = 1 /\ ghost_crashes < 3

(* What s offers can be had. *)
Offers(s) ==
    /\ s \in leader
    /\ pin[s] # NoOffer
    /\ rep[s].gen = pin[s].f.gen
    /\ rep[s].start = pin[s].f.start

(* r takes what s offers if it is offered now. *)
Takes(r, s) == Offers(s) /\ pin[s].n > shared[r]

Same(r, s) == pin[s].n = pull[r].n

(* Who leads anew can offer what somebody has a part of. *)
Resumable ==
    \E s \in leader, r \in Replicas :
        pin[s] = NoOffer /\ rep[s].applied = commit /\ pull[r] # NoPull /\ pull[r].n = commit

(* A replica that is down comes back. *)
MayReturn(r) == leader = {} \/ shared[r] < dropped \/ shared[r] + 3 < commit \/ \E q \in Running : Lacks(q)

(* Actions between replicas that a leader takes no part in, or no longer. *)
SimBesides ==
    \/ last'.a \in {"StageManifest", "RefuseTransfer", "StageChunk", "CommitInstall"}
    \/ last'.a = "DropOffer" /\ last'.r \notin leader

(* What is offered, or taken, is of an incarnation before. *)
Older(x) == x.n > 0 /\ x.i < Incarnation

(* Who offers and leads no more. *)
Over == {s \in Replicas : pin[s] # NoOffer /\ (s \notin leader \/ Older(pin[s]))}

TransferDrivable ==
    LET a == last'.a IN
    /\ Over # {} => (a = "DropOffer" /\ last'.r \in Over) \/ (a = "RefuseTransfer" /\ Older(pin[last'.s]))
    /\ a = "OfferTransfer" =>
        /\ last'.r \in leader
        /\ pin[last'.r] = NoOffer
        /\ \E r \in Replicas : shared[r] < commit
        /\ last'.n = commit
        /\ EmptyLeaderOverwrites \/ (rep[last'.r].applied = commit /\ rep[last'.r].applied >= top[last'.r])
    /\ a = "Compact" => \E s \in leader :
        /\ pin[s].n = last'.n
        /\ \A r \in owed : shared[r] >= last'.n
    /\ a = "StageManifest" => last'.r \notin leader /\ Takes(last'.r, last'.s)
    /\ a = "RefuseTransfer" /\ ~Older(pin[last'.s]) =>
        /\ last'.r \notin leader
        /\ Offers(last'.s)
        /\ pull[last'.r] = NoPull
        /\ last'.n <= known[last'.r]
        /\ last'.r \in owed => rep[last'.s].applied = commit
    /\ a = "StageChunk" => Offers(last'.s) /\ (last'.r \in live \/ Takes(last'.r, last'.s))
    /\ a = "CommitInstall" /\ ~Older(pull[last'.r]) =>
        /\ last'.n > shared[last'.r]
        /\ last'.r \in live \/ \E s \in leader : Takes(last'.r, s) /\ Same(last'.r, s)
    /\ a = "DropTransfer" /\ ~Older(pull[last'.r]) =>
        /\ rep[last'.r].up
        /\ leader # {}
        /\ \/ /\ pull[last'.r].n <= known[last'.r]
              /\ rep[last'.r].applied = commit \/ (last'.r \in live /\ pull[last'.r].got = 2)
           \/ \E s \in leader : Takes(last'.r, s) /\ (~Same(last'.r, s) \/ (pull[last'.r].got = 1 /\ \A q \in Running \ leader : ~HalfWith(q)))
    /\ a = "DropOffer" /\ last'.r \in leader =>
        /\ Running \ leader # {}
        /\ rep[last'.r].applied = commit
        /\ Offers(last'.r) => dropped = pin[last'.r].n /\ \A q \in Replicas : ~Same(q, last'.r)
    /\ a = "BecomeLeader" => pull[last'.r] = NoPull
    /\ a \in {"Materialize", "PurgeComplete", "PurgeDuplicate"} => ~Lacks(last'.r)
    /\ a = "Answer" => last.a \in {"Materialize", "PurgeComplete", "CommitInstall"} /\ \A r \in Replicas : ~Lacks(r)
    /\ a = "Commit" =>
        /\ ~Resumable
        /\ last'.o.k \in {"purge", "other"} \/ \A r \in Replicas : pull[r] # NoPull => pull[r].n < commit
    /\ a = "Propose" /\ last'.o # OtherOp => \A q \in Replicas : ~Lacks(q) \/ pull[q] = NoPull
    /\ a = "Boot" => last'.n = saved[last'.r]
    /\ a = "Boot" => MayReturn(last'.r)

TransferTrack ==
    LET a == last'.a IN
    /\ saved' =
         CASE a \in {"PurgeComplete", "OfferTransfer", "CommitInstall"} -> [saved EXCEPT ![last'.r] = last'.n]
           [] OTHER -> saved
    /\ shared' =
         CASE a \in {"Propose", "Reconcile"} -> [r \in Replicas |-> IF r \in leader THEN Len(log') ELSE shared[r]]
           [] a = "Commit" -> [r \in Replicas |-> IF r \in Running /\ ~Lacks(r) THEN Max(shared[r], last'.n) ELSE shared[r]]
           [] a = "BecomeLeader" -> [r \in Replicas |-> IF r = last'.r THEN Len(log') ELSE Min(shared[r], Len(log'))]
           [] a = "CommitInstall" -> [shared EXCEPT ![last'.r] = last'.n]
           [] OTHER -> [r \in Replicas |-> Max(shared[r], rep'[r].applied)]
    /\ live' =
         CASE a = "StageManifest" -> live \cup {last'.r}
           [] a = "StageChunk" -> live \cup {last'.r}
           [] a = "BecomeLeader" -> {}
           [] a \in {"ProcessCrash", "PowerLoss", "CommitInstall", "DropTransfer"} -> live \ {last'.r}
           [] OTHER -> live
    /\ owed' =
         CASE leader' # leader -> {}
           [] a = "CommitInstall" -> owed \cup {last'.r}
           [] OTHER -> owed

(* Of what a replica is given, how many batches of messages there are in all. *)
Batches(f) == Cardinality({j \in DOMAIN f.segs : f.segs[j].base + f.segs[j].n > f.start})
Given(r) ==
    IF pull[r] = NoPull \/ Older(pull[r]) THEN [n |-> 0, got |-> 0, batches |-> 0]
    ELSE [n |-> pull[r].n, got |-> pull[r].got, batches |-> Batches(Carried(Newborn, SubSeq(log, 1, pull[r].n)))]

TransferShown ==
    [log |-> log, commit |-> commit, intent |-> intent, rep |-> rep, leader |-> leader, floor |-> floor, due |-> Due,
     lacking |-> {r \in Replicas : Lacks(r)}, known |-> known,
     offered |-> [s \in Replicas |-> pin[s].n], given |-> [r \in Replicas |-> Given(r)]]

TransferStep ==
    /\ \/ TransferNext
       \/ \E r \in Replicas :
            /\ \/ BecomeLeader(r, Len(log) - commit)
               \/ BecomeLeader(r, held[r] - commit)
               \/ Boot(r, saved[r])
            /\ UNCHANGED <<transfer, counts>>
    /\ Drivable
    /\ TransferDrivable
    /\ Track
    /\ TransferTrack

SimTransferNext == Taken /\ TransferStep

SimTransferSpec == SimTransferInit /\ [][SimTransferNext]_<<all, sim, simTransfer>>

SimTransferView == <<transfer, sim, simTransfer>>

(* Of behaviours of models with a defect those in which who takes a state cannot have the  *)
(* log, each half of a state has messages, and the client of an op that is taken asks again.  *)
(* Who takes a state while one is down has the second half from another. What else can wait  *)
(* does: clients ask one after the other and before a state is offered, and who follows      *)
(* applies only while another takes what it could offer.                               *)
LedTransferOps == {AppendOp(IF SessionsNotTransferred THEN c1 ELSE NoSession, 1), OtherOp}
LedMayLead(r)  == leader = {}
LedMayCrash(r) == SimMayCrash(r) /\ pull[r] = NoPull /\ (r \in leader => HalfWith(r))
SimTransferLed ==
    LET a == last'.a IN
    /\ Led
    /\ a # "DropTransfer"
    /\ a = "Propose" /\ last'.o # OtherOp =>
        /\ \A s \in Replicas : pin[s] = NoOffer
        /\ SessionsNotTransferred \/ (Len(log) = commit /\ \A r \in leader : rep[r].applied = commit)
    /\ a \in Applying => last'.r \in leader \/ \E q \in Replicas \ {last'.r} : pull[q] # NoPull /\ pull[q].got = 1
    /\ a = "StageManifest" => Lacks(last'.r)
    /\ a = "StageChunk" => IF last'.j = 1 THEN SessionsNotTransferred \/ Given(last'.r).batches > 1
                          ELSE Running = Replicas \/ last'.r \notin live
    /\ SessionsNotTransferred /\ a = "CommitInstall" => AppendOp(c1, 1) \in {log[n] : n \in last'.n + 1 .. Len(log)}
=============================================================================
