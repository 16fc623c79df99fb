---------------------------- MODULE TransferFloor ----------------------------
(* State transfer under reset-record: what becomes of a floor. A floor is a number in    *)
(* the op sequence of the replica that chose it. A state that is installed comes with the  *)
(* floor of its sender, at or below its own op, so that it filters nothing that follows. A   *)
(* sender that has yet to apply ops up to its floor offers a state in which nothing is, with *)
(* the era before; that is not modelled here.                                              *)
(* The floor that the receiver had is of no use any more: it may count ops that were never   *)
(* committed, or those of a sequence that was lost.                                       *)
(*                                                                           *)
(* One member that is up to date, and one that is behind. Every op is an append of one     *)
(* message, op n of message n. Made atomic: purges and installs, for ResetRecord and         *)
(* Transfer show that a crash between their steps leaves the state before or after.          *)
(* Floors that differ without a transfer are a matter of ResetRecordGroup.                    *)
EXTENDS Integers

CONSTANTS
    FloorNotRebased,            \* defect switches
    OlderGenerationInstalled

VARIABLES
    len,       \* ops of the present sequence; all are committed
    intent,    \* highest generation on the metadata plane
    peer,      \* the member that is up to date: [g, floor]
    own,       \* the one that is behind: [g, floor, held, applied, shown]; held counts
               \* what it journaled, of which the last may never be committed
    offer,     \* what it takes: [n, g, floor], n = 0 is nothing
    last,      \* the last action with its parameters
    ghost_top, \* highest generation that it completed
    ghost_from,\* op of the install since which it was not purged, -1 without one
    ghost_seqs \* op sequences that began anew

store  == <<len, intent, peer, own, offer>>
ghosts == <<ghost_top, ghost_from, ghost_seqs>>
vars   == <<store, last, ghosts>>

NoOffer == [n |-> 0, g |-> 0, floor |-> 0]
Nothing == [g |-> 0, floor |-> 0, held |-> 0, applied |-> 0, shown |-> {}]

(* Limits of a model are put here by its MC module. *)
MayAppend == TRUE
MayAsk    == TRUE
MayBegin  == TRUE

Init ==
    /\ len = 0
    /\ intent = 0
    /\ peer = [g |-> 0, floor |-> 0]
    /\ own = Nothing
    /\ offer = NoOffer
    /\ last = [a |-> "Init"]
    /\ ghost_top = 0
    /\ ghost_from = -1
    /\ ghost_seqs = 0

-----------------------------------------------------------------------------
(* ACTION CommitElsewhere
   WHO    the group
   An append is committed. *)
CommitElsewhere ==
    /\ MayAppend
    /\ len' = len + 1
    /\ last' = [a |-> "CommitElsewhere", n |-> len + 1]
    /\ UNCHANGED <<intent, peer, own, offer, ghosts>>

(* ACTION RequestPurge
   WHO    a client
   The next intent is committed on the metadata plane. *)
RequestPurge ==
    /\ MayAsk
    /\ intent' = intent + 1
    /\ last' = [a |-> "RequestPurge", g |-> intent + 1]
    /\ UNCHANGED <<len, peer, own, offer, ghosts>>

(* ACTION PurgePeer
   WHO    the member that is up to date
   Learns the intent; its floor is the end of its journal. *)
PurgePeer ==
    /\ peer.g < intent
    /\ peer' = [g |-> intent, floor |-> len]
    /\ last' = [a |-> "PurgePeer", g |-> intent]
    /\ UNCHANGED <<len, intent, own, offer, ghosts>>

(* ACTION PurgeLocally
   WHO    the replica
   Learns the intent; its floor is the end of its journal, the uncommitted op with it. *)
PurgeLocally ==
    /\ own.g < intent
    /\ own' = [own EXCEPT !.g = intent, !.floor = own.held, !.shown = {}]
    /\ ghost_top' = intent
    /\ ghost_from' = -1
    /\ last' = [a |-> "PurgeLocally", g |-> intent]
    /\ UNCHANGED <<len, intent, peer, offer, ghost_seqs>>

(* ACTION Receive
   WHO    the replica
   Journals one op more than it has applied; which may be replaced later. *)
Receive ==
    /\ own.held = own.applied
    /\ own' = [own EXCEPT !.held = @ + 1]
    /\ last' = [a |-> "Receive"]
    /\ UNCHANGED <<len, intent, peer, offer, ghosts>>

(* ACTION Apply
   WHO    the replica
   Op n, which is committed; it is filtered at or below the floor. *)
Apply(n) ==
    /\ n = own.applied + 1
    /\ n <= len
    /\ own' = [own EXCEPT !.applied = n, !.held = n, !.shown = IF n <= own.floor THEN @ ELSE @ \cup {n}]
    /\ last' = [a |-> "Apply", n |-> n]
    /\ UNCHANGED <<len, intent, peer, offer, ghosts>>

(* ACTION StageManifest
   WHO    the replica
   Begins to take the state as of the last op. A member in which ops up to its floor are
   missing offers nothing. *)
StageManifest ==
    /\ offer = NoOffer
    /\ len > own.applied
    /\ offer' = [n |-> len, g |-> peer.g, floor |-> peer.floor]
    /\ last' = [a |-> "StageManifest", n |-> len]
    /\ UNCHANGED <<len, intent, peer, own, ghosts>>

(* ACTION CommitInstall
   WHO    the replica
   The state offered is its own, and its floor too. *)
CommitInstall(n) ==
    /\ offer # NoOffer
    /\ n = offer.n
    /\ n > own.applied
       \* DEFECT OlderGenerationInstalled: what this replica has purged meanwhile comes back
    /\ OlderGenerationInstalled \/ offer.g >= own.g
    /\ own' = [g |-> offer.g, applied |-> n, held |-> n, shown |-> offer.floor + 1 .. n,
               \* DEFECT FloorNotRebased: the floor that it had is kept
               floor |-> IF FloorNotRebased THEN own.floor ELSE offer.floor]
    /\ offer' = NoOffer
    /\ ghost_top' = IF offer.g > ghost_top THEN offer.g ELSE ghost_top
    /\ ghost_from' = n
    /\ last' = [a |-> "CommitInstall", n |-> n]
    /\ UNCHANGED <<len, intent, peer, ghost_seqs>>

(* ACTION DropTransfer
   WHO    the replica
   The offer is given up; a purge of its sender removes what was offered. *)
DropTransfer ==
    /\ offer # NoOffer
    /\ offer' = NoOffer
    /\ last' = [a |-> "DropTransfer"]
    /\ UNCHANGED <<len, intent, peer, own, ghosts>>

(* ACTION BeginSequence
   WHO    the environment
   All journals are lost: op numbers begin anew. Of the replica's disk its two records
   are left, and it has not booted yet; the other one has, and dropped its floor. *)
BeginSequence ==
    /\ MayBegin
    /\ len > 0
    /\ len' = 0
    /\ peer' = [peer EXCEPT !.floor = 0]
    /\ own' = [Nothing EXCEPT !.g = own.g, !.floor = own.floor]
    /\ offer' = NoOffer
    /\ ghost_from' = -1
    /\ ghost_seqs' = ghost_seqs + 1
    /\ last' = [a |-> "BeginSequence"]
    /\ UNCHANGED <<intent, ghost_top>>

(* ACTION DropFloor
   WHO    the replica
   Its journal is shorter than its floor, as it boots. *)
DropFloor ==
    /\ own.held < own.floor
    /\ own.applied = 0
    /\ own' = [own EXCEPT !.floor = 0]
    /\ last' = [a |-> "DropFloor"]
    /\ UNCHANGED <<len, intent, peer, offer, ghosts>>

Next ==
    \/ CommitElsewhere
    \/ RequestPurge
    \/ PurgePeer
    \/ PurgeLocally
    \/ Receive
    \/ Apply(own.applied + 1)
    \/ StageManifest
    \/ CommitInstall(offer.n)
    \/ DropTransfer
    \/ BeginSequence
    \/ DropFloor

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
(* Every op committed above an install is visible, until the next purge. *)
NoHiddenFresh == ghost_from >= 0 => ghost_from + 1 .. own.applied \subseteq own.shown

(* A floor filters only ops at or below itself, and none that follows the state it came with. *)
BoundaryScope == ghost_from >= 0 => own.floor <= ghost_from

(* The applied generation never falls, and never exceeds the committed one. *)
GenerationMonotone == own.g >= ghost_top /\ own.g <= intent

(* No message of a generation before, as the sender had purged it. *)
NoResurrectedMessage == ghost_from >= 0 /\ own.g = peer.g => \A x \in own.shown : x > peer.floor

-----------------------------------------------------------------------------
(* Witness: a model that must fail, because what this says never happens does. *)

(* A state replaces a floor that lies above its op. *)
NeverRebases ==
    [][ ~(last'.a = "CommitInstall" /\ own.floor > last'.n) ]_vars
=============================================================================
