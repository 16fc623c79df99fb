package model

import (
	"slices"
	"strings"

	"purgelab/model/op"
)

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
