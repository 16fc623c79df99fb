package invariant

import (
	"slices"

	"purgelab/impl/observe"
	"purgelab/model/op"
)

// This file judges progress: in which era a store was computed and in which it
// takes effect, and what a poll by `next` skips. A request says of which era the
// client believes its position to be, also when it sends the bare offset alone.
//
// An answer does not say by which op its request was executed, so every store of
// that bookmark at that offset, between the call and the answer, is a candidate;
// only if all were executed in another era than the one that the client had its
// position from, the progress was late for certain.

// stored is the execution of one store, by a request or by an auto-commit.
type stored struct {
	op       op.Number
	gen      op.Generation
	offset   op.Offset
	filtered bool // by a floor: it took effect in an era that is gone
	late     bool // it was computed in another era
}

// account of the stores of each bookmark: one for all replicas where they agree, at
// 0, and else one for each.
type account []map[op.Key][]stored

func (a account) add(who int, key string, x stored) {
	k, ok := parseKey(key)
	if !ok {
		return
	}
	list := a[who][k]
	for i := len(list) - 1; i >= 0 && list[i].op >= x.op; i-- {
		if old := list[i]; old.op == x.op && old.gen == x.gen && old.offset == x.offset && old.filtered == x.filtered {
			return // again, after a boot
		}
	}
	a[who][k] = append(list, x)
}

// executedStore notes an event that stores a bookmark.
func (c *Checker) executedStore(p *part, e *observe.Event, gen op.Generation, filtered bool) {
	who := 0
	if c.resets != nil {
		who = e.Replica
	}
	p.stores.add(who, e.Key, stored{op: e.Op, gen: gen, offset: e.Offset, filtered: filtered})
}

// progress looks at an answer that a replica gives, which has applied the ops up
// to applied, to a request that was sent when those up to asked were committed.
func (c *Checker) progress(p *part, id int, r *op.Request, reply *op.Reply, applied, asked op.Number) {
	if reply.Code != op.OK {
		return
	}
	who := 0
	if c.resets != nil {
		who = id
	}
	switch {
	case r.Kind == op.StoreBookmark:
		c.storeAnswered(p, who, id, r, applied, asked)
	case r.Kind == op.Poll && r.Strategy == op.Next && !r.AutoCommit && r.Reset != op.Latest:
		c.nextAnswered(p, who, id, r, reply, applied)
	}
}

func (c *Checker) storeAnswered(p *part, who, id int, r *op.Request, applied, asked op.Number) {
	if r.At.Incarnation == 0 {
		return // nobody says where it comes from
	}
	var last *stored
	n := 0
	list := p.stores[who][r.Key]
	for i := len(list) - 1; i >= 0; i-- {
		x := &list[i]
		if x.op <= asked && c.resets == nil {
			break // they are in the order of the log
		}
		if x.op <= asked || x.op > applied || x.offset != r.At.Offset {
			continue
		}
		if x.filtered || x.gen == r.At.Generation {
			return
		}
		last = x
		n++
	}
	if n == 0 {
		return
	}
	if n == 1 {
		last.late = true
	}
	c.report(p, id, "NoLateProgress", "the bookmark of %s at %s, as its client had it, is stored in generation %d by op %d", r.Key, r.At, last.gen, last.op)
}

// nextAnswered: what lies between the start and what `next` reads was covered by a
// store of this era.
func (c *Checker) nextAnswered(p *part, who, id int, r *op.Request, reply *op.Reply, applied op.Number) {
	at := reply.Position
	start, ok := c.startAt(p, id, applied, at.Generation)
	if !ok || at.Offset <= start {
		return
	}
	list := p.stores[who][r.Key]
	for i := len(list) - 1; i >= 0; i-- {
		x := &list[i]
		if x.op <= applied && x.gen == at.Generation && !x.filtered && !x.late && x.offset >= at.Offset-1 {
			if c.resets != nil && c.resets[p.id].replicas[id].member != nil {
				c.covers(p, id, r.Key, c.resets[p.id].replicas[id].member, start, at)
			}
			return
		}
	}
	c.report(p, id, "NextContract", "next of %s reads from %s; no store of this era covers what is before it, from offset %d", r.Key, at, start)
}

// startAt is the start as a replica has it after an op, if it is known and of the
// generation.
func (c *Checker) startAt(p *part, id int, applied op.Number, g op.Generation) (op.Offset, bool) {
	s := state{}
	switch {
	case c.resets != nil:
		s = c.resets[p.id].replicas[id].now
	case int(applied) < len(p.ops) && p.ops[applied].did.kind != "":
		s = p.ops[applied].after
	default:
		return 0, false
	}
	return s.start, s.gen == g
}

// Quiet says that clients have done their work: what they read from now on is no
// progress of theirs.
func (c *Checker) Quiet() { c.quiet = true }

// covers looks at what a replica passes over, from its start, for a bookmark that is
// of this era. Who stored it meant the messages that clients had been told to lie
// there; if another one lies there, of which no client was told, it was never covered.
func (c *Checker) covers(p *part, id int, key op.Key, m Subject, start op.Offset, next op.Position) {
	recs, err := m.Records(start, int(next.Offset-start))
	if err != nil {
		return
	}
	told := p.clients.gen(next.Generation).payloads
	for i := range recs {
		at := next
		at.Offset = start + op.Offset(i)
		if at.Offset >= next.Offset || int(at.Offset) >= len(told) {
			return
		}
		here, there := recs[i].Payload, told[at.Offset]
		if there == "" || there == here || slices.Contains(p.clients.also[at], here) {
			continue
		}
		c.report(p, id, "NextContract", "next of %s reads from %s and passes over %s, where %.20s lies; clients were told of %.20s there", key, next, at, here, there)
		return
	}
}
