package judge

import (
	"fmt"

	"purgelab/model/op"
)

// atTheEnd: a poll by next with reset latest that finds nothing at an end above every
// start that anybody asked for found a bookmark right below that end, or one further below
// the start than by one. Let w be an operation that returned before the poll was called.
//
//   - If w knows the bookmark for certain, not so far below any start, or that there is none,
//     then something set it since to one of the two. A poll with auto-commit never lowers a
//     bookmark: it sets a low one only where there was none.
//   - If w leaves it at least where it is not so far below any start, then something set it to
//     the first of the two, at whatever time, or lowered it since.
type atTheEnd struct {
	*hints
	starts map[op.Generation]op.Offset // the highest that was asked for
	wild   bool                        // or nobody knows
	keys   []resetKey
	known  map[int32][2]int32 // when a poll was called: what was certain, and the highest
}

// resetKey is what may have set a bookmark, as far as time has passed.
type resetKey struct {
	wild          bool // a poll of unknown outcome
	stored, read  map[value]int64
	any           map[op.Offset]int32 // who set it to an offset of whatever generation
	deleted       int64               // the latest return
	certain, high int32               // of those that returned: the one with the latest call, and with the highest bookmark; -1: none
}

func (h *hints) resets() {
	if h.later || h.succeeded {
		return
	}
	x := atTheEnd{hints: h, starts: map[op.Generation]op.Offset{}, keys: make([]resetKey, len(h.keys)), known: map[int32][2]int32{}}
	for k := range x.keys {
		x.keys[k] = resetKey{stored: map[value]int64{}, read: map[value]int64{}, any: map[op.Offset]int32{}, deleted: -1, certain: -1, high: -1}
	}
	calls, returns := h.events()
	for len(returns) > 0 {
		if i := returns[0]; len(calls) == 0 || h.ops[i].Return < h.ops[calls[0]].Call {
			returns = returns[1:]
			if h.needs[i].role == keyed {
				x.returned(i)
			}
			continue
		}
		x.called(calls[0])
		calls = calls[1:]
	}
}

func (x *atTheEnd) called(i int32) {
	o := &x.ops[i]
	r, a, until := o.Request, o.Reply, never
	if a != nil {
		until = o.Return
	}
	if r.Kind == op.DeleteRecords || r.Kind == op.Purge && !x.restarts() {
		x.cut(r, a)
		return
	}
	k, ok := x.hints.keys[r.Key]
	if !ok || a != nil && a.Code != op.OK && a.Code != op.Gone {
		return
	}
	t := &x.keys[k]
	switch {
	case r.Kind == op.StoreBookmark:
		v := value{r.At.Generation, r.At.Offset}
		if r.Bare {
			v.gen = anyGeneration
		}
		t.stored[v], t.any[v.offset] = max(t.stored[v], until), i
	case r.Kind == op.DeleteBookmark:
		t.deleted = max(t.deleted, until)
	case r.Kind == op.Poll && r.AutoCommit && a == nil:
		t.wild = true
	case r.Kind == op.Poll && r.AutoCommit && a.Count > 0:
		v := value{a.Position.Generation, a.Position.Offset + op.Offset(a.Count) - 1}
		t.read[v], t.any[v.offset] = max(t.read[v], until), i
	}
	if x.isEmpty(i) {
		x.known[i] = [2]int32{t.certain, t.high}
	}
}

// cut notes where a start may go.
func (x *atTheEnd) cut(r *op.Request, a *op.Reply) {
	switch {
	case a == nil && (r.At.Offset == -1 || r.Bare || r.Kind == op.Purge):
		x.wild = true
	case a == nil:
		x.starts[r.At.Generation] = max(x.starts[r.At.Generation], r.At.Offset)
	case a.Code == op.OK:
		x.starts[a.Position.Generation] = max(x.starts[a.Position.Generation], a.Position.Offset)
	}
}

// isEmpty tells whether an operation is a poll by next with reset latest that finds nothing.
func (x *atTheEnd) isEmpty(i int32) bool {
	r, a := x.ops[i].Request, x.ops[i].Reply
	return r.Kind == op.Poll && r.Strategy == op.Next && r.Reset == op.Latest && a != nil && a.Code == op.OK && a.Count == 0
}

func (x *atTheEnd) returned(i int32) {
	t := &x.keys[x.needs[i].key]
	if w, ok := x.known[i]; ok {
		delete(x.known, i)
		if p := x.ops[i].Reply.Position; !x.wild && !t.wild && p.Offset > x.starts[p.Generation] && !x.certainly(i, w[0], t) {
			x.atLeast(i, w[1], t)
		}
	}
	v, exact, ok := x.leaves(i)
	if exact && (t.certain < 0 || x.ops[i].Call > x.ops[t.certain].Call) {
		t.certain = i
	}
	if !ok || v.offset < 0 {
		return
	}
	if t.high >= 0 {
		if old, _, _ := x.leaves(t.high); old.gen > v.gen || old.gen == v.gen && old.offset > v.offset {
			return
		}
	}
	t.high = i
}

// certainly holds a poll to an operation that knows the bookmark.
func (x *atTheEnd) certainly(i, w int32, t *resetKey) (wrong bool) {
	p := x.ops[i].Reply.Position
	since, left := int64(-1), value{0, none}
	if w >= 0 {
		since = x.ops[w].Call
		if left, _, _ = x.leaves(w); left.gen != p.Generation {
			left = value{0, none} // a purge took it
		}
	}
	if left.offset != none && (left.offset+1 < x.starts[p.Generation] || left.offset == p.Offset-1) ||
		x.sets(t.stored, p, since, true) || x.sets(t.read, p, since, left.offset == none || t.deleted >= since) {
		return false
	}
	x.skipped(i, w, left, t)
	return true
}

// atLeast holds a poll to an operation that leaves the bookmark at some offset or above.
func (x *atTheEnd) atLeast(i, w int32, t *resetKey) {
	if w < 0 {
		return
	}
	p, since := x.ops[i].Reply.Position, x.ops[w].Call
	left, _, _ := x.leaves(w)
	if left.gen != p.Generation || left.offset+1 < x.starts[p.Generation] || left.offset >= p.Offset-1 || t.deleted >= since ||
		x.sets(t.stored, p, -1, false) || x.sets(t.read, p, -1, false) || x.sets(t.stored, p, since, true) {
		return
	}
	x.skipped(i, w, left, t)
}

// sets tells whether something that did not return before an instant set the bookmark right
// below a position, or, if low is asked for as well, far below the start.
func (x *atTheEnd) sets(m map[value]int64, p op.Position, since int64, low bool) bool {
	for v, until := range m { //purgelab:unordered whether there is any
		if until >= since && (v.gen == p.Generation || v.gen == anyGeneration) && (v.offset == p.Offset-1 || low && v.offset+1 < x.starts[p.Generation]) {
			return true
		}
	}
	return false
}

func (x *atTheEnd) skipped(i, w int32, left value, t *resetKey) {
	p := x.ops[i].Reply.Position
	if by, ok := t.any[p.Offset-1]; ok && left.offset == none {
		x.because(OldBookmark, fmt.Sprintf("nobody set the bookmark to g%d:%d, but to that offset of another generation", p.Generation, p.Offset-1), by, i)
		return
	}
	ops := []int32{i}
	if w >= 0 {
		ops = []int32{w, i}
	}
	class := FreshSkipped
	if left.offset >= p.Offset {
		class = BookmarkRewound
	}
	x.because(class, fmt.Sprintf("the bookmark was %s, the start at most %d, and the poll begins at the end, %d", left, x.starts[p.Generation], p.Offset), ops...)
}
