package model

import (
	"slices"
	"strings"

	"purgelab/model/op"
)

// trail lists what a configuration was when the next incarnation may have gone on
// from it, without trails; the latest last, never modified in place. Pending in
// each is what may be in another replica's log after it: unknown operations of
// then and of later, and what was executed since and was sent more than once.
type trail struct {
	points []configuration
	hash   uint64
}

func newTrail(points []configuration) *trail {
	t := &trail{points: points}
	for i := range points {
		t.hash = points[i].mix(t.hash)
	}
	return t
}

// add makes an unknown operation pending in every point.
func (t *trail) add(u int32, x *unknown) *trail {
	if t == nil {
		return nil
	}
	points := slices.Clone(t.points)
	for i := range points {
		points[i] = points[i].add(u, x)
	}
	return newTrail(points)
}

// leave adds to the trail what c is after an op of kind k changed it; shadow is
// the op as an unknown operation, or -1.
func (p *Problem) leave(c configuration, k op.Kind, shadow int32) configuration {
	s := p.next(c.core.incarnation)
	if s == nil {
		c.trail = nil
		return c
	}
	t := c.trail
	if t == nil || !s.mayLose(k) {
		t = &trail{}
	}
	if shadow >= 0 {
		t = t.add(shadow, &p.unknowns[shadow])
	}
	points := s.prune(t.points, c.core)
	if s.admits(c.core) {
		points = append(slices.Clip(points), configuration{core: c.core, pending: c.pending, keys: c.keys})
	}
	c.trail = newTrail(points)
	return c
}

// settles tells whether an answered operation x changed the bookmark of its key,
// whatever that was.
func settles(x *item, before []alternative) bool {
	a := x.op.Reply
	switch {
	case x.op.Request.Kind == op.Poll:
		return x.op.Request.AutoCommit && a.Count > 0 && !slices.ContainsFunc(before, func(b alternative) bool {
			return b.offset >= a.Position.Offset+op.Offset(a.Count)-1
		})
	case x.op.Request.Mutates():
		return a.Code == op.OK
	}
	return false
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
	return t != nil && o != nil && t.hash == o.hash && slices.EqualFunc(t.points, o.points, configuration.same)
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
