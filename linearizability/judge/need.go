package judge

import (
	"math"
	"slices"

	"purgelab/model"
	"purgelab/model/op"
)

// role is what an answered operation does to the partition.
type role uint8

const (
	reads     role = iota // nothing, and its answer does not depend on a bookmark
	appends               // moves the end
	removes               // may move the start
	purges                // may begin a generation
	mismatch              // a purge that found something else than it expected
	registers             // opens a session
	begins                // begins the next incarnation
	keyed                 // reads or changes the bookmark of key
)

// unlimited is a bound that bounds nothing.
const unlimited = op.Offset(math.MaxInt64)

// need is what an answer says of the partition at the instant before the operation:
// its generation, and between what its start and its end lie, both included.
type need struct {
	gen                                op.Generation
	startMin, startMax, endMin, endMax op.Offset
	key                                int32 // index of the bookmark, if keyed
	role                               role
	anyGen                             bool // the answer does not show the generation
	pure                               bool // it cannot change anything
	unlisted                           bool // no message at or after its timestamp is readable
}

func (n *need) start(o op.Offset) { n.startMin, n.startMax = o, o }
func (n *need) end(o op.Offset)   { n.endMin, n.endMax = o, o }

// bounded tells whether an answer comes with era, start and end.
func bounded(c op.Code) bool {
	switch c {
	case op.OffsetOutOfRange, op.InvalidOffset, op.StaleGeneration, op.StaleIncarnation, op.Mismatch:
		return true
	}
	return false
}

// needOf reads an answer.
func (h *hints) needOf(o *model.Operation, a *op.Reply) need {
	r := o.Request
	n := need{gen: a.Position.Generation, startMax: unlimited, endMax: unlimited, key: -1}
	next := r.Kind == op.Poll && r.Strategy == op.Next
	switch {
	case r.Kind == op.NewIncarnation:
		n.role = begins
		n.start(a.Start)
		n.end(a.End)
	case r.Kind == op.Purge && a.Code == op.Mismatch: // its bounds are those of another instant
		n.role, n.anyGen = mismatch, true
	case bounded(a.Code):
		n.start(a.Start)
		n.end(a.End)
		n.pure = true
		if next && a.Code == op.OffsetOutOfRange {
			n.role, n.key = keyed, h.key(r.Key)
		}
	case a.Code == op.OK || a.Code == op.Gone:
		h.granted(&n, o, a)
	default:
		n.anyGen, n.pure = true, true
		if r.Kind == op.DeleteBookmark && a.Code == op.NotFound {
			n.role, n.key = keyed, h.key(r.Key)
		}
	}
	return n
}

// granted reads the answer of an operation that was not refused.
func (h *hints) granted(n *need, o *model.Operation, a *op.Reply) {
	r, p := o.Request, a.Position
	switch r.Kind {
	case op.Register:
		n.role, n.anyGen = registers, true
	case op.Append:
		n.role = appends
		n.end(p.Offset)
	case op.Poll:
		h.polled(n, r, a)
	case op.StoreBookmark:
		n.role, n.key = keyed, h.key(r.Key)
		n.gen, n.anyGen, n.endMin = r.At.Generation, r.Bare, r.At.Offset+1
	case op.DeleteBookmark:
		n.role, n.key, n.anyGen = keyed, h.key(r.Key), true
	case op.GetBookmark:
		n.role, n.key, n.anyGen, n.pure = keyed, h.key(r.Key), !a.Found, true
		if a.Found {
			n.endMin = p.Offset + 1
		}
	case op.ListOffsets:
		n.pure = true
		switch {
		case r.Which == op.EarliestOffset:
			n.start(p.Offset)
		case r.Which == op.LatestOffset:
			n.end(p.Offset)
		case !a.Found:
			n.anyGen, n.unlisted = true, true
		default:
			n.startMax, n.endMin = p.Offset, p.Offset+1
			n.startMin = h.startAtTimestamp(p, r.Timestamp)
		}
	case op.DeleteRecords:
		h.removed(n, r, a)
	case op.Purge:
		if h.sem.Numbering == model.Continue {
			h.removed(n, &op.Request{At: op.Position{Offset: -1}, Expected: r.Expected}, a)
			return
		}
		n.role, n.anyGen = purges, true
	}
}

func (h *hints) removed(n *need, r *op.Request, a *op.Reply) {
	n.role, n.startMax = removes, a.Position.Offset
	switch cutoff := r.At.Offset; {
	case cutoff == -1:
		n.end(a.Position.Offset)
	case cutoff == a.Position.Offset:
		n.endMin = cutoff
	default:
		n.start(a.Position.Offset)
	}
	if r.Expected != nil {
		n.end(r.Expected.Offset)
	}
}

func (h *hints) polled(n *need, r *op.Request, a *op.Reply) {
	from, count := a.Position.Offset, op.Offset(a.Count)
	n.pure, n.startMax, n.endMin = !r.AutoCommit || count == 0, from, from+count
	if a.Count < r.Max {
		n.endMax = n.endMin
	}
	switch r.Strategy {
	case op.First:
		n.startMin = from
	case op.Last:
		n.endMax = n.endMin
		if a.Count < r.Max {
			n.startMin = from
		}
	case op.AtTimestamp:
		n.startMin = h.startAtTimestamp(a.Position, r.Timestamp)
	}
	if r.Strategy == op.Next || !n.pure {
		n.role, n.key = keyed, h.key(r.Key)
	}
}

// startAtTimestamp is where the start must be at least, if the first readable message
// at or after a timestamp is at p: at p itself, if the one before is late enough.
func (h *hints) startAtTimestamp(p op.Position, ts op.Timestamp) op.Offset {
	held := h.logs[p.Generation]
	o := p.Offset - 1
	if o >= 0 && o < op.Offset(len(held)) && held[o] != 0 && h.stamp(held[o]-1) >= ts {
		return p.Offset
	}
	return 0
}

// fits tells whether the partition is as an answer needs it, bookmarks aside.
func (f *finder) fits(n *need) bool {
	if !n.anyGen && n.gen != f.gen || f.start < n.startMin || f.start > n.startMax || f.end < n.endMin || f.end > n.endMax {
		return false
	}
	return !n.unlisted
}

// lists tells whether a message at or after a timestamp is readable.
func (f *finder) lists(ts op.Timestamp) bool {
	return f.start < f.end && f.times[f.end-1] >= ts
}

// firstAt is the first readable offset at or after a timestamp, or the end.
func (f *finder) firstAt(ts op.Timestamp) op.Offset {
	i, _ := slices.BinarySearch(f.times[f.start:f.end], ts)
	return f.start + op.Offset(i)
}
