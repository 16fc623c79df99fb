---------------------- MODULE SIMOrderedGroupSuccession ----------------------
(* Behaviours of OrderedGroup in which replicas lose their memory: one of them comes     *)
(* back as a new member, and when most of them have lost it a new incarnation begins.    *)
(* What the specification leaves open is settled as the implementation does it, and as    *)
(* SIMOrderedGroup settles the rest:                                               *)
(*                                                                           *)
(*   - of its journal a replica that loses power keeps what was synced, and some of what   *)
(*     was not. Under a policy that does not sync all it is not the member that it was      *)
(*     then; under any policy it is not with another disk;                             *)
(*   - it comes back while the others count in a majority, and is taken in by three ops     *)
(*     that only take a number: it learns, then it counts, then the one before does not.     *)
(*     While such an op is on its way nobody else comes to lead, and neither leader nor       *)
(*     newcomer stops: how a change of members goes on then is the matter of consensus;      *)
(*   - a new incarnation begins when no majority of members is left, from the journal whose  *)
(*     last op is of the latest term, or is the last of that. What of it was never committed  *)
(*     is one op at most, as in the specification.                                     *)
(*                                                                           *)
(* How far the new incarnation is known to agree with the one before is left open, o = 0:    *)
(* that is a commit index on a disk, a hint, and nobody asks here with a position of an      *)
(* older incarnation. It may reach to what was committed of the journal, and no further.     *)
EXTENDS SIMOrderedGroup

VARIABLES
    term,     \* of the latest leader of this incarnation
    entries,  \* the log, with the term of each op: [o, t]
    journal,  \* per replica: the same of what it has on its disk
    kept,     \* per replica: the journal of the member before, until it counts again
    stable,   \* per replica: how much of its journal outlives a loss of power
    deaf,     \* replicas that have not heard of the present term
    member,   \* per replica: "voter", "lost" (its memory), "new" (back, as another one), "learner"
    basis,    \* how much of the log is that of incarnations before
    change    \* the change of members that is on its way: its op, of whom, and what

members == <<term, entries, journal, kept, stable, deaf, member, basis, change>>

NoChange == [n |-> 0, r |-> r1, step |-> "none"]

SuccessionInit ==
    /\ SimInit
    /\ term = 1
    /\ entries = <<>>
    /\ journal = [r \in Replicas |-> <<>>]
    /\ kept = [r \in Replicas |-> <<>>]
    /\ stable = [r \in Replicas |-> 0]
    /\ deaf = {}
    /\ member = [r \in Replicas |-> "voter"]
    /\ basis = 0
    /\ change = NoChange

(* As GroupOps. A store names a bare offset. *)
GroupOpsBare == {AppendOp(NoSession, 1), StoreOp(k1, -1, 0), CommitOp(k1, 1), DeleteOp(k1), AdvanceOp(-1), OtherOp}

(* Policies. Nothing is lost with an op that only takes a number. *)
OnlyMessages(o)  == o.k \notin {"append", "advance", "other", "begin"}

AllPersisted == \A o \in Ops : Persisted(o)

SimVotes(r)    == member[r] = "voter"
Belongs(r)     == member[r] \in {"voter", "learner"}
MemberLacks(r) == ~Belongs(r) /\ ~(change.r = r /\ change.step = "learner" /\ change.n = commit + 1)

(* Op n is the first of its term, and a purge that its leader knew of follows: they are   *)
(* written in one sector, so none of them is lost alone.                               *)
Together(r, n) ==
    LET j == journal[r] IN
    /\ n \in 1 .. Len(j) - 1
    /\ j[n].t = j[n + 1].t
    /\ n = 1 \/ j[n - 1].t < j[n].t
    /\ j[n + 1].o.k = "purge"

SimLeft(r)  == IF r \in stale THEN {held[r]} ELSE {n \in stable[r] .. held[r] : ~Together(r, n)}

Voters == {r \in Replicas : member[r] = "voter"}

(* The leader has to end a change of members. *)
Ending == change.step = "end" /\ Len(log) < change.n

(* It can take r one step further. *)
Furthers(r) ==
    /\ change.n = 0
    /\ rep[r].up
    /\ Replicas \ {r} \subseteq Running \cap Voters
    /\ \A l \in leader : rep[l].applied >= floor
    /\ commit >= floor
    /\ \/ member[r] = "new"
       \/ member[r] = "learner" /\ held[r] >= commit

SimOwed      == Len(log) < floor \/ Ending
SimMayNumber == SimOwed \/ \E r \in Replicas : Furthers(r)

SimMayRejoin(r) == Replicas \ {r} \subseteq Voters /\ member[r] \in {"voter", "lost"}

(* Who stops: nobody whom a change of members needs. *)
Needed == leader \cup (IF change.n = 0 THEN {} ELSE {change.r})
MemberMayCrash(r)  == MCMayCrash(r) /\ (change.n = 0 \/ r \notin Needed)
SimMayLosePower(r) == MemberMayCrash(r) /\ (member[r] = "voter")

SuccessionAllowed ==
    LET a == last'.a IN
    /\ a = "BecomeLeader" => change.n = 0
    /\ a = "Boot" => IF member[last'.r] = "new" THEN Running # {} ELSE member[last'.r] # "lost"
    /\ a \in Applying => Belongs(last'.r) \/ last'.n <= held[last'.r]
    /\ a \notin {"Rejoin", "NewIncarnation"}

(* An op that was proposed now takes r further. *)
Changes(r) == Len(log) >= floor /\ last'.a = "Propose" /\ last'.o = OtherOp /\ ~Ending /\ Furthers(r)

(* Who may be brought ops by a step, or hears of who leads when it takes a state.           *)
Taking == {"StageManifest", "RefuseTransfer", "StageChunk", "CommitInstall", "DropTransfer"}
Hears == IF last'.a \in {"Commit", "DropOffer"} THEN Running
         ELSE IF last'.a \in Applying \cup Taking THEN {last'.r}
         ELSE {}

SyncedOp(n) == Persisted(log[n]) \/ change.n = n

LastTerm(j) == IF j = <<>> THEN 0 ELSE j[Len(j)].t
AtLeast(a, b) == LastTerm(a) > LastTerm(b) \/ (LastTerm(a) = LastTerm(b) /\ Len(a) >= Len(b))

(* All that there is to go on from, and how much of it was committed. *)
Journals == {journal[r] : r \in Replicas} \cup {kept[r] : r \in Replicas}
Best     == CHOOSE j \in Journals : \A x \in Journals : AtLeast(j, x)
AgreesTo(j) ==
    LET same == {n \in 0 .. Min(commit, Len(j)) : SubSeq(j, 1, n) = SubSeq(entries, 1, n)}
    IN CHOOSE n \in same : \A m \in same : m <= n

(* No majority of members is left, and the specification says how it goes on. *)
NoQuorum == 2 * Cardinality(Voters) <= Cardinality(Replicas)
FewLeft  == Len(Best) <= AgreesTo(Best) + 1

(* What a model in which ops may be dropped puts here: by what a replica syncs its journal.    *)
SyncedBy == {}

(* What becomes of members and their journals by a step in which no incarnation begins.   *)
MembersTrack ==
    /\ LET a == last'.a IN
       /\ term' = IF a = "BecomeLeader" THEN term + 1 ELSE term
       /\ entries' =
            CASE a \in {"Propose", "Reconcile"} -> Append(entries, [o |-> log'[Len(log')], t |-> term])
              [] a = "BecomeLeader" -> SubSeq(entries, 1, Len(log'))
              [] OTHER -> entries
       /\ journal' =
            [r \in Replicas |->
                CASE a = "PowerLoss" /\ r = last'.r -> SubSeq(journal[r], 1, held'[r])
                  [] r \notin stale' /\ r \in Running /\ a # "PowerLoss" -> SubSeq(entries', 1, Min(held'[r], Len(entries')))
                  [] OTHER -> journal[r]]
       /\ member' =
            CASE a = "PowerLoss" /\ ~AllPersisted -> [member EXCEPT ![last'.r] = "lost"]
              [] a = "Commit" /\ last'.n = change.n /\ change.step = "learner" -> [member EXCEPT ![change.r] = "learner"]
              [] a = "Commit" /\ last'.n = change.n /\ change.step = "end" -> [member EXCEPT ![change.r] = "voter"]
              [] OTHER -> member
       /\ kept' = [r \in Replicas |-> IF member'[r] = "voter" THEN <<>> ELSE kept[r]]
       /\ change' =
            CASE \E r \in Replicas : Changes(r) ->
                    LET r == CHOOSE x \in Replicas : Changes(x)
                    IN [n |-> Len(log'), r |-> r, step |-> IF member[r] = "new" THEN "learner" ELSE "voter"]
              [] a = "Commit" /\ last'.n = change.n ->
                    IF change.step = "voter" THEN [n |-> Len(log) + 1, r |-> change.r, step |-> "end"] ELSE NoChange
              [] OTHER -> change
       /\ deaf' = IF a = "BecomeLeader" THEN Replicas \ Running ELSE deaf \ Hears
       /\ stable' =
            [r \in Replicas |->
                CASE a = "PowerLoss" /\ r = last'.r -> held'[r]
                  [] a = "BecomeLeader" /\ r \in Running -> held'[r]
                  [] a = "Boot" /\ r = last'.r -> held'[r]
                  [] a \in SyncedBy /\ r = last'.r -> held'[r]
                  [] r \in deaf /\ r \in Hears -> held'[r]
                  [] a = "Commit" /\ last'.n = change.n /\ r \in leader -> held'[r]
                  [] a \in {"Propose", "Reconcile"} /\ r \in leader /\ (Persisted(log'[Len(log')]) \/ change'.n = Len(log')) -> held'[r]
                  [] r \in Hears /\ (\E m \in held[r] + 1 .. held'[r] : SyncedOp(m)) -> held'[r]
                  [] OTHER -> Min(stable[r], held'[r])]
       /\ UNCHANGED basis
    /\ (NoQuorum => FewLeft)'

SuccessionGoesOn ==
    /\ SimStep
    /\ SuccessionAllowed
    /\ MembersTrack

SuccessionRejoins ==
    \E r \in Replicas :
        /\ Rejoin(r)
        /\ change.n = 0
        /\ member' = [member EXCEPT ![r] = "new"]
        /\ kept' = [kept EXCEPT ![r] = IF member[r] = "lost" THEN journal[r] ELSE <<>>]
        /\ journal' = [journal EXCEPT ![r] = SubSeq(entries, 1, basis)]
        /\ held' = [held EXCEPT ![r] = basis]
        /\ stable' = [stable EXCEPT ![r] = basis]
        /\ stale' = stale \ {r}
        /\ deaf' = deaf \cup {r}
        /\ top' = [top EXCEPT ![r] = basis]
        /\ UNCHANGED <<leader, floor, told, proposed, still, term, entries, basis, change>>

OpsOf(j) == [n \in DOMAIN j |-> j[n].o]

SuccessionBegins ==
    LET j == Best
        n == AgreesTo(j)
        rest == OpsOf(SubSeq(j, n + 1, Len(j)))
    IN /\ NoQuorum
       /\ FewLeft
       /\ Assert(n >= Floor, "what is persisted is lost")
       /\ NewIncarnation(n, rest, 0)
       /\ leader' = {}
       /\ floor' = 0
       /\ held' = [r \in Replicas |-> Len(log')]
       /\ stale' = {}
       /\ told' = [r \in Replicas |-> 0]
       /\ proposed' = 0
       /\ top' = [r \in Replicas |-> Len(log')]
       /\ still' = [r \in Replicas |-> 0]
       /\ term' = 0
       /\ entries' = [m \in DOMAIN log' |-> [o |-> log'[m], t |-> 0]]
       /\ journal' = [r \in Replicas |-> entries']
       /\ kept' = [r \in Replicas |-> <<>>]
       /\ stable' = held'
       /\ deaf' = {}
       /\ member' = [r \in Replicas |-> "voter"]
       /\ basis' = Len(log')
       /\ change' = NoChange

SimMayBegin == Current.inc < 3

SuccessionNext == Taken /\ (SuccessionGoesOn \/ SuccessionRejoins \/ SuccessionBegins)

SuccessionSpec == SuccessionInit /\ [][SuccessionNext]_<<vars, sim, members>>
SuccessionView == <<sim, members>>

(* Of behaviours of models with a defect: followers lose their memory, and nobody comes back    *)
(* before the new incarnation. There all is applied again, so nobody does before.          *)
LedBegins ==
    /\ last'.a \notin {"ProcessCrash", "Boot", "Rejoin"}
    /\ last'.a = "PowerLoss" => last'.r \notin leader /\ Current.inc = 1
    /\ last'.a = "BecomeLeader" => leader = {}
    /\ last'.a \in Applying => last'.r \in leader /\ Current.inc > 1

(* Of the model that shows a purge forgotten: all have carried it out before power fails.      *)
LedForgets ==
    /\ last'.a \in {"RequestPurge", "Reconcile", "Commit", "PurgeComplete", "PowerLoss", "NewIncarnation"}
    /\ last'.a = "PowerLoss" => \A r \in Running : rep[r].gen > 0

MembersShown ==
    [log |-> log, commit |-> commit, intent |-> intent, rep |-> rep, leader |-> leader, floor |-> floor,
     due |-> Due \/ Ending, held |-> held, stale |-> stale, member |-> member, change |-> change, basis |-> basis,
     most |-> IF last.a # "NewIncarnation" THEN [g |-> 0, o |-> 0]
              ELSE [g |-> ghost_hist[last.n + 1].gen, o |-> End(ghost_hist[last.n + 1])],
     persisted |-> [messages |-> Persisted(AppendOp(NoSession, 1)), bookmarks |-> Persisted(DeleteOp(k1))]]
=============================================================================
