package judge

import (
	"slices"

	"purgelab/model/op"
)

// every is how many events there are between two snapshots, maxKept how many snapshots
// are kept, maxTries how often the finder tries to get past an event, patience how often
// it tries at all before it asks whether there is a reason not to.
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

func (f *finder) save() snapshot {
	return snapshot{
		f.callsDone, f.returnsDone, len(f.finished), len(f.order), f.gen, f.settled, f.start, f.end, f.times, f.latest, f.session,
		cloneBookmarks(f.bookmarks), slices.Clone(f.pending), slices.Clone(f.appends), slices.Clone(f.removals), slices.Clone(f.conditional), slices.Clone(f.promised),
	}
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
	f.bookmarks = cloneBookmarks(s.bookmarks)
	f.pending, f.appends, f.removals = slices.Clone(s.pending), slices.Clone(s.appends), slices.Clone(s.removals)
	f.conditional, f.promised = slices.Clone(s.conditional), slices.Clone(s.promised)
}

func cloneBookmarks(list []bookmark) []bookmark {
	out := slices.Clone(list)
	for i := range out {
		out[i].configs = slices.Clone(out[i].configs)
		out[i].unknown = slices.Clone(out[i].unknown)
	}
	return out
}
