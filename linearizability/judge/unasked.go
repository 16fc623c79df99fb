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
	// lowest end of a generation at which a cutoff of -1 without an answer was asked for; in
	// generations after the first of these it may take effect at any end.
	lowest map[op.Generation]op.Offset
	after  op.Generation
}

// unasked: a generation is begun by a purge, and the start of one is 0 until a
// delete-records moves it, to its cutoff or to the end. So whatever an answer shows of the
// two, somebody asked for it before that answer. A purge whose number nobody knows may
// begin any generation, and a cutoff of -1 without an answer may be any.
func (h *hints) unasked() {
	if h.later {
		return
	}
	w := wishes{generations: map[op.Generation]bool{}, starts: map[value]bool{}, highest: map[op.Generation]op.Offset{}, lowest: map[op.Generation]op.Offset{}, after: anyGeneration}
	gen, end := op.Generation(0), op.Offset(0) // proved
	calls, returns := h.events()
	for len(returns) > 0 {
		if i := returns[0]; len(calls) == 0 || h.ops[i].Return < h.ops[calls[0]].Call {
			returns = returns[1:]
			if n := &h.needs[i]; !n.anyGen {
				h.begunBy(i, n, &w)
				h.movedBy(i, n, &w)
			}
			if g, _, e, ok := h.after(i); ok && g > gen {
				gen, end = g, e
			} else if ok && g == gen {
				end = max(end, e)
			}
			continue
		}
		w.note(h, calls[0], gen, end)
		calls = calls[1:]
	}
}

// note takes in what an operation asks for, when so much of the partition is proved.
func (w *wishes) note(h *hints, i int32, gen op.Generation, end op.Offset) {
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
		w.after = min(w.after, gen)
		if low, ok := w.lowest[gen]; !ok || end < low {
			w.lowest[gen] = end
		}
	default:
		w.move(value{a.Position.Generation, a.Position.Offset})
	}
}

// free tells whether a cutoff of -1 without an answer may have moved the start to s.
func (w *wishes) free(g op.Generation, s op.Offset) bool {
	low, ok := w.lowest[g]
	return g > w.after || ok && s >= low
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
	if s == 0 || s != n.startMax || timed || w.free(n.gen, s) || w.starts[value{n.gen, s}] || w.starts[value{anyGeneration, s}] {
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
