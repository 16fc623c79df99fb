package judge

import (
	"fmt"

	"purgelab/model/op"
)

// This file is about bookmarks. What sets the bookmark of a key to an offset is known:
// a store, or a poll with auto-commit that read up to there; a delete, or a purge,
// leaves none. Let w be an operation that leaves the bookmark at another value than v,
// or finds it there, and let b be called after w returned and find v. Then something
// set it to v between the two, and it did not return before w was called. If nothing
// of that kind was called before b returned, there is no order of w, b and those.
// A poll with auto-commit of unknown outcome may leave any offset, so where one was
// called on the same key, nothing is concluded.
//
// A delete that succeeds, and a poll by next that is refused for its bookmark, find some
// bookmark: the same holds with anything that sets one. w may be a purge, too, if no
// purge of the same or a higher intent was called before it: else it may have taken
// nothing with it. What is set in an earlier generation than a purge began is set before.

// value of a bookmark.
type value struct {
	gen    op.Generation
	offset op.Offset // none: there is no bookmark, some: there is one, whatever the generation
}

const some op.Offset = -2

// history of one bookmark, as far as time has passed.
type trace struct {
	set   map[value]setting
	in    map[op.Generation]setting // the same, to whatever offset of a generation
	any   map[op.Offset]setting     // the same, in whatever generation
	last  setting                   // the same, to whatever value
	wild  bool                      // a poll of unknown outcome was called
	knows int32                     // the operation with the latest call, of those that returned, that knows the bookmark; -1: none
}

// setting is what set a bookmark to a value: the latest return, and by what.
type setting struct {
	until int64
	by    int32
}

func later[K comparable](m map[K]setting, k K, s setting) {
	if old, ok := m[k]; !ok || s.until > old.until {
		m[k] = s
	}
}

func (t *trace) note(g op.Generation, s setting) {
	later(t.in, g, s)
	if s.until > t.last.until {
		t.last = s
	}
}

// from is the latest setting in a generation or a later one; if there is none, one that was
// over before.
func (t *trace) from(g op.Generation) setting {
	s := setting{-1, t.last.by}
	for n, x := range t.in { //purgelab:unordered the latest is taken
		if n >= g && x.until > s.until {
			s = x
		}
	}
	return s
}

func (h *hints) rewinds() {
	traces := make([]trace, len(h.keys))
	for k := range traces {
		traces[k] = trace{set: map[value]setting{}, in: map[op.Generation]setting{}, any: map[op.Offset]setting{}, last: setting{-1, -1}, knows: -1}
	}
	starts := map[value]bool{} // to which a delete-records may have moved the start
	anyStart := h.later
	lifted := map[op.Generation]bool{} // the start may not be 0 any more
	purged := int64(-1)                // the latest return of a purge that was called
	cleared := int32(-1)               // the purge with the latest call, of those that returned, that took bookmarks with it
	highest := op.Generation(0)        // that a purge is to begin
	first := map[int32]bool{}          // purges of a higher one than all before
	before := map[int32]int32{}
	calls, returns := h.events()
	for len(calls) > 0 || len(returns) > 0 {
		if len(calls) == 0 || len(returns) > 0 && h.ops[returns[0]].Return < h.ops[calls[0]].Call {
			i := returns[0]
			returns = returns[1:]
			n := &h.needs[i]
			if n.role == purges && first[i] && (cleared < 0 || h.ops[i].Call > h.ops[cleared].Call) {
				cleared = i
			}
			if n.role != keyed {
				continue
			}
			t := &traces[n.key]
			if v, ok := h.finds(i, starts, lifted, anyStart); ok && !t.wild {
				h.unexplained(i, v, before[i], t, purged)
			}
			delete(before, i)
			if _, exact, ok := h.leaves(i); ok || exact {
				if t.knows < 0 || h.ops[i].Call > h.ops[t.knows].Call {
					t.knows = i
				}
			}
			continue
		}
		i := calls[0]
		calls = calls[1:]
		o := &h.ops[i]
		switch k := o.Request.Kind; {
		case k == op.DeleteRecords || k == op.Purge && !h.restarts():
			lifted[o.Request.At.Generation] = true
			switch {
			case o.Reply == nil && (o.Request.At.Offset == -1 || o.Request.Bare || k == op.Purge):
				anyStart = true
			case o.Reply == nil:
				starts[value{o.Request.At.Generation, o.Request.At.Offset}] = true
			case o.Reply.Code == op.OK:
				starts[value{o.Reply.Position.Generation, o.Reply.Position.Offset}], lifted[o.Reply.Position.Generation] = true, true
			}
		case k == op.Purge:
			if o.Reply == nil || o.Reply.Code == op.OK {
				g := h.intended(i)
				first[i], highest = g > highest, max(highest, g)
			}
			if o.Reply == nil {
				purged = never
			} else if o.Reply.Code == op.OK {
				purged = max(purged, o.Return)
			}
		default:
			h.sets(i, traces)
			if o.Reply != nil && h.needs[i].role == keyed {
				w := traces[h.needs[i].key].knows
				if cleared >= 0 && (w < 0 || h.ops[cleared].Call > h.ops[w].Call || h.ended(w, cleared)) {
					w = cleared
				}
				before[i] = w
			}
		}
	}
}

// ended tells whether w knows a bookmark of a generation that was over when a purge was.
func (h *hints) ended(w, purge int32) bool {
	v, _, _ := h.leaves(w)
	return v.offset != none && v.gen < h.ops[purge].Reply.Position.Generation
}

// intended is the generation that a purge is to begin, the highest there is if nobody
// knows.
func (h *hints) intended(i int32) op.Generation {
	r, a := h.ops[i].Request, h.ops[i].Reply
	switch {
	case a != nil:
		return a.Position.Generation
	case r.Intent == 0:
		return anyGeneration
	}
	return r.Intent
}

// sets notes the call of what may set a bookmark.
func (h *hints) sets(i int32, traces []trace) {
	r, a := h.ops[i].Request, h.ops[i].Reply
	k, ok := h.keys[r.Key]
	if !ok {
		return
	}
	t, s := &traces[k], setting{never, i}
	if a != nil {
		s.until = h.ops[i].Return
	}
	switch r.Kind {
	case op.StoreBookmark:
		if a == nil || a.Code == op.OK {
			later(t.any, r.At.Offset, s)
			g := r.At.Generation
			if r.Bare {
				g = anyGeneration
			}
			t.note(g, s)
			later(t.set, value{g, r.At.Offset}, s)
		}
	case op.DeleteBookmark:
		if a == nil || a.Code == op.OK {
			later(t.set, value{0, none}, s)
		}
	case op.Poll:
		switch {
		case !r.AutoCommit:
		case a == nil:
			t.wild = true
		case (a.Code == op.OK || a.Code == op.Gone) && a.Count > 0:
			last := a.Position.Offset + op.Offset(a.Count) - 1
			later(t.any, last, s)
			t.note(a.Position.Generation, s)
			later(t.set, value{a.Position.Generation, last}, s)
		}
	}
}

// never is the return of what did not return, anyGeneration that of a bare store.
const (
	never         = int64(1<<63 - 1)
	anyGeneration = op.Generation(1<<32 - 1)
)

// finds is the bookmark that an answer shows, if it shows one whatever the start is.
func (h *hints) finds(i int32, starts map[value]bool, lifted map[op.Generation]bool, anyStart bool) (value, bool) {
	r, a := h.ops[i].Request, h.ops[i].Reply
	switch {
	case r.Kind == op.GetBookmark && !a.Found:
		return value{0, none}, true
	case r.Kind == op.GetBookmark:
		return value{a.Position.Generation, a.Position.Offset}, true
	case r.Kind == op.DeleteBookmark && a.Code == op.NotFound:
		return value{0, none}, true
	case r.Kind == op.DeleteBookmark && a.Code == op.OK, r.Kind == op.Poll && r.Strategy == op.Next && a.Code == op.OffsetOutOfRange:
		return value{0, some}, true
	case r.Kind != op.Poll || r.Strategy != op.Next || a.Code != op.OK && a.Code != op.Gone:
		return value{}, false
	case r.Reset == op.Latest && a.Count == 0 && lifted[a.Position.Generation] || anyStart || starts[value{a.Position.Generation, a.Position.Offset}]:
		return value{}, false
	case a.Position.Offset == 0:
		return value{0, none}, true
	}
	return value{a.Position.Generation, a.Position.Offset - 1}, true
}

// leaves is what the bookmark is after an answered operation: exactly that, or, if ok
// alone, that or higher.
func (h *hints) leaves(i int32) (v value, exact, ok bool) {
	r, a := h.ops[i].Request, h.ops[i].Reply
	switch {
	case r.Kind == op.Poll && r.AutoCommit && (a.Code == op.OK || a.Code == op.Gone) && a.Count > 0:
		return value{a.Position.Generation, a.Position.Offset + op.Offset(a.Count) - 1}, r.Strategy == op.Next, true
	case r.Kind == op.StoreBookmark && a.Code == op.OK && !r.Bare:
		return value{r.At.Generation, r.At.Offset}, true, true
	case r.Kind == op.DeleteBookmark, r.Kind == op.Purge:
		return value{0, none}, true, true
	case r.Kind == op.GetBookmark && a.Found:
		return value{a.Position.Generation, a.Position.Offset}, true, true
	case r.Kind == op.GetBookmark:
		return value{0, none}, true, true
	}
	return value{}, false, false
}

// unexplained holds the bookmark v that i found to what was known before its call.
func (h *hints) unexplained(i int32, v value, w int32, t *trace, purged int64) {
	set, ok := t.set[v]
	if v.offset == some {
		set, ok = t.last, t.last.by >= 0
	}
	if bare, found := t.set[value{anyGeneration, v.offset}]; found && (!ok || bare.until > set.until) {
		set, ok = bare, true
	}
	if v.offset == none {
		set.until = max(set.until, purged)
	}
	if v.offset != none && !ok && !h.later {
		h.nobody(i, v, t)
		return
	}
	if w < 0 {
		return
	}
	left, exact, _ := h.leaves(w)
	if v.offset == some && h.needs[w].role == purges {
		set = t.from(h.ops[w].Reply.Position.Generation)
	}
	if ok && set.until >= h.ops[w].Call || v.offset == none && purged >= h.ops[w].Call {
		return
	}
	if left == v || v.offset == some && left.offset != none || !exact && (left.gen != v.gen || v.offset >= left.offset) {
		return
	}
	if v.offset != none && !ok {
		h.nobody(i, v, t)
		return
	}
	class := BookmarkRewound
	if h.needs[w].role == purges {
		class = OldBookmark
		h.because(class, fmt.Sprintf("the purge left no bookmark, nobody set one since, and %s is found", v), set.by, w, i)
		return
	}
	if v.offset > left.offset && left.offset != none {
		class = FreshSkipped
	}
	if h.ops[i].Again {
		class = RetriedTwice // the first copy changed it
	}
	h.because(class, fmt.Sprintf("the bookmark was %s, and %s is found", left, v), w, i)
}

// nobody set a bookmark to v in its generation.
func (h *hints) nobody(i int32, v value, t *trace) {
	if v.offset == some {
		h.because(FreshSkipped, "a bookmark is found that nobody set", i)
		return
	}
	if old, ok := t.any[v.offset]; ok && v.gen > 0 {
		h.because(OldBookmark, fmt.Sprintf("nobody set the bookmark to %s, but to that offset of another generation", v), old.by, i)
		return
	}
	h.because(FreshSkipped, fmt.Sprintf("nobody set the bookmark to %s", v), i)
}

func (v value) String() string {
	switch v.offset {
	case none:
		return "none"
	case some:
		return "one"
	}
	return fmt.Sprintf("g%d:%d", v.gen, v.offset)
}
