------------------------------- MODULE Effects -------------------------------
(* How a replica materializes ops. Its facts m are                            *)
(*   applied   the last op applied        gen, boundary  the era it is in      *)
(*   start, end                           settled  highest intent settled      *)
(*   bm        per key the op that wrote the bookmark and its offset, -1: none *)
(* An op is first validated against the facts as of that op, which gives an    *)
(* effect; the effect then changes facts and storage.                          *)
EXTENDS Committed

NoBookmark == [op |-> 0, o |-> -1]

FreshFacts(n, g, s) ==
    [applied |-> n, gen |-> g, boundary |-> n, start |-> 0, end |-> 0, settled |-> s,
     bm |-> [k \in Keys |-> NoBookmark]]

NoEffect == [k |-> "none"]

(* What op o does upon facts m. A purge is no effect: it has steps of its own. *)
EffectOf(m, o) ==
    CASE o.k = "append" -> [k |-> "append", base |-> m.end, n |-> o.n]
      [] o.k = "store"  ->
            IF (o.g = -1 \/ o.g = m.gen) /\ o.o < m.end
            THEN [k |-> "store", key |-> o.key, o |-> o.o] ELSE NoEffect
      [] o.k = "commit" ->
            LET b == Max(m.bm[o.key].o + 1, m.start)
                n == Min(o.n, m.end - b)
            IN IF o.at >= 0 THEN [k |-> "store", key |-> o.key, o |-> o.at]
               ELSE IF n > 0 THEN [k |-> "store", key |-> o.key, o |-> b + n - 1] ELSE NoEffect
      [] o.k = "delete" ->
            IF m.bm[o.key].o = -1 THEN NoEffect ELSE [k |-> "delete", key |-> o.key]
      [] o.k = "advance" ->
            LET s == IF o.o = -1 THEN m.end ELSE o.o
            IN IF s > m.start /\ s <= m.end THEN [k |-> "advance", o |-> s] ELSE NoEffect
      [] o.k = "settle" ->
            IF o.g > m.settled THEN [k |-> "settle", g |-> o.g] ELSE NoEffect
      [] OTHER -> NoEffect

(* The facts after op n had effect e. *)
After(m, n, e) ==
    LET a == [m EXCEPT !.applied = n]
    IN CASE e.k = "append"  -> [a EXCEPT !.end = @ + e.n]
         [] e.k = "store"   -> [a EXCEPT !.bm[e.key] = [op |-> n, o |-> e.o]]
         [] e.k = "delete"  -> [a EXCEPT !.bm[e.key] = [op |-> n, o |-> -1]]
         [] e.k = "advance" -> [a EXCEPT !.start = e.o]
         [] e.k = "settle"  -> [a EXCEPT !.settled = e.g]
         [] OTHER           -> a

(* Offsets and payloads in segment entries, the ones of ops above `through`     *)
(* and offsets below `start` left out.                                         *)
RECURSIVE Payloads(_, _)
Payloads(segs, through) ==
    IF segs = <<>> \/ Head(segs).op > through THEN <<>>
    ELSE [j \in 1 .. Head(segs).n |-> Head(segs).op] \o Payloads(Tail(segs), through)

Readable(segs, through, start) ==
    UNION {{<<segs[i].base + j, segs[i].op>> :
                j \in {x \in 0 .. segs[i].n - 1 : segs[i].base + x >= start}} :
           i \in {x \in DOMAIN segs : segs[x].op <= through}}

(* Facts and segments as a state of the contract, for reads. *)
AsContract(m, segs) ==
    LET all == Payloads(segs, m.applied)
    IN [Fresh(<<>>) EXCEPT !.gen = m.gen, !.settled = m.settled, !.start = m.start,
            !.msgs = [j \in 1 .. Max(Len(all) - m.start, 0) |-> [p |-> all[m.start + j], t |-> 0]],
            !.bm = [k \in Keys |-> m.bm[k].o]]
=============================================================================
