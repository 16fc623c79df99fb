package judge

import (
	"fmt"

	"purgelab/model/op"
)

// wishes is what clients asked for, as far as time has passed.
type wishes struct {
	generations map[op.Generation]bool // to be begun; 0: any
	starts      map[value]bool
	highest     map[op.Generation]op.Offset // of the starts
	anyStart    bool
}

// unasked: a generation is begun by a purge, and the start of one is 0 until a
// delete-records moves it, to its cutoff or to the end. So whatever an answer shows of the
// two, somebody asked for it before that answer. A purge whose number nobody knows may
// begin any generation, and a cutoff of -1 without an answer may be any.
func (h *hints) unasked() {
	if h.later {
		return
	}
	w := wishes{generations: map[op.Generation]bool{}, starts: map[value]bool{}, highest: map[op.Generation]op.Offset{}}
	calls, returns := h.events()
	for len(returns) > 0 {
		if i := returns[0]; len(calls) == 0 || h.ops[i].Return < h.ops[calls[0]].Call {
			returns = returns[1:]
			if n := &h.needs[i]; !n.anyGen {
				h.begunBy(i, n, &w)
				h.movedBy(i, n, &w)
			}
			continue
		}
		w.note(h, calls[0])
		calls = calls[1:]
	}
}

// note takes in what an operation asks for.
func (w *wishes) note(h *hints, i int32) {
	r, a := h.ops[i].Request, h.ops[i].Reply
	switch {
	case a != nil && a.Code != op.OK:
	case r.Kind == op.Purge && h.restarts():
		g := r.Intent
		if a != nil {
			g = a.Position.Generation
		}
		w.generations[g] = true
	case r.Kind == op.DeleteRecords && r.At.Offset != -1:
		v := value{r.At.Generation, r.At.Offset}
		if r.Bare {
			v.gen = anyGeneration
		}
		w.move(v)
	case r.Kind != op.DeleteRecords && r.Kind != op.Purge:
	case a == nil:
		w.anyStart = true
	default:
		w.move(value{a.Position.Generation, a.Position.Offset})
	}
}

func (w *wishes) move(v value) {
	w.starts[v], w.highest[v.gen] = true, max(w.highest[v.gen], v.offset)
}

// begunBy holds the generation that an answer shows to what was asked for.
func (h *hints) begunBy(i int32, n *need, w *wishes) {
	if n.gen > 0 && h.restarts() && !w.generations[n.gen] && !w.generations[0] {
		h.because(RetriedTwice, fmt.Sprintf("generation %d was begun, and no purge that was asked for is its own", n.gen), i)
	}
}

// movedBy holds the start that an answer shows exactly to what was asked for.
func (h *hints) movedBy(i int32, n *need, w *wishes) {
	r, s := h.ops[i].Request, n.startMin
	timed := r.Which == op.OffsetForTimestamp || r.Strategy == op.AtTimestamp
	if s == 0 || s != n.startMax || timed || w.anyStart || w.starts[value{n.gen, s}] || w.starts[value{anyGeneration, s}] {
		return
	}
	note := fmt.Sprintf("the start is %d, and nobody asked for that", s)
	if s < max(w.highest[n.gen], w.highest[anyGeneration]) {
		h.because(StartBack, note, i)
		return
	}
	ops := []int32{i}
	if held := h.logs[n.gen]; s <= op.Offset(len(held)) && held[s-1] != 0 {
		ops = []int32{held[s-1] - 1, i}
	}
	h.because(LostAppend, note, ops...)
}
