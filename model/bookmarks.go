package model

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"purgelab/model/op"
)

// keyed holds all that the bookmark of one key may be.
type keyed struct {
	key  op.Key
	alts []alternative // sorted, at least one, never modified in place
}

// alternative is one possible bookmark, with the unknown operations of its key
// that did not yet take effect in it.
type alternative struct {
	offset  op.Offset // noBookmark: there is none
	pending []int32   // sorted, never modified in place
}

const noBookmark op.Offset = -1

func compareAlternatives(a, b alternative) int {
	return cmp.Or(cmp.Compare(a.offset, b.offset), slices.Compare(a.pending, b.pending))
}

// key returns what the bookmark of k may be.
func (c configuration) key(k op.Key) keyed {
	for i := range c.keys {
		if c.keys[i].key == k {
			return c.keys[i]
		}
	}
	return keyed{k, []alternative{{offset: noBookmark}}}
}

// with replaces what a bookmark may be.
func (c configuration) with(k keyed) configuration {
	i, found := slices.BinarySearchFunc(c.keys, k.key, func(a keyed, b op.Key) int {
		return cmp.Or(cmp.Compare(a.key.Kind, b.Kind), cmp.Compare(a.key.ID, b.ID))
	})
	keys := make([]keyed, 0, len(c.keys)+1)
	keys = append(append(keys, c.keys[:i]...), k)
	if found {
		i++
	}
	c.keys = append(keys, c.keys[i:]...)
	return c
}

// on is the core with one bookmark in it.
func (a alternative) on(core *State, k op.Key) *State {
	if a.offset == noBookmark {
		return core
	}
	s := *core
	s.bookmarks = []bookmark{{k, a.offset}}
	return &s
}

// offsetIn is what became of the bookmark.
func offsetIn(s *State) op.Offset {
	if len(s.bookmarks) == 0 {
		return noBookmark
	}
	return s.bookmarks[0].offset
}

// answerKey executes the answered operation x, which reads or changes the
// bookmark of its key, on every alternative, unknown operations of that key
// before it where they make a difference.
func (p *Problem) answerKey(core *State, alts []alternative, x *item) []alternative {
	try := func(a alternative) (op.Offset, bool) {
		s, ok := p.accept(a.on(core, x.key), x)
		if !ok {
			return 0, false
		}
		return offsetIn(s), true
	}
	return p.expandKey(core, core, x.key, alts, x.footprint, x.op.Call, try)
}

// pass carries bookmarks across a change of the core by an operation of
// footprint y: unknown operations that would do something else later may have
// to take effect before it.
func (p *Problem) pass(keys []keyed, before, after *State, y footprint, now int64) []keyed {
	if before == after || len(keys) == 0 {
		return keys
	}
	purged := before.generation != after.generation
	out := keys
	for i := range keys {
		k := keys[i]
		switch {
		case purged:
			k.alts = slices.Clone(k.alts)
			for j := range k.alts {
				k.alts[j] = alternative{noBookmark, p.unspent(k.alts[j].pending, after.generation)}
			}
			k.alts = mergeAlternatives(k.alts)
		case slices.ContainsFunc(k.alts, func(a alternative) bool { return len(a.pending) > 0 }):
			k.alts = p.expandKey(before, after, k.key, k.alts, y, now, func(a alternative) (op.Offset, bool) { return a.offset, true })
		default:
			continue
		}
		if &out[0] == &keys[0] {
			out = slices.Clone(keys)
		}
		out[i] = k
	}
	return out
}

// expandKey applies an operation of footprint y, which try stands for, to all
// alternatives; the core is before, and after it is after.
func (p *Problem) expandKey(before, after *State, key op.Key, alts []alternative, y footprint, now int64, try func(alternative) (op.Offset, bool)) []alternative {
	e := keyExpansion{p: p, before: before, after: after, key: key, now: now, try: try}
	for _, a := range alts {
		e.relevant = nil
		if len(a.pending) > 0 {
			e.relevant = p.relevant(a.pending, y)
		}
		e.explore(a, nil, -1, 0)
	}
	return mergeAlternatives(e.out)
}

// keyExpansion is for one bookmark what expansion is for the core.
type keyExpansion struct {
	p             *Problem
	before, after *State
	key           op.Key
	now           int64
	relevant      []int32
	try           func(alternative) (op.Offset, bool)
	out           []alternative
}

func (e *keyExpansion) explore(a alternative, from *alternative, last int32, depth int) {
	p := e.p
	if o, ok := e.try(a); ok && !(from != nil && e.couldWait(*from, last, o)) {
		e.out = append(e.out, alternative{o, a.pending})
	}
	for _, u := range e.relevant {
		i, found := slices.BinarySearch(a.pending, u)
		if !found || p.alike(a.pending, i) {
			continue
		}
		if p.exhausted() {
			return
		}
		o, ok := e.effect(e.before, a, u)
		if !ok || o == a.offset || from != nil && u < last && e.commute(*from, u, last, o) {
			continue
		}
		if depth == maxDepth {
			p.truncated = fmt.Sprintf("more than %d unknown operations between two answers", maxDepth)
			return
		}
		e.explore(alternative{o, remove(a.pending, u)}, &a, u, depth+1)
	}
}

// effect is what the unknown operation u makes of a bookmark.
func (e *keyExpansion) effect(core *State, a alternative, u int32) (op.Offset, bool) {
	e.p.steps++
	states := e.p.effects(a.on(core, e.key), &e.p.unknowns[u], e.now)
	if len(states) == 0 {
		return 0, false
	}
	return offsetIn(states[0]), true
}

func (e *keyExpansion) couldWait(from alternative, last int32, o op.Offset) bool {
	without, ok := e.try(from)
	if !ok {
		return false
	}
	if without == o {
		return true
	}
	later, ok := e.effect(e.after, alternative{offset: without}, last)
	return ok && later == o
}

func (e *keyExpansion) commute(from alternative, u, last int32, o op.Offset) bool {
	a, ok := e.effect(e.before, from, u)
	if !ok {
		return false
	}
	b, ok := e.effect(e.before, alternative{offset: a}, last)
	return ok && b == o
}

// mergeAlternatives sorts, and drops those that another one with the same
// bookmark and more pending can do everything of.
func mergeAlternatives(list []alternative) []alternative {
	slices.SortFunc(list, compareAlternatives)
	out := list[:0:0]
next:
	for i, a := range list {
		for j, b := range list {
			if a.offset != b.offset || i == j || len(a.pending) > len(b.pending) || len(a.pending) == len(b.pending) && i < j {
				continue
			}
			if subset(a.pending, b.pending) {
				continue next
			}
		}
		out = append(out, a)
	}
	return out
}

func sameKeys(a, b []keyed) bool {
	return len(a) == 0 && len(b) == 0 || len(a) == len(b) && (&a[0] == &b[0] || slices.EqualFunc(a, b, func(x, y keyed) bool {
		return x.key == y.key && slices.EqualFunc(x.alts, y.alts, func(v, w alternative) bool { return compareAlternatives(v, w) == 0 })
	}))
}

func (k keyed) mix(h uint64) uint64 {
	h = mix(h, uint64(k.key.Kind)<<32|uint64(k.key.ID))
	for _, a := range k.alts {
		h = mixAll(mix(h, uint64(a.offset)), a.pending)
	}
	return h
}

// String prints the possible bookmarks, if there is any.
func (k keyed) String() string {
	var v []string
	for _, a := range k.alts {
		s := "none"
		if a.offset != noBookmark {
			s = fmt.Sprint(a.offset)
		}
		if !slices.Contains(v, s) {
			v = append(v, s)
		}
	}
	if len(v) == 1 && v[0] == "none" {
		return ""
	}
	return fmt.Sprintf(" %s=%s", k.key, strings.Join(v, "|"))
}

// insert adds to a sorted list; both leave the given one as it is.
func insert(list []int32, u int32) []int32 {
	i, _ := slices.BinarySearch(list, u)
	return slices.Insert(slices.Clone(list), i, u)
}

func remove(list []int32, u int32) []int32 {
	i, _ := slices.BinarySearch(list, u)
	return slices.Delete(slices.Clone(list), i, i+1)
}

// subset tells whether every element of sorted a is in sorted b.
func subset(a, b []int32) bool {
	j := 0
	for _, x := range a {
		for j < len(b) && b[j] < x {
			j++
		}
		if j == len(b) || b[j] != x {
			return false
		}
	}
	return true
}

func mixAll(h uint64, list []int32) uint64 {
	for _, u := range list {
		h = mix(h, uint64(u))
	}
	return h
}
