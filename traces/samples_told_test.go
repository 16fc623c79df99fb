package traces

import (
	"slices"
	"testing"

	"purgelab/impl/observe"
)

// toldCorruptions are of what the group tells besides its specification: who comes to
// an op first, in which term, who leads.
var toldCorruptions = []corruption{
	{"told-by-another", "three-replicas", func(t *testing.T, ev []observe.Event) ([]observe.Event, int) {
		i := first(t, ev, 0, is(Commit)) // all replicas are alike
		ev[i].Replica = ev[i].Replica%3 + 1
		return ev, i + 1
	}},
	{"term-that-nobody-leads", "three-replicas", func(t *testing.T, ev []observe.Event) ([]observe.Event, int) {
		i := first(t, ev, 0, is(Commit), of("append"))
		ev[i].Term += 7
		return ev, i
	}},
	{"term-begins-with-an-append", "three-replicas", func(t *testing.T, ev []observe.Event) ([]observe.Event, int) {
		i := first(t, ev, 0, is(Commit), of("append"))
		ev[i].Term += 7
		lead := ev[i]
		lead.Action, lead.Op, lead.Kind, lead.Count = BecomeLeader, 0, "", 0
		return slices.Insert(ev, i, lead), i + 1
	}},
	{"answered-by-a-follower", "three-replicas", func(t *testing.T, ev []observe.Event) ([]observe.Event, int) {
		i := first(t, ev, 0, is(Answer), of("list-offsets"))
		ev[i].Replica = ev[i].Replica%3 + 1
		return ev, i
	}},
	{"leads-from-another-state", "three-replicas", func(t *testing.T, ev []observe.Event) ([]observe.Event, int) {
		i := first(t, ev, 0, is(BecomeLeader))
		ev[i].End += 2
		return ev, i
	}},
	{"reset-led-from-another-state", "reset-record-three-replicas", changed(func(e *observe.Event) { e.End += 2 }, is(BecomeLeader))},
	{"reset-journal-cut-by-the-first-leader", "reset-record-three-replicas", func(t *testing.T, ev []observe.Event) ([]observe.Event, int) {
		i := first(t, ev, 0, is(Journal), func(e observe.Event) bool { return e.Op > 2 })
		return slices.Insert(ev, i+1, ev[i]), i + 1
	}},
	{"reset-unlinks-for-another-purge", "reset-record-one-replica", changed(func(e *observe.Event) { e.Generation++ }, is(UnlinkSegments))},
	{"reclaims-in-another-state", "one-replica", changed(func(e *observe.Event) { e.End++ }, is(Reclaim))},
	{"bookmark-answered-as-none", "three-replicas", changed(func(e *observe.Event) { e.Offset = -1 }, is(Answer), of("get-bookmark"))},
	{"listed-below-the-start", "advance-three-replicas", changed(func(e *observe.Event) { e.Offset = e.Start - 1 }, is(Answer), of("list-offsets"), func(e observe.Event) bool { return e.Start > 1 })},
	{"refused-with-an-offset", "three-replicas", changed(func(e *observe.Event) { e.Kind, e.Key, e.Offset, e.Count = "offset-out-of-range", "", 0, 0 }, is(Answer))},
	{"reset-listed-past-the-end", "reset-record-three-replicas", changed(func(e *observe.Event) { e.Offset = e.End + 1 }, is(Answer), of("list-offsets"))},
	{"reset-unlinks-bookmarks-below-another-floor", "reset-record-one-replica", changed(func(e *observe.Event) { e.Op++ }, is(UnlinkBookmarks))},
	{"reset-completed-with-another-floor", "reset-record-one-replica", changed(func(e *observe.Event) { e.Op-- }, is(PurgeComplete))},
	{"advance-reclaims-in-another-state", "advance-one-replica", changed(func(e *observe.Event) { e.End++ }, is(Reclaim))},
}
