// Package judge orders recorded histories of any length.
package judge

import (
	"purgelab/model"
	"purgelab/model/op"
)

// Verdict on a history of one partition: an order that is proved, or a reason, or
// neither, and then why not.
type Verdict struct {
	Order  []model.Placed
	Reason *Reason
	GaveUp error
}

// Judge looks for an order of the operations of one partition, which it proves, or for
// a reason why there is none.
func Judge(sem model.Semantics, ops []model.Operation) Verdict {
	h := hintsOf(sem, ops)
	if h.unfit == nil {
		order, err := find(h)
		if err == nil {
			err = model.Replay(sem, ops, order)
		}
		if err == nil {
			return Verdict{Order: order}
		}
		h.unfit = err
	}
	return Verdict{Reason: h.reason(), GaveUp: h.unfit}
}

// Explain looks for a reason alone. A history that has an order has none.
func Explain(sem model.Semantics, ops []model.Operation) *Reason { return hintsOf(sem, ops).reason() }

// Count tells how many operations of a history are judged, and how many of unknown
// outcome among them are not shown by any answer.
func Count(sem model.Semantics, ops []model.Operation) (judged, unknown int) {
	h := hintsOf(sem, ops)
	seen := map[op.Generation]bool{}
	for i := range h.needs {
		if ops[i].Reply != nil && !h.needs[i].anyGen {
			seen[h.needs[i].gen] = true
		}
	}
	for i := range ops {
		o := &ops[i]
		if o.Reply != nil {
			judged++
			continue
		}
		r := o.Request
		if !r.Mutates() || sem.Malformed(r) || r.Kind == op.NewIncarnation || r.Kind == op.Register && sem.Sessions == 0 {
			continue
		}
		judged++
		if _, read := h.read[int32(i)]; !read && o.Promise == nil && !(r.Kind == op.Purge && r.Intent != 0 && seen[r.Intent]) {
			unknown++
		}
	}
	return judged, unknown
}
