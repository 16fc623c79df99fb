package judge

import (
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/model"
	"purgelab/model/op"
)

// explained wants a reason of a class for a history, of operations by their calls, and
// none for others that differ from it in one thing.
func explained(t *testing.T, class Class, calls []int64, bad []model.Operation, good ...[]model.Operation) {
	t.Helper()
	got := Explain(model.Semantics{}, bad)
	require.NotNil(t, got, class)
	require.Equal(t, class, got.Class, got.Text(bad))
	var of []int64
	for _, i := range got.Ops {
		of = append(of, bad[i].Call)
	}
	require.Equal(t, calls, of, got.Text(bad))
	require.NotEmpty(t, good)
	for i, g := range good {
		if why := Explain(model.Semantics{}, g); why != nil {
			require.Fail(t, "a right history has a reason", "%s, history %d: %s", class, i, why.Text(g))
		}
	}
}

func numbered(n op.Sequence, o model.Operation) model.Operation {
	o.Request.Session, o.Request.Sequence = 7, n
	return o
}

// in makes an operation one of an incarnation.
func in(n op.Incarnation, o model.Operation) model.Operation {
	o.Request.Incarnation = n
	if o.Reply != nil {
		a := *o.Reply
		a.Position.Incarnation = n
		o.Reply = &a
	}
	return o
}

func begun(call, ret int64, n op.Incarnation, agreed op.Position) model.Operation {
	p := agreed
	p.Incarnation, p.Offset = n, -1
	return operation(call, ret, op.Request{Kind: op.NewIncarnation}, op.Reply{Position: p, Agreed: agreed})
}

func deleted(call, ret int64, code op.Code) model.Operation {
	return operation(call, ret, op.Request{Kind: op.DeleteBookmark}, op.Reply{Code: code})
}

// TestReasonsWithRepeats: requests that are sent twice do not hide what is wrong with the
// others, and are evidence of nothing themselves.
func TestReasonsWithRepeats(t *testing.T) {
	a := numbered(1, appended(1, 2, pos(0, 0), "a"))
	repeat := numbered(1, appended(3, 4, pos(0, 0), "a"))
	b := appended(5, 6, pos(0, 1), "b")
	explained(t, LostAppend, []int64{5, 7},
		[]model.Operation{a, repeat, b, first(7, 8, pos(0, 0), "a")},
		[]model.Operation{a, repeat, b, first(7, 8, pos(0, 0), "a", "b")},
		// the repeat is answered as the first one was, which a purge took with it
		[]model.Operation{a, purged(5, 6, 1), first(7, 8, pos(1, 0)), numbered(1, appended(9, 10, pos(0, 0), "a"))},
	)
}

// TestReasonsWithIncarnations: what a new incarnation may lose is not lost otherwise.
func TestReasonsWithIncarnations(t *testing.T) {
	a, b := in(1, appended(1, 2, pos(0, 0), "a")), in(1, appended(3, 4, pos(0, 1), "b"))
	begin := begun(5, 6, 2, pos(0, 0))
	empty := in(2, first(9, 10, pos(0, 0), "a"))
	explained(t, LostAppend, []int64{3, 4},
		[]model.Operation{a, b, in(1, first(4, 5, pos(0, 0), "a")), begun(6, 7, 2, pos(0, 0))},
		[]model.Operation{a, b, begin, empty}, // the suffix is lost
		[]model.Operation{a, in(1, appended(3, 0, op.Position{}, "b")), begin, empty},
	)
	explained(t, LostAppend, []int64{7, 9},
		[]model.Operation{a, b, begin, in(2, appended(7, 8, pos(0, 1), "c")), empty},
		[]model.Operation{a, b, begin, in(2, appended(7, 8, pos(0, 1), "c")), in(2, first(9, 10, pos(0, 0), "a", "c"))},
	)
	explained(t, PositionReused, []int64{7, 9},
		[]model.Operation{a, b, begin, in(2, appended(7, 8, pos(0, 1), "c")), in(2, appended(9, 10, pos(0, 1), "d"))},
		[]model.Operation{a, b, begin, in(2, appended(7, 8, pos(0, 1), "c"))}, // where b was
	)
	// A purge that was asked for in one incarnation may take effect in the next.
	stored2 := in(2, stored(9, 10, pos(0, 0)))
	none := in(2, operation(11, 12, op.Request{Kind: op.GetBookmark}, op.Reply{}))
	explained(t, BookmarkRewound, []int64{9, 11},
		[]model.Operation{a, begin, stored2, none},
		[]model.Operation{a, in(1, operation(3, 0, op.Request{Kind: op.Purge, Intent: 1}, op.Reply{})), begin, stored2, none},
		[]model.Operation{a, in(1, purged(3, 4, 1)), begin, stored2, none},                              // again, since it was lost
		[]model.Operation{a, in(1, stored(3, 4, pos(0, 0))), begin, none},                               // bookmarks are lost with the rest
		[]model.Operation{a, in(1, stored(3, 4, pos(0, 0))), begin, in(2, bookmarked(7, 8, pos(0, 0)))}, // or not
	)
	// Sessions are lost, too.
	open := operation(1, 2, op.Request{Kind: op.Register}, op.Reply{Session: 7})
	expired := numbered(1, operation(7, 8, op.Request{Kind: op.Append, Payloads: []op.Payload{"c"}}, op.Reply{Code: op.SessionExpired}))
	expired.Request.Incarnation = 2
	again := open
	again.Request = &op.Request{Kind: op.Register, Incarnation: 2}
	explained(t, RetriedTwice, []int64{1, 7}, []model.Operation{begun(0, 1, 2, pos(0, 0)), again, expired}, []model.Operation{open, begin, expired})
}

// TestUnasked: nothing happens that nobody asked for.
func TestUnasked(t *testing.T) {
	abc := appended(1, 2, pos(0, 0), "a", "b", "c")
	explained(t, LostAppend, []int64{1, 5},
		[]model.Operation{abc, trimmed(3, 4, pos(0, 1)), earliest(5, 6, pos(0, 2))},
		[]model.Operation{abc, trimmed(3, 4, pos(0, 1)), earliest(5, 6, pos(0, 1))},
		[]model.Operation{abc, trimmed(3, 4, pos(0, 1)), operation(4, 0, op.Request{Kind: op.DeleteRecords, At: pos(0, 2)}, op.Reply{}), earliest(5, 6, pos(0, 2))},
		[]model.Operation{abc, trimmed(3, 4, pos(0, 1)), operation(4, 0, op.Request{Kind: op.DeleteRecords, At: pos(0, -1)}, op.Reply{}), earliest(5, 6, pos(0, 3))},
	)
	explained(t, StartBack, []int64{4},
		[]model.Operation{abc, trimmed(3, 7, pos(0, 2)), earliest(4, 6, pos(0, 1))},
		[]model.Operation{abc, trimmed(3, 7, pos(0, 2)), earliest(4, 6, pos(0, 0))},
		[]model.Operation{abc, trimmed(3, 7, pos(0, 2)), earliest(4, 6, pos(0, 2))},
	)
	explained(t, RetriedTwice, []int64{5},
		[]model.Operation{abc, purged(3, 4, 1), earliest(5, 6, pos(2, 0))},
		[]model.Operation{abc, purged(3, 4, 1), earliest(5, 6, pos(1, 0))},
		[]model.Operation{abc, purged(3, 4, 1), operation(4, 0, op.Request{Kind: op.Purge}, op.Reply{}), earliest(5, 6, pos(2, 0))},
	)
}

// TestSomeBookmark: what does not show a bookmark may show that there is one.
func TestSomeBookmark(t *testing.T) {
	a, set := appended(1, 2, pos(0, 0), "a"), stored(3, 4, pos(0, 0))
	explained(t, OldBookmark, []int64{3, 5, 7},
		[]model.Operation{a, set, purged(5, 6, 1), deleted(7, 8, op.OK)},
		[]model.Operation{a, set, purged(5, 6, 1), deleted(7, 8, op.NotFound)},
		[]model.Operation{a, set, purged(5, 8, 1), deleted(6, 7, op.OK)},
		[]model.Operation{a, stored(3, 6, pos(0, 0)), purged(5, 7, 1), deleted(8, 9, op.NotFound)},
		// the higher purge came first, so the lower one took nothing with it
		[]model.Operation{a, purged(3, 4, 2), appended(5, 6, pos(2, 0), "b"), stored(7, 8, pos(2, 0)), purged(9, 10, 1), deleted(11, 12, op.OK)},
		[]model.Operation{a, purged(3, 4, 1), appended(5, 6, pos(1, 0), "b"), stored(7, 8, pos(1, 0)), purged(9, 10, 1), deleted(11, 12, op.OK)},
	)
	explained(t, BookmarkRewound, []int64{5, 7},
		[]model.Operation{a, set, deleted(5, 6, op.OK), deleted(7, 8, op.OK)},
		[]model.Operation{a, set, stored(4, 0, pos(0, 0)), deleted(5, 6, op.OK), deleted(7, 8, op.OK)},
	)
	abc := appended(1, 2, pos(0, 0), "a", "b", "c")
	late := operation(9, 10, op.Request{Kind: op.Poll, Reset: op.Latest, Max: 1}, op.Reply{Position: pos(0, 3)})
	explained(t, FreshSkipped, []int64{9},
		[]model.Operation{abc, set, late},
		[]model.Operation{abc, set, trimmed(5, 6, pos(0, 2)), late}, // it lies below the start
	)
	explained(t, FreshSkipped, []int64{3},
		[]model.Operation{a, deleted(3, 4, op.OK)},
		[]model.Operation{a, stored(2, 0, pos(0, 0)), deleted(3, 4, op.OK)},
	)
	refused := operation(9, 10, op.Request{Kind: op.Poll, Reset: op.Fail, Max: 1}, op.Reply{Code: op.OffsetOutOfRange, Position: pos(0, -1), Start: 2, End: 2})
	ab := appended(1, 2, pos(0, 0), "a", "b")
	explained(t, BookmarkRewound, []int64{5, 9},
		[]model.Operation{ab, set, deleted(5, 6, op.OK), trimmed(7, 8, pos(0, 2)), refused},
		[]model.Operation{ab, set, trimmed(7, 8, pos(0, 2)), refused},
	)
}

// TestClassesOfTheSame: what differs in one thing may break another promise.
func TestClassesOfTheSame(t *testing.T) {
	a := appended(1, 2, pos(0, 0), "a", "b")
	twice := first(3, 4, pos(0, 0), "a", "b", "a")
	right := []model.Operation{a, first(3, 4, pos(0, 0), "a", "b")}
	explained(t, Duplicate, []int64{1, 3}, []model.Operation{a, twice}, right)
	explained(t, RetriedTwice, []int64{1, 3}, []model.Operation{again(a), twice}, right)
	explained(t, RetriedTwice, []int64{1, 3}, []model.Operation{numbered(1, appended(1, 2, pos(0, 0), "a", "b")), twice}, right)

	set, gone := stored(3, 4, pos(0, 0)), deleted(5, 6, op.NotFound)
	right = []model.Operation{a, set, deleted(5, 6, op.OK)}
	explained(t, BookmarkRewound, []int64{3, 5}, []model.Operation{a, set, gone}, right)
	explained(t, RetriedTwice, []int64{3, 5}, []model.Operation{a, set, again(gone)}, right)

	lost, beyond := stored(2, 0, pos(0, 3)), next(3, 4, pos(0, 4))
	right = []model.Operation{a, newest(5, 6, pos(0, 2))}
	explained(t, FreshSkipped, []int64{3, 5}, []model.Operation{a, lost, beyond, newest(5, 6, pos(0, 2))}, right)
	explained(t, StaleRead, []int64{3, 5},
		[]model.Operation{a, newest(3, 4, pos(0, 4)), first(5, 6, pos(0, 0), "a", "b")}, right)
}
