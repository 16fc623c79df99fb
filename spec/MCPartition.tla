----------------------------- MODULE MCPartition -----------------------------
(* Bounds for the contract. *)
EXTENDS PartitionShows

CONSTANTS MaxEnd, MaxUnknown, MaxGen, k1, g1, s1, s2

MaxInc == 2

Tagged(g, o) == [i |-> 1, g |-> g, o |-> o]
Unknown == Cardinality(loose) + Cardinality({s \in Sessions : sent[s] # NoRequest})

(* What may be lost. *)
Losable == {[f |-> "append", batch |-> <<1>>, t |-> 0],
            [f |-> "purge", g |-> 1, expected |-> Anything],
            [f |-> "delete-records", pos |-> Bare(-1), expected |-> Anything]}

MCMayLose(q) == q \in Losable /\ Unknown < MaxUnknown
MCMayDo(q) == q.f = "append" => End(core) + Len(q.batch) <= MaxEnd

Batches == {<<1>>, <<1, 2>>}
Poll_(strategy, max, reset, pos, t, auto, key) ==
    [f |-> "poll", strategy |-> strategy, max |-> max, reset |-> reset, pos |-> pos, t |-> t,
     auto |-> auto, key |-> key]

AllPolls ==
    {Poll_("next", 1, reset, Bare(0), 0, auto, k1) :
        reset \in {"earliest", "latest", "error"}, auto \in {"no", "yes", "async"}}
    \cup {Poll_("next", 2, "earliest", Bare(0), 0, "yes", g1)}
    \cup {Poll_(strategy, 1, "earliest", Bare(0), 0, "no", k1) : strategy \in {"first", "last"}}
    \cup {Poll_("offset", 2, "earliest", pos, 0, auto, k1) :
            pos \in {Tagged(0, 0), Tagged(1, 1), Bare(1), [i |-> 2, g |-> 0, o |-> 0]},
            auto \in {"no", "yes"}}
    \cup {Poll_("timestamp", 1, "earliest", Bare(0), 1, "no", k1)}

AllRequests ==
    {[f |-> "append", batch |-> b, t |-> Len(b) - 1] : b \in Batches}
    \cup AllPolls
    \cup {[f |-> "store", key |-> k, pos |-> p] :
            k \in {k1, g1}, p \in {Tagged(0, 0), Tagged(1, 0), Bare(1)}}
    \cup {[f |-> "delete", key |-> k] : k \in {k1, g1}}
    \cup {[f |-> "get", key |-> k] : k \in {k1, g1}}
    \cup {[f |-> "list", which |-> w, t |-> 1] : w \in {"earliest", "latest", "timestamp"}}
    \cup {[f |-> "delete-records", pos |-> p, expected |-> e] :
            p \in {Bare(-1), Bare(-2), Tagged(0, 1), Tagged(1, 2)}, e \in {Anything}}
    \cup {[f |-> "delete-records", pos |-> Bare(-1), expected |-> Tagged(0, 1)]}
    \cup {[f |-> "purge", g |-> g, expected |-> e] : g \in 1 .. MaxGen, e \in {Anything, Tagged(0, 1)}}

(* Fewer, for models with sessions. *)
FewRequests ==
    {[f |-> "append", batch |-> <<1>>, t |-> 0],
     Poll_("next", 1, "earliest", Bare(0), 0, "yes", k1),
     [f |-> "store", key |-> k1, pos |-> Tagged(0, 0)],
     [f |-> "delete-records", pos |-> Bare(-1), expected |-> Anything]}
    \cup {[f |-> "purge", g |-> g, expected |-> Anything] : g \in 1 .. MaxGen}

(* Fewer still. *)
SessionRequests ==
    {[f |-> "append", batch |-> <<1>>, t |-> 0],
     Poll_("next", 1, "earliest", Bare(0), 0, "yes", k1),
     [f |-> "purge", g |-> 1, expected |-> Anything]}

Nobody == <<>>

(* New incarnations: two payloads that can be told apart, positions of both. *)
SuccessionRequests ==
    {[f |-> "append", batch |-> <<p>>, t |-> 0] : p \in {1, 2}}
    \cup {Poll_("offset", 2, "earliest", [i |-> i, g |-> 0, o |-> 0], 0, "no", k1) : i \in 1 .. MaxInc}
    \cup {Poll_("next", 1, "earliest", Bare(0), 0, "yes", k1),
          [f |-> "store", key |-> k1, pos |-> [i |-> 1, g |-> 0, o |-> 1]],
          [f |-> "purge", g |-> 1, expected |-> Anything]}

SuccessionLosable == {q \in SuccessionRequests : q.f \in {"append", "purge"}}
SuccessionMayLose(q) == q \in SuccessionLosable /\ Unknown < MaxUnknown
SuccessionMayBegin == core.inc < MaxInc
SuccessionEnds == 0 .. MaxEnd

(* A purge takes both, and is as durable as the stricter of the two. *)
Bookmarks == {"poll", "store", "delete", "raise"}
LacksMessages(q)  == q.f \notin Bookmarks \cup {"purge"}
LacksBookmarks(q) == q.f \in Bookmarks
LacksBoth(q)      == TRUE
LacksNothing(q)   == FALSE

View == <<core, sent, loose, past>>
=============================================================================
