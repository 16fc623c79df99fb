---------------------------- MODULE TransferGroup ----------------------------
(* State transfer among the replicas of OrderedGroup: the log's beginning is dropped,  *)
(* so a replica that is behind, or is a new member that has nothing, takes the state      *)
(* that another offers, perhaps with parts of it from a third. Purges, deletions,          *)
(* elections, crashes and new incarnations go on meanwhile.                              *)
(*                                                                           *)
(* What is offered is pinned: it stays as it was, whatever its replica does. A replica     *)
(* that is suspect or has lost its disk comes back as a new member with nothing (Rejoin).   *)
(*                                                                           *)
(* Made atomic: the durable steps of an install, for Transfer shows that a crash between     *)
(* them leaves the old state or the new one; a chunk is half of the state. A journal that     *)
(* was compacted is replayed from its checkpoint, which gives what Boot has.                  *)
EXTENDS OrderedGroup

CONSTANTS
    SessionsNotTransferred,   \* defect switches
    EmptyLeaderOverwrites,
    ChunkOfAnotherOffer,
    OlderIncarnationAccepted

VARIABLES
    dropped,         \* ops up to here are in no log any more, except in journals that held them
    known,           \* per replica: the last op that it journaled and knows to be committed
    pin,             \* per replica: what it offers, or NoOffer
    pull,            \* per replica: [i, n, got, f] of what it takes, or NoPull
    ghost_exports,   \* number of offers made
    ghost_installs   \* number of installs

transfer == <<dropped, known, pin, pull>>
counts   == <<ghost_exports, ghost_installs>>
all      == <<vars, transfer, counts>>

NoOffer == [n |-> 0]
NoPull  == [n |-> 0]

(* Limits of a model are put here by its MC module. *)
MayOffer(r)   == TRUE
MayAccept(r)  == TRUE
MayCompact    == TRUE
MayStep       == TRUE   \* OrderedGroup takes a step in which nobody stops or boots
MayDrop(r)    == TRUE   \* an offer that could still be had is given up
MayLetGo(s)   == TRUE
Counted(x)    == x + 1
Holds(r)      == known[r]   \* how far r's journal goes, if no more than this is told of it

(* Defect switch that a model may turn on. *)
StalePullKept == FALSE

TransferInit ==
    /\ Init
    /\ dropped = 0
    /\ known = [r \in Replicas |-> 0]
    /\ pin = [r \in Replicas |-> NoOffer]
    /\ pull = [r \in Replicas |-> NoPull]
    /\ ghost_exports = 0
    /\ ghost_installs = 0

(* The incarnation in which the replicas are. *)
Incarnation == Current.inc

(* What replica r knows to be committed: what it applied, or installed. Another one may     *)
(* know more, so what is offered need not be up to date; it is what its number says.       *)
Known(r) == known[r]

(* What replica r offers as of op n, when it has applied all that it should: the state of  *)
(* a checkpoint, or, being behind, what it has, under the number that it should have.       *)
Snapshot(r, n) ==
    LET f == IF n < rep[r].applied THEN Booted(rep[r], n) ELSE rep[r]
        \* DEFECT SessionsNotTransferred: messages and bookmarks are the state
        seen == IF SessionsNotTransferred THEN [s \in Sessions |-> NotSeen] ELSE f.seen
    IN [i |-> Incarnation, n |-> n, f |-> [f EXCEPT !.seen = seen, !.applied = n]]

(* Offer x is of the present incarnation and above all that r holds. *)
Newer(r, x) ==
    \* DEFECT OlderIncarnationAccepted: op numbers are compared, incarnations are not
    /\ OlderIncarnationAccepted \/ x.i = Incarnation
    /\ x.n > known[r]

-----------------------------------------------------------------------------
(* ACTION OfferTransfer
   WHO    replica s, which has applied all that it knows to be committed
   Pins its state as of op n, a checkpoint, for whoever is behind. *)
OfferTransfer(s, n) ==
    /\ rep[s].up
    /\ MayOffer(s)
    /\ n > 0
    /\ n >= rep[s].boundary
       \* DEFECT EmptyLeaderOverwrites: a replica offers what it has
    /\ EmptyLeaderOverwrites \/ (rep[s].applied >= Known(s) /\ n <= rep[s].applied)
    /\ pin[s].n # n
    /\ pin' = [pin EXCEPT ![s] = Snapshot(s, n)]
    /\ ghost_exports' = Counted(ghost_exports)
    /\ last' = [a |-> "OfferTransfer", r |-> s, n |-> n]
    /\ UNCHANGED <<store, ghosts, dropped, known, pull, ghost_installs>>

(* ACTION Compact
   WHO    a leader, and in time all
   Ops up to n, which a durable state covers that is offered, go from the log. *)
Compact(n) ==
    /\ MayCompact
    /\ n > dropped
    /\ n <= commit
    /\ \E s \in Replicas : pin[s].n = n /\ pin[s].i = Incarnation
    /\ dropped' = n
    /\ last' = [a |-> "Compact", n |-> n]
    /\ UNCHANGED <<store, ghosts, known, pin, pull, counts>>

(* ACTION StageManifest
   WHO    replica r
   Begins to take what s offers. *)
StageManifest(r, s) ==
    /\ rep[r].up
    /\ MayAccept(r)
    /\ r # s
    /\ pull[r] = NoPull
    /\ pin[s] # NoOffer
    /\ Newer(r, pin[s])
    /\ pull' = [pull EXCEPT ![r] = [i |-> pin[s].i, n |-> pin[s].n, got |-> 0, f |-> Newborn]]
    /\ last' = [a |-> "StageManifest", r |-> r, s |-> s, n |-> pin[s].n]
    /\ UNCHANGED <<store, ghosts, dropped, known, pin, counts>>

(* ACTION RefuseTransfer
   WHO    replica r
   What s offers is of an older incarnation, or r has it. *)
RefuseTransfer(r, s) ==
    /\ rep[r].up
    /\ r # s
    /\ pin[s] # NoOffer
    /\ ~Newer(r, pin[s])
    /\ last' = [a |-> "RefuseTransfer", r |-> r, s |-> s, n |-> pin[s].n]
    /\ UNCHANGED <<store, ghosts, transfer, counts>>

(* ACTION StageChunk
   WHO    replicas r and s
   The next part of what r takes comes from s, which offers the same: first the
   messages, then bookmarks, sessions and all else. *)
StageChunk(r, s) ==
    /\ rep[r].up
    /\ rep[s].up
    /\ pull[r] # NoPull
    /\ pull[r].got < 2
    /\ pin[s] # NoOffer
       \* DEFECT ChunkOfAnotherOffer: chunks are numbered, and the number is right
    /\ ChunkOfAnotherOffer \/ (pin[s].n = pull[r].n /\ pin[s].i = pull[r].i)
    /\ LET f == pin[s].f
       IN pull' = [pull EXCEPT ![r].got = @ + 1,
                               ![r].f = IF pull[r].got = 0 THEN [@ EXCEPT !.segs = f.segs]
                                        ELSE [f EXCEPT !.segs = pull[r].f.segs]]
    /\ last' = [a |-> "StageChunk", r |-> r, s |-> s, j |-> pull[r].got + 1]
    /\ UNCHANGED <<store, ghosts, dropped, known, pin, counts>>

(* ACTION CommitInstall
   WHO    replica r
   All of the offer is there, and r has not come to op n by itself meanwhile: the state
   is the one offered. *)
CommitInstall(r, n) ==
    /\ rep[r].up
    /\ pull[r] # NoPull
    /\ pull[r].got = 2
    /\ n = pull[r].n
    /\ Newer(r, pull[r])
    /\ rep' = [rep EXCEPT ![r] = pull[r].f]
    /\ known' = [known EXCEPT ![r] = n]
    /\ pull' = [pull EXCEPT ![r] = NoPull]
    /\ ghost_installs' = Counted(ghost_installs)
    /\ last' = [a |-> "CommitInstall", r |-> r, n |-> n]
    /\ UNCHANGED <<log, commit, intent, ghosts, dropped, pin, ghost_exports>>

(* Nobody offers any more what r takes, or r has come to it by itself. *)
Stale(r) ==
    /\ pull[r] # NoPull
    /\ \/ ~Newer(r, pull[r])
       \/ pull[r].got < 2 /\ ~\E s \in Replicas : pin[s] # NoOffer /\ pin[s].n = pull[r].n /\ pin[s].i = pull[r].i

(* ACTION DropTransfer
   WHO    replica r
   Gives up what it takes. *)
DropTransfer(r) ==
    /\ pull[r] # NoPull
    /\ MayDrop(r) \/ Stale(r)
       \* DEFECT StalePullKept: it waits for whoever made the offer
    /\ ~StalePullKept
    /\ pull' = [pull EXCEPT ![r] = NoPull]
    /\ last' = [a |-> "DropTransfer", r |-> r]
    /\ UNCHANGED <<store, ghosts, dropped, known, pin, counts>>

(* ACTION DropOffer
   WHO    replica s
   Offers no more: nobody asked for a while. *)
DropOffer(s) ==
    /\ MayLetGo(s)
    /\ pin[s] # NoOffer
    /\ pin' = [pin EXCEPT ![s] = NoOffer]
    /\ last' = [a |-> "DropOffer", r |-> s]
    /\ UNCHANGED <<store, ghosts, dropped, known, pull, counts>>

-----------------------------------------------------------------------------
(* Op n can be had from the log, or from r's own journal. *)
AtHand(r) == NextOf(r) > dropped \/ NextOf(r) <= Holds(r)

(* The steps of OrderedGroup. A replica that stops offers no more, and keeps what it  *)
(* has taken of an offer; one that comes back as a new member has nothing.            *)
Applies ==
    /\ MayStep
    /\ \/ \E r \in Replicas : AtHand(r) /\ Materialize(r, NextOf(r), Arriving(r))
       \/ \E r \in Replicas : AtHand(r) /\ PurgeComplete(r, NextOf(r), PurgeAt(r))
       \/ \E r \in Replicas : AtHand(r) /\ PurgeDuplicate(r, NextOf(r), PurgeAt(r))
    /\ known' = [r \in Replicas |-> Max(known[r], rep'[r].applied)]
    /\ UNCHANGED <<dropped, pin, pull, counts>>

Agrees ==
    /\ MayStep
    /\ \/ RequestPurge(intent + 1)
       \/ \E r \in Replicas : Reconcile(r, intent)
       \/ \E o \in Ops : Propose(o)
       \/ Commit(commit + 1, log[commit + 1])
       \/ \E r \in Replicas : BecomeLeader(r, Len(log) - commit - 1)
       \/ \E r \in Replicas, q \in Reads : Answer(r, q)
    /\ UNCHANGED <<transfer, counts>>

Stops ==
    /\ \/ \E r \in Replicas : ProcessCrash(r)
       \/ \E r \in Replicas : PowerLoss(r)
    /\ pin' = [r \in Replicas |-> IF rep'[r].up THEN pin[r] ELSE NoOffer]
    /\ UNCHANGED <<dropped, known, pull, counts>>

Boots ==
    /\ \E r \in Replicas : Boot(r, rep[r].boundary)
    /\ UNCHANGED <<transfer, counts>>

Rejoins ==
    /\ \E r \in Replicas :
        /\ Rejoin(r)
        /\ known' = [known EXCEPT ![r] = 0]
        /\ pull' = [pull EXCEPT ![r] = NoPull]
    /\ UNCHANGED <<dropped, pin, counts>>

(* The log from which a new incarnation goes on is one that some replica has. *)
Succeeds ==
    /\ \E k \in 0 .. MaxBack, rest \in Rests, o \in Offsets :
        /\ commit - k >= dropped
        /\ NewIncarnation(commit - k, rest, o)
    /\ known' = [r \in Replicas |-> Len(log')]
    /\ UNCHANGED <<dropped, pin, pull, counts>>

TransferNext ==
    \/ Agrees
    \/ Applies
    \/ Stops
    \/ Boots
    \/ Rejoins
    \/ Succeeds
    \/ \E s \in Replicas : OfferTransfer(s, commit) \/ OfferTransfer(s, rep[s].applied)
    \/ \E s \in Replicas : Compact(pin[s].n)
    \/ \E r, s \in Replicas : StageManifest(r, s)
    \/ \E r, s \in Replicas : RefuseTransfer(r, s)
    \/ \E r, s \in Replicas : StageChunk(r, s)
    \/ \E r \in Replicas : CommitInstall(r, pull[r].n)
    \/ \E r \in Replicas : DropTransfer(r)
    \/ \E s \in Replicas : DropOffer(s)

TransferSpec == TransferInit /\ [][TransferNext]_all
=============================================================================
