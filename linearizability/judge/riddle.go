package judge

import (
	"cmp"
	"math"
	"slices"

	"purgelab/model/op"
)

// riddle is a bookmark at an offset of a generation that is shown by answers that return
// up to an instant.
type riddle struct {
	offset op.Offset
	until  int64
	gen    op.Generation
}

// of lists the riddles of a generation. The list is sorted by generation, then by offset.
func of(g op.Generation, list []riddle) []riddle {
	from, _ := slices.BinarySearchFunc(list, g, func(r riddle, g op.Generation) int { return cmp.Compare(r.gen, g) })
	to := from
	for to < len(list) && list[to].gen == g {
		to++
	}
	return list[from:to]
}

// set instead of an instant says that an answered operation put the bookmark there.
const set = math.MinInt64

// before orders riddles of one bookmark.
func (a riddle) before(b riddle) int {
	switch {
	case a.gen != b.gen:
		return cmp.Compare(a.gen, b.gen)
	case a.offset != b.offset:
		return cmp.Compare(a.offset, b.offset)
	}
	return cmp.Compare(a.until, b.until)
}

// puzzle finds the riddles. A poll by next shows the bookmark before it, unless it read
// at the start.
func (h *hints) puzzle() {
	starts := map[value]bool{} // to which something may have moved the start
	seen := h.roomForRiddles()
	for i := range h.ops {
		o := &h.ops[i]
		n, a, r := &h.needs[i], o.Reply, o.Request
		if a == nil && r.Kind == op.DeleteRecords {
			starts[value{r.At.Generation, r.At.Offset}] = true
		}
		if a == nil || a.Code != op.OK && a.Code != op.Gone {
			continue
		}
		if n.role == removes {
			starts[value{n.gen, a.Position.Offset}] = true
		}
		if n.role != keyed || n.anyGen {
			continue
		}
		note := func(o op.Offset, until int64) { seen[n.key] = append(seen[n.key], riddle{o, until, n.gen}) }
		switch {
		case r.Kind == op.StoreBookmark:
			note(r.At.Offset, set)
		case r.Kind == op.GetBookmark:
			note(a.Position.Offset, o.Return)
		case r.Kind == op.Poll:
			if r.Strategy == op.Next && a.Position.Offset > 0 {
				note(a.Position.Offset-1, o.Return)
			}
			if r.AutoCommit && a.Count > 0 {
				note(a.Position.Offset+op.Offset(a.Count)-1, set)
			}
		}
	}
	h.riddles, h.shows = make([][]riddle, len(seen)), seen
	for key, all := range seen {
		slices.SortFunc(all, riddle.before)
		shows := all[:0] // there are no more of them than were read
		for from, to := 0, 0; from < len(all); from = to {
			x := all[from] // if an answered operation put it there, this is it
			for to = from; to < len(all) && all[to].gen == x.gen && all[to].offset == x.offset; {
				to++
			}
			r := all[to-1]
			if r.until == set {
				continue // nobody found it there
			}
			shows = append(shows, r)
			if x.until != set && !starts[value{x.gen, x.offset + 1}] {
				h.riddles[key] = append(h.riddles[key], r)
			}
		}
		seen[key] = shows
	}
}

// roomForRiddles is an empty list for each bookmark, with room for what the answers tell
// of it: where it was found, and where it was put.
func (h *hints) roomForRiddles() [][]riddle {
	count, all := make([]int, len(h.keys)), 0
	for i := range h.needs {
		if n := &h.needs[i]; n.role == keyed && !n.anyGen {
			most := 1
			if !n.pure {
				most = 2
			}
			count[n.key] += most
			all += most
		}
	}
	room, out := make([]riddle, all), make([][]riddle, len(count))
	for k, n := range count {
		out[k], room = room[:0:n], room[n:]
	}
	return out
}

// recent is how many of the latest unknown operations on a bookmark are thought of for
// a riddle, maxUnknown for an answer that nothing else explains; maxSpent of them may
// take effect before they are certain, and inARow one after the other.
const (
	recent     = 8
	maxUnknown = 32
	maxSpent   = 6
	inARow     = 3
)

// speculate keeps what unknown operations may make of a bookmark now, where that solves
// a riddle: what a poll of unknown outcome read depends on when it took effect. If only
// the end is about to move, the polls that matter are those that read up to it: the
// others will read the same later.
func (f *finder) speculate(k int, endMoves bool) {
	b := &f.bookmarks[k]
	if !b.fresh || f.doubtful {
		list := f.riddles
		if f.doubtful {
			list = f.shows
		}
		b.riddles, b.fresh = of(f.gen, list[k]), !f.doubtful
	}
	for len(b.riddles) > 0 && b.riddles[0].until <= f.time {
		b.riddles = b.riddles[1:]
	}
	if len(b.riddles) == 0 || b.riddles[0].offset >= f.end { // no poll leaves a bookmark there
		return
	}
	if _, solved := slices.BinarySearchFunc(b.riddles, f.end-1, func(r riddle, o op.Offset) int { return cmp.Compare(r.offset, o) }); endMoves && !solved && !f.doubtful {
		return
	}
	unknown := b.unknown[max(0, len(b.unknown)-recent):]
	if !slices.ContainsFunc(unknown, func(u int32) bool { return f.ops[u].Request.Kind == op.Poll }) {
		return
	}
	found := false
	for _, c := range b.configs { // solve adds more, which are not looked at
		found = f.solve(b, &c, unknown) || found
	}
	if found {
		b.configs = distinct(b.configs)
	}
}

// reached is an offset to which unknown operations led: the last of them, and what was
// reached before.
type reached struct {
	offset op.Offset
	by     int32
	from   int
	depth  int
}

// solve adds to the configs of a bookmark those in which a poll of unknown outcome left
// what a riddle shows.
func (f *finder) solve(b *bookmark, c *config, unknown []int32) bool {
	if len(c.spent)+inARow > maxSpent || len(b.configs) >= maxConfigs {
		return false
	}
	var room [2 * recent]reached
	list := append(room[:0], reached{offset: c.offset})
	found := false
	for k := 0; k < len(list); k++ {
		for _, u := range unknown {
			offset := f.effect(u, list[k].offset)
			if list[k].depth == inARow || len(list) == cap(list) || slices.ContainsFunc(list, func(r reached) bool { return r.offset == offset }) || slices.Contains(c.spent, u) || on(list, k, u) {
				continue
			}
			list = append(list, reached{offset, u, k, list[k].depth + 1})
			if f.ops[u].Request.Kind == op.Poll && slices.ContainsFunc(b.riddles, func(r riddle) bool { return r.offset == offset && r.until > f.time }) {
				f.along(b, *c, list, len(list)-1)
				found = true
			}
		}
	}
	return found
}

// on tells whether an operation led to the k-th offset.
func on(list []reached, k int, u int32) bool {
	for ; k > 0; k = list[k].from {
		if list[k].by == u {
			return true
		}
	}
	return false
}

// along adds what a bookmark is after each of the unknown operations that led to the
// k-th offset, and returns the last one.
func (f *finder) along(b *bookmark, c config, list []reached, k int) config {
	if k == 0 {
		return c
	}
	c = f.along(b, c, list, list[k].from)
	next := config{list[k].offset, c.done, &step{c.last, list[k].by, f.tick()}, append(slices.Clip(c.spent), list[k].by)}
	f.readAll(b, &next)
	b.configs = append(b.configs, next)
	return next
}

// effect is what an operation of unknown outcome makes of a bookmark.
func (f *finder) effect(u int32, offset op.Offset) op.Offset {
	r := f.ops[u].Request
	current := r.Bare || r.At.Generation == f.gen
	switch r.Kind {
	case op.StoreBookmark:
		if current && r.At.Offset >= 0 && r.At.Offset < f.end {
			return r.At.Offset
		}
		return offset
	case op.DeleteBookmark:
		return none
	}
	from, ok := f.start, true
	switch r.Strategy {
	case op.Next:
		from, ok = f.next(r, offset)
	case op.Last:
		from = max(f.start, f.end-op.Offset(r.Max))
	case op.AtTimestamp:
		from = f.firstAt(r.Timestamp)
	case op.AtOffset:
		from, ok = r.At.Offset, current && r.At.Offset >= f.start && r.At.Offset <= f.end
	}
	if last := min(from+op.Offset(r.Max), f.end) - 1; ok && last >= from {
		return max(offset, last)
	}
	return offset
}
