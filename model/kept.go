package model

import (
	"slices"

	"purgelab/model/op"
)

// This file finds out what a new incarnation may have kept. The log of the
// replica from which it begins agrees with what the old incarnation was up to
// some op, so a configuration remembers what it was after each op from which the
// next incarnation of the history may have gone on: its trail. After that op the
// replica's log may hold requests of unknown outcome, and requests that were sent
// more than once and have another place in the old incarnation: they fill what
// is missing between a point of the trail and the bounds that were recorded.
// succession is a new incarnation of the history.
type succession struct {
	operation     *Operation
	item          *item
	after, begins op.Incarnation
	bounds        *op.Reply
	// No point of the trail ends below this, in the generation that begins: the
	// messages below it are known to have been kept in their place.
	least op.Offset
	// Where the partition must end for a purge that may begin the new incarnation's
	// generation, if one has an expectation.
	expected []op.Position
}

// succeeds finds the new incarnations of a history and what is known of each.
func (p *Problem) succeeds(ops []Operation) {
	for i := range ops {
		o := &ops[i]
		if o.Request.Kind != op.NewIncarnation {
			continue
		}
		s := &succession{operation: o, after: o.Reply.Agreed.Incarnation, begins: o.Reply.Position.Incarnation, bounds: o.Reply}
		for j := range ops {
			s.least = max(s.least, ops[j].keptIn(s, p.facts))
			if r := ops[j].Request; r.Kind == op.Purge && r.Expected != nil && r.Expected.Incarnation == s.after && (r.Intent == 0 || r.Intent == s.bounds.Position.Generation) {
				s.expected = append(s.expected, *r.Expected)
			}
		}
		p.successions = append(p.successions, s)
	}
}

// keptIn is the end of an answered append that the new incarnation is known to
// hold in its place; 0 for any other operation.
func (o *Operation) keptIn(s *succession, f *facts) op.Offset {
	if o.Request.Kind != op.Append || o.Reply == nil || o.Reply.Code != op.OK {
		return 0
	}
	first, n := o.Reply.Position, op.Offset(len(o.Request.Payloads))
	if first.Incarnation != s.after || first.Generation != s.bounds.Position.Generation || first.Offset+n > s.bounds.End {
		return 0
	}
	if a := s.bounds.Agreed; a.Generation == first.Generation && first.Offset+n <= a.Offset {
		return first.Offset + n
	}
	first.Incarnation = s.begins
	if held, ok := f.taken[first]; ok && held == o.Request.Payloads[0] && !o.Again {
		return first.Offset + n
	}
	return 0
}

// next is the incarnation that follows one; nil: none in this history.
func (p *Problem) next(i op.Incarnation) *succession {
	for _, s := range p.successions {
		if s.after == i {
			return s
		}
	}
	return nil
}

// mayLose tells whether an op may be missing in the new incarnation though it
// took effect in the old one.
func (s *succession) mayLose(k op.Kind) bool { return mayLose(s.operation.Request.MayLose, k) }

// admits tells whether the new incarnation may have gone on from a state.
func (s *succession) admits(c *State) bool {
	b := s.bounds
	switch {
	case c.generation > b.Position.Generation:
		return false
	case c.generation < b.Position.Generation:
		return c.settled < b.Position.Generation // else no purge leads there any more
	}
	return c.start <= b.Start && c.End() <= b.End && c.End() >= s.least
}

// prune drops points that a later one makes needless. A purge takes everything
// with it, so of the points before the purge that begins the new incarnation's
// generation the latest will do, and those that a purge expects; and none, if
// that purge was agreed on.
func (s *succession) prune(points []configuration, now *State) []configuration {
	g := s.bounds.Position.Generation
	agreed := s.bounds.Agreed.Generation == g && now.generation == g
	if !agreed && now.settled >= g || len(points) == 0 {
		return points
	}
	return slices.DeleteFunc(slices.Clone(points), func(x configuration) bool {
		return x.core.generation < g && (agreed || !slices.ContainsFunc(s.expected, func(p op.Position) bool {
			return p.Generation == x.core.generation && p.Offset >= x.core.End()
		}))
	})
}
