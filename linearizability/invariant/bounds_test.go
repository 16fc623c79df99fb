package invariant

import (
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/model/op"
)

// Every answer that tells where the log stands is held against those before it.
func TestBoundsOfAllAnswers(t *testing.T) {
	latest := func(p op.Position) (*op.Request, *op.Reply) {
		return &op.Request{Kind: op.ListOffsets, Which: op.LatestOffset}, &op.Reply{Found: true, Position: p}
	}
	refused := func(g op.Generation, start, end op.Offset) *op.Reply {
		return &op.Reply{Code: op.InvalidOffset, Position: at(g, -1), Start: start, End: end}
	}
	store := &op.Request{Kind: op.StoreBookmark}
	for _, tc := range []struct {
		name    string
		request *op.Request
		reply   *op.Reply
		want    []string
	}{
		{"an append at the end", &op.Request{Kind: op.Append, Payloads: []op.Payload{"x"}}, &op.Reply{Position: at(1, 5)}, nil},
		{"an append below the end", &op.Request{Kind: op.Append, Payloads: []op.Payload{"x"}}, &op.Reply{Position: at(1, 4)}, []string{"LatestMonotone"}},
		{"a refusal in the same era", store, refused(1, 0, 5), nil},
		{"a refusal with a lower end", store, refused(1, 0, 3), []string{"LatestMonotone"}},
		{"a refusal in an older generation", store, refused(0, 0, 9), []string{"GenerationMonotone"}},
		{"a refusal in a newer generation", store, refused(2, 0, 0), nil},
		{"a poll in an older generation", &op.Request{Kind: op.Poll}, &op.Reply{Position: at(0, 2)}, []string{"GenerationMonotone"}},
		{"the answer of the first time", &op.Request{Kind: op.Append, Session: 1, Sequence: 1, Payloads: []op.Payload{"x"}}, &op.Reply{Position: at(0, 4)}, nil},
		{"an answer that tells nothing", store, &op.Reply{}, nil},
		{"a refusal before it was proposed", store, &op.Reply{Code: op.NotLeader}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := New(1, 1, 2)
			r, reply := latest(at(1, 5))
			c.Returned(1, 0, r, reply)
			if tc.request.Session != 0 {
				c.Invoked(1, tc.request) // in an earlier call
			}
			c.Invoked(1, tc.request)
			c.Returned(2, 1, tc.request, tc.reply)
			var got []string
			for _, v := range c.Violations() {
				got = append(got, v.Property)
			}
			require.Equal(t, tc.want, got)
		})
	}
}

func TestStartNeverFalls(t *testing.T) {
	c := New(1, 1, 2)
	c.Returned(1, 0, &op.Request{Kind: op.DeleteRecords}, &op.Reply{Position: at(1, 3)})
	first := &op.Request{Kind: op.Poll, Strategy: op.First}
	c.Invoked(1, first)
	c.Returned(2, 1, first, &op.Reply{Position: at(1, 2)})
	require.Len(t, c.Violations(), 1)
	require.Equal(t, "StartMonotone", c.Violations()[0].Property)
}

// An empty poll shows no end: a bookmark above it may have come back.
func TestEmptyPollShowsNoEnd(t *testing.T) {
	c := New(1, 1, 2)
	poll := &op.Request{Kind: op.Poll, Strategy: op.Next}
	c.Returned(1, 0, poll, &op.Reply{Position: at(1, 46)})
	latest := &op.Request{Kind: op.ListOffsets, Which: op.LatestOffset}
	c.Invoked(1, latest)
	c.Returned(2, 1, latest, &op.Reply{Found: true, Position: at(1, 12)})
	require.Empty(t, c.Violations())
	c.Returned(3, 0, poll, &op.Reply{Position: at(1, 40), Count: 2})
	c.Invoked(1, latest)
	c.Returned(4, 1, latest, &op.Reply{Found: true, Position: at(1, 12)})
	require.Len(t, c.Violations(), 1)
}
