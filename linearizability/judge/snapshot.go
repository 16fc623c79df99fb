package judge

import (
	"math/bits"
	"slices"

	"purgelab/model/op"
)

// every is how many events there are between two snapshots, maxKept how many snapshots
// are kept, maxTries how often the finder tries to get past an event, patience how often
// it tries at all before it asks whether there is a reason not to. That costs as much as a
// part of a history, so it is asked when as much was spent on tries.
const (
	every    = 64
	maxKept  = 24
	maxTries = 400
	patience = 20
)

// snapshot is what the finder goes back to.
type snapshot struct {
	callsDone, returnsDone         int
	finished, order                int
	gen, settled                   op.Generation
	start, end                     op.Offset
	times                          []op.Timestamp
	latest                         op.Timestamp
	session                        op.Session
	bookmarks                      []bookmark
	pending                        []int32
	appends, removals, conditional []int32
	promised                       []int32
}

func (s *snapshot) event() int { return s.callsDone + s.returnsDone }

// keep adds a snapshot to the list, in the place of the oldest one if there are enough.
func (f *finder) keep(kept []*snapshot) []*snapshot {
	s := &snapshot{}
	if len(kept) == maxKept {
		s = kept[0]
		kept = slices.Delete(kept, 0, 1)
	}
	f.save(s)
	return append(kept, s)
}

// save overwrites a snapshot, whose memory it uses again.
func (f *finder) save(s *snapshot) {
	s.callsDone, s.returnsDone, s.finished, s.order = f.callsDone, f.returnsDone, len(f.finished), len(f.order)
	s.gen, s.settled, s.start, s.end, s.times, s.latest, s.session = f.gen, f.settled, f.start, f.end, f.times, f.latest, f.session
	s.bookmarks = copyBookmarks(s.bookmarks, f.bookmarks)
	s.pending, s.appends, s.removals = append(s.pending[:0], f.pending...), append(s.appends[:0], f.appends...), append(s.removals[:0], f.removals...)
	s.conditional, s.promised = append(s.conditional[:0], f.conditional...), append(s.promised[:0], f.promised...)
}

func (f *finder) restore(s *snapshot) {
	for _, i := range f.finished[s.finished:] {
		f.done[i] = false
	}
	for _, i := range f.calls[s.callsDone:f.callsDone] {
		f.called[i] = false
	}
	f.callsDone, f.returnsDone = s.callsDone, s.returnsDone
	f.finished, f.order = f.finished[:s.finished], f.order[:s.order]
	f.gen, f.settled, f.start, f.end, f.times, f.latest, f.session = s.gen, s.settled, s.start, s.end, slices.Clip(s.times), s.latest, s.session
	f.bookmarks = copyBookmarks(f.bookmarks, s.bookmarks)
	f.pending, f.appends, f.removals = slices.Clone(s.pending), slices.Clone(s.appends), slices.Clone(s.removals)
	f.conditional, f.promised = slices.Clone(s.conditional), slices.Clone(s.promised)
}

// copyBookmarks overwrites bookmarks, whose memory it uses again.
func copyBookmarks(to, from []bookmark) []bookmark {
	if to == nil {
		to = make([]bookmark, len(from))
	}
	for i := range from {
		a, b := &to[i], &from[i]
		a.configs, a.unknown = append(a.configs[:0], b.configs...), append(a.unknown[:0], b.unknown...)
		a.used, a.stores, a.riddles, a.fresh = b.used, b.stores, b.riddles, b.fresh
		taken := bits.Len64(b.used) // what is in the other slots does not matter
		copy(a.slots[:taken], b.slots[:taken])
	}
	return to
}
