------------------------------ MODULE Contract ------------------------------
(* What a client may expect of one partition, as pure functions: each takes  *)
(* the state c and a request q and gives [c |-> new state, r |-> reply].     *)
(* Partition.tla makes a state machine of them; the levels below fold them   *)
(* over the committed log, to know what each op should have done.            *)
(*                                                                           *)
(* State: incarnation, generation, settled (highest purge intent applied or  *)
(* found mismatched), start, messages from start upwards, clock (highest     *)
(* timestamp given), bookmarks (an offset of the current generation, or -1), *)
(* sessions with the reply to their last request, least recently used first; *)
(* and for each incarnation after the first what was agreed on in the one    *)
(* before: generation and end.                                               *)
(*                                                                           *)
(* A position is [i, g, o]; i = 0 says that the client sent a bare offset.   *)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
    Keys,        \* owners of bookmarks: consumers and groups, same rules
    Sessions,    \* client sessions that can be registered
    Numbering,   \* "restart": offsets begin at 0 in each generation;
                 \* "continue": purge is delete-records(-1)
    TableSize    \* sessions that the table holds

Max(a, b) == IF a > b THEN a ELSE b
Min(a, b) == IF a < b THEN a ELSE b

Bare(o)  == [i |-> 0, g |-> 0, o |-> o]
Anything == [i |-> 0, g |-> 0, o |-> -2]   \* no expected position
Nothing  == [i |-> 0, g |-> 0, o |-> -3]   \* an expectation never met
NoReply  == [code |-> "none"]

NewSession == [st |-> "none", reply |-> NoReply, older |-> FALSE]

(* open is the sequence of sessions that are registered from the beginning. *)
Fresh(open) ==
    [inc |-> 1, began |-> <<>>, gen |-> 0, settled |-> 0, start |-> 0, msgs |-> <<>>, clock |-> 0,
     bm   |-> [k \in Keys |-> -1],
     sess |-> [s \in Sessions |-> IF \E i \in DOMAIN open : open[i] = s
                                  THEN [NewSession EXCEPT !.st = "open"] ELSE NewSession],
     lru  |-> open]

End(c)       == c.start + Len(c.msgs)
Pos(c, o)    == [i |-> c.inc, g |-> c.gen, o |-> o]
Gives(c, r)  == [c |-> c, r |-> r]
Fails(c, code) == Gives(c, [code |-> code, start |-> c.start, end |-> End(c)])

(* Does a position name an offset of the current era? One of an older incarnation *)
(* does if every later one began in its generation, and above it.                *)
LivesOn(c, p) ==
    /\ p.i \in 1 .. c.inc
    /\ p.g = c.gen
    /\ \A j \in p.i .. c.inc - 1 : c.began[j].g = p.g /\ c.began[j].o > p.o

(* "ok", or why the position names another history. *)
Staleness(c, p) ==
    IF p.i = 0 \/ LivesOn(c, p) THEN "ok"
    ELSE IF p.i # c.inc THEN "StaleIncarnation"
    ELSE "StaleGeneration"

(* The next incarnation begins with all of c; of it, what ends at offset o of  *)
(* generation g is known to have been agreed on.                              *)
Begin(c, g, o) == [c EXCEPT !.inc = @ + 1, !.began = Append(@, [g |-> g, o |-> o])]

(* Expectations name the end of the partition. *)
Unexpected(c, p) == /\ p # Anything
                    /\ p # Pos(c, End(c))

(* The records at offsets o to o + n - 1. *)
Records(c, o, n) == SubSeq(c.msgs, o - c.start + 1, o - c.start + n)

(* Offsets of the records stamped t or later. *)
From(c, t) == {o \in c.start .. End(c) - 1 : c.msgs[o - c.start + 1].t >= t}
Least(S)   == CHOOSE x \in S : \A y \in S : x <= y

-----------------------------------------------------------------------------
(* append: q.batch, q.t. Dense offsets, all or nothing. *)
DoAppend(c, q) ==
    LET t    == Max(c.clock, q.t)
        recs == [j \in DOMAIN q.batch |-> [p |-> q.batch[j], t |-> t]]
    IN [c |-> [c EXCEPT !.msgs = @ \o recs, !.clock = t],
        r |-> [code |-> "ok", pos |-> Pos(c, End(c)), t |-> t]]

(* Where a poll begins: an offset, or -1 if that is out of range. *)
Where(c, q) ==
    CASE q.strategy = "first"     -> c.start
      [] q.strategy = "last"      -> Max(c.start, End(c) - q.max)
      [] q.strategy = "timestamp" -> IF From(c, q.t) = {} THEN End(c) ELSE Least(From(c, q.t))
      [] q.strategy = "offset"    -> IF q.pos.o < c.start \/ q.pos.o > End(c) THEN -1 ELSE q.pos.o
      [] q.strategy = "next"      ->
            LET b == IF c.bm[q.key] = -1 THEN c.start ELSE c.bm[q.key] + 1
            IN CASE b >= c.start         -> b
                 [] q.reset = "earliest" -> c.start
                 [] q.reset = "latest"   -> End(c)
                 [] q.reset = "error"    -> -1

(* poll: q.key, q.strategy, q.max, q.reset, q.pos, q.t, q.auto in "no", "yes", *)
(* "async". With "yes" the bookmark is raised in the same instant, never lowered. *)
DoPoll(c, q) ==
    LET stale == IF q.strategy = "offset" THEN Staleness(c, q.pos) ELSE "ok"
        b     == Where(c, q)
        n     == Min(q.max, End(c) - b)
        raise == q.auto = "yes" /\ n > 0 /\ b + n - 1 > c.bm[q.key]
    IN IF stale # "ok" THEN Fails(c, stale)
       ELSE IF b = -1 THEN Fails(c, "OffsetOutOfRange")
       ELSE [c |-> IF raise THEN [c EXCEPT !.bm[q.key] = b + n - 1] ELSE c,
             r |-> [code |-> "ok", pos |-> Pos(c, b), n |-> n, recs |-> Records(c, b, n)]]

(* The raise of an asynchronous auto-commit: in its own era only, never down. *)
DoRaise(c, q) ==
    Gives(IF Staleness(c, q.pos) = "ok" /\ q.pos.o < End(c) /\ q.pos.o > c.bm[q.key]
          THEN [c EXCEPT !.bm[q.key] = q.pos.o] ELSE c,
          NoReply)

(* store-bookmark: q.key, q.pos. May move back; below start is legal. *)
DoStore(c, q) ==
    IF Staleness(c, q.pos) # "ok" THEN Fails(c, Staleness(c, q.pos))
    ELSE IF q.pos.o < 0 \/ q.pos.o >= End(c) THEN Fails(c, "InvalidOffset")
    ELSE Gives([c EXCEPT !.bm[q.key] = q.pos.o], [code |-> "ok"])

DoDelete(c, q) ==
    IF c.bm[q.key] = -1 THEN Gives(c, [code |-> "NotFound"])
    ELSE Gives([c EXCEPT !.bm[q.key] = -1], [code |-> "ok"])

DoGet(c, q) ==
    Gives(c, IF c.bm[q.key] = -1 THEN [code |-> "ok", found |-> FALSE]
             ELSE [code |-> "ok", found |-> TRUE, pos |-> Pos(c, c.bm[q.key])])

(* list-offsets: q.which in "earliest", "latest", "timestamp"; q.t. *)
DoList(c, q) ==
    Gives(c,
        CASE q.which = "earliest" -> [code |-> "ok", found |-> TRUE, pos |-> Pos(c, c.start)]
          [] q.which = "latest"   -> [code |-> "ok", found |-> TRUE, pos |-> Pos(c, End(c))]
          [] q.which = "timestamp" ->
                IF From(c, q.t) = {} THEN [code |-> "ok", found |-> FALSE]
                ELSE LET o == Least(From(c, q.t))
                     IN [code |-> "ok", found |-> TRUE, pos |-> Pos(c, o),
                         t |-> c.msgs[o - c.start + 1].t])

(* The state with start moved up to o. *)
Advance(c, o) == [c EXCEPT !.start = o, !.msgs = SubSeq(@, o - c.start + 1, Len(@))]

(* delete-records: q.pos, whose offset -1 is the end; q.expected. *)
DoDeleteRecords(c, q) ==
    LET o == IF q.pos.o = -1 THEN End(c) ELSE q.pos.o
        Refused(code) == Gives(c, [code |-> code, start |-> c.start, end |-> End(c), low |-> -1])
    IN IF Staleness(c, q.pos) # "ok" THEN Refused(Staleness(c, q.pos))
       ELSE IF Unexpected(c, q.expected) THEN Refused("Mismatch")
       ELSE IF o < 0 \/ o > End(c) THEN Refused("OffsetOutOfRange")
       ELSE IF o <= c.start THEN Gives(c, [code |-> "ok", low |-> c.start])
       ELSE Gives(Advance(c, o), [code |-> "ok", low |-> o])

(* purge: q.g, the intent's generation; q.expected. An intent settled before is *)
(* answered and changes nothing; a mismatch settles it. Numbers may be skipped. *)
DoPurge(c, q) ==
    IF Numbering = "continue"
    THEN IF Unexpected(c, q.expected) THEN Fails(c, "Mismatch")
         ELSE Gives(Advance(c, End(c)), [code |-> "ok", low |-> End(c)])
    ELSE IF q.g <= c.gen THEN Gives(c, [code |-> "ok", g |-> q.g])
    ELSE IF q.g <= c.settled THEN Fails(c, "Mismatch")
    ELSE IF Unexpected(c, q.expected)
         THEN [c |-> [c EXCEPT !.settled = q.g],
               r |-> [code |-> "Mismatch", start |-> c.start, end |-> End(c)]]
    ELSE Gives([c EXCEPT !.gen = q.g, !.settled = q.g, !.start = 0, !.msgs = <<>>,
                         !.bm = [k \in Keys |-> -1]],
               [code |-> "ok", g |-> q.g])

Do(c, q) ==
    CASE q.f = "append"         -> DoAppend(c, q)
      [] q.f = "poll"           -> DoPoll(c, q)
      [] q.f = "raise"          -> DoRaise(c, q)
      [] q.f = "store"          -> DoStore(c, q)
      [] q.f = "delete"         -> DoDelete(c, q)
      [] q.f = "get"            -> DoGet(c, q)
      [] q.f = "list"           -> DoList(c, q)
      [] q.f = "delete-records" -> DoDeleteRecords(c, q)
      [] q.f = "purge"          -> DoPurge(c, q)

(* Requests that are ops of the log. *)
Mutates(q) == \/ q.f \in {"append", "store", "delete", "delete-records", "purge"}
              \/ (q.f = "poll" /\ q.auto = "yes")

-----------------------------------------------------------------------------
(* Sessions. A numbered request is executed once; its reply is kept. Of a poll *)
(* the range is kept and read again, and when it is no longer there: Gone.     *)
(* A purge is made repeatable by its intent and takes no number; where          *)
(* numbering continues it has no intent and does.                             *)
Numbered(q) == Mutates(q) /\ (q.f = "purge" => Numbering = "continue")

Kept(r) == IF "recs" \in DOMAIN r THEN [code |-> r.code, pos |-> r.pos, n |-> r.n] ELSE r

Touch(lru, s) == Append(SelectSeq(lru, LAMBDA x : x # s), s)

DoNumbered(c, s, q) ==
    IF c.sess[s].st # "open" THEN Gives(c, [code |-> "SessionExpired"])
    ELSE LET d == Do(c, q)
         IN [c |-> [d.c EXCEPT
                      !.sess[s] = [st |-> "open", reply |-> Kept(d.r),
                                   older |-> c.sess[s].reply # NoReply],
                      !.lru = Touch(@, s)],
             r |-> d.r]

(* The first reply again. *)
ReplyAgain(c, s) ==
    LET r == c.sess[s].reply
    IN IF c.sess[s].st # "open" THEN [code |-> "SessionExpired"]
       ELSE IF "n" \notin DOMAIN r THEN r
       ELSE IF r.n = 0 THEN [code |-> "ok", pos |-> r.pos, n |-> 0, recs |-> <<>>]
       ELSE IF r.pos.i = c.inc /\ r.pos.g = c.gen /\ r.pos.o >= c.start
            THEN [code |-> "ok", pos |-> r.pos, n |-> r.n, recs |-> Records(c, r.pos.o, r.n)]
       ELSE [code |-> "Gone", pos |-> r.pos, n |-> r.n]

(* A full table evicts the session least recently used. *)
DoRegister(c, s) ==
    LET evict == Len(c.lru) >= TableSize
        kept  == IF evict THEN Tail(c.lru) ELSE c.lru
        table == IF evict THEN [c.sess EXCEPT ![Head(c.lru)] = [NewSession EXCEPT !.st = "expired"]]
                 ELSE c.sess
    IN [c EXCEPT !.sess = [table EXCEPT ![s] = [NewSession EXCEPT !.st = "open"]],
                 !.lru = Append(kept, s)]
=============================================================================
