package invariant

import "purgelab/model/op"

// This file holds answers against those that ended before their call began: the
// generation never falls, and within an era neither does the start, nor the end. It
// looks at every answer that says where the log stands, not only at those to
// list-offsets; but not at those to a numbered request that a later call repeats,
// which gets the answer of the first time.

// floor is the highest start and end that were answered in an era.
type floor struct {
	incarnation op.Incarnation
	gen         op.Generation
	start, end  op.Offset
}

// bounds are what an answer says of the era in which it was given. A start or an end
// that it does not tell is -1; atLeast is an end that it shows to have been reached.
type bounds struct {
	era                 op.Position
	start, end, atLeast op.Offset
	what                string // for a reader
}

// boundsIn reads them; ok is false if the answer says nothing.
func boundsIn(r *op.Request, reply *op.Reply) (b bounds, ok bool) {
	b = bounds{era: reply.Position, start: -1, end: -1, atLeast: -1, what: r.Kind.String()}
	at := reply.Position.Offset
	switch reply.Code {
	case op.OffsetOutOfRange, op.InvalidOffset, op.StaleGeneration, op.StaleIncarnation, op.Mismatch:
		b.start, b.end, b.atLeast = reply.Start, reply.End, reply.End
		return b, true
	case op.OK:
	default:
		return b, false
	}
	switch r.Kind {
	case op.ListOffsets:
		b.what = r.Which.String()
		switch r.Which {
		case op.EarliestOffset:
			b.start = at
		case op.LatestOffset:
			b.end, b.atLeast = at, at
		}
		return b, reply.Found
	case op.Poll:
		if r.Strategy == op.First && !r.AutoCommit {
			b.start = at
		}
		if reply.Count > 0 { // an empty one may come from a bookmark that should not be there
			b.atLeast = at + op.Offset(reply.Count)
		}
	case op.Append:
		b.end, b.atLeast = at, at+op.Offset(len(r.Payloads))
	case op.DeleteRecords:
		b.start = at
	default:
		return b, false
	}
	return b, true
}

// bounds compares an answer with what was answered before its call began.
func (c *Checker) bounds(p *part, client int, b bounds) {
	a := &p.clients
	if a.repeats[client] {
		return
	}
	before, at := a.floor[client], b.era
	if at.Incarnation < a.now.incarnation {
		return
	}
	fresh := floor{incarnation: at.Incarnation, gen: at.Generation}
	if at.Incarnation > before.incarnation {
		before = fresh
	}
	if at.Generation < before.gen {
		c.report(p, 0, "GenerationMonotone", "%s answered generation %d after generation %d was answered", b.what, at.Generation, before.gen)
		return
	}
	if at.Generation > before.gen {
		before = fresh
	}
	if at.Incarnation > a.now.incarnation || at.Generation > a.now.gen {
		a.now = fresh
	}
	if b.start >= 0 && b.start < before.start {
		c.report(p, 0, "StartMonotone", "%s answered start %d of generation %d after %d was answered", b.what, b.start, at.Generation, before.start)
	}
	if b.end >= 0 && b.end < before.end {
		c.report(p, 0, "LatestMonotone", "%s answered end %d of generation %d after %d was answered", b.what, b.end, at.Generation, before.end)
	}
	if at.Generation == a.now.gen {
		a.now.start, a.now.end = max(a.now.start, b.start), max(a.now.end, b.atLeast)
	}
}
