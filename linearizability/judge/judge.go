// Package judge decides whether a recorded history of one partition is linearizable, in
// time in proportion to its length. It shares no code with the search by porcupine, and
// with the model only the replay that proves its orders.
//
//	hints.go      what the answers of a whole history reveal: where each message is
//	need.go       what one answer needs of the partition
//	finder.go     puts the operations in an order, in the order of time
//	purge.go      generations, and the purges that begin them
//	bookmark.go   what the bookmark of a key may be
//	unknown.go    operations of unknown outcome that an answer needs
//	riddle.go     bookmarks that only unknown outcomes explain
//	lives.go      a history with new incarnations, divided into them
//	succeed.go    orders of them, one after the other
//	begin.go      how a new incarnation begins
//	snapshot.go   what the finder goes back to where it is stuck
//	reason.go     why there is no order: classes, promises, and misplaced messages
//	part.go       what of a history rules may look at
//	regress.go    what never falls, and did
//	unasked.go    what nobody asked for
//	rewind.go     bookmarks that nothing explains
//	reset.go      polls that begin at the end, and no bookmark says why
//	unwritten.go  messages that nobody appended
//	single.go     incarnations and numbers that there cannot be
//	certificate.go  an order, written out
//
// An order is believed because model.Replay proves it, a reason because the comment of
// its rule does. docs/judging.md explains both with pictures. The order in which things
// are tried is fixed by the history alone: the same one gets the same verdict. The idea
// that distinct values make the order of such histories tractable is that of
// Lee and Mathur, Efficient Decrease-and-Conquer Linearizability Monitoring
// (arXiv 2410.04581), and of Abdulla et al., Efficient Linearizability Monitoring
// (arXiv 2509.17795).
package judge

import (
	"maps"
	"slices"

	"purgelab/model"
	"purgelab/model/op"
)

// Verdict on a history of one partition: an order that is proved, or a reason, or
// neither, and then why not.
type Verdict struct {
	// Judged operations, and those of unknown outcome among them that no answer shows.
	Judged, Unknown int
	Order           []model.Placed
	Reason          *Reason
	GaveUp          error
}

// Judge looks for an order of the operations of one partition, which it proves, or for
// a reason why there is none.
func Judge(sem model.Semantics, ops []model.Operation) Verdict {
	h := hintsOf(sem, ops)
	v := Verdict{}
	if h.unfit == nil || h.begins {
		if v.Order, v.GaveUp = h.order(); v.GaveUp == nil {
			v.GaveUp = model.Replay(sem, ops, v.Order)
		}
		v.Judged, v.Unknown = h.count()
		if v.GaveUp == nil {
			return v
		}
		h.unfit = v.GaveUp
	}
	v.Order, v.GaveUp, v.Reason = nil, h.unfit, h.reason()
	return v
}

// order looks for one.
func (h *hints) order() ([]model.Placed, error) {
	if h.begins {
		return succeed(h)
	}
	return find(h)
}

// Explain looks for a reason alone. A history that has an order has none.
func Explain(sem model.Semantics, ops []model.Operation) *Reason { return hintsOf(sem, ops).reason() }

func (h *hints) count() (judged, unknown int) {
	sem, ops := h.sem, h.ops
	seen := map[op.Generation]bool{}
	h.saw(seen)
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

// saw adds the generations that answers show.
func (h *hints) saw(seen map[op.Generation]bool) {
	latest := op.Generation(0)
	for i := range h.needs {
		if n := &h.needs[i]; h.ops[i].Reply != nil && !n.anyGen && (n.gen != latest || i == 0) {
			seen[n.gen], latest = true, n.gen
		}
	}
	for _, l := range h.lived {
		l.saw(seen)
	}
}

// generations that answers show, sorted.
func (h *hints) generations() []op.Generation {
	if h.gens == nil {
		seen := map[op.Generation]bool{}
		h.saw(seen)
		h.gens = slices.Sorted(maps.Keys(seen))
	}
	return h.gens
}
