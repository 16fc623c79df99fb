package traces

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/observe"
	"purgelab/model/op"
	"purgelab/traces/tlc"
)

// left removes the first event of an action; what its replica does next of the
// action `then` cannot be explained.
func left(a, then observe.Action) func(*testing.T, []observe.Event) ([]observe.Event, int) {
	return func(t *testing.T, ev []observe.Event) ([]observe.Event, int) {
		i := first(t, ev, 0, is(a))
		who := ev[i].Replica
		ev = slices.Delete(ev, i, i+1)
		return ev, first(t, ev, i, is(then), by(who))
	}
}

// after puts an event behind the first one that the conditions hold for.
func after(e observe.Event, conditions ...func(observe.Event) bool) func(*testing.T, []observe.Event) ([]observe.Event, int) {
	return func(t *testing.T, ev []observe.Event) ([]observe.Event, int) {
		i := first(t, ev, 0, conditions...)
		at := ev[i]
		e.Time, e.Replica, e.Generation = at.Time, at.Replica, at.Generation
		if e.Applied == 0 {
			e.Applied = at.Applied
		}
		e.Start, e.End = at.Start, at.End
		return slices.Insert(ev, i+1, e), i + 1
	}
}

// found holds for a boot after a purge.
func found(e observe.Event) bool { return e.Action == Boot && e.Generation > 0 }

var resetCorruptions = []corruption{
	{"reset-frontier-dropped", "reset-record-one-replica", left(ResetFrontier, UnlinkSegments)},
	{"reset-unlink-dropped", "reset-record-one-replica", left(UnlinkSegments, SyncSegments)},
	{"reset-segments-not-synced", "reset-record-one-replica", left(SyncSegments, ResetRecord)},
	{"reset-record-dropped", "reset-record-one-replica", left(ResetRecord, UnlinkBookmarks)},
	{"reset-bookmarks-not-synced", "reset-record-one-replica", left(SyncBookmarks, PurgeComplete)},
	{"reset-completed-before-cleanup", "reset-record-one-replica", func(t *testing.T, ev []observe.Event) ([]observe.Event, int) {
		i := first(t, ev, 0, is(UnlinkBookmarks))
		j := first(t, ev, i, is(PurgeComplete))
		e := ev[j]
		e.Time = ev[i].Time
		ev = slices.Delete(ev, j, j+1)
		return slices.Insert(ev, i, e), i
	}},
	{"reset-again", "reset-record-one-replica", func(t *testing.T, ev []observe.Event) ([]observe.Event, int) {
		i := first(t, ev, 0, is(PurgeComplete))
		e := ev[first(t, ev, 0, is(ResetFrontier))]
		e.Time, e.Start, e.End = ev[i].Time, 0, 0
		return slices.Insert(ev, i+1, e), i + 1
	}},
	{"reset-floor-below-the-journal", "reset-record-three-replicas", changed(func(e *observe.Event) { e.Op-- }, is(ResetFrontier))},
	{"reset-floor-changed-by-the-record", "reset-record-three-replicas", changed(func(e *observe.Event) { e.Op++ }, is(ResetRecord))},
	{"reset-floor-forgotten", "reset-record-three-replicas", changed(func(e *observe.Event) { e.Op = 0 }, found)},
	{"reset-undone-by-power-loss", "reset-record-three-replicas", changed(func(e *observe.Event) { e.Kind = "begun" }, found)},
	{"reset-bookmark-back-at-boot", "reset-record-three-replicas", changed(func(e *observe.Event) { e.Count++ }, found)},
	{"reset-journal-with-a-gap", "reset-record-three-replicas", func(t *testing.T, ev []observe.Event) ([]observe.Event, int) {
		i := first(t, ev, first(t, ev, 0, is(Materialize)), is(Journal))
		ev[i].Op, ev[i].Last = ev[i].Last+1, ev[i].Last+1
		return ev, i
	}},
	{"reset-op-below-floor-materialized", "reset-record-one-replica", func(t *testing.T, ev []observe.Event) ([]observe.Event, int) {
		i := first(t, ev, 0, is(Filtered), of("append"))
		ev[i].Action, ev[i].End = Materialize, ev[i].End+1
		return ev, i
	}},
	{"reset-fresh-op-filtered", "reset-record-one-replica", func(t *testing.T, ev []observe.Event) ([]observe.Event, int) {
		i := first(t, ev, first(t, ev, 0, is(PurgeComplete)), is(Materialize), of("append"))
		ev[i].Action, ev[i].Offset, ev[i].End = Filtered, 0, ev[i].Offset
		return ev, i
	}},
	{"reset-bookmark-during-cleanup", "reset-record-three-replicas", func(t *testing.T, ev []observe.Event) ([]observe.Event, int) {
		i := first(t, ev, 0, is(ResetRecord), func(e observe.Event) bool { return e.Op == e.Applied })
		e := ev[i]
		e.Action, e.Kind, e.Key, e.Op, e.Applied = Materialize, "store", "consumer-1", e.Op+1, e.Applied+1
		return slices.Insert(ev, i+1, e), i + 1
	}},
	{"reset-held-out-of-order", "reset-record-one-replica", changed(func(e *observe.Event) { e.Key = "consumer-9" }, is(Release))},
	{"reset-held-without-a-purge", "reset-record-one-replica", func(t *testing.T, ev []observe.Event) ([]observe.Event, int) {
		i := first(t, ev, 0, is(Release))
		return slices.Insert(ev, i, ev[i]), i + 1
	}},
	{"reset-served-while-pending", "reset-record-one-replica", after(observe.Event{Action: Serve}, is(Boot), func(e observe.Event) bool { return e.Resetting > 0 })},
	{"reset-replicas-disagree", "reset-record-three-replicas", func(t *testing.T, ev []observe.Event) ([]observe.Event, int) {
		// Whether an append was executed, all replicas must agree on, whatever their floors.
		i := first(t, ev, 0, is(Materialize), of("append"))
		n := ev[i].Op
		j := first(t, ev, i+1, is(Materialize), func(e observe.Event) bool { return e.Op == n })
		who := ev[j].Replica
		gone := op.Offset(ev[j].Count)
		for k := j; k < len(ev); k++ {
			if ev[k].Replica == who && ev[k].Generation == 0 && ev[k].Action != ProcessCrash && ev[k].Action != PowerLoss {
				if ev[k].Action == Materialize && ev[k].Kind == "append" && k != j {
					ev[k].Offset -= gone
				}
				ev[k].End -= gone
			}
		}
		ev[j].Kind, ev[j].Offset, ev[j].Count = "other", 0, 0
		return ev, j
	}},
	{"reset-answer-past-the-end", "reset-record-three-replicas", changed(func(e *observe.Event) { e.Count += 9 }, is(Answer), of("poll"), func(e observe.Event) bool { return e.Count > 0 })},
	{"reset-two-leaders-in-a-term", "reset-record-three-replicas", func(t *testing.T, ev []observe.Event) ([]observe.Event, int) {
		e := ev[first(t, ev, 0, is(BecomeLeader))]
		i := first(t, ev, 0, is(Materialize))
		e.Time, e.Replica = ev[i].Time, e.Replica%3+1
		return slices.Insert(ev, i+1, e), i + 1
	}},
}

var advanceCorruptions = []corruption{
	{"advance-start-forgotten", "advance-one-replica", changed(func(e *observe.Event) { e.Start = 0 }, is(Boot), func(e observe.Event) bool { return e.Start > 0 })},
	{"advance-end-went-back", "advance-one-replica", changed(func(e *observe.Event) { e.End-- }, is(Boot), func(e observe.Event) bool { return e.End > 0 })},
	{"advance-served-before-replay", "advance-one-replica", after(observe.Event{Action: Serve}, is(Boot), func(e observe.Event) bool { return e.Front > e.Applied })},
	{"advance-reclaimed-above-the-start", "advance-one-replica", changed(func(e *observe.Event) { e.Offset = e.End + 1 }, is(Reclaim))},
	{"advance-reclaimed-twice", "advance-one-replica", func(t *testing.T, ev []observe.Event) ([]observe.Event, int) {
		i := first(t, ev, 0, is(Reclaim))
		e := ev[i]
		e.Offset = 1
		return slices.Insert(ev, i+1, e), i + 1
	}},
	{"advance-segment-lost", "advance-one-replica", func(t *testing.T, ev []observe.Event) ([]observe.Event, int) {
		// The disk holds less than the start needs; a crash during a removal does not explain it.
		i := first(t, ev, 0, is(Boot), func(e observe.Event) bool { return e.Offset > 0 })
		ev[i].Offset = ev[i].End
		return ev, i - 1
	}},
	{"advance-whole-batch-deleted", "advance-three-replicas", func(t *testing.T, ev []observe.Event) ([]observe.Event, int) {
		// All replicas delete one message more than was asked for.
		i := first(t, ev, 0, is(Commit), of("advance"), func(e observe.Event) bool { return e.Offset > 0 })
		n := ev[i].Op
		return ev, beyond(t, ev, n, i)
	}},
	{"advance-bookmark-lost", "advance-three-replicas", changed(func(e *observe.Event) { e.Count = 0 }, is(Boot), func(e observe.Event) bool { return e.Count > 0 })},
}

// beyond makes every replica delete one message more by op n. The commit, which says
// something else, is the first event that does not fit.
func beyond(t *testing.T, ev []observe.Event, n op.Number, commit int) int {
	for k := range ev {
		if ev[k].Action == Materialize && ev[k].Op == n {
			if ev[k].Kind != "advance" || ev[k].Offset == ev[k].End {
				t.Fatal("the sample has no such deletion")
			}
			ev[k].Offset++
			ev[k].Start++
		}
	}
	return commit
}

// The floors of one generation differ in a trace that is accepted: that is how the
// design is, and the matrix says what it costs.
func TestFloorsThatDifferAreAccepted(t *testing.T) {
	floors := map[op.Generation]map[op.Number]bool{}
	for _, l := range readSample(t, "testdata/accepted/reset-record-three-replicas.ndjson").Lines {
		if l.Action == ResetRecord {
			if floors[l.Generation] == nil {
				floors[l.Generation] = map[op.Number]bool{}
			}
			floors[l.Generation][l.Op] = true
		}
	}
	differ := false
	for _, f := range floors {
		differ = differ || len(f) > 1
	}
	require.True(t, differ, "the sample has none")
}

// A trace of a setting that no trace module covers is undecided, with the reason.
func TestUncoveredSettingsAreUndecided(t *testing.T) {
	ordered := readSample(t, "testdata/accepted/one-replica.ndjson")
	with := func(tr *Trace, edit func(*Header)) *Trace {
		out := *tr
		edit(&out.Header)
		return &out
	}
	for want, tr := range map[string]*Trace{
		"not validated: there is no trace specification of messages that are eventual":                 with(ordered, func(h *Header) { h.Messages = "eventual" }),
		"not validated: there is no trace specification of bookmarks that are eventual":                with(ordered, func(h *Header) { h.Bookmarks = "eventual" }),
		"not validated: there is no trace specification of the variant half-floor of reset-record yet": with(readSample(t, "testdata/accepted/reset-record-one-replica.ndjson"), func(h *Header) { h.Variant = "keep-floor,half-floor" }),
	} {
		r := validate(t, tr)[0]
		require.Equal(t, tlc.Undecided, r.Verdict)
		require.Equal(t, want, r.Reason)
	}
}
