package judge

import (
	"cmp"
	"fmt"
	"slices"

	"purgelab/model"
	"purgelab/model/op"
)

// repeats: a request that was executed once has one answer, so two acknowledged appends
// of one session and sequence are at the same position. And a session that was opened
// lives as long as the partition, if the table is unbounded.
func (h *hints) repeats() {
	type numbered struct {
		session  op.Session
		sequence op.Sequence
	}
	first, opened := map[numbered]int32{}, map[op.Session]int32{}
	for i := range h.ops {
		if o := &h.ops[i]; o.Request.Kind == op.Register && o.Reply != nil && h.sem.Sessions == 0 {
			opened[o.Reply.Session] = int32(i)
		}
	}
	for i := range h.ops {
		r, a := h.ops[i].Request, h.ops[i].Reply
		if a != nil && a.Code == op.SessionExpired {
			if o, ok := opened[r.Session]; ok && h.ops[o].Return < h.ops[i].Call {
				h.because(RetriedTwice, fmt.Sprintf("session %d is not known any more, so no repeat could be told", r.Session), o, int32(i))
			}
			continue
		}
		if r.Kind != op.Append || r.Session == 0 || r.Sequence == 0 || a == nil || a.Code != op.OK {
			continue
		}
		k := numbered{r.Session, r.Sequence}
		j, again := first[k]
		if !again {
			first[k] = int32(i)
		} else if p := h.ops[j].Reply.Position; p != a.Position {
			h.because(RetriedTwice, fmt.Sprintf("session %d, sequence %d is answered %s and %s", r.Session, r.Sequence, p, a.Position), j, int32(i))
		}
	}
}

// bound is the highest value that an answer proves, and the operation that got it; -1:
// none had to prove it, since nothing is below 0.
type bound struct {
	value op.Offset
	by    int32
}

var lowest = bound{0, -1}

// with lists who proved a bound, if anybody had to, and an operation.
func (b bound) with(i int32) []int32 {
	if b.by < 0 {
		return []int32{i}
	}
	return []int32{b.by, i}
}

func (b *bound) raise(v op.Offset, by int32) {
	if v > b.value {
		*b = bound{v, by}
	}
}

// regressions: generations never fall, and in one of them neither the start nor the end
// does. So what an answer proves of the partition is a lower bound for whoever calls
// after its return. Who calls earlier is not held to it.
func (h *hints) regressions() {
	gen, start, end := lowest, lowest, lowest
	calls, returns := h.events()
	for len(calls) > 0 || len(returns) > 0 {
		if len(calls) > 0 && (len(returns) == 0 || h.ops[calls[0]].Call < h.ops[returns[0]].Return) {
			if i := calls[0]; h.ops[i].Reply != nil && !h.needs[i].anyGen {
				h.falls(i, gen, start, end)
			}
			calls = calls[1:]
			continue
		}
		i := returns[0]
		returns = returns[1:]
		g, s, e, ok := h.after(i)
		if !ok || op.Offset(g) < gen.value {
			continue
		}
		if op.Offset(g) > gen.value {
			gen, start, end = bound{op.Offset(g), i}, lowest, lowest
		}
		start.raise(s, i)
		end.raise(e, i)
	}
}

// after is what an answer proves of the partition from then on: its generation, and in
// that the least that its start and end are.
func (h *hints) after(i int32) (op.Generation, op.Offset, op.Offset, bool) {
	n, a := &h.needs[i], h.ops[i].Reply
	switch {
	case n.role == purges:
		return a.Position.Generation, 0, 0, true
	case n.anyGen:
		return 0, 0, 0, false
	case n.role == appends:
		return n.gen, n.startMin, n.endMin + op.Offset(len(h.ops[i].Request.Payloads)), true
	case n.role == removes:
		return n.gen, a.Position.Offset, max(n.endMin, a.Position.Offset), true
	}
	return n.gen, n.startMin, n.endMin, true
}

// falls holds an answer to the bounds that were proved before its call.
func (h *hints) falls(i int32, gen, start, end bound) {
	n, r, a := &h.needs[i], h.ops[i].Request, h.ops[i].Reply
	switch {
	case op.Offset(n.gen) < gen.value:
		class := StaleRead
		switch {
		case len(a.Records) > 0:
			class = PurgedReturned
		case r.Kind == op.GetBookmark:
			class = OldBookmark
		}
		h.because(class, fmt.Sprintf("generation %d had begun, and the answer is of generation %d", gen.value, n.gen), gen.by, i)
	case op.Offset(n.gen) > gen.value:
	case n.endMax < end.value:
		h.because(h.shorter(i, end), fmt.Sprintf("the end was at least %d, and the answer shows one of at most %d", end.value, n.endMax), end.with(i)...)
	case n.startMax < start.value:
		h.because(StartBack, fmt.Sprintf("the start was at least %d, and the answer shows one of at most %d", start.value, n.startMax), start.with(i)...)
	}
}

// shorter names what it is that an end fell.
func (h *hints) shorter(i int32, end bound) Class {
	if end.by < 0 {
		return StaleRead
	}
	r, before := h.ops[i].Request, h.needs[end.by].role == appends
	switch by := h.ops[end.by].Request; {
	case by.Kind == op.StoreBookmark || by.Kind == op.GetBookmark: // it lies at or above the end
		return FreshSkipped
	case by.Kind == op.Poll && by.Strategy == op.Next && h.ops[end.by].Reply.Count == 0: // so does the bookmark
		return FreshSkipped
	case r.Kind == op.Append && before && h.needs[i].endMax < h.needs[end.by].endMin:
		return WrongOrder
	case r.Kind == op.Append && h.needs[i].role == appends:
		return PositionReused
	case r.Kind == op.ListOffsets && r.Which == op.LatestOffset && !before:
		return LatestRegressed
	case before:
		return LostAppend
	}
	return StaleRead
}

// moved: a poll by offset that is not refused reads at that offset.
func (h *hints) moved() {
	for i := range h.ops {
		r, a := h.ops[i].Request, h.ops[i].Reply
		if r.Kind != op.Poll || r.Strategy != op.AtOffset || a == nil || a.Code != op.OK || a.Position.Offset == r.At.Offset {
			continue
		}
		class := FreshSkipped
		if a.Position.Offset < r.At.Offset {
			class = StaleRead
		}
		h.because(class, fmt.Sprintf("offset %d was asked for, and the answer is from %d on", r.At.Offset, a.Position.Offset), int32(i))
	}
}

// events are the calls of all operations and the returns of answered ones, in the order
// of time.
func (h *hints) events() (calls, returns []int32) {
	if h.calls != nil {
		return h.calls, h.returns
	}
	calls = make([]int32, len(h.ops))
	returns = make([]int32, 0, len(h.ops))
	for i := range h.ops {
		calls[i] = int32(i)
		if h.ops[i].Reply != nil {
			returns = append(returns, int32(i))
		}
	}
	inTime(calls, func(i int32) int64 { return h.ops[i].Call })
	inTime(returns, func(i int32) int64 { return h.ops[i].Return })
	h.calls, h.returns = calls, returns
	return calls, returns
}

// displaced is how far an operation is from its place in time, on average at most, for
// insertion to be the fastest way there. Histories are in the order of their calls, and in
// that of their returns but for as many as run at once.
const displaced = 64

// inTime sorts operations by a time that no two of them share.
func inTime(list []int32, time func(int32) int64) {
	left := displaced * len(list)
	for k, i := range list {
		at, to := time(i), k
		for to > 0 && time(list[to-1]) > at {
			list[to] = list[to-1]
			to--
		}
		list[to] = i
		if left -= k - to; left < 0 {
			slices.SortFunc(list, func(a, b int32) int { return cmp.Compare(time(a), time(b)) })
			return
		}
	}
}

// gaps: below the position of an append every offset was written before it by another
// append. Where no answer shows which, it was one of those whose messages are nowhere
// else, and that were called before the append returned; so there must be enough of
// their messages. And nobody reads a message before its append is called.
func (h *hints) gaps() {
	var free []int32 // appends of unknown outcome that nobody read, by their calls
	calls, _ := h.events()
	for _, i := range calls {
		o := &h.ops[i]
		if _, read := h.read[i]; o.Request.Kind == op.Append && o.Reply == nil && !read {
			free = append(free, i)
		}
	}
	room := make([]int, len(free)+1) // messages of the first so many
	for k, i := range free {
		room[k+1] = room[k] + len(h.ops[i].Request.Payloads)
	}
	for _, held := range h.fromTheBeginning() { //purgelab:unordered the earliest reason is taken, wherever it is found
		holes := 0
		for o := range held {
			if held[o] == 0 {
				holes++
				continue
			}
			i := held[o] - 1
			if x := &h.ops[i]; holes > 0 && x.Reply != nil && op.Offset(o) == h.first(i) {
				k, _ := slices.BinarySearchFunc(free, x.Return, func(f int32, t int64) int { return cmp.Compare(h.ops[f].Call, t) })
				if holes > room[k] {
					h.because(Gap, fmt.Sprintf("%d offsets below %d were written by nobody, and at most %d messages of unknown outcome can fill them", holes, o, room[k]), i)
				}
			}
		}
	}
	for i := range h.ops {
		o := &h.ops[i]
		if o.Reply == nil || len(o.Reply.Records) == 0 {
			continue
		}
		held, from := h.logs[o.Reply.Position.Generation], o.Reply.Position.Offset
		for k := range o.Reply.Records {
			at := from + op.Offset(k)
			if at < 0 || at >= op.Offset(len(held)) || held[at] == 0 {
				continue
			}
			if w := held[at] - 1; h.ops[w].Call > o.Return {
				h.because(WrongOrder, fmt.Sprintf("offset %d is read before its append is called", at), w, int32(i))
				break
			}
		}
	}
}

// fromTheBeginning is where messages are, if the whole history of the partition is known.
func (h *hints) fromTheBeginning() map[op.Generation][]int32 {
	if h.later {
		return nil
	}
	return h.logs
}

// restarts tells whether a purge begins a generation.
func (h *hints) restarts() bool { return h.sem.Numbering == model.Restart }
