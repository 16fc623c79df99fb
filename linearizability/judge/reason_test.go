package judge

import (
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/model"
	"purgelab/model/op"
)

// These make operations from a call to a return; a return of 0 is an unknown outcome.

func operation(call, ret int64, r op.Request, a op.Reply) model.Operation {
	o := model.Operation{Client: int(call), Request: &r, Call: call, Return: ret, Line: int(call)}
	if ret > 0 {
		o.Reply = &a
	}
	return o
}

func pos(g op.Generation, o op.Offset) op.Position {
	return op.Position{Incarnation: 1, Generation: g, Offset: o}
}

func appended(call, ret int64, p op.Position, messages ...op.Payload) model.Operation {
	return operation(call, ret, op.Request{Kind: op.Append, Payloads: messages}, op.Reply{Position: p})
}

func records(messages []op.Payload) (out []op.Record) {
	for _, m := range messages {
		out = append(out, op.Record{Payload: m})
	}
	return out
}

func read(call, ret int64, r op.Request, p op.Position, messages ...op.Payload) model.Operation {
	r.Kind, r.Max = op.Poll, 9
	return operation(call, ret, r, op.Reply{Position: p, Records: records(messages), Count: uint32(len(messages))})
}

func first(call, ret int64, p op.Position, messages ...op.Payload) model.Operation {
	return read(call, ret, op.Request{Strategy: op.First}, p, messages...)
}

func next(call, ret int64, p op.Position, messages ...op.Payload) model.Operation {
	return read(call, ret, op.Request{}, p, messages...)
}

func purged(call, ret int64, g op.Generation) model.Operation {
	return operation(call, ret, op.Request{Kind: op.Purge, Intent: g}, op.Reply{Position: pos(g, 0)})
}

func stored(call, ret int64, p op.Position) model.Operation {
	return operation(call, ret, op.Request{Kind: op.StoreBookmark, At: p}, op.Reply{})
}

func bookmarked(call, ret int64, p op.Position) model.Operation {
	return operation(call, ret, op.Request{Kind: op.GetBookmark}, op.Reply{Found: true, Position: p})
}

func newest(call, ret int64, p op.Position) model.Operation {
	return operation(call, ret, op.Request{Kind: op.ListOffsets, Which: op.LatestOffset}, op.Reply{Found: true, Position: p})
}

func earliest(call, ret int64, p op.Position) model.Operation {
	return operation(call, ret, op.Request{Kind: op.ListOffsets}, op.Reply{Found: true, Position: p})
}

func trimmed(call, ret int64, p op.Position) model.Operation {
	return operation(call, ret, op.Request{Kind: op.DeleteRecords, At: p}, op.Reply{Position: p})
}

func again(o model.Operation) model.Operation {
	o.Again = true
	return o
}

// TestReasons: each class has a history that it explains, and others that differ from it
// in one thing, and are right.
func TestReasons(t *testing.T) {
	a := appended(1, 2, pos(0, 0), "a")
	ab := []model.Operation{a, appended(3, 4, pos(0, 1), "b")}
	type history []model.Operation
	with := func(first []model.Operation, more ...model.Operation) history {
		return append(append(history(nil), first...), more...)
	}
	for class, c := range map[Class]struct {
		bad  history
		good []history
	}{
		LostAppend: {
			with(ab, first(5, 6, pos(0, 0), "a")),
			[]history{
				with(ab[:1], appended(3, 7, pos(0, 1), "b"), first(5, 6, pos(0, 0), "a")),     // it is not acknowledged yet
				with(ab[:1], appended(3, 0, op.Position{}, "b"), first(5, 6, pos(0, 0), "a")), // it never was
				with(ab, purged(5, 9, 1), first(6, 8, pos(1, 0))),                             // a purge takes it
			},
		},
		Duplicate: {
			with(ab, first(5, 6, pos(0, 0), "a", "b", "a")),
			[]history{with(ab, first(5, 6, pos(0, 0), "a", "b"))},
		},
		RetriedTwice: {
			history{again(a), appended(3, 4, pos(0, 1), "b"), first(5, 6, pos(0, 0), "a", "b", "a")},
			[]history{{again(a), appended(3, 4, pos(0, 1), "b"), first(5, 6, pos(0, 0), "a", "b")}},
		},
		Gap: {
			history{a, appended(3, 4, pos(0, 3), "b"), appended(5, 0, op.Position{}, "x"), appended(6, 7, pos(0, 4), "c")},
			[]history{{a, appended(3, 0, op.Position{}, "x", "y"), appended(5, 6, pos(0, 3), "b")}}, // an unknown one fills it
		},
		PositionReused: {
			history{a, appended(3, 4, pos(0, 0), "b")},
			[]history{{a, purged(3, 4, 1), appended(5, 6, pos(1, 0), "b")}}, // in another generation
		},
		WrongOrder: {
			history{appended(1, 2, pos(0, 1), "a"), appended(3, 4, pos(0, 0), "b")},
			[]history{{appended(1, 4, pos(0, 1), "a"), appended(2, 3, pos(0, 0), "b")}}, // at the same time
		},
		StaleRead: {
			history{a, purged(3, 4, 1), earliest(5, 6, pos(0, 0))},
			[]history{{a, purged(3, 6, 1), earliest(4, 5, pos(0, 0))}},
		},
		PurgedReturned: {
			history{a, purged(3, 4, 1), first(5, 6, pos(1, 0), "a")},
			[]history{{a, purged(3, 6, 1), first(4, 5, pos(0, 0), "a")}},
		},
		OldBookmark: {
			history{a, stored(3, 4, pos(0, 0)), purged(5, 6, 1), appended(7, 8, pos(1, 0), "b"), bookmarked(9, 10, pos(1, 0))},
			[]history{{a, stored(3, 4, pos(0, 0)), purged(5, 6, 1), appended(7, 8, pos(1, 0), "b"), stored(9, 0, pos(1, 0)), bookmarked(11, 12, pos(1, 0))}},
		},
		FreshSkipped: {
			with(ab, stored(5, 6, pos(0, 0)), next(7, 8, pos(0, 2))),
			[]history{
				with(ab, stored(5, 6, pos(0, 0)), next(7, 8, pos(0, 1), "b")),
				with(ab, stored(5, 6, pos(0, 0)), stored(7, 0, pos(0, 1)), next(8, 9, pos(0, 2))),   // an unknown store
				with(ab, stored(5, 6, pos(0, 0)), trimmed(7, 8, pos(0, 2)), next(9, 10, pos(0, 2))), // the start is there
				with(ab, stored(5, 7, pos(0, 1)), next(6, 8, pos(0, 2))),                            // a store at the same time
			},
		},
		BookmarkRewound: {
			with(ab, stored(5, 6, pos(0, 0)), stored(7, 8, pos(0, 1)), bookmarked(9, 10, pos(0, 0))),
			[]history{
				with(ab, stored(5, 8, pos(0, 0)), stored(6, 7, pos(0, 1)), bookmarked(9, 10, pos(0, 0))), // in whatever order
				with(ab, stored(5, 7, pos(0, 0)), stored(6, 8, pos(0, 1)), bookmarked(9, 10, pos(0, 0))),
				with(ab, stored(5, 0, pos(0, 0)), stored(7, 8, pos(0, 1)), bookmarked(9, 10, pos(0, 0))), // a late one
			},
		},
		StartBack: {
			with(ab, trimmed(5, 6, pos(0, 1)), earliest(7, 8, pos(0, 0))),
			[]history{
				with(ab, trimmed(5, 8, pos(0, 1)), earliest(6, 7, pos(0, 0))),
				with(ab, trimmed(5, 6, pos(0, 1)), purged(7, 8, 1), earliest(9, 10, pos(1, 0))),
				with(ab, trimmed(5, 6, pos(0, 1)), earliest(7, 8, pos(0, 1))),
			},
		},
		LatestRegressed: {
			with(ab[:1], appended(3, 0, op.Position{}, "b"), newest(5, 6, pos(0, 2)), newest(7, 8, pos(0, 1))),
			[]history{
				with(ab[:1], appended(3, 0, op.Position{}, "b"), newest(5, 8, pos(0, 2)), newest(6, 7, pos(0, 1))),
				with(ab[:1], appended(3, 0, op.Position{}, "b"), newest(5, 6, pos(0, 2)), purged(7, 8, 1), newest(9, 10, pos(1, 0))),
			},
		},
	} {
		got := Judge(model.Semantics{}, c.bad)
		require.NotNil(t, got.Reason, class)
		require.Equal(t, class, got.Reason.Class, got.Reason.Text(c.bad))
		require.NotEmpty(t, got.Reason.Promise())
		n := len(got.Reason.Ops)
		require.True(t, n >= 1 && n <= 5, class)
		require.NotEmpty(t, c.good, class)
		for i, g := range c.good {
			v := Judge(model.Semantics{}, g)
			require.NoError(t, v.GaveUp, "%s, right history %d", class, i)
			require.Nil(t, v.Reason)
			require.NotNil(t, v.Order)
			require.Nil(t, Explain(model.Semantics{}, g), "%s, right history %d", class, i)
		}
	}
	require.Len(t, promises, 13)
}

// TestBookmarkBeyondTheEnd: what is stored at or above the end would skip what is
// appended there.
func TestBookmarkBeyondTheEnd(t *testing.T) {
	bad := []model.Operation{appended(1, 2, pos(0, 0), "a"), stored(3, 4, pos(0, 1)), appended(5, 6, pos(0, 1), "b")}
	got := Judge(model.Semantics{}, bad)
	require.NotNil(t, got.Reason)
	require.Equal(t, FreshSkipped, got.Reason.Class)
	require.Nil(t, Explain(model.Semantics{}, []model.Operation{bad[0], stored(3, 6, pos(0, 1)), appended(4, 5, pos(0, 1), "b")}))
}

// TestReadElsewhere: a poll by offset reads there.
func TestReadElsewhere(t *testing.T) {
	ab := appended(1, 2, pos(0, 0), "a", "b")
	bad := []model.Operation{ab, read(3, 4, op.Request{Strategy: op.AtOffset, At: pos(0, 0)}, pos(0, 1), "b")}
	got := Judge(model.Semantics{}, bad)
	require.NotNil(t, got.Reason)
	require.Equal(t, FreshSkipped, got.Reason.Class)
	require.Nil(t, Explain(model.Semantics{}, []model.Operation{ab, read(3, 4, op.Request{Strategy: op.AtOffset, At: pos(0, 1)}, pos(0, 1), "b")}))
}

// TestAcknowledgedElsewhere: an append is where its answer says.
func TestAcknowledgedElsewhere(t *testing.T) {
	got := Judge(model.Semantics{}, []model.Operation{appended(1, 2, pos(0, 1), "a"), first(3, 4, pos(0, 0), "a")})
	require.NotNil(t, got.Reason)
	require.Equal(t, PositionReused, got.Reason.Class)
}

// TestTwoAnswers: a request that was executed once has one answer.
func TestTwoAnswers(t *testing.T) {
	numbered := func(o model.Operation) model.Operation {
		o.Request.Session, o.Request.Sequence = 7, 1
		return o
	}
	bad := []model.Operation{numbered(appended(1, 2, pos(0, 0), "a")), numbered(appended(3, 4, pos(0, 1), "a"))}
	got := Judge(model.Semantics{}, bad)
	require.NotNil(t, got.Reason)
	require.Equal(t, RetriedTwice, got.Reason.Class)
	lost := numbered(operation(3, 4, op.Request{Kind: op.Append, Payloads: []op.Payload{"a"}}, op.Reply{Code: op.SessionExpired}))
	open := operation(1, 2, op.Request{Kind: op.Register}, op.Reply{Session: 7})
	got = Judge(model.Semantics{}, []model.Operation{open, lost})
	require.NotNil(t, got.Reason)
	require.Equal(t, RetriedTwice, got.Reason.Class)
	require.Nil(t, Explain(model.Semantics{Sessions: 1}, []model.Operation{open, lost}), "it may have been evicted")
	good := []model.Operation{numbered(appended(1, 2, pos(0, 0), "a")), numbered(appended(3, 4, pos(0, 0), "a"))}
	require.Nil(t, Explain(model.Semantics{}, good))
}

// An end below 0 is wrong by itself: nobody had to prove that it is not.
func TestNothingIsBelowZero(t *testing.T) {
	ops := []model.Operation{operation(1, 0, op.Request{Kind: op.Append, Payloads: []op.Payload{"a"}}, op.Reply{}), appended(2, 3, pos(0, -1), "b")}
	why := Explain(model.Semantics{}, ops)
	require.NotNil(t, why)
	require.Equal(t, []int32{1}, why.Ops)
}

// A position where none belongs says nothing of the incarnation: here the bookmark is lost
// with the first one.
func TestNoPositionOfNothing(t *testing.T) {
	in := func(i op.Incarnation, o model.Operation) model.Operation {
		o.Request.Incarnation = i
		return o
	}
	ops := []model.Operation{
		appended(1, 2, pos(0, 0), "a"),
		in(1, stored(3, 4, pos(0, 0))),
		operation(5, 6, op.Request{Kind: op.NewIncarnation, MayLose: op.LosesBookmarks}, op.Reply{Position: op.Position{Incarnation: 2, Offset: -1}, End: 1, Agreed: pos(0, 1)}),
		in(2, operation(7, 8, op.Request{Kind: op.GetBookmark}, op.Reply{Position: op.Position{Incarnation: 1}})),
	}
	require.Nil(t, Explain(model.Semantics{}, ops))
}
