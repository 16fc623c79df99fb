package model

import (
	"fmt"
	"slices"

	"purgelab/model/op"
)

// unknown is an operation whose outcome nobody knows. It waits in the state of
// the search and takes effect right before the answered operation that needs
// it, or never.
type unknown struct {
	req       *op.Request // without the incarnation that it means
	line      int
	footprint footprint
	// incarnation that it means; 0: any.
	incarnation op.Incarnation
	key         op.Key // of the bookmark that it reads or changes, if keyed
	keyed       bool
	// own is what the operation itself adds to facts.reach.
	own op.Offset
	// Operations of one class are alike in all they can do, so of those that
	// are pending the oldest goes first.
	class string
	// unread: an append none of whose messages was ever read.
	unread bool
}

// footprint says what an operation depends on and what it changes, as sets of
// resources: the start, the end, the era, and a bit per bookmark (keys may
// share one: that only makes a search longer).
type footprint struct {
	reads  uint64 // its result or its effect depends on these
	writes uint64
	// order: of the reads, those where it also matters whether it comes before
	// or after a write. A bookmark that may be stored now may be stored after an
	// append too, so the end is not among its; an auto-commit reads more then.
	order uint64
	purge bool // writes everything, and what came before does not matter
}

const (
	resStart uint64 = 1 << iota
	resEnd
	resEra
	resTable // sessions
	firstKey = 4
)

func resKey(k op.Key) uint64 {
	return 1 << (firstKey + (uint64(k.ID)*2+uint64(k.Kind))%(64-firstKey))
}

func footprintOf(sem Semantics, r *op.Request) footprint {
	var f footprint
	switch r.Kind {
	case op.NewIncarnation:
		return footprint{reads: ^uint64(0), writes: ^uint64(0)}
	case op.Append:
		f = footprint{reads: resEnd | resEra, writes: resEnd}
	case op.Poll:
		f = footprint{reads: resStart | resEnd | resEra}
		if r.Strategy == op.Next {
			f.reads |= resKey(r.Key)
		}
		if r.AutoCommit {
			f.reads |= resKey(r.Key)
			f.writes = resKey(r.Key)
			f.order = resStart | resEnd
		}
	case op.StoreBookmark:
		f = footprint{reads: resEnd | resEra, writes: resKey(r.Key)}
	case op.DeleteBookmark:
		f = footprint{reads: resKey(r.Key), writes: resKey(r.Key)}
	case op.GetBookmark:
		f = footprint{reads: resKey(r.Key)}
	case op.ListOffsets:
		f = footprint{reads: resStart | resEnd | resEra}
	case op.DeleteRecords:
		f = footprint{reads: resStart | resEnd | resEra, writes: resStart}
		if r.At.Offset == -1 {
			f.order = resEnd
		}
	case op.Purge:
		if sem.Numbering == Continue {
			f = footprint{reads: resStart | resEnd | resEra, writes: resStart, order: resEnd}
			break
		}
		f = footprint{reads: resEra, writes: ^resTable, purge: true}
	}
	if r.Expected != nil {
		f.reads |= resEnd | resEra
		f.order |= resEnd
	}
	if r.Session != 0 && r.Kind != op.Purge || r.Kind == op.Register {
		f.reads |= resTable | resStart | resEnd | resEra // a repeat shows the first reply's bounds
		f.writes |= resTable
		f.order |= f.reads
	}
	return f
}

// matters tells whether u, right before an operation of footprint y, may be
// anything else than u right after it, or never.
func (u footprint) matters(y footprint) bool {
	return u.writes&y.reads != 0 || !y.purge && u.order&y.writes != 0
}

// relevant selects the pending operations that may have to take effect before
// x: those that matter to it, to one that matters to it, and so on.
func (p *Problem) relevant(pending []int32, x footprint) []int32 {
	var out []int32
	var taken uint64 // bits of indexes in pending; longer lists take the slow way
	todo := []footprint{x}
	for len(todo) > 0 {
		y := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for i, u := range pending {
			if i < 64 && taken&(1<<i) != 0 || i >= 64 && contains(out, u) {
				continue
			}
			if f := p.unknowns[u].footprint; f.matters(y) {
				if i < 64 {
					taken |= 1 << i
				}
				out = append(out, u)
				todo = append(todo, f)
			}
		}
	}
	return out
}

// relevantCore selects from the pending operations on the core of c, some of
// which may matter by way of a pending operation on a bookmark.
func (p *Problem) relevantCore(c configuration, x footprint) []int32 {
	all := slices.Clone(c.pending)
	for _, k := range c.keys {
		for _, a := range k.alts {
			all = append(all, a.pending...)
		}
	}
	if len(all) > len(c.pending) {
		slices.Sort(all)
		all = slices.Compact(all)
	}
	return slices.DeleteFunc(p.relevant(all, x), func(u int32) bool { return !contains(c.pending, u) })
}

// alike tells whether an older pending operation does all that this one can.
func (p *Problem) alike(pending []int32, i int) bool {
	if p.tracked {
		return false
	}
	class := p.unknowns[pending[i]].class
	for _, v := range pending[:i] {
		if p.unknowns[v].class == class {
			return true
		}
	}
	return false
}

// classOf prints what makes operations alike: all of the request; of an append
// that nobody read, only its size and the incarnation that it means.
func classOf(r *op.Request, read map[op.Payload]bool) string {
	if r.Kind != op.Append || slices.ContainsFunc(r.Payloads, func(m op.Payload) bool { return read[m] }) {
		return DescribeRequest(r)
	}
	return fmt.Sprintf("append of %d in i%d", len(r.Payloads), r.Incarnation)
}

// spent tells whether an operation cannot have an effect any more once the
// generation is g: it names an older one.
func (u *unknown) spent(g op.Generation) bool {
	switch r := u.req; r.Kind {
	case op.StoreBookmark, op.DeleteRecords:
		return !r.Bare && r.At.Generation < g
	case op.Poll:
		return r.Strategy == op.AtOffset && !r.Bare && r.At.Generation < g
	case op.Purge:
		return r.Intent != 0 && r.Intent <= g
	}
	return false
}

// unspent drops what is spent from a list that is never modified in place.
func (p *Problem) unspent(pending []int32, g op.Generation) []int32 {
	if p.tracked || !slices.ContainsFunc(pending, func(u int32) bool { return p.unknowns[u].spent(g) }) {
		return pending
	}
	return slices.DeleteFunc(slices.Clone(pending), func(u int32) bool { return p.unknowns[u].spent(g) })
}

func contains(list []int32, x int32) bool {
	for _, y := range list {
		if x == y {
			return true
		}
	}
	return false
}

// effects are the states that u may leave behind, without those that no answer
// from now on could tell from a state in which u never happened. Now is the
// call of the operation that u precedes: what returned before that is past.
func (p *Problem) effects(s *State, u *unknown, now int64) []*State {
	f, r := p.facts, u.req
	if p.isolated(u, s) {
		return nil
	}
	switch r.Kind {
	case op.Append:
		return p.appendEffect(s, u)
	case op.Purge:
		if p.sem.Numbering == Restart && r.Intent == 0 {
			return p.purgeEffects(s, u)
		}
	}
	n, _ := p.sem.Step(s, r, Choice{})
	if n == s {
		return nil
	}
	if !f.bare && !p.tracked {
		switch r.Kind {
		case op.Poll, op.StoreBookmark:
			after, _ := n.Bookmark(r.Key)
			_, before := s.Bookmark(r.Key)
			if !f.mayShowBookmark(r.Key, after, !before, u.own, now) {
				return nil
			}
		case op.DeleteRecords:
			if !f.mayShowStart(n.position(n.start), now) {
				return nil
			}
		}
	}
	return []*State{n}
}

// appendEffect: it can only fill offsets that nobody else is known to hold, and
// below the highest end that an answer proves. Its timestamp is the lowest
// possible, unless an answer shows it or an unknown poll asked for one.
func (p *Problem) appendEffect(s *State, u *unknown) []*State {
	var c Choice
	var later []op.Timestamp
	if f := p.facts; !f.bare {
		base := s.position(s.End())
		if p.filling != nil {
			base.Incarnation = p.filling.begins
		}
		for i, m := range u.req.Payloads {
			q := at(base, base.Offset+op.Offset(i))
			if held, ok := f.taken[q]; ok && held != m {
				return nil
			}
			if ts, ok := f.stamps[q]; ok {
				c.Timestamp = ts
			}
			later = append(later, f.laterStamps(at(s.position(0), q.Offset))...)
		}
		if !p.tracked && max(f.ends[s.generation], f.bareEnd) <= s.End() && s.start < s.End() {
			return nil
		}
	}
	n, _ := p.sem.Step(s, u.req, c)
	if n == s {
		return nil
	}
	out := []*State{n}
	for _, ts := range append(later, p.facts.asked...) {
		if c.Timestamp == 0 && ts > s.latest {
			n, _ := p.sem.Step(s, u.req, Choice{Timestamp: ts})
			out = append(out, n)
		}
	}
	return out
}

// stamped tells whether it may matter which timestamps the offsets from the end
// of s up to another end have.
func (f *facts) stamped(s *State, end op.Offset) bool {
	if len(f.asked) > 0 {
		return true
	}
	for o := s.End(); o < end; o++ {
		if _, ok := f.stamps[s.position(o)]; ok || len(f.laterStamps(s.position(o))) > 0 {
			return true
		}
	}
	return false
}

// purgeEffects: a purge without an intent took some generation, either one
// that an answer names or one that none does; all of the latter are alike.
func (p *Problem) purgeEffects(s *State, u *unknown) []*State {
	next := s.settled + 1
	n, _ := p.sem.Step(s, u.req, Choice{Generation: next})
	out := []*State{n}
	for _, g := range p.generations {
		if g > next {
			n, _ := p.sem.Step(s, u.req, Choice{Generation: g})
			out = append(out, n)
		}
	}
	return out
}

// mayShowBookmark tells whether an answer from now on may depend on the
// bookmark of k being at p. It may if it was seen there; if it lies below a
// start, where reset decides; if an unknown poll by next may have gone on from
// there to one that was seen (own is the share of the operation that asks); or
// if it did not exist before and a delete found one.
func (f *facts) mayShowBookmark(k op.Key, p op.Position, created bool, own op.Offset, now int64) bool {
	if f.read[k] < now {
		return false
	}
	p.Incarnation = 0
	return f.bookmarks[k][p] >= now || p.Offset+1 < f.maxStarts[p.Generation] ||
		created && f.deleted[k] >= now || f.reaches(k, p, own, now)
}

// reaches tells whether unknown polls by next may read from near p to a bookmark
// that was seen.
func (f *facts) reaches(k op.Key, p op.Position, own op.Offset, now int64) bool {
	p.Incarnation = 0
	for far := f.reach[k] - own; far >= -1 && f.reach[k] > own; far-- {
		if f.bookmarks[k][at(p, p.Offset+far)] >= now {
			return true
		}
	}
	return false
}

// mayShowStart tells whether an answer from now on may depend on the start
// being at p.
func (f *facts) mayShowStart(p op.Position, now int64) bool {
	p.Incarnation = 0
	if f.starts[p] >= now || f.lagged[p.Generation] >= now || f.unlisted >= now {
		return true
	}
	for k := range f.reach { //purgelab:unordered one of them is enough, whichever comes first
		if f.reaches(k, p, 0, now) {
			return true
		}
	}
	return false
}
