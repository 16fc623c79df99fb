package judge

import (
	"fmt"

	"purgelab/model/op"
)

// asked is when clients first asked for something.
type asked[K comparable] map[K]int64

func (a asked[K]) note(k K, call int64) {
	if old, ok := a[k]; !ok || call < old {
		a[k] = call
	}
}

// by tells whether it was asked for before an instant.
func (a asked[K]) by(k K, t int64) bool {
	call, ok := a[k]
	return ok && call < t
}

// unasked: a generation is begun by a purge, and the start of one is 0 until a
// delete-records moves it, to its cutoff or to the end. So whatever an answer shows of the
// two, somebody asked for it before that answer. A purge whose number nobody knows may
// begin any generation, and a cutoff of -1 whose answer nobody knows may be any.
func (h *hints) unasked() {
	if h.later {
		return
	}
	starts, generations, highest := h.starts(), asked[op.Generation]{}, map[op.Generation]op.Offset{}
	for g, list := range h.purgesOf { //purgelab:unordered the earliest call is taken
		for _, i := range list {
			generations.note(g, h.ops[i].Call)
		}
	}
	for s := range starts { //purgelab:unordered the highest is taken
		highest[s.gen] = max(highest[s.gen], s.offset)
	}
	for i := range h.ops {
		o := &h.ops[i]
		if o.Reply == nil || h.needs[i].anyGen {
			continue
		}
		n := &h.needs[i]
		if g := n.gen; g > 0 && h.restarts() && !generations.by(g, o.Return) && !generations.by(0, o.Return) {
			h.because(RetriedTwice, fmt.Sprintf("generation %d was begun, and no purge that was asked for is its own", g), int32(i))
			continue
		}
		s := n.startMin
		timed := o.Request.Which == op.OffsetForTimestamp || o.Request.Strategy == op.AtTimestamp
		if s == 0 || s != n.startMax || timed || starts.by(value{n.gen, s}, o.Return) || starts.by(value{anyGeneration, s}, o.Return) || starts.by(anyStart, o.Return) {
			continue
		}
		class := StartBack
		if s > max(highest[n.gen], highest[anyGeneration]) {
			class = LostAppend
		}
		ops := []int32{int32(i)}
		if held := h.logs[n.gen]; class == LostAppend && s <= op.Offset(len(held)) && held[s-1] != 0 {
			ops = []int32{held[s-1] - 1, int32(i)}
		}
		h.because(class, fmt.Sprintf("the start is %d, and nobody asked for that", s), ops...)
	}
}

// anyStart is a start of which nobody knows where it is.
var anyStart = value{anyGeneration, none}

// starts are those that were asked for, with the generation that was meant.
func (h *hints) starts() asked[value] {
	out := asked[value]{}
	for i := range h.ops {
		o := &h.ops[i]
		r, a := o.Request, o.Reply
		if r.Kind != op.DeleteRecords && (r.Kind != op.Purge || h.restarts()) || a != nil && a.Code != op.OK {
			continue
		}
		gen := r.At.Generation
		if r.Bare {
			gen = anyGeneration
		}
		switch {
		case r.Kind == op.DeleteRecords && r.At.Offset != -1:
			out.note(value{gen, r.At.Offset}, o.Call)
		case a == nil:
			out.note(anyStart, o.Call)
		default:
			out.note(value{a.Position.Generation, a.Position.Offset}, o.Call)
		}
	}
	return out
}
