----------------------------- MODULE Properties -----------------------------
(* The named properties, said of what replicas show, whatever the level. Each  *)
(* level defines the variables below from its own (see OrderedShows,           *)
(* OrderedGroupShows, PartitionShows).                                        *)
(*                                                                           *)
(* truth[n + 1] is the contract's state after op n of the committed log; the   *)
(* payload of a message is the number of the op that appended it.              *)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS Replicas, Owners, Callers

VARIABLES
    truth,
    did,         \* name of the last action
    \* Of each replica:
    running,     \* it has booted
    serving,     \* it answers reads
    applied, gen, boundary, start, end,
    top,         \* highest generation it ever completed
    bm,          \* per key [op, o]: the op that wrote the bookmark, its offset; -1: none
    msgs,        \* what a read from the start finds: pairs <<offset, payload>>
    seen,        \* per session the offset of its first reply; -1: none
    marker,      \* [st, g, p]
    folders,     \* generations on its disk: [g, applied]
    safe,        \* messages that no crash removes ...
    safeAt,      \* ... and the op through which they should be all there
    marks        \* bookmark entries on its disk: [op, key, o]

At(n)       == truth[n + 1]
Known       == Len(truth) - 1
Latest      == truth[Len(truth)]
Era(n)      == At(n).gen
Shown(c)    == {<<c.start + j - 1, c.msgs[j].p>> : j \in DOMAIN c.msgs}
EndOf(c)    == c.start + Len(c.msgs)
Serving     == {r \in Replicas : serving[r]}
Up          == {r \in Replicas : running[r]}
InTruth(r)  == gen[r] = Era(applied[r])

(* The op that began the generation which holds at op n; 0 for the first. *)
BoundaryAt(n) ==
    LET begun == {x \in 1 .. n : Era(x) = Era(n) /\ Era(x - 1) # Era(x)}
    IN IF begun = {} THEN 0 ELSE CHOOSE x \in begun : TRUE

-----------------------------------------------------------------------------
(* On every replica that serves, messages, bookmarks and purge record belong to one era. *)
HistoryAgreement ==
    \A r \in Serving :
        /\ marker[r].st # "begun" => marker[r].g = gen[r]
        /\ \A x \in msgs[r] : Era(x[2]) = gen[r]
        /\ \A k \in Owners : bm[r][k].o # -1 => Era(bm[r][k].op) = gen[r]

(* After a replica applied generation g it shows no message of an older one. *)
NoResurrectedMessage ==
    \A r \in Serving : \A x \in msgs[r] : Era(x[2]) >= top[r]

(* A bookmark stored in one era is never visible in another. *)
NoResurrectedBookmark ==
    \A r \in Up, k \in Owners : bm[r][k].o # -1 => Era(bm[r][k].op) = gen[r]

(* A message after the boundary is never removed by applying, retrying or recovering. *)
NoFreshLoss ==
    \A r \in Up : gen[r] = Era(safeAt[r]) => Shown(At(safeAt[r])) \subseteq safe[r]

(* Every op committed above the boundary is visible on every replica that executes it. *)
NoHiddenFresh ==
    \A r \in Serving : InTruth(r) => Shown(At(applied[r])) \subseteq msgs[r]

(* Delivering a purge again changes nothing. *)
RetryIdempotent ==
    [][ did' = "PurgeDuplicate" =>
            UNCHANGED <<gen, boundary, start, end, msgs, bm, seen, marker>> ]_<<applied, did>>

(* The applied generation never falls, and never exceeds the committed one. *)
GenerationMonotone ==
    \A r \in Up : top[r] <= gen[r] /\ gen[r] <= Era(Known)

(* A durable completion of g implies that g's reset is durable. *)
CompletionLast ==
    \A r \in Replicas : marker[r].st = "complete" =>
        \E f \in folders[r] : f.g = marker[r].g /\ f.applied >= marker[r].p

(* A purge that is not complete leaves the applied op and generation below it. *)
NoErrorNoAdvance ==
    \A r \in Up : marker[r].st = "begun" => gen[r] < marker[r].g /\ applied[r] < marker[r].p

(* A boundary filters only ops at or below itself: it is the purge's own number. *)
BoundaryScope ==
    \A r \in Up : InTruth(r) => boundary[r] = BoundaryAt(applied[r])

(* For each generation all replicas discard the same ops. *)
BoundaryAgreement ==
    \A r, s \in Up : gen[r] = gen[s] => boundary[r] = boundary[s]

(* One payload per position, ever. *)
OffsetUnique ==
    \A r, s \in Serving : gen[r] = gen[s] =>
        \A x \in msgs[r], y \in msgs[s] : x[1] = y[1] => x[2] = y[2]

(* Durable bookmarks hold only committed values. *)
CommittedOnlyDurable ==
    \A r \in Replicas : \A e \in marks[r] : e.op <= Known /\ At(e.op).bm[e.key] = e.o

(* A bookmark never lies at or above the end of its era; an empty fresh era has none. *)
BookmarkBound ==
    \A r \in Serving, k \in Owners : bm[r][k].o # -1 => bm[r][k].o < end[r]

(* `next` skips no message that no store or auto-commit of that consumer covered. *)
NextContract ==
    \A r \in Serving : InTruth(r) => \A k \in Owners : bm[r][k].o = At(applied[r]).bm[k]

(* Progress computed in one era is never applied in another. *)
NoLateProgress ==
    \A r \in Up, k \in Owners : bm[r][k].o # -1 => bm[r][k].o = At(bm[r][k].op).bm[k]

(* A numbered request is executed at most once, and its repeats get the first reply. *)
SessionOnce ==
    \A r \in Up, s \in Callers :
        LET reply == At(applied[r]).sess[s].reply
        IN seen[r][s] = IF "pos" \in DOMAIN reply THEN reply.pos.o ELSE -1

(* Earliest answers the start, latest the end, as of the ops applied. *)
EarliestIsStart ==
    \A r \in Serving : InTruth(r) =>
        start[r] = At(applied[r]).start /\ end[r] = EndOf(At(applied[r]))

(* The era does not change. *)
SameEra == Latest'.inc = Latest.inc /\ Latest'.gen = Latest.gen

(* Committed ops are never dropped or replaced within an incarnation. *)
CommittedPrefixSafe ==
    [][ truth' # truth /\ Latest'.inc = Latest.inc =>
            Len(truth) <= Len(truth') /\ \A n \in DOMAIN truth : truth'[n] = truth[n] ]_truth

(* Within an era the start never falls. *)
StartMonotone == [][ SameEra => Latest.start <= Latest'.start ]_truth

(* Within an era the end never falls. *)
LatestMonotone == [][ SameEra => EndOf(Latest) <= EndOf(Latest)' ]_truth

(* Auto-commits of one era in any order leave the greatest. *)
AutoCommitMonotone ==
    [][ did' = "PollAutoCommit" => \A k \in Owners : Latest.bm[k] <= Latest'.bm[k] ]_truth
=============================================================================
