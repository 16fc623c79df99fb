-------------------------- MODULE TraceOrderedGroup --------------------------
(* Could the replicas of a partition, as OrderedGroup describes them, have done *)
(* together what a trace says, and as TransferGroup does, if they moved state?   *)
(* Works as TraceOrdered does; in addition                                     *)
(* TraceData holds, for each sequence of events, the ops that were committed in    *)
(* it. They stand in the log from the beginning: who proposed them, and which       *)
(* others a leader change dropped, is not in a trace. They are committed one by     *)
(* one, as the events say. An incarnation that goes on from another one adds its   *)
(* own when it begins.                                                         *)
(*                                                                           *)
(* Event fields beyond those of TraceOrdered: r replica, t term, l, of an offer, the     *)
(* last op that its replica knows to be committed, of a new incarnation, the op up to    *)
(* which it has the log of the one before, ai, ag and ao the position    *)
(* up to which it is known to agree with it; u 1 if the event is not in the trace,   *)
(* or, of a Commit, tells an op with which the incarnation goes on.               *)
EXTENDS TransferGroup, TraceTold, TraceData, TLC

VARIABLES
    piece, cursor,
    line,      \* incarnations begun, the first included
    began,     \* what the first replica told of how each began
    suspect,   \* replicas that may have forgotten what they acknowledged
    joining,   \* replicas that are new members and no voters yet
    members,   \* changes of membership: op and number of voters
    offers,    \* what was offered in this incarnation
    marks      \* facts after every op whose number is a multiple of Apart, without segs

trace == <<piece, cursor, told, line, began, suspect, joining, members, offers, marks>>

TraceRemember(hist, n, o)     == hist     \* the contract is not judged here
TraceSeen(hist, n, o, before) == before
TraceOpen == <<>>
TraceMayRejoin(r) == TRUE
TraceNewborn == [EraStart(TraceFirst, 0, <<>>) EXCEPT !.settled = 0]

Events == TracePieces[piece]
E      == Events[cursor]

TraceBeginning ==
    /\ ToldInit
    /\ line = 1
    /\ began = {}
    /\ suspect = {}
    /\ joining = {}
    /\ members = {}
    /\ offers = {}
    /\ marks = <<>>
    /\ dropped = 0
    /\ known = [r \in Replicas |-> 0]
    /\ pin = [r \in Replicas |-> NoOffer]
    /\ pull = [r \in Replicas |-> NoPull]
    /\ ghost_exports = 0
    /\ ghost_installs = 0
    /\ log = TraceLogs[piece][1]
    /\ commit = TraceFirst
    /\ intent = 0
    /\ rep = [r \in Replicas |-> [Newborn EXCEPT !.up = FALSE]]
    /\ last = [a |-> "Init"]
    /\ ghost_hist = <<Fresh(Open)>>
    /\ ghost_last = [a |-> "Init"]
    /\ ghost_crashes = 0

(* A long sequence is judged in parts: the state that TLC prints at the end of one is the   *)
(* one that the next begins in.                                                  *)
TraceState == [log |-> log, commit |-> commit, intent |-> intent, rep |-> rep,
               last |-> last, ghost_hist |-> ghost_hist, ghost_last |-> ghost_last,
               ghost_crashes |-> ghost_crashes, dropped |-> dropped, known |-> known,
               pin |-> pin, pull |-> pull, ghost_exports |-> ghost_exports,
               ghost_installs |-> ghost_installs, term |-> term, led |-> led,
               leaders |-> leaders, comes |-> comes, line |-> line, began |-> began,
               suspect |-> suspect, joining |-> joining, members |-> members,
               offers |-> offers,
               marks |-> marks]

Resumes(s) ==
    /\ log = s.log
    /\ commit = s.commit
    /\ intent = s.intent
    /\ rep = s.rep
    /\ last = s.last
    /\ ghost_hist = s.ghost_hist
    /\ ghost_last = s.ghost_last
    /\ ghost_crashes = s.ghost_crashes
    /\ dropped = s.dropped
    /\ known = s.known
    /\ pin = s.pin
    /\ pull = s.pull
    /\ ghost_exports = s.ghost_exports
    /\ ghost_installs = s.ghost_installs
    /\ term = s.term
    /\ led = s.led
    /\ leaders = s.leaders
    /\ comes = s.comes
    /\ line = s.line
    /\ began = s.began
    /\ suspect = s.suspect
    /\ joining = s.joining
    /\ members = s.members
    /\ offers = s.offers
    /\ marks = s.marks

TraceInit ==
    /\ piece \in DOMAIN TracePieces
    /\ cursor = 1
    /\ IF TraceCarried[piece] = <<>> THEN TraceBeginning
       ELSE \E i \in DOMAIN TraceCarried[piece] : Resumes(TraceCarried[piece][i])

Takes(a) ==
    /\ cursor <= Len(Events)
    /\ E.a = a
    /\ cursor' = cursor + 1
    /\ ComesNext(E, E.a = "Commit" /\ E.k = "purge")
    /\ Leading(E, E.a = "NewIncarnation" /\ E.u = 1)
    /\ UNCHANGED piece

(* Facts f after ops n to m of the log; in halves, for depth. *)
RECURSIVE FactsAfter(_, _, _)
FactsAfter(f, n, m) ==
    IF n > m THEN f
    ELSE IF n = m
    THEN LET o == log[n] IN IF o.k = "purge" /\ o.g > f.settled THEN EraStart(n, o.g, f.seen) ELSE Step(f, n, o)
    ELSE LET half == (n + m) \div 2 IN FactsAfter(FactsAfter(f, n, half), half + 1, m)

(* What a replica was at op n of its era, which it boots from. All replicas have the same     *)
(* facts after an op, so those remembered of an earlier op, whoever had them, lead there: the *)
(* way from the boundary is as long as the era.                                     *)
Apart == 16

TraceBooted(f, n) ==
    LET k == Min(Len(marks), n \div Apart)
        g == IF k = 0 THEN FactsAfter(TraceNewborn, TraceFirst + 1, n)
             ELSE FactsAfter(marks[k], Apart * k + 1, n)
    IN [g EXCEPT !.segs = SelectSeq(f.segs, LAMBDA e : e.op <= n)]

SameMoves == UNCHANGED <<transfer, counts, offers, marks>>
SameGroup == UNCHANGED <<line, began, suspect, joining, members>>
SameTerms == UNCHANGED term /\ SameGroup

(* A replica has in its log what it applies. *)
Knows ==
    /\ known' = [known EXCEPT ![E.r] = Max(@, rep'[E.r].applied)]
    /\ marks' = IF rep'[E.r].applied # Apart * (Len(marks) + 1) THEN marks
                ELSE Append(marks, [rep'[E.r] EXCEPT !.segs = <<>>, !.up = TRUE])
    /\ UNCHANGED <<dropped, pin, pull, counts, offers>>

(* Who offers has applied all that it knows to be committed, so it knows just that. It may be *)
(* less than is committed. Who offers to whoever begins a new incarnation tells nothing.    *)
TraceKnown(s) ==
    CASE ~(cursor <= Len(Events) /\ E.a = "OfferTransfer") -> rep[s].applied    \* for Enabled
      [] E.l = 0 /\ line > 1 -> 0
      [] E.l = rep[s].applied -> E.l
      [] OTHER -> commit + 1

(* The era of what is offered, or staged, is the one that the event tells. *)
OfEra(x) == x.f.gen = E.g /\ E.b = IF E.g = 0 THEN 0 ELSE x.f.boundary

(* The facts of the event's replica after the step are those that it shows. *)
Shows ==
    /\ rep'[E.r].applied = E.ap
    /\ rep'[E.r].start = E.st
    /\ rep'[E.r].end = E.en

ShowsAll == Shows /\ rep'[E.r].gen = E.g

(* What op o was asked to be; what was refused has no effect but its number. *)
Asked(e, o) ==
    CASE e.k = "append"  -> o.k = "other" \/ o = AppendOp(NoSession, e.n)
      [] e.k = "store"   -> o.k = "other" \/ o = StoreOp(e.key, -1, e.o)
      [] e.k = "delete"  -> o.k = "other" \/ o = DeleteOp(e.key)
      [] e.k = "advance" -> o.k = "other" \/ (o.k = "advance" /\ (e.o = -1 \/ o.o = e.o))
      [] e.k = "purge"   -> o = PurgeOp(e.g) \/ o = SettleOp(e.g)
      [] e.k = "other"   -> o.k = "other" \/ o.k = "store"   \* an auto-commit poll

EffectShown(e, f) ==
    CASE e.k = "append"  -> f = [k |-> "append", base |-> e.o, n |-> e.n]
      [] e.k = "store"   -> f = [k |-> "store", key |-> e.key, o |-> e.o]
      [] e.k = "delete"  -> f = [k |-> "delete", key |-> e.key]
      [] e.k = "advance" -> f = [k |-> "advance", o |-> e.o]
      [] e.k = "other"   -> f = NoEffect

(* The op with number n, if it is in the log. *)
Op(n) == IF n \in DOMAIN log THEN log[n] ELSE [k |-> "none"]

(* What is persisted, by the policies that the trace names. An op that had no effect   *)
(* may be of either kind. What an operator forces may lack anything.                *)
TracePersisted(o) ==
    LET p == TracePolicies[piece]
    IN /\ ~(cursor <= Len(Events) /\ E.a = "NewIncarnation" /\ E.k = "forced")
       /\ CASE o.k \in {"append", "advance"} -> p.messages
            [] o.k \in {"store", "delete"}   -> p.bookmarks
            [] o.k \in {"purge", "settle"}   -> p.messages \/ p.bookmarks
            [] OTHER                        -> p.messages /\ p.bookmarks

TakeCommit ==
    /\ Takes("Commit")
    /\ Op(E.op).k # "none"
    /\ Asked(E, Op(E.op))
    /\ IF E.u = 1 THEN UNCHANGED <<vars, term>>
       ELSE /\ Commit(E.op, Op(E.op))
            /\ InTerm(E, TracePolicies[piece].elects)
    /\ Shows
    /\ E.k # "purge" => rep'[E.r].gen = E.g    \* of a purge, g is what it asks for
    /\ SameGroup
    /\ SameMoves

TakeBecomeLeader ==
    /\ Takes("BecomeLeader")
    /\ E.r \notin joining
    /\ BecomeLeader(E.r, Len(log) - commit)
    /\ ShowsAll
    /\ UNCHANGED term
    /\ SameGroup
    /\ SameMoves

(* Whether the position up to which the event says that two incarnations agree is in   *)
(* the log that both have. An older generation is none that anybody asks for again.    *)
Agreeing ==
    LET f == FactsAfter(TraceNewborn, TraceFirst + 1, E.l)
    IN E.ao = -1 \/ E.ag < f.gen \/ (E.ag = f.gen /\ E.ao <= f.end)

(* OrderedGroup!NewIncarnation, of which all replicas replay the log from its beginning,  *)
(* on empty disks: with a Rejoin of each of them. Here the op with which it begins has no  *)
(* number.                                                                    *)
GoesOn ==
    /\ Agreeing
    /\ ContinueFrom(E.l, SubSeq(TraceLogs[piece][line + 1], 1, E.op - E.l))
    /\ rep' = [r \in Replicas |-> [TraceNewborn EXCEPT !.up = FALSE]]
    /\ UNCHANGED <<intent, last, ghosts>>
    /\ term' = 0
    /\ line' = line + 1
    /\ suspect' = {}
    /\ joining' = {}
    /\ members' = {}
    /\ offers' = {}
    /\ marks' = SubSeq(marks, 1, Min(Len(marks), E.l \div Apart))
    /\ known' = [r \in Replicas |-> 0]
    /\ pin' = [r \in Replicas |-> NoOffer]
    /\ pull' = [r \in Replicas |-> NoPull]
    /\ UNCHANGED <<began, dropped, counts>>

(* Replica r comes to where an incarnation begins, as all others do: after the one before *)
(* it.                                                                       *)
ComesTo ==
    LET b == [inc |-> E.n, op |-> E.op, ai |-> E.ai, ag |-> E.ag, ao |-> E.ao]
    IN /\ rep[E.r].up
       /\ rep[E.r].applied = E.op
       /\ E.ai = E.l   \* there may be others between in which nobody lived
       /\ UNCHANGED vars
       /\ ShowsAll
       /\ \A x \in began : x.inc = b.inc => x = b
       /\ began' = began \cup {b}
       /\ UNCHANGED <<term, line, suspect, joining, members>>
       /\ SameMoves

TakeNewIncarnation == Takes("NewIncarnation") /\ IF E.u = 1 THEN GoesOn ELSE ComesTo

(* The ops that the incarnation adds are proposed, as Propose does one by one. *)
TakePropose ==
    /\ Takes("Propose")
    /\ log' = log \o LET l == TraceLogs[piece][line] IN SubSeq(l, E.op - E.l + 1, Len(l))
    /\ UNCHANGED <<commit, intent, rep, last, ghosts>>
    /\ SameTerms
    /\ SameMoves

(* A change of membership is the matter of consensus. It is the same one everywhere; a    *)
(* new member votes and leads after one.                                        *)
TakeChangeMembers ==
    /\ Takes("ChangeMembers")
    /\ UNCHANGED vars
    /\ ShowsAll
    /\ E.op > E.ap
    /\ Op(E.op).k \in {"other", "none"}    \* it has no effect, or is not committed yet
    /\ \A m \in members : m.op = E.op => m.n = E.n
    /\ members' = members \cup {[op |-> E.op, n |-> E.n]}
    /\ UNCHANGED <<term, line, began, suspect, joining>>
    /\ SameMoves

TakeJoined ==
    /\ Takes("Joined")
    /\ UNCHANGED vars
    /\ ShowsAll
    /\ E.op > E.ap
    /\ E.r \in joining
    /\ \E m \in members : m.op = E.op
    /\ joining' = joining \ {E.r}
    /\ UNCHANGED <<term, line, began, suspect, members>>
    /\ SameMoves

TakeMaterialize ==
    /\ Takes("Materialize")
    /\ Materialize(E.r, E.op, Op(E.op))
    /\ EffectShown(E, EffectOf(rep[E.r], Op(E.op)))
    /\ ShowsAll
    /\ SameTerms
    /\ Knows

TakePurgeComplete ==
    /\ Takes("PurgeComplete")
    /\ PurgeComplete(E.r, E.op, E.g)
    /\ ShowsAll
    /\ SameTerms
    /\ Knows

(* See TraceOrdered: a purge that expected another position settles its intent. *)
TakePurgeDuplicate ==
    /\ Takes("PurgeDuplicate")
    /\ IF E.q <= rep[E.r].settled THEN PurgeDuplicate(E.r, E.op, E.q)
       ELSE E.g = E.q /\ Op(E.op).k = "settle" /\ Materialize(E.r, E.op, SettleOp(E.q))
    /\ Shows
    /\ SameTerms
    /\ Knows

(* A replica that stops offers no more. What it has taken is still there, and what it    *)
(* offered may be on its way.                                                  *)
Falls ==
    /\ pin' = [pin EXCEPT ![E.r] = NoOffer]
    /\ UNCHANGED <<dropped, known, pull, counts, offers, marks>>

TakeProcessCrash == Takes("ProcessCrash") /\ ProcessCrash(E.r) /\ SameTerms /\ Falls

(* AgreedLog!LosePower: where something is acknowledged before it is synced a replica    *)
(* that loses power is suspect, and comes back by a Rejoin only.                     *)
Volatile == ~TracePolicies[piece].messages \/ ~TracePolicies[piece].bookmarks

TakePowerLoss ==
    /\ Takes("PowerLoss")
    /\ PowerLoss(E.r)
    /\ suspect' = IF Volatile THEN suspect \cup {E.r} ELSE suspect
    /\ UNCHANGED <<term, line, began, joining, members>>
    /\ Falls

TakeBoot ==
    /\ Takes("Boot")
    /\ E.r \notin suspect
    /\ Boot(E.r, E.ap)
    /\ ShowsAll
    /\ SameTerms
    /\ SameMoves

TakeRejoin ==
    /\ Takes("Rejoin")
    /\ Rejoin(E.r)
    /\ ShowsAll \/ (line > 1 /\ E.ap > rep'[E.r].applied)   \* what it begins with is copied: CopyState comes next
    /\ joining' = joining \cup {E.r}
    /\ suspect' = suspect \ {E.r}
    /\ UNCHANGED <<term, line, began, members>>
    /\ known' = [known EXCEPT ![E.r] = 0]
    /\ pull' = [pull EXCEPT ![E.r] = NoPull]
    /\ UNCHANGED <<dropped, pin, counts, offers, marks>>

(* A replica may offer the same to several. To whoever begins a new incarnation anybody    *)
(* may, without knowing what is committed: a checkpoint holds nothing else.            *)
TakeOfferTransfer ==
    /\ Takes("OfferTransfer")
    /\ rep[E.r].up
    /\ E.l > 0 => E.r \notin joining
    /\ IF pin[E.r].n = E.op THEN UNCHANGED <<vars, pin, counts>> ELSE OfferTransfer(E.r, E.op)
    /\ OfEra(pin'[E.r])
    /\ Shows
    /\ offers' = offers \cup {pin'[E.r]}
    /\ UNCHANGED <<dropped, known, pull, marks>>
    /\ SameTerms

(* StageManifest of what anybody has offered, and all StageChunks. All that offer the     *)
(* same op offer the same state. What was left of an earlier pull is dropped.          *)
TakeStageManifest ==
    /\ Takes("StageManifest")
    /\ rep[E.r].up
    /\ E.op > E.l
    /\ \E x \in offers : x.n = E.op
    /\ LET x == CHOOSE y \in offers : y.n = E.op
       IN /\ Newer(E.r, x)
          /\ OfEra(x)
          /\ pull' = [pull EXCEPT ![E.r] = [i |-> x.i, n |-> x.n, got |-> 2, f |-> x.f]]
    /\ UNCHANGED <<vars, dropped, known, pin, counts, offers, marks>>
    /\ SameTerms

TakeCommitInstall ==
    /\ Takes("CommitInstall")
    /\ E.op > E.l
    /\ CommitInstall(E.r, E.op)
    /\ ShowsAll
    /\ UNCHANGED <<offers, marks>>
    /\ SameTerms

TakeDropTransfer ==
    /\ Takes("DropTransfer")
    /\ DropTransfer(E.r)
    /\ UNCHANGED <<offers, marks>>
    /\ SameTerms

(* A new incarnation may begin with a state that another one left, see TraceOrdered; or    *)
(* with a later one, that a replica of this one had.                                 *)
TakeCopyState ==
    /\ Takes("CopyState")
    /\ line > 1
    /\ rep[E.r] = [TraceNewborn EXCEPT !.up = FALSE]
    /\ E.op <= commit
    /\ rep' = [rep EXCEPT ![E.r] = [FactsAfter(@, TraceFirst + 1, E.op) EXCEPT !.up = FALSE]]
    /\ ShowsAll
    /\ UNCHANGED <<log, commit, intent, last, ghosts>>
    /\ Knows
    /\ SameTerms

(* Reads have phases, and other ops may be committed before the last of them;   *)
(* so the answer is held to the state of the replica that gave it, and the       *)
(* order that clients saw is left to the judgement of their history.             *)
TakeAnswer ==
    /\ Takes("Answer")
    /\ rep[E.r].up
    /\ LedOnce(E, TracePolicies[piece].elects)
    /\ UNCHANGED vars
    /\ ShowsAll
    /\ AnswerFits(E, IF E.k = "get-bookmark" THEN rep[E.r].bm[E.key].o ELSE -1)
    /\ SameTerms
    /\ SameMoves

TraceNext ==
    \/ TakeCommit
    \/ TakeBecomeLeader
    \/ TakeMaterialize
    \/ TakePurgeComplete
    \/ TakePurgeDuplicate
    \/ TakeProcessCrash
    \/ TakePowerLoss
    \/ TakeBoot
    \/ TakeRejoin
    \/ TakeNewIncarnation
    \/ TakePropose
    \/ TakeChangeMembers
    \/ TakeJoined
    \/ TakeAnswer
    \/ TakeOfferTransfer
    \/ TakeStageManifest
    \/ TakeCommitInstall
    \/ TakeDropTransfer
    \/ TakeCopyState

(* The search has no branches: a state is told by how far it has come. *)
TraceView == <<piece, cursor>>

TraceSpec == TraceInit /\ [][TraceNext]_<<all, trace>>

-----------------------------------------------------------------------------
(* Prints when a sequence, or a part of it, is accepted, and how far others have come.    *)
Consumed ==
    IF cursor > Len(Events)
    THEN PrintT(<<"DONE", piece, IF TraceGoesOn[piece] THEN ToString(TraceState) ELSE "">>)
    ELSE cursor % 64 # 0 \/ PrintT(<<"STEP", piece, cursor>>)

(* The replica that the event under the cursor is about. *)
Who == IF cursor <= Len(Events) THEN E.r ELSE 1

(* The actions of the specification that are enabled for that replica, whatever the      *)
(* trace says next. Of OfferTransfer one of the ops is enough. Of Boot the guard is written   *)
(* out, because TLC would make up the facts as of its op many times over.               *)
Enabled ==
    LET If(b, name) == IF b THEN {name} ELSE {}
        n == rep[Who].applied + 1
        o == Op(n)
    IN IF comes \notin {0, Who} THEN {}    \* who told the last op comes to it next
       ELSE
       If(ENABLED Commit(commit + 1, Op(commit + 1)), "Commit")
       \cup If(ENABLED ProcessCrash(Who), "ProcessCrash")
       \cup If(ENABLED PowerLoss(Who), "PowerLoss")
       \cup If(Who \notin suspect /\ ~rep[Who].up, "Boot")
       \cup If(ENABLED Rejoin(Who), "Rejoin")
       \cup If(Who \notin joining /\ ENABLED BecomeLeader(Who, Len(log) - commit), "BecomeLeader")
       \cup If(rep[Who].up /\ (TracePolicies[piece].elects => Who \in leaders), "Answer")
       \cup If(ENABLED Materialize(Who, n, o), "Materialize")
       \cup If(o.k = "purge" /\ ENABLED PurgeComplete(Who, n, o.g), "PurgeComplete")
       \cup If(\/ o.k = "purge" /\ ENABLED PurgeDuplicate(Who, n, o.g)
               \/ o.k = "settle" /\ ENABLED Materialize(Who, n, o), "PurgeDuplicate")
       \cup If(pin[Who].n = rep[Who].applied \/ ENABLED OfferTransfer(Who, rep[Who].applied), "OfferTransfer")
       \cup If(rep[Who].up /\ \E x \in offers : Newer(Who, x), "StageManifest")
       \cup If(ENABLED CommitInstall(Who, pull[Who].n), "CommitInstall")
       \cup If(ENABLED DropTransfer(Who), "DropTransfer")

(* Prints states from a given step on when rejected sequences are run again;    *)
(* after the last one no action explains the next event.                       *)
Told ==
    cursor < TraceFrom[piece] \/
    PrintT(<<"AT", piece, cursor,
             [up |-> rep[Who].up, commit |-> commit, floor |-> Floor, term |-> term, led |-> led,
              leaders |-> leaders, comes |-> comes, known |-> known[Who], 
              offers |-> {[n |-> x.n, g |-> x.f.gen, b |-> IF x.f.gen = 0 THEN 0 ELSE x.f.boundary] : x \in offers}, pull |-> pull[Who].n,
              suspect |-> Who \in suspect, joining |-> Who \in joining,
              now |-> [f \in DOMAIN rep[Who] \ {"segs", "seen", "up"} |-> rep[Who][f]],
              next |-> Op(rep[Who].applied + 1),
              op |-> IF cursor <= Len(Events) /\ "op" \in DOMAIN E THEN Op(E.op) ELSE [k |-> "none"]],
             Enabled>>)
=============================================================================
