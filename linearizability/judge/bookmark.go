package judge

import (
	"math/bits"
	"slices"

	"purgelab/model"
	"purgelab/model/op"
)

// bookmark is all that the bookmark of one key may be. Values may come again, so
// answers alone do not tell the order of the operations on it: all orders are kept that
// lead to something different.
type bookmark struct {
	configs []config
	slots   [64]int32 // pending operations, each with a bit
	used    uint64    // slots that are taken
	unknown []int32   // that may take effect yet: the latest ones
	stores  bool      // some of them may be stores that name a generation
	riddles []riddle  // of this generation, by offset, if fresh
	fresh   bool
}

// config is one possible bookmark.
type config struct {
	offset op.Offset // none: there is none
	done   uint64    // pending operations that took effect already
	last   *step
	spent  []int32 // unknown operations that took effect; never modified in place
}

// step is an operation on a bookmark that took effect after another one.
type step struct {
	before *step
	op     int32
	at     int64
}

const none op.Offset = -1

// maxConfigs bounds how many are kept, maxTried how many are looked at for one answer.
const (
	maxConfigs = 128
	maxTried   = 2000
)

// join makes an operation pending on its bookmark.
func (f *finder) join(i int32) {
	b := &f.bookmarks[f.needs[i].key]
	s := bits.TrailingZeros64(^b.used)
	if s == 64 {
		return // settle finds no slot
	}
	b.used |= 1 << s
	b.slots[s] = i
	if f.needs[i].pure {
		f.eager(b)
	}
}

// eager lets the reads take effect that can.
func (f *finder) eager(b *bookmark) {
	for k := range b.configs {
		f.readAll(b, &b.configs[k])
	}
}

func (f *finder) readAll(b *bookmark, c *config) {
	for left := b.used &^ c.done; left != 0; left &= left - 1 {
		s := bits.TrailingZeros64(left)
		i := b.slots[s]
		if n := &f.needs[i]; n.pure && f.fits(n) {
			if _, ok := f.answers(i, c.offset); ok {
				c.done |= 1 << s
				c.last = &step{c.last, i, f.tick()}
			}
		}
	}
}

// happened tells whether an operation took effect in some order already.
func (f *finder) happened(i int32) bool {
	b := &f.bookmarks[f.needs[i].key]
	s := slices.Index(b.slots[:], i)
	return s >= 0 && slices.ContainsFunc(b.configs, func(c config) bool { return c.done&(1<<s) != 0 })
}

// settle puts an answered operation on a bookmark in every order that is possible.
func (f *finder) settle(i int32) bool {
	b := &f.bookmarks[f.needs[i].key]
	s := slices.Index(b.slots[:], i)
	if s < 0 || b.used&(1<<s) == 0 {
		return f.fail(i, "more than %d operations on one bookmark at once", len(b.slots))
	}
	f.speculate(int(f.needs[i].key), false)
	out := f.search(b, s, false)
	for len(out) == 0 && !f.bold && f.startsThere(i) && f.advance(i) {
		out = f.search(b, s, false)
	}
	if len(out) == 0 {
		out = f.search(b, s, true)
	}
	for len(out) == 0 && f.advance(i) {
		if out = f.search(b, s, false); len(out) == 0 {
			out = f.search(b, s, true)
		}
	}
	if len(out) == 0 {
		return f.fail(i, "the bookmark is %d", b.configs[0].offset)
	}
	for k := range out {
		out[k].done &^= 1 << s
	}
	b.used &^= 1 << s
	b.configs = append(b.configs[:0], distinct(out)...)
	if len(b.configs) == 1 {
		f.commit(b)
	}
	f.finish(i)
	return true
}

// advance changes the partition for an answer that no bookmark explains: a poll by next
// reads at the start if the bookmark lies below it.
func (f *finder) advance(i int32) bool {
	n := &f.needs[i]
	if n.anyGen {
		return f.nudge()
	}
	a := f.ops[i].Reply
	return f.ops[i].Request.Kind == op.Poll && a.Position.Offset > f.start && n.startMax >= a.Position.Offset && f.trim(a.Position.Offset)
}

// startsThere tells whether a poll by next may have read at a start to which something
// leads that was called.
func (f *finder) startsThere(i int32) bool {
	from := f.ops[i].Reply.Position.Offset
	if f.ops[i].Request.Kind != op.Poll || from <= f.start {
		return false
	}
	for _, y := range f.pending {
		if n := &f.needs[y]; n.role == removes && n.gen == f.gen && f.ops[y].Reply.Position.Offset == from {
			return true
		}
	}
	for _, y := range f.removals {
		if p := f.ops[y].Request.At; !f.done[y] && p.Generation == f.gen && p.Offset == from {
			return true
		}
	}
	return false
}

// search lists what the bookmark may be after the operation in slot s, with any
// pending ones before it; with unknown ones too, if asked. The list is good until the next
// search.
func (f *finder) search(b *bookmark, s int, unknown bool) []config {
	f.eager(b)
	out := f.out[:0]
	var seen, met keys[[3]uint64]
	todo := append(f.todo[:0], b.configs...)
	for k := 0; k < len(todo) && k < maxTried; k++ {
		c := todo[k]
		if c.done&(1<<s) != 0 {
			out = append(out, c)
			continue
		}
		for left := b.used &^ c.done; left != 0; left &= left - 1 {
			y := bits.TrailingZeros64(left)
			i := b.slots[y]
			if y != s && f.needs[i].pure || f.busy[i] && y != s || !f.fits(&f.needs[i]) {
				continue
			}
			offset, ok := f.answers(i, c.offset)
			if !ok {
				continue
			}
			next := config{offset, c.done | 1<<y, &step{c.last, i, f.tick()}, c.spent}
			f.readAll(b, &next)
			if seen.add(next.key()) {
				todo = append(todo, next)
			}
		}
		if !unknown || len(c.spent) > maxSpent {
			continue
		}
		for _, u := range b.unknown[max(0, len(b.unknown)-maxUnknown):] {
			offset := f.effect(u, c.offset)
			if offset == c.offset || slices.Contains(c.spent, u) || !met.add([3]uint64{uint64(offset), c.done, uint64(len(c.spent))}) {
				continue // of those that lead to the same, the first will do
			}
			next := config{offset, c.done, &step{c.last, u, f.tick()}, append(slices.Clip(c.spent), u)}
			f.readAll(b, &next)
			if seen.add(next.key()) {
				todo = append(todo, next)
			}
		}
	}
	f.todo, f.out = todo, out
	return out
}

func (c *config) key() [3]uint64 { return [3]uint64{uint64(c.offset), c.done, uint64(len(c.spent))} }

// perhaps also keeps what pending operations that show no generation make of a
// bookmark: a purge comes, and they may have come before it.
func (f *finder) perhaps(b *bookmark) {
	f.eager(b)
	all := slices.Clone(b.configs)
	for k := 0; k < len(all) && k < maxTried; k++ {
		c := all[k]
		for left := b.used &^ c.done; left != 0; left &= left - 1 {
			y := bits.TrailingZeros64(left)
			i := b.slots[y]
			if n := &f.needs[i]; n.anyGen && !n.pure && f.fits(n) {
				if offset, ok := f.answers(i, c.offset); ok {
					next := config{offset, c.done | 1<<y, &step{c.last, i, f.tick()}, c.spent}
					f.readAll(b, &next)
					all = append(all, next)
				}
			}
		}
	}
	b.configs = distinct(all)
}

// distinct drops what another one is alike but for unknown operations.
func distinct(list []config) []config {
	if len(list) < 2 {
		return list
	}
	slices.SortStableFunc(list, func(a, b config) int { return len(a.spent) - len(b.spent) })
	var seen keys[[2]uint64]
	out := list[:0]
	for _, c := range list {
		if len(out) < maxConfigs && seen.add([2]uint64{uint64(c.offset), c.done}) {
			out = append(out, c)
		}
	}
	return out
}

// keys is a set, which is mostly small. The zero value is empty.
type keys[K comparable] struct {
	room [8]K
	few  int
	rest map[K]struct{}
}

// add tells whether the key was not in the set.
func (s *keys[K]) add(k K) bool {
	if slices.Contains(s.room[:s.few], k) {
		return false
	}
	if s.few < len(s.room) {
		s.room[s.few] = k
		s.few++
		return true
	}
	if _, twice := s.rest[k]; twice {
		return false
	}
	if s.rest == nil {
		s.rest = map[K]struct{}{}
	}
	s.rest[k] = struct{}{}
	return true
}

// commit takes the first config for what happened.
func (f *finder) commit(b *bookmark) {
	c := b.configs[0]
	for s := c.last; s != nil; s = s.before {
		f.order = append(f.order, place{s.at, model.Placed{Index: s.op}})
	}
	if len(c.spent) > 0 {
		b.unknown = slices.DeleteFunc(b.unknown, func(u int32) bool { return slices.Contains(c.spent, u) })
	}
	c.last, c.spent = nil, nil
	b.configs = append(b.configs[:0], c)
}

// forget drops all bookmarks: a purge took effect. What names another generation
// cannot have any effect any more.
func (f *finder) forget() {
	for k := range f.bookmarks {
		b := &f.bookmarks[k]
		b.fresh = false
		for j := range b.configs {
			b.configs[j].offset = none
		}
		b.configs = distinct(b.configs)
		if len(b.configs) == 1 {
			f.commit(b)
		}
		if !b.stores {
			continue
		}
		b.stores = false
		b.unknown = slices.DeleteFunc(b.unknown, func(u int32) bool {
			r := f.ops[u].Request
			if r.Kind != op.StoreBookmark || r.Bare {
				return false
			}
			b.stores = b.stores || r.At.Generation >= f.gen
			return r.At.Generation < f.gen
		})
	}
}

// answers tells whether an operation finds the answer that it got with the bookmark at
// an offset, the partition being as it needs it; and what it makes of the bookmark.
func (f *finder) answers(i int32, offset op.Offset) (op.Offset, bool) {
	r, a := f.ops[i].Request, f.ops[i].Reply
	switch r.Kind {
	case op.StoreBookmark:
		return r.At.Offset, true
	case op.DeleteBookmark:
		return none, (offset != none) == (a.Code == op.OK)
	case op.GetBookmark:
		if !a.Found {
			return offset, offset == none
		}
		return offset, offset == a.Position.Offset
	}
	if r.Strategy == op.Next {
		from, ok := f.next(r, offset)
		if ok != (a.Code != op.OffsetOutOfRange) || ok && from != a.Position.Offset {
			return 0, false
		}
	}
	if !r.AutoCommit || a.Count == 0 {
		return offset, true
	}
	return max(offset, a.Position.Offset+op.Offset(a.Count)-1), true
}

// next is where a poll by next reads.
func (f *finder) next(r *op.Request, offset op.Offset) (op.Offset, bool) {
	switch {
	case offset == none:
		return f.start, true
	case offset+1 >= f.start:
		return offset + 1, true
	case r.Reset == op.Latest:
		return f.end, true
	}
	return f.start, r.Reset != op.Fail
}
