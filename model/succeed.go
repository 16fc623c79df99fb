package model

import (
	"slices"

	"purgelab/model/op"
)

// succeed begins a new incarnation from every point of the trail of c.
func (e *expansion) succeed(c configuration) {
	s := e.p.next(c.core.incarnation)
	if s == nil || s.item != e.x || c.trail == nil {
		return
	}
	e.p.filling = s
	for _, from := range c.trail.points {
		if e.p.exhausted() {
			break
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
		if held, ok := p.facts.taken[at(a, o)]; ok && held != c.log.at(o).Payload {
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
