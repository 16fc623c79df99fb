package invariant

import (
	"slices"

	"purgelab/impl/observe"
	"purgelab/impl/replica"
	"purgelab/model/op"
)

// This file judges partitions that go on in a new incarnation. What its replicas do
// has an account of its own from the beginning: they first do again what the log
// that they go on from holds. When they are where the incarnation begins, that is
// compared with the account of the one before: it may lack what its policy allows to
// be lost, and nothing else; and of what it is known to have agreed on, nothing is
// different.

// Policy says what replicas may lose.
func (c *Checker) Policy(p replica.Policy) { c.policy = p }

// Forced says that an operator began the next incarnation of a partition without
// waiting for all: it may lack anything.
func (c *Checker) Forced(part op.Partition) { c.parts[part].forced = true }

// of is the account that an event belongs to; nil: to one that is over.
func (c *Checker) of(e *observe.Event) *part {
	p := c.parts[e.Partition]
	switch {
	case e.Incarnation < p.incarnation:
		return nil
	case e.Incarnation > p.incarnation:
		next := newPart(p.id, len(p.replicas)-1, len(p.clients.floor))
		next.incarnation, next.before = e.Incarnation, p
		if p.before != nil { // nobody was in that one
			next.before, next.aside = p.before, p.aside
			if len(p.ops) > 2 {
				next.aside = p
			}
		}
		c.parts[e.Partition] = next
		return next
	}
	return p
}

// concerns tells whether a replica is one of the account.
func (p *part) concerns(v *replica.View) bool {
	return !v.Sealed && !v.Copying && (p.incarnation == 0 || v.Incarnation == p.incarnation)
}

// begun compares the account of an incarnation with that of the one before, when the
// first of its replicas is where it begins.
func (c *Checker) begun(p *part, e *observe.Event) {
	old := p.before
	if old == nil || op.Incarnation(e.Count) <= max(1, old.incarnation) {
		return
	}
	at, err := op.ParsePosition(e.Key)
	if err != nil {
		c.report(p, e.Replica, "IncarnationIsolation", "agreed position %q: %v", e.Key, err)
		return
	}
	if p.agreed == nil {
		p.agreed = &at // with the one that has an account
	}
	if op.Incarnation(e.Count) < p.incarnation {
		return // of one in between, in which nobody was
	}
	p.before, p.aside = nil, nil
	if !old.forced {
		c.survived(p, old, e)
	}
	p.clients.keep(&old.clients, *p.agreed)
}

// survived looks from the end of the old log for what the new one lacks: ops that are
// replicated, up to the first one that is not, or that is there.
func (c *Checker) survived(p, old *part, e *observe.Event) {
	later := 0 // an op that keeps what comes before it
	for n := len(old.ops) - 1; n >= 2; n-- {
		was := &old.ops[n]
		if was.term == 0 {
			continue
		}
		kept := n < len(p.ops) && p.ops[n].term == was.term && p.ops[n].asked == was.asked && p.ops[n].asks == was.asks
		persisted := !c.mayLose(was)
		switch {
		case !kept && persisted:
			c.report(p, e.Replica, "AckDurable", "op %d, %+v, took effect in the incarnation before and is not in incarnation %d, which begins after op %d", n, was.asked, p.incarnation, e.Op)
		case !kept && later > 0:
			c.report(p, e.Replica, "AckDurable", "op %d, %+v, took effect in the incarnation before and is not in incarnation %d, though op %d must keep it", n, was.asked, p.incarnation, later)
		}
		if later == 0 && (kept || persisted) {
			later = n
		}
	}
}

// mayLose tells whether the policy allows an op to be lost.
func (c *Checker) mayLose(f *fact) bool {
	messages, bookmarks := c.policy.Messages == replica.Replicated, c.policy.Bookmarks == replica.Replicated
	switch f.asks {
	case op.Register, op.Append, op.DeleteRecords:
		return messages
	case op.StoreBookmark, op.DeleteBookmark, op.Poll:
		return bookmarks
	case op.Purge:
		return messages && bookmarks
	}
	return true // it asks for nothing
}

// keep takes over what clients know of the incarnation before, up to the position
// up to which the two agree.
func (a *answers) keep(old *answers, agreed op.Position) {
	for i := range old.at {
		k := old.at[i]
		if k.gen > agreed.Generation {
			continue
		}
		if k.gen == agreed.Generation {
			k.payloads = slices.Clone(k.payloads[:min(len(k.payloads), int(agreed.Offset))])
		}
		a.at = append(a.at, k)
		for o, payload := range k.payloads {
			if payload != "" {
				a.where[payload] = op.Position{Incarnation: agreed.Incarnation, Generation: k.gen, Offset: op.Offset(o)}
			}
		}
	}
}
