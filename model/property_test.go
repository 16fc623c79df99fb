package model

import (
	"fmt"
	"slices"
	"testing"

	fuzz "github.com/google/gofuzz"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"purgelab/model/op"
)

// drawRequest draws requests around what the state holds, legal or not.
func drawRequest(t *rapid.T, s *State, n int) *op.Request {
	offset := rapid.Int64Range(-2, int64(s.End())+1)
	at := op.Position{
		Incarnation: op.Incarnation(rapid.SampledFrom([]int{1, 1, 1, 1, 2}).Draw(t, "incarnation")),
		Generation:  op.Generation(max(0, int(s.Generation())+rapid.SampledFrom([]int{0, 0, 0, -1, 1}).Draw(t, "generation"))),
		Offset:      op.Offset(offset.Draw(t, "offset")),
	}
	r := &op.Request{
		Kind: op.Kind(rapid.IntRange(int(op.Register), int(op.Purge)).Draw(t, "kind")),
		Key:  op.Key{Kind: op.ConsumerKind(rapid.IntRange(0, 1).Draw(t, "consumer")), ID: rapid.Uint32Range(0, 1).Draw(t, "id")},
		At:   at, Bare: rapid.Bool().Draw(t, "bare"),
	}
	if rapid.IntRange(0, 3).Draw(t, "numbered") == 0 {
		r.Session = op.Session(rapid.IntRange(0, 4).Draw(t, "session"))
		r.Sequence = op.Sequence(rapid.IntRange(0, 4).Draw(t, "sequence"))
	}
	switch r.Kind {
	case op.Append:
		for i := range rapid.IntRange(0, 3).Draw(t, "batch") {
			r.Payloads = append(r.Payloads, op.Payload(fmt.Sprintf("m%d.%d", n, i)))
		}
	case op.Poll:
		r.Strategy = op.Strategy(rapid.IntRange(0, 4).Draw(t, "strategy"))
		r.Reset = op.Reset(rapid.IntRange(0, 2).Draw(t, "reset"))
		r.Max = rapid.Uint32Range(0, 4).Draw(t, "max")
		r.AutoCommit = rapid.Bool().Draw(t, "auto")
		r.Timestamp = op.Timestamp(rapid.IntRange(0, 40).Draw(t, "timestamp"))
	case op.ListOffsets:
		r.Which = op.Which(rapid.IntRange(0, 2).Draw(t, "which"))
		r.Timestamp = op.Timestamp(rapid.IntRange(0, 40).Draw(t, "timestamp"))
	case op.Purge:
		r.Intent = op.Generation(max(0, int(s.Settled())+rapid.IntRange(-2, 2).Draw(t, "intent")))
		fallthrough
	case op.DeleteRecords:
		if rapid.IntRange(0, 2).Draw(t, "conditional") == 0 {
			r.Expected = &op.Position{Incarnation: 1, Generation: s.Generation(), Offset: at.Offset}
		}
	}
	return r
}

func drawSemantics(t *rapid.T) Semantics {
	return Semantics{
		Numbering: Numbering(rapid.IntRange(0, 1).Draw(t, "numbering")),
		Sessions:  rapid.SampledFrom([]int{0, 0, 2}).Draw(t, "bound"),
	}
}

// TestInvariants: what holds in every state that a sequence of requests can
// reach. The names are those of the properties that replicas are held to.
func TestInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sem := drawSemantics(t)
		s := Init()
		positions := map[op.Position]op.Payload{}
		type execution struct {
			session  op.Session
			sequence op.Sequence
		}
		first := map[execution]op.Reply{}
		for n := range rapid.IntRange(1, 40).Draw(t, "steps") {
			r := drawRequest(t, s, n)
			c := Choice{Timestamp: op.Timestamp(rapid.IntRange(0, 40).Draw(t, "clock")), Gone: rapid.IntRange(0, 9).Draw(t, "gone") == 0}
			before := *s
			next, reply := sem.Step(s, r, c)
			require.Equal(t, before, *s, "a state never changes")
			same, again := sem.Step(s, r, c)
			require.True(t, same.Equal(next) && same.Hash() == next.Hash() && Differs(r, &reply, &again) == "", "Step is a function")

			if next.generation == s.generation {
				require.GreaterOrEqual(t, next.start, s.start, "StartMonotone")
				require.GreaterOrEqual(t, next.End(), s.End(), "LatestMonotone")
			} else {
				require.Greater(t, next.generation, s.generation, "GenerationMonotone")
				require.Zero(t, next.End(), "NoResurrectedMessage")
				require.Empty(t, next.bookmarks, "NoResurrectedBookmark")
				require.Equal(t, s.sessions, next.sessions, "a purge keeps sessions")
			}
			require.LessOrEqual(t, next.start, next.End())
			require.GreaterOrEqual(t, next.settled, s.settled)
			require.GreaterOrEqual(t, next.settled, next.generation)
			require.GreaterOrEqual(t, next.latest, s.latest, "timestamps never fall")
			for _, b := range next.bookmarks {
				require.Less(t, b.offset, next.End(), "BookmarkBound")
				require.GreaterOrEqual(t, b.offset, op.Offset(0))
			}
			if sem.Sessions > 0 {
				require.LessOrEqual(t, len(next.sessions), sem.Sessions)
			}
			if r.Kind == op.Poll && next.generation == s.generation {
				for _, b := range s.bookmarks {
					after, ok := next.Bookmark(b.key)
					require.True(t, ok)
					require.GreaterOrEqual(t, after.Offset, b.offset, "AutoCommitMonotone")
				}
			}
			if reply.Code != op.OK && reply.Code != op.Gone && r.Session == 0 && r.Kind != op.Purge {
				require.True(t, s.Equal(next), "an error changes nothing")
				if r.Kind == op.DeleteRecords {
					require.EqualValues(t, -1, reply.Position.Offset)
				}
			}
			if !r.Mutates() {
				require.True(t, s == next, "a read changes nothing")
			}
			for o := next.start; o < next.End(); o++ {
				m, _ := next.Message(o)
				p := next.position(o)
				if known, ok := positions[p]; ok {
					require.Equal(t, known, m.Payload, "OffsetUnique")
				}
				positions[p] = m.Payload
			}
			if r.Session != 0 && r.Sequence != 0 && r.Mutates() && r.Kind != op.Register && (r.Kind != op.Purge || sem.Numbering == Continue) {
				e := execution{r.Session, r.Sequence}
				if old, ok := first[e]; ok && reply.Code != op.BadRequest {
					require.True(t, s.Equal(next), "SessionOnce")
					if reply.Code != op.SessionExpired && reply.Code != op.StaleSequence {
						require.True(t, sameReply(&old, &reply) || reply.Code == op.Gone || old.Code == op.Gone, "SessionOnce: %+v, then %+v", old, reply)
					}
				} else if reply.Code != op.SessionExpired && reply.Code != op.StaleSequence && reply.Code != op.BadRequest {
					first[e] = reply
				}
			}
			s = next
		}
	})
}

// TestNextContract: a consumer that only polls by next with auto-commit sees
// every message of an era once, in order, whatever else happens.
func TestNextContract(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sem Semantics
		s, n := Init(), 0
		var stored, seen []op.Payload
		poll := &op.Request{Kind: op.Poll, AutoCommit: true, Key: op.Key{ID: 7}, Max: rapid.Uint32Range(1, 5).Draw(t, "max")}
		step := func(r *op.Request) op.Reply {
			next, reply := sem.Step(s, r, Choice{})
			s = next
			return reply
		}
		read := func() int {
			reply := step(poll)
			for _, m := range reply.Records {
				seen = append(seen, m.Payload)
			}
			return len(reply.Records)
		}
		for range rapid.IntRange(0, 30).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				p := op.Payload(fmt.Sprint(n))
				n++
				stored = append(stored, p)
				step(&op.Request{Kind: op.Append, Payloads: []op.Payload{p}})
			case 1:
				read()
			case 2:
				if rapid.IntRange(0, 5).Draw(t, "purge") == 0 {
					for read() > 0 {
					}
					require.Equal(t, stored, seen)
					step(&op.Request{Kind: op.Purge})
					stored, seen = nil, nil
				}
			case 3:
				step(&op.Request{Kind: op.StoreBookmark, Key: op.Key{ID: 8}, Bare: true})
			}
		}
		for read() > 0 {
		}
		require.Equal(t, stored, seen, "NextContract")
	})
}

// TestEqualStatesHaveEqualHashes: two ways to the same state.
func TestEqualStatesHaveEqualHashes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sem Semantics
		a, b := Init(), Init()
		for n := range rapid.IntRange(1, 60).Draw(t, "steps") {
			r := drawRequest(t, a, n)
			a, _ = sem.Step(a, r, Choice{})
			// A branch that is given up must not show in b.
			sem.Step(b, &op.Request{Kind: op.Append, Payloads: []op.Payload{"given up", "twice"}}, Choice{})
			b, _ = sem.Step(b, r, Choice{})
		}
		require.True(t, a.Equal(b))
		require.Equal(t, a.Hash(), b.Hash())
		c, _ := sem.Step(b, &op.Request{Kind: op.Append, Payloads: []op.Payload{"one more"}}, Choice{})
		require.False(t, a.Equal(c))
	})
}

// TestLogIsPersistent: random payloads of random sizes, appended to branches.
func TestLogIsPersistent(t *testing.T) {
	f := fuzz.NewWithSeed(3).NilChance(0).NumElements(1, 90)
	var l log
	var want []op.Record
	for i := range 60 {
		var batch, other []op.Payload
		f.Fuzz(&batch)
		f.Fuzz(&other)
		l.append(other, 99) // a branch
		l = l.append(batch, op.Timestamp(i))
		for _, p := range batch {
			want = append(want, op.Record{Payload: p, Timestamp: op.Timestamp(i)})
		}
	}
	require.EqualValues(t, len(want), l.len())
	require.Equal(t, want, l.records(0, uint32(len(want))))
	for ts := op.Timestamp(-1); ts <= 61; ts++ {
		i := slices.IndexFunc(want, func(r op.Record) bool { return r.Timestamp >= ts })
		if i < 0 {
			i = len(want)
		}
		require.EqualValues(t, i, l.firstAt(ts, 0))
	}
}
