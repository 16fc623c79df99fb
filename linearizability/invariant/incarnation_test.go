package invariant

import (
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/observe"
	"purgelab/impl/replica"
	"purgelab/model/op"
)

// What an incarnation lacks, or has in another shape, is red unless the policy of
// the op allows that it is lost; what clients knew of it is forgotten with it.
func TestWhatAnIncarnationMayLack(t *testing.T) {
	for _, tc := range []struct {
		name   string
		policy replica.Policy
		again  []observe.Event // what the base of the next one holds
		red    bool
	}{
		{"nothing lacks", replica.Policy{}, []observe.Event{{Op: 2, Term: 3, Kind: "append", Asks: op.Append, Count: 1}, {Op: 3, Term: 3, Kind: "store", Asks: op.StoreBookmark, Key: "consumer-1"}}, false},
		{"a store, persisted", replica.Policy{Messages: replica.Replicated}, []observe.Event{{Op: 2, Term: 3, Kind: "append", Asks: op.Append, Count: 1}}, true},
		{"a store, replicated", replica.Policy{Bookmarks: replica.Replicated}, []observe.Event{{Op: 2, Term: 3, Kind: "append", Asks: op.Append, Count: 1}}, false},
		{"all, replicated", replica.Policy{Messages: replica.Replicated, Bookmarks: replica.Replicated}, nil, false},
		{"all, and messages are persisted", replica.Policy{Bookmarks: replica.Replicated}, nil, true},
		{"another op in its place", replica.Policy{}, []observe.Event{{Op: 2, Term: 2, Kind: "append", Asks: op.Append, Count: 1}, {Op: 3, Term: 3, Kind: "store", Asks: op.StoreBookmark, Key: "consumer-1"}}, true},
	} {
		c := New(3, 1, 1)
		c.Policy(tc.policy)
		for _, e := range []observe.Event{{Op: 2, Term: 3, Kind: "append", Asks: op.Append, Count: 1}, {Op: 3, Term: 3, Kind: "store", Asks: op.StoreBookmark, Key: "consumer-1"}} {
			e.Action, e.Replica = "Commit", 1
			c.Observe(e)
		}
		c.Returned(1, 0, &op.Request{Kind: op.Append, Payloads: []op.Payload{"x"}}, &op.Reply{Position: op.Position{Incarnation: 1}})
		last := op.Number(1)
		for _, e := range tc.again {
			e.Action, e.Replica, e.Incarnation = "Commit", 2, 2
			c.Observe(e)
			last = e.Op
		}
		c.Observe(observe.Event{Action: "NewIncarnation", Replica: 2, Incarnation: 2, Op: last, Count: 2, Key: "i1:g0:0"})
		require.Equal(t, tc.red, len(c.Violations()) > 0, "%s: %v", tc.name, c.Violations())
		if tc.red {
			require.Equal(t, "AckDurable", c.Violations()[0].Property)
			continue
		}
		c.Observe(observe.Event{Action: "Commit", Replica: 3, Op: 2, Term: 9, Kind: "purge", Generation: 1}) // of the one that is over
		c.Returned(2, 0, &op.Request{Kind: op.Append, Payloads: []op.Payload{"y"}, Incarnation: 2}, &op.Reply{Position: op.Position{Incarnation: 2}})
		c.Returned(3, 0, &op.Request{Kind: op.Append, Payloads: []op.Payload{"z"}, Incarnation: 1}, &op.Reply{Position: op.Position{Incarnation: 1}})
		require.Empty(t, c.Violations(), tc.name)
	}
}

// Each kind of request is of the policy that it is answered by: what is lost of the other
// policy is red, and a single op that is there, or must be, keeps all before it.
func TestWhatEachRequestMayLack(t *testing.T) {
	messages, bookmarks := replica.Policy{Messages: replica.Replicated}, replica.Policy{Bookmarks: replica.Replicated}
	both := replica.Policy{Messages: replica.Replicated, Bookmarks: replica.Replicated}
	for _, tc := range []struct {
		asks     op.Kind
		may, not []replica.Policy
	}{
		{op.Register, []replica.Policy{messages, both}, []replica.Policy{{}, bookmarks}},
		{op.Append, []replica.Policy{messages, both}, []replica.Policy{{}, bookmarks}},
		{op.DeleteRecords, []replica.Policy{messages, both}, []replica.Policy{{}, bookmarks}},
		{op.Poll, []replica.Policy{bookmarks, both}, []replica.Policy{{}, messages}},
		{op.StoreBookmark, []replica.Policy{bookmarks, both}, []replica.Policy{{}, messages}},
		{op.DeleteBookmark, []replica.Policy{bookmarks, both}, []replica.Policy{{}, messages}},
		{op.Purge, []replica.Policy{both}, []replica.Policy{{}, messages, bookmarks}},
		{0, []replica.Policy{{}, messages, bookmarks, both}, nil},
	} {
		// The op, and one of no request after it; of those the next incarnation has some.
		lacks := func(p replica.Policy, has ...op.Number) []Violation {
			c := New(3, 1, 1)
			c.Policy(p)
			commit := func(e observe.Event) {
				e.Action, e.Term, e.Kind = "Commit", 3, "other"
				if e.Op == 2 {
					e.Asks = tc.asks
				}
				c.Observe(e)
			}
			commit(observe.Event{Op: 2, Replica: 1})
			commit(observe.Event{Op: 3, Replica: 1})
			for _, n := range has {
				commit(observe.Event{Op: n, Replica: 2, Incarnation: 2})
			}
			c.Observe(observe.Event{Action: "NewIncarnation", Replica: 2, Incarnation: 2, Op: 3, Count: 2, Key: "i1:g0:0"})
			return c.Violations()
		}
		for _, p := range append(tc.may, tc.not...) {
			require.Empty(t, lacks(p, 2), "%v under %v", tc.asks, p)
			blend := lacks(p, 3)
			require.Len(t, blend, 1, "%v under %v", tc.asks, p)
			require.Equal(t, "AckDurable", blend[0].Property)
		}
		for _, p := range tc.may {
			require.Empty(t, lacks(p), "%v under %v", tc.asks, p)
		}
		for _, p := range tc.not {
			require.Len(t, lacks(p), 1, "%v under %v", tc.asks, p)
		}
	}
}

// A replica copies the state that its incarnation goes on from, and crashes before it
// says so: its boot tells. What that state lacks is lost all the same.
func TestStateThatWasCopiedUnheard(t *testing.T) {
	begin := func(applied op.Number, end op.Offset) *Checker {
		c := watched(story())
		facts := good().v.Facts
		facts.Incarnation, facts.Applied, facts.End = 2, applied, end
		c.Observe(observe.Event{Action: "Boot", Replica: 2, Incarnation: 2, Op: 4, Applied: applied, Generation: 1, End: end})
		c.Observe(observe.Event{Action: "NewIncarnation", Replica: 2, Incarnation: 2, Op: applied, Count: 2, Key: "i1:g1:1"})
		c.Booted(1, 2, 0, &subject{v: replica.View{Member: 2, Incarnation: 2, Facts: facts}})
		return c
	}
	require.Empty(t, begin(6, 1).Violations())
	lacks := begin(4, 0).Violations()
	require.NotEmpty(t, lacks)
	require.Equal(t, "AckDurable", lacks[0].Property, lacks)

	// Another member of the machine does the same.
	c := begin(6, 1)
	facts := good().v.Facts
	facts.Incarnation, facts.Applied = 2, 6
	c.Booted(2, 2, 0, &subject{v: replica.View{Member: 0x102, Incarnation: 2, Facts: facts}})
	require.Empty(t, c.Violations())
}

// A state that the next incarnation goes on from was made in one that nobody lived in,
// of a log that the one before had not committed to its end: there a purge was applied
// of which the account before knows nothing. A state that nobody made is still found.
func TestStateOfAnIncarnationNobodyLivedIn(t *testing.T) {
	begin := func(boundary op.Number) *Checker {
		c := watched(story())
		boots := func(i op.Incarnation, applied op.Number, g op.Generation, b op.Number) {
			c.Observe(observe.Event{Action: "CopyState", Replica: 2, Incarnation: i, Op: applied, Applied: applied, Generation: g})
			facts := good().v.Facts
			facts.Incarnation, facts.Applied, facts.Generation, facts.Boundary, facts.End = i, applied, g, b, 0
			c.Booted(1, 2, 0, &subject{v: replica.View{Member: 2, Incarnation: i, Facts: facts, Last: applied}})
		}
		c.Observe(observe.Event{Action: "CopyState", Replica: 2, Incarnation: 2, Op: 6, Applied: 6, Generation: 1, End: 1})
		for _, e := range []observe.Event{
			{Action: "Commit", Op: 7, Term: 2, Kind: "purge", Asks: op.Purge, Generation: 3},
			{Action: "PurgeBegin", Op: 7, Generation: 3, End: 1},
			{Action: "PurgeSwitch", Op: 7, Generation: 3, End: 1},
			{Action: "PurgeComplete", Op: 7, Generation: 3},
		} {
			e.Replica, e.Incarnation = 2, 2
			c.Observe(e)
		}
		require.Empty(t, c.Violations())
		boots(3, 7, 3, boundary)
		return c
	}
	require.Empty(t, begin(7).Violations())
	require.NotEmpty(t, begin(5).Violations(), "no purge was there")
}
