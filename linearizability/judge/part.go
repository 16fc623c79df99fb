package judge

import (
	"slices"

	"purgelab/model"
	"purgelab/model/op"
)

// The rules hold for answers that show the partition at an instant between call and
// return, in one incarnation. So a history with several incarnations, or in which clients
// repeat numbered requests, is looked at in parts: one for each incarnation, with its
// operations. In a part
//
//   - a numbered request that is there more than once is of unknown outcome: it took
//     effect once, and each answer may be that of another one;
//   - so is what may belong to the incarnation or not, and every purge of another one: an
//     intent outlives its incarnation, and is carried out again if that was lost;
//   - so is an append of an earlier incarnation whose message is read in this one.
//
// What has no order as a part has none as a whole: in any order of the whole the
// operations of an incarnation come together, and what is said of them here is less than
// the history says. Nothing is known of the state with which a later incarnation begins.

// part is the operations of one incarnation, in their sequence, and where they are in the
// whole.
type part struct {
	sem      model.Semantics
	ops      []model.Operation // each answer that of an instant
	answered []model.Operation // with all answers of the incarnation
	of       []int32
	later    bool
	among    bool // other incarnations
}

// parts is nil if the whole is the only one.
func (h *hints) parts() []part {
	twice := h.numberedTwice()
	if !h.begins {
		if !slices.Contains(twice, true) {
			return nil
		}
		p := part{sem: h.sem}
		for i := range h.ops {
			p.add(&h.ops[i], int32(i), twice[i], false)
		}
		return []part{p}
	}
	var all []op.Incarnation
	for i := range h.ops {
		if n := incarnation(&h.ops[i]); n != 0 {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	appended := h.appendedOnce()
	var out []part
	for k, n := range all {
		p := part{sem: h.sem, later: k > 0, among: true}
		carried := h.carried(n, appended)
		for i := range h.ops {
			o := &h.ops[i]
			switch of := incarnation(o); {
			case o.Request.Kind == op.NewIncarnation:
			case of == n:
				p.add(o, int32(i), twice[i], false)
			case of == 0 || carried[int32(i)] || o.Request.Kind == op.Purge && h.restarts():
				p.add(o, int32(i), true, true)
			}
		}
		out = append(out, p)
	}
	return out
}

// add puts an operation into a part; unknown: its answer does not say when it took effect;
// outside: nor whether it did in this incarnation.
func (p *part) add(o *model.Operation, i int32, unknown, outside bool) {
	x, y := *o, *o
	if unknown {
		x.Reply = nil
	}
	if outside {
		y.Reply = nil
	}
	p.ops, p.answered, p.of = append(p.ops, x), append(p.answered, y), append(p.of, i)
}

// reasons are those of a part, by their places in the whole.
func (p *part) reasons() []Reason {
	h := hintsOf(p.sem, p.ops)
	h.later, h.succeeded = p.later, p.among
	h.rules()
	all := &hints{sem: p.sem, ops: p.answered, reasons: h.reasons}
	all.repeats()
	for _, r := range all.reasons {
		for k, i := range r.Ops {
			r.Ops[k] = p.of[i]
		}
	}
	return all.reasons
}

// incarnation in which an operation took effect; 0: nobody knows.
func incarnation(o *model.Operation) op.Incarnation {
	if o.Request.Kind == op.NewIncarnation {
		return 0
	}
	if a := o.Reply; a != nil && positioned(o.Request.Kind, a) && a.Position.Incarnation != 0 {
		return a.Position.Incarnation
	}
	if o.Request.Kind == op.Purge {
		return 0
	}
	return o.Request.Incarnation
}

// positioned tells whether the position in an answer means anything: a bookmark that was
// not found has none, whatever is written there.
func positioned(k op.Kind, a *op.Reply) bool {
	switch {
	case bounded(a.Code):
		return k != op.Purge || a.Code != op.Mismatch // settled at one instant, answered at another
	case a.Code != op.OK && a.Code != op.Gone:
		return false
	}
	switch k {
	case op.Append, op.Poll, op.DeleteRecords, op.Purge:
		return true
	case op.GetBookmark, op.ListOffsets:
		return a.Found
	}
	return false
}

// numberedTwice tells of each operation whether its number is used by another one, too.
func (h *hints) numberedTwice() []bool {
	type number struct {
		session  op.Session
		sequence op.Sequence
	}
	first, out := map[number]int32{}, make([]bool, len(h.ops))
	for i := range h.ops {
		r := h.ops[i].Request
		if r.Session == 0 || r.Sequence == 0 || !r.Mutates() || r.Kind == op.Register || r.Kind == op.Purge && h.restarts() {
			continue
		}
		n := number{r.Session, r.Sequence}
		if j, again := first[n]; again {
			out[i], out[j] = true, true
		} else {
			first[n] = int32(i)
		}
	}
	return out
}

// appendedOnce says which append wrote a message; -1: there are several.
func (h *hints) appendedOnce() map[op.Payload]int32 {
	out := map[op.Payload]int32{}
	for i := range h.ops {
		if r := h.ops[i].Request; r.Kind == op.Append {
			for _, m := range r.Payloads {
				if _, many := out[m]; many {
					out[m] = -1
				} else {
					out[m] = int32(i)
				}
			}
		}
	}
	return out
}

// carried are the appends of other incarnations whose messages are read in one.
func (h *hints) carried(n op.Incarnation, appended map[op.Payload]int32) map[int32]bool {
	out := map[int32]bool{}
	for i := range h.ops {
		o := &h.ops[i]
		if o.Reply == nil || incarnation(o) != n {
			continue
		}
		for k := range o.Reply.Records {
			if a, ok := appended[o.Reply.Records[k].Payload]; ok && a >= 0 && incarnation(&h.ops[a]) < n {
				out[a] = true
			}
		}
	}
	return out
}
