-------------------------- MODULE TransferResetGroup --------------------------
(* State transfer among the replicas of ResetRecordGroup: one that is behind takes what   *)
(* another offers, its floor too. What an offer holds is what its sender makes of the log,   *)
(* from its own floor on; two that offer the same op may offer different states.          *)
(*                                                                           *)
(* What is offered is pinned: it stays as it was, unless its replica purges: a purge        *)
(* removes the files.                                                            *)
(*                                                                           *)
(* Made atomic: the durable steps of an install, see TransferReset. Left out: chunks (see    *)
(* TransferGroup), and that the log's beginning is dropped: a replica may take a state       *)
(* whenever it is behind.                                                         *)
EXTENDS ResetRecordGroup

CONSTANT EmptyLeaderOverwrites   \* defect switch

VARIABLES
    pin,            \* per replica: what it offers, or NoOffer
    pull,           \* per replica: what it takes, or NoOffer
    ghost_installs

transfer == <<pin, pull, ghost_installs>>
all      == <<vars, transfer>>

NoOffer == [n |-> 0]

(* Limits of a model are put here by its MC module. *)
MayOffer(r)  == TRUE
MayAccept(r) == TRUE

TransferInit ==
    /\ Init
    /\ pin = [r \in Replicas |-> NoOffer]
    /\ pull = [r \in Replicas |-> NoOffer]
    /\ ghost_installs = 0

(* What replica r offers as of op n: the state that it has. An older one it may have       *)
(* pinned before.                                                               *)
Snapshot(r, n) == [n |-> n, g |-> rep[r].gen, floor |-> rep[r].floor, f |-> rep[r]]

(* What a replica that knows op n to be committed may offer it as of. *)
Offerable(r, n) ==
    \* DEFECT EmptyLeaderOverwrites: a replica offers what it has
    EmptyLeaderOverwrites \/ (rep[r].applied = n /\ n = commit)

(* Offer x is above all that r holds, and of no generation that r has left. *)
Newer(r, x) == x.n > rep[r].held /\ x.g >= rep[r].gen

(* Where the journal of a replica ends that has installed op n. *)
JournalAfter(n) == n

-----------------------------------------------------------------------------
(* ACTION OfferTransfer
   WHO    replica s, which has applied all that it knows to be committed
   Pins its state as of op n for whoever is behind. *)
OfferTransfer(s, n) ==
    /\ rep[s].up
    /\ MayOffer(s)
    /\ n > 0
    /\ Offerable(s, n)
    /\ pin' = [pin EXCEPT ![s] = Snapshot(s, n)]
    /\ last' = [a |-> "OfferTransfer", r |-> s, n |-> n]
    /\ UNCHANGED <<store, ghosts, pull, ghost_installs>>

(* ACTION StageManifest
   WHO    replica r
   Takes what s offers, all of it. *)
StageManifest(r, s) ==
    /\ rep[r].up
    /\ MayAccept(r)
    /\ r # s
    /\ pull[r] = NoOffer
    /\ pin[s] # NoOffer
    /\ Newer(r, pin[s])
    /\ pull' = [pull EXCEPT ![r] = pin[s]]
    /\ last' = [a |-> "StageManifest", r |-> r, s |-> s, n |-> pin[s].n]
    /\ UNCHANGED <<store, ghosts, pin, ghost_installs>>

(* ACTION CommitInstall
   WHO    replica r
   Has not come to op n by itself meanwhile, and has not purged more: the state is the
   one offered, its floor too, and the journal goes on after it. *)
CommitInstall(r, n) ==
    /\ rep[r].up
    /\ pull[r] # NoOffer
    /\ n = pull[r].n
    /\ Newer(r, pull[r])
    /\ rep' = [rep EXCEPT ![r] = [pull[r].f EXCEPT !.applied = n, !.held = JournalAfter(n), !.up = TRUE]]
    /\ pull' = [pull EXCEPT ![r] = NoOffer]
    /\ ghost_installs' = ghost_installs + 1
    /\ last' = [a |-> "CommitInstall", r |-> r, n |-> n]
    /\ UNCHANGED <<log, commit, leader, intent, progress, ghosts, pin>>

(* ACTION DropTransfer
   WHO    replica r
   Gives up what it takes. *)
DropTransfer(r) ==
    /\ rep[r].up
    /\ pull[r] # NoOffer
    /\ pull' = [pull EXCEPT ![r] = NoOffer]
    /\ last' = [a |-> "DropTransfer", r |-> r]
    /\ UNCHANGED <<store, ghosts, pin, ghost_installs>>

(* The steps of ResetRecordGroup. Who stops, or purges, offers no more; where op numbers     *)
(* begin anew, nobody does.                                                       *)
Own ==
    /\ Next
    /\ LET anew == ghost_seqs' # ghost_seqs
       IN /\ pin' = [r \in Replicas |-> IF anew \/ ~rep'[r].up \/ rep'[r].gen # rep[r].gen THEN NoOffer ELSE pin[r]]
          /\ pull' = IF anew THEN [r \in Replicas |-> NoOffer] ELSE pull
    /\ UNCHANGED ghost_installs

TransferNext ==
    \/ Own
    \/ \E s \in Replicas : OfferTransfer(s, commit)
    \/ \E r, s \in Replicas : StageManifest(r, s)
    \/ \E r \in Replicas : CommitInstall(r, pull[r].n)
    \/ \E r \in Replicas : DropTransfer(r)

TransferSpec == TransferInit /\ [][TransferNext]_all

-----------------------------------------------------------------------------
(* The state that ops up to n of the log make of an era with a floor. *)
RECURSIVE Truth(_, _)
Truth(f, n) == IF n <= f.floor THEN f ELSE Upon(Truth(f, n - 1), log[n])

(* After an install a replica has exactly what the ops above its floor make. *)
InstallAtomic ==
    [][ last'.a = "CommitInstall" =>
            LET f == rep'[last'.r]
                t == Truth([Blank EXCEPT !.gen = f.gen, !.floor = f.floor], last'.n)
            IN f.msgs = t.msgs /\ f.start = t.start /\ f.bm = t.bm ]_all

(* No install of an op that the replica holds, or of a generation before its own. *)
OfferFreshness ==
    [][ last'.a = "CommitInstall" =>
            pull[last'.r].n > rep[last'.r].held /\ rep'[last'.r].gen >= rep[last'.r].gen ]_all

-----------------------------------------------------------------------------
(* Witness: a model that must fail, because what this says never happens does. *)

(* A state replaces one of the same generation that has another floor. *)
NeverOtherFloor ==
    [][ ~(last'.a = "CommitInstall" /\ rep'[last'.r].gen = rep[last'.r].gen
          /\ rep'[last'.r].floor # rep[last'.r].floor) ]_all
=============================================================================
