------------------------------ MODULE Committed ------------------------------
(* Ops of the log and what each should do, by the contract. An op is          *)
(*   [k |-> "append", id, n]       n messages; id numbers the request, or NoSession *)
(*   [k |-> "store", key, g, o]    g = -1: a bare offset                       *)
(*   [k |-> "commit", key, n, at]  an auto-commit poll of at most n messages    *)
(*                                 after the bookmark; at = -1 (see OrderedGroup) *)
(*   [k |-> "delete", key]         a bookmark                                  *)
(*   [k |-> "advance", o]          delete-records; -1 is the end               *)
(*   [k |-> "purge", g]                                                        *)
(*   [k |-> "settle", g]           a purge whose expectation is not met         *)
(*   [k |-> "other"]               anything that only takes a number            *)
(*   [k |-> "begin", o]            a new incarnation (see OrderedGroup)          *)
(* The payload of a message is the number of the op that appended it.          *)
EXTENDS Contract

CONSTANT NoSession

AppendOp(id, n)     == [k |-> "append", id |-> id, n |-> n]
StoreOp(key, g, o)  == [k |-> "store", key |-> key, g |-> g, o |-> o]
CommitOp(key, n)    == [k |-> "commit", key |-> key, n |-> n, at |-> -1]
DeleteOp(key)       == [k |-> "delete", key |-> key]
AdvanceOp(o)        == [k |-> "advance", o |-> o]
PurgeOp(g)          == [k |-> "purge", g |-> g]
SettleOp(g)         == [k |-> "settle", g |-> g]
OtherOp             == [k |-> "other"]
BeginOp(o)          == [k |-> "begin", o |-> o]

(* The request that op n answers, in the contract's words; none if it only takes a number. *)
RequestOf(n, o) ==
    CASE o.k = "append"  -> [f |-> "append", batch |-> [j \in 1 .. o.n |-> n], t |-> 0]
      [] o.k = "store"   -> [f |-> "store", key |-> o.key,
                             pos |-> IF o.g = -1 THEN Bare(o.o) ELSE [i |-> 1, g |-> o.g, o |-> o.o]]
      [] o.k = "commit"  -> [f |-> "poll", key |-> o.key, strategy |-> "next", max |-> o.n,
                             reset |-> "earliest", auto |-> "yes"]
      [] o.k = "delete"  -> [f |-> "delete", key |-> o.key]
      [] o.k = "advance" -> [f |-> "delete-records", pos |-> Bare(o.o), expected |-> Anything]
      [] o.k = "purge"   -> [f |-> "purge", g |-> o.g, expected |-> Anything]
      [] o.k = "settle"  -> [f |-> "purge", g |-> o.g, expected |-> Nothing]
      [] o.k = "other"   -> [f |-> "none"]

ActionOf(o) ==
    CASE o.k = "append"  -> "AppendMessages"
      [] o.k = "store"   -> "StoreBookmark"
      [] o.k = "commit"  -> "PollAutoCommit"
      [] o.k = "delete"  -> "DeleteBookmark"
      [] o.k = "advance" -> "DeleteRecords"
      [] o.k \in {"purge", "settle"} -> "Purge"

CallerOf(o) == IF o.k = "append" THEN o.id ELSE NoSession

(* Op o as number n upon the contract's state c: [c, r]. *)
Upon(c, n, o) ==
    IF o.k = "other" THEN Gives(c, NoReply)
    ELSE IF CallerOf(o) = NoSession THEN Do(c, RequestOf(n, o))
    ELSE IF c.sess[CallerOf(o)].reply # NoReply THEN Gives(c, ReplyAgain(c, CallerOf(o)))
    ELSE DoNumbered(c, CallerOf(o), RequestOf(n, o))

(* hist[n + 1] is the contract's state after op n. One entry more, computed    *)
(* from the last: never a fold over the whole log. Traces replace it.          *)
Remember(hist, n, o) == Append(hist, Upon(hist[Len(hist)], n, o).c)

(* What the client of op n saw, in the shape of Partition's `last`. *)
Seen(hist, n, o, before) ==
    LET c == hist[Len(hist)]
    IN IF o.k = "other" THEN before
       ELSE IF CallerOf(o) # NoSession /\ c.sess[CallerOf(o)].reply # NoReply
       THEN [a |-> "Repeat", s |-> CallerOf(o), q |-> [f |-> "repeat"], r |-> Upon(c, n, o).r]
       ELSE [a |-> ActionOf(o), s |-> CallerOf(o), q |-> RequestOf(n, o), r |-> Upon(c, n, o).r]
=============================================================================
