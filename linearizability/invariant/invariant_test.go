package invariant

import (
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/engine"
	"purgelab/impl/meta"
	"purgelab/impl/observe"
	"purgelab/impl/replica"
	"purgelab/model/op"
)

// subject is a replica made by hand.
type subject struct {
	v         replica.View
	bookmarks []engine.BookmarkEntry
	records   []op.Record
}

func (s *subject) Step(replica.Input) (replica.Output, error)  { return replica.Output{}, nil }
func (s *subject) View() replica.View                          { return s.v }
func (s *subject) Bookmarks() []engine.BookmarkEntry           { return s.bookmarks }
func (s *subject) Records(op.Offset, int) ([]op.Record, error) { return s.records, nil }

type events []observe.Event

// story is a run of two replicas in which all is well: two messages and a
// bookmark, a purge at op 4, one fresh message.
func story() events {
	var out events
	say := func(e observe.Event) {
		for id := 1; id <= 2; id++ {
			e.Replica = id
			out = append(out, e)
		}
	}
	say(observe.Event{Action: "Commit", Op: 2, Term: 1, Kind: "append", Asks: op.Append, Count: 2})
	say(observe.Event{Action: "Materialize", Op: 2, Kind: "append", Count: 2, End: 2})
	say(observe.Event{Action: "Commit", Op: 3, Term: 1, Kind: "store", Asks: op.StoreBookmark, Key: "consumer-1", Offset: 1})
	say(observe.Event{Action: "Materialize", Op: 3, Kind: "store", Key: "consumer-1", Offset: 1, End: 2})
	say(observe.Event{Action: "Commit", Op: 4, Term: 1, Kind: "purge", Asks: op.Purge, Generation: 1})
	say(observe.Event{Action: "PurgeBegin", Op: 4, Generation: 1, End: 2})
	say(observe.Event{Action: "PurgeSwitch", Op: 4, Generation: 1, End: 2})
	say(observe.Event{Action: "PurgeComplete", Op: 4, Generation: 1})
	say(observe.Event{Action: "Commit", Op: 5, Term: 1, Kind: "append", Asks: op.Append, Count: 1, Generation: 1})
	say(observe.Event{Action: "Materialize", Op: 5, Kind: "append", Count: 1, Generation: 1, End: 1})
	say(observe.Event{Action: "Commit", Op: 6, Term: 2, Kind: "purge", Asks: op.Purge, Generation: 1})
	say(observe.Event{Action: "PurgeDuplicate", Op: 6, Generation: 1, End: 1})
	return out
}

func at(g op.Generation, o op.Offset) op.Position {
	return op.Position{Incarnation: 1, Generation: g, Offset: o}
}

// good is a replica at the end of the story.
func good() *subject {
	return &subject{
		v: replica.View{Serving: true, Committed: 6, Last: 6, Facts: engine.Facts{
			Incarnation: 1, Generation: 1, Boundary: 4, Applied: 6, Front: 6, End: 1, Settled: 1}},
		records: []op.Record{{Payload: "c"}},
	}
}

// watched feeds a story to a checker that has seen both replicas boot.
func watched(s events) *Checker {
	c := New(2, 1, 2)
	for id := 1; id <= 2; id++ {
		c.Booted(0, id, 0, &subject{v: replica.View{Last: 1, Facts: engine.Facts{Incarnation: 1, Applied: 1, Front: 1}}})
	}
	for _, e := range s {
		c.Observe(e)
	}
	return c
}

func TestNothingIsWrongWithAGoodRun(t *testing.T) {
	c := watched(story())
	c.Acknowledged(1, 0, 6)
	c.Booted(10, 1, 0, good())
	c.Stepped(11, 2, 0, good())
	c.Rest(12, 0, []Subject{good(), good()})
	c.Returned(13, 0, &op.Request{Kind: op.Append, Payloads: []op.Payload{"c"}}, &op.Reply{Position: at(1, 0)})
	c.Returned(14, 0, &op.Request{Kind: op.ListOffsets, Which: op.LatestOffset}, &op.Reply{Position: at(1, 1), Found: true})
	require.Empty(t, c.Violations())
}

// storesInFresh lets op 7 store offset 0 of generation 1, for a client that had the
// offset from somewhere, and tells the client that it was done.
func (c *Checker) storesInFresh(from op.Position) {
	c.Observe(observe.Event{Action: "Materialize", Replica: 1, Op: 7, Kind: "store", Key: "consumer-1", Generation: 1, End: 1})
	c.Answered(9, 1, &op.Request{Kind: op.StoreBookmark, Key: op.Key{ID: 1}, At: from, Bare: true}, &op.Reply{}, 7, 6)
}

func TestProgressOfTheEraIsNotLate(t *testing.T) {
	next := &op.Request{Kind: op.Poll, Strategy: op.Next, Key: op.Key{ID: 1}}
	c := watched(story())
	c.storesInFresh(at(1, 0))
	c.Answered(9, 1, next, &op.Reply{Position: at(1, 1)}, 7, 6) // covered
	c.Answered(9, 1, next, &op.Reply{Position: at(1, 0)}, 5, 5) // skips nothing
	c.Answered(9, 1, &op.Request{Kind: op.StoreBookmark, Key: op.Key{ID: 1}, At: at(1, 0)}, &op.Reply{Code: op.StaleGeneration}, 7, 6)
	require.Empty(t, c.Violations())

	c = watched(story())
	c.storesInFresh(at(0, 0))
	c.Answered(9, 1, next, &op.Reply{Position: at(1, 1)}, 7, 6)
	got := c.Violations()
	require.Len(t, got, 2)
	require.Equal(t, "NextContract", got[1].Property, "what was late covers nothing")
}

// Every property can fail.
func TestEachPropertyIsSeenToFail(t *testing.T) {
	edit := func(i int, f func(*observe.Event)) func() *Checker {
		return func() *Checker {
			s := story()
			f(&s[i])
			return watched(s)
		}
	}
	with := func(f func(*Checker, *subject)) func() *Checker {
		return func() *Checker {
			c, m := watched(story()), good()
			f(c, m)
			return c
		}
	}
	boot := func(f func(*Checker, *subject)) func() *Checker {
		return with(func(c *Checker, m *subject) { f(c, m); c.Booted(9, 1, 0, m) })
	}
	look := func(f func(*subject)) func() *Checker {
		return with(func(c *Checker, m *subject) { f(m); c.Stepped(9, 1, 0, m) })
	}
	told := func(kind op.Kind, payload op.Payload, where op.Position, then ...op.Position) func() *Checker {
		return with(func(c *Checker, m *subject) {
			for _, p := range append([]op.Position{where}, then...) {
				c.Returned(9, 0, &op.Request{Kind: op.Append, Payloads: []op.Payload{payload}}, &op.Reply{Position: p})
			}
		})
	}
	list := func(w op.Which, first, second op.Position) func() *Checker {
		return with(func(c *Checker, m *subject) {
			r := &op.Request{Kind: op.ListOffsets, Which: w}
			c.Returned(8, 0, r, &op.Reply{Position: first, Found: true})
			c.Invoked(1, r)
			c.Returned(9, 1, r, &op.Reply{Position: second, Found: true})
		})
	}
	// plane has two partitions, one of which was deleted; what it answers to one
	// command, or to the same command twice.
	plane := func(first, second meta.Result) func() *Checker {
		return with(func(c *Checker, m *subject) {
			s := planeOf(t)
			if first.Partition != second.Partition {
				c.Planned(9, 1, &meta.Reply{Results: []meta.Result{first, second}}, s)
				return
			}
			c.Planned(8, 1, &meta.Reply{Results: []meta.Result{first}}, s)
			c.Planned(9, 1, &meta.Reply{Results: []meta.Result{second}}, s)
		})
	}
	for _, tc := range []struct {
		property, name string
		broken         func() *Checker
	}{
		{"CommittedPrefixSafe", "another term", edit(1, func(e *observe.Event) { e.Term = 2 })},
		{"CommittedPrefixSafe", "another op", edit(5, func(e *observe.Event) { e.Key = "group-1" })},
		{"CommittedPrefixSafe", "two leaders", with(func(c *Checker, m *subject) {
			c.Observe(observe.Event{Action: "BecomeLeader", Replica: 1, Term: 3})
			c.Observe(observe.Event{Action: "BecomeLeader", Replica: 2, Term: 3})
		})},
		{"NoHiddenFresh", "an op skipped", edit(7, func(e *observe.Event) { e.Op = 4 })},
		{"NoHiddenFresh", "a stale read", with(func(c *Checker, m *subject) {
			c.Answered(9, 1, &op.Request{Kind: op.Poll}, &op.Reply{Count: 1}, 4, 5)
		})},
		{"NoPhantomEmpty", "an empty stale read", with(func(c *Checker, m *subject) {
			c.Answered(9, 1, &op.Request{Kind: op.Poll}, &op.Reply{}, 4, 5)
		})},
		{"BoundaryScope", "an op below the boundary again", with(func(c *Checker, m *subject) {
			c.Observe(observe.Event{Action: "Materialize", Replica: 1, Op: 3, Kind: "store", Key: "consumer-1", Offset: 1, Generation: 1, End: 1})
		})},
		{"RetryIdempotent", "completed again", with(func(c *Checker, m *subject) {
			c.Observe(observe.Event{Action: "PurgeComplete", Replica: 1, Op: 7, Generation: 1})
		})},
		{"RetryIdempotent", "a duplicate that changes the end", edit(22, func(e *observe.Event) { e.End = 0 })},
		{"RetryIdempotent", "a repeat with another answer", plane(meta.Result{Generation: 1}, meta.Result{Generation: 2})},
		{"AckDurable", "an intent of the plane, given twice", with(func(c *Checker, m *subject) {
			for token := range uint64(2) {
				c.Planned(9, token, &meta.Reply{Results: []meta.Result{{Incarnation: 1, Generation: 4}}}, planeOf(t))
			}
		})},
		{"AckDurable", "an intent that the plane does not show", with(func(c *Checker, m *subject) {
			c.Planned(9, 1, &meta.Reply{Results: []meta.Result{{Incarnation: 1, Generation: 4}}}, planeOf(t))
			c.Promised(9, planeOf(t))
		})},
		{"AckDurable", "an incarnation that the plane does not show", with(func(c *Checker, m *subject) {
			c.Planned(9, 1, &meta.Reply{Results: []meta.Result{{Incarnation: 2}}}, planeOf(t))
			c.Promised(9, planeOf(t))
		})},
		{"SiblingsIndependent", "a sibling refused", plane(meta.Result{Code: op.UnknownPartition}, meta.Result{Partition: 1})},
		{"OnePurgeOutstanding", "proposed twice", with(func(c *Checker, m *subject) {
			c.Observe(observe.Event{Action: "Commit", Replica: 1, Op: 7, Term: 2, Kind: "purge", Generation: 1})
		})},
		{"IncarnationIsolation", "a bookmark of a namesake", look(func(m *subject) {
			m.bookmarks = []engine.BookmarkEntry{{Key: op.Key{ID: 1}, Position: op.Position{Incarnation: 2, Generation: 1}, Op: 5}}
		})},
		{"BoundaryAgreement", "completed at another op", edit(15, func(e *observe.Event) { e.Op = 5 })},
		{"BoundaryAgreement", "a purge passed over", edit(14, func(e *observe.Event) { e.Action, e.Kind, e.Generation = "Materialize", "other", 0 })},
		{"BoundaryAgreement", "another boundary on disk", look(func(m *subject) { m.v.Facts.Boundary = 5 })},
		{"CompletionLast", "completed without a switch", edit(12, func(e *observe.Event) { e.Action = "PurgeBegin" })},
		{"GenerationMonotone", "an older generation after a boot", boot(func(c *Checker, m *subject) { m.v.Facts.Generation = 0 })},
		{"GenerationMonotone", "an older answer", list(op.LatestOffset, at(1, 1), at(0, 2))},
		{"NoErrorNoAdvance", "a generation without its steps", boot(func(c *Checker, m *subject) { m.v.Facts.Generation, m.v.Facts.Boundary = 2, 6 })},
		{"NoErrorNoAdvance", "a purge begun too early", boot(func(c *Checker, m *subject) { m.v.Facts.Pending = &engine.Marker{Boundary: 9} })},
		{"AckDurable", "a shorter journal", boot(func(c *Checker, m *subject) { c.Acknowledged(1, 0, 6); m.v.Last = 5 })},
		{"AckDurable", "a memory lost", with(func(c *Checker, m *subject) {
			c.Promises(true, true)
			c.Sound()
			c.Observe(observe.Event{Action: "Rejoin", Replica: 1})
		})},
		{"AckDurable", "what was synced forgotten", boot(func(c *Checker, m *subject) {
			c.Sound()
			c.Policy(replica.Policy{Messages: replica.Replicated})
			c.Acknowledged(1, 0, 6)
			m.v.Member, m.v.Kept = 7, 2
		})},
		{"AckDurable", "a vote forgotten", boot(func(c *Checker, m *subject) { c.Voted(1, 0, 3); m.v.Term = 2 })},
		{"AckDurable", "a message lost", with(func(c *Checker, m *subject) {
			c.Returned(8, 0, &op.Request{Kind: op.Append, Payloads: []op.Payload{"d"}}, &op.Reply{Position: at(1, 1)})
			c.Rest(9, 0, []Subject{m})
		})},
		{"CommittedOnlyDurable", "a bookmark of the future", boot(func(c *Checker, m *subject) {
			m.bookmarks = []engine.BookmarkEntry{{Key: op.Key{ID: 1}, Position: at(1, 0), Op: 9}}
		})},
		{"NoResurrectedBookmark", "of an old era", look(func(m *subject) {
			m.bookmarks = []engine.BookmarkEntry{{Key: op.Key{ID: 1}, Position: at(0, 0), Op: 3}}
		})},
		{"NoResurrectedBookmark", "with a new name", look(func(m *subject) {
			m.bookmarks = []engine.BookmarkEntry{{Key: op.Key{ID: 1}, Position: at(1, 0), Op: 3}}
		})},
		{"BookmarkBound", "at the end", look(func(m *subject) {
			m.bookmarks = []engine.BookmarkEntry{{Key: op.Key{ID: 1}, Position: at(1, 1), Op: 5}}
		})},
		{"HistoryAgreement", "another effect", edit(7, func(e *observe.Event) { e.Kind = "other" })},
		{"NoFreshLoss", "a lower end", edit(19, func(e *observe.Event) { e.End = 0 })},
		{"NoResurrectedMessage", "a higher end", edit(19, func(e *observe.Event) { e.End = 3 })},
		{"NoResurrectedMessage", "an old message", told(op.Append, "x", at(0, 0), at(1, 3))},
		{"StartMonotone", "a lower start", list(op.EarliestOffset, at(1, 1), at(1, 0))},
		{"LatestMonotone", "a lower end", list(op.LatestOffset, at(1, 1), at(1, 0))},
		{"OffsetUnique", "two payloads", with(func(c *Checker, m *subject) {
			for _, p := range []op.Payload{"x", "y"} {
				c.Returned(9, 0, &op.Request{Kind: op.Append, Payloads: []op.Payload{p}}, &op.Reply{Position: at(1, 0)})
			}
		})},
		{"PurgeEventuallyApplied", "settled without a purge", with(func(c *Checker, m *subject) {
			c.Returned(9, 0, &op.Request{Kind: op.Purge, Intent: 4}, &op.Reply{Code: op.Mismatch, Position: at(1, -1)})
		})},
		{"NoLateProgress", "a store of the era before", with(func(c *Checker, m *subject) {
			c.storesInFresh(at(0, 0))
		})},
		{"NextContract", "a message skipped", with(func(c *Checker, m *subject) {
			c.Answered(9, 1, &op.Request{Kind: op.Poll, Strategy: op.Next, Key: op.Key{ID: 1}}, &op.Reply{Position: at(1, 1)}, 5, 5)
		})},
		{"SessionOnce", "stored twice", told(op.Append, "x", at(1, 0), at(1, 3))},
	} {
		t.Run(tc.property+" "+tc.name, func(t *testing.T) {
			got := tc.broken().Violations()
			require.NotEmpty(t, got)
			require.Equal(t, tc.property, got[0].Property, "%v", got)
			require.Contains(t, Names, tc.property)
		})
	}
}

func TestTheListIsBounded(t *testing.T) {
	c := watched(story())
	for i := 0; i < 100; i++ {
		c.Answered(9, 1, &op.Request{Kind: op.Poll}, &op.Reply{}, 4, 5)
	}
	require.Len(t, c.Violations(), keepAtMost)
}
