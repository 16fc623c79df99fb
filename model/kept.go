package model

import (
	"slices"
	"strings"

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
}

// point is what a configuration was, without the trail.
type point struct {
	core    *State
	pending []int32
	keys    []keyed
	joined  int32 // unknown operations below it were pending once
	again   []int32
}

// trail is a list of points, the latest last; never modified in place.
type trail struct {
	points []point
	hash   uint64
	// again are the operations executed since the first point that may be
	// somewhere else in another replica's log; as unknown operations, sorted.
	again []int32
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
			if end := ops[j].keptIn(s, p.facts); end > 0 {
				s.least = max(s.least, end)
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
func (s *succession) mayLose(k op.Kind) bool {
	may := s.operation.Request.MayLose
	if may&op.LosesSynced != 0 {
		return true
	}
	switch k {
	case op.Poll, op.StoreBookmark, op.DeleteBookmark:
		return may&op.LosesBookmarks != 0
	}
	return may&op.LosesMessages != 0
}

// admits tells whether the new incarnation may have gone on from a state.
func (s *succession) admits(c *State) bool {
	b := s.bounds
	switch {
	case c.generation > b.Position.Generation:
		return false
	case c.generation < b.Position.Generation:
		return true
	}
	return c.start <= b.Start && c.End() <= b.End && c.End() >= s.least
}

// leave adds to the trail what c is after an op of kind k changed it.
func (p *Problem) leave(c configuration, k op.Kind, shadow int32) configuration {
	s := p.next(c.core.incarnation)
	if s == nil {
		c.trail = nil
		return c
	}
	var t trail
	if c.trail != nil {
		t.again = c.trail.again
		if s.mayLose(k) {
			t.points = c.trail.points
		}
	}
	if shadow >= 0 {
		t.again = insert(t.again, shadow)
	}
	t.points = s.prune(t.points, c.core)
	if s.admits(c.core) {
		t.points = append(slices.Clip(t.points), point{c.core, c.pending, c.keys, c.joined, t.again})
	}
	for i := range t.points {
		t.hash = t.points[i].mix(t.hash)
	}
	c.trail = &t
	return c
}

// prune drops points that a later one makes needless. A purge takes everything
// with it, so of the points before the purge that begins the new incarnation's
// generation the latest does; and none, if that purge was agreed on.
func (s *succession) prune(points []point, now *State) []point {
	g := s.bounds.Position.Generation
	older := func(c *State) bool { return c.generation < g }
	if older(now) || s.bounds.Agreed.Generation == g {
		return slices.DeleteFunc(slices.Clone(points), func(x point) bool { return older(x.core) })
	}
	return points
}

// succeed begins a new incarnation from every point of the trail of c.
func (e *expansion) succeed(c configuration) {
	s := e.p.next(c.core.incarnation)
	if s == nil || s.item != e.x || c.trail == nil {
		return
	}
	e.p.filling = s
	for _, x := range c.trail.points {
		from := configuration{core: x.core, pending: x.pending, keys: x.keys, joined: c.joined}
		for u := x.joined; u < c.joined; u++ {
			from = from.add(u, &e.p.unknowns[u])
		}
		for _, u := range c.trail.again {
			if !contains(x.again, u) {
				from = from.add(u, &e.p.unknowns[u])
			}
		}
		e.relevant = e.p.relevantCore(from, e.x.footprint)
		e.explore(from, nil, -1, 0)
	}
	e.p.filling = nil
}

// begins is what c becomes when the new incarnation x keeps all of it.
func (p *Problem) begins(c configuration, x *item) (configuration, bool) {
	s := p.filling
	next, want := p.sem.Step(c.core, x.op.Request, x.choice)
	if p.differs(x.op.Request, &want, x.op.Reply) != "" || !p.agrees(c.core, s) {
		return c, false
	}
	c.keys = slices.Clone(c.keys)
	for i := range c.keys {
		k := &c.keys[i]
		k.alts = p.expandKey(c.core, next, k.key, k.alts, x.footprint, x.op.Call, func(a alternative) (op.Offset, bool) { return a.offset, true })
		for j := range k.alts {
			k.alts[j].pending = p.surviving(k.alts[j].pending, s.begins)
		}
		k.alts = mergeAlternatives(k.alts)
	}
	c.core, c.pending = next, p.surviving(c.pending, s.begins)
	c.trail = nil
	return p.leave(c, op.NewIncarnation, -1), true
}

// agrees tells whether no message of a state is at a position that lives on and
// named another message before.
func (p *Problem) agrees(c *State, s *succession) bool {
	a := s.bounds.Agreed
	if a.Generation != c.generation {
		return true
	}
	for o := op.Offset(0); o < min(a.Offset, c.End()); o++ {
		if held, ok := p.facts.taken[at(a, o)]; ok && held != c.log.at(o).payload {
			return false
		}
	}
	return true
}

// surviving drops what means an incarnation before i. Intents go on.
func (p *Problem) surviving(pending []int32, i op.Incarnation) []int32 {
	return slices.DeleteFunc(slices.Clone(pending), func(u int32) bool {
		x := &p.unknowns[u]
		return x.incarnation != 0 && x.incarnation < i && x.req.Kind != op.Purge
	})
}

// isolated tells that u means another incarnation than that of a state.
func (p *Problem) isolated(u *unknown, s *State) bool {
	return u.incarnation != 0 && u.incarnation != s.incarnation && u.req.Kind != op.Purge
}

func (x *point) mix(h uint64) uint64 {
	h = mix(mixAll(mix(h, x.core.Hash()), x.pending), uint64(x.joined))
	for i := range x.keys {
		h = x.keys[i].mix(h)
	}
	return mixAll(h, x.again)
}

func (t *trail) len() int {
	if t == nil {
		return 0
	}
	return len(t.points)
}

func (t *trail) equal(o *trail) bool {
	if t == o {
		return true
	}
	if t == nil || o == nil || t.hash != o.hash || !slices.Equal(t.again, o.again) {
		return false
	}
	return slices.EqualFunc(t.points, o.points, func(a, b point) bool {
		return a.joined == b.joined && slices.Equal(a.pending, b.pending) && slices.Equal(a.again, b.again) && a.core.Equal(b.core) && sameKeys(a.keys, b.keys)
	})
}

// points prints the latest states from which a new incarnation may go on.
func (s *configurations) points() string {
	var out []string
	for _, c := range s.list {
		for i := c.trail.len() - 1; i >= 0 && len(out) < 3; i-- {
			if text := c.trail.points[i].core.String(); !slices.Contains(out, text) {
				out = append(out, text)
			}
		}
	}
	if len(out) == 0 {
		return "none, for what must be kept goes beyond the bounds"
	}
	return strings.Join(out, " or ")
}
