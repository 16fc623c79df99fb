-------------------------- MODULE OrderedGroupShows --------------------------
(* What the replicas of OrderedGroup show, in the words of Properties, and how   *)
(* OrderedGroup refines Partition.                                            *)
EXTENDS OrderedGroup

CONSTANT Asked   \* every request that clients may have sent

Each(f(_)) == [r \in Replicas |-> f(rep[r])]
IsUp(f)      == f.up
AppliedOf(f) == f.applied
GenOf(f)     == f.gen
BoundOf(f)   == f.boundary
StartOf(f)   == f.start
EndFact(f)   == f.end
MarksOf(f)   == f.bm
ReadOf(f)    == Readable(f.segs, f.applied, f.start)
SeenOf(f)    == [s \in Sessions |-> f.seen[s].o]
MarkerFact(f) == [st |-> "complete", g |-> f.gen, p |-> f.boundary]
FoldersOf(f) == {[g |-> f.gen, applied |-> f.boundary]}
NoneOf(f)    == {}

P == INSTANCE Properties WITH
    Owners   <- Keys,
    Callers  <- Sessions,
    truth    <- ghost_hist,
    did      <- last.a,
    running  <- Each(IsUp),
    serving  <- Each(IsUp),
    applied  <- Each(AppliedOf),
    gen      <- Each(GenOf),
    boundary <- Each(BoundOf),
    start    <- Each(StartOf),
    end      <- Each(EndFact),
    top      <- Each(GenOf),
    bm       <- Each(MarksOf),
    msgs     <- Each(ReadOf),
    seen     <- Each(SeenOf),
    marker   <- Each(MarkerFact),
    folders  <- Each(FoldersOf),
    safe     <- Each(ReadOf),
    safeAt   <- Each(AppliedOf),
    marks    <- Each(NoneOf)

HistoryAgreement      == P!HistoryAgreement
NoResurrectedMessage  == P!NoResurrectedMessage
NoResurrectedBookmark == P!NoResurrectedBookmark
NoFreshLoss           == P!NoFreshLoss
NoHiddenFresh         == P!NoHiddenFresh
RetryIdempotent       == P!RetryIdempotent
GenerationMonotone    == P!GenerationMonotone
BoundaryScope         == P!BoundaryScope
BoundaryAgreement     == P!BoundaryAgreement
OffsetUnique          == P!OffsetUnique
BookmarkBound         == P!BookmarkBound
NextContract          == P!NextContract
NoLateProgress        == P!NoLateProgress
SessionOnce           == P!SessionOnce
EarliestIsStart       == P!EarliestIsStart
CommittedPrefixSafe   == P!CommittedPrefixSafe

(* No answer by a replica that has not applied what is committed, and no offer of a state  *)
(* under the number of an op that its replica has not applied.                          *)
NoPhantomEmpty ==
    [][ CASE last'.a = "Answer" -> rep[last'.r].applied = commit
          [] last'.a = "OfferTransfer" -> rep[last'.r].applied >= last'.n
          [] OTHER -> TRUE ]_last

(* What was acknowledged survives what its policy promises: a persisted op, and what   *)
(* came before it, is missing in no incarnation.                                    *)
AckDurable ==
    [][ \A n \in 0 .. Floor : ghost_hist'[n + 1] = ghost_hist[n + 1] ]_vars

(* What a replica recorded in one incarnation has no effect in the next: there it is    *)
(* what the log makes of it.                                                        *)
IncarnationIsolation ==
    [][ last'.a = "NewIncarnation" => \A r \in Replicas : rep'[r] = Carried(Newborn, log') ]_vars

-----------------------------------------------------------------------------
(* Witnesses: models that must fail, because what these say never happens does.  *)

(* A generation has two purges in the committed log. *)
NeverDuplicates == [][ last'.a # "PurgeDuplicate" ]_vars

(* A replica has fresh messages while another is still in the era before. *)
NeverFreshWhileBehind ==
    \A r, s \in Replicas : ~(rep[r].gen > rep[s].gen /\ rep[r].segs # <<>> /\ rep[s].up)

(* A new incarnation lacks a purge, which every replica had applied. *)
NeverLacksPurge ==
    [][ ~(last'.a = "NewIncarnation" /\ \A r \in Replicas : rep[r].gen > rep'[r].gen) ]_vars

(* A leader change drops a purge, whose intent then wants it again. *)
NeverDropsPurge ==
    [][ last'.a = "BecomeLeader" =>
            PurgesUnderWay = {log'[n].g : n \in {x \in commit' + 1 .. Len(log') : log'[x].k = "purge"}}
      ]_vars

-----------------------------------------------------------------------------
(* The states from which a new incarnation may go on: those since the last op that   *)
(* had an effect and must be kept.                                              *)
Binding(n) == (Persisted(log[n]) \/ log[n].k = "begin") /\ ghost_hist[n + 1] # ghost_hist[n]
Recalled ==
    IF ~Begins THEN {}
    ELSE LET bound == {0} \cup {n \in 1 .. commit : Binding(n)}
             least == CHOOSE n \in bound : \A m \in bound : m <= n
         IN {ghost_hist[n + 1] : n \in least .. commit}

(* A request's policy is that of its op. *)
MayLackRequest(q) ==
    ~Persisted([k |-> CASE q.f = "poll" -> "commit" [] q.f = "delete-records" -> "advance" [] OTHER -> q.f])

(* Clients see the committed log, and what replicas answer. *)
Client == INSTANCE Partition WITH
    core <- ghost_hist[Len(ghost_hist)],
    sent <- [s \in Sessions |-> [q |-> [f |-> "none"], done |-> FALSE, i |-> 0]],
    loose <- {},
    past <- Recalled,
    Begins <- Begins,
    MayLack <- MayLackRequest,
    last <- ghost_last,
    Requests <- Asked

RefinesPartition == Client!NamedSpec
=============================================================================
