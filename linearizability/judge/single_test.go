package judge

import (
	"testing"

	"purgelab/model"
	"purgelab/model/op"
)

func unknown(call int64, r op.Request) model.Operation {
	return operation(call, 0, r, op.Reply{})
}

// TestNobodyAppended: what is in the log, and how long it is, comes from appends.
func TestNobodyAppended(t *testing.T) {
	a := appended(1, 2, pos(0, 0), "a")
	x := unknown(2, op.Request{Kind: op.Append, Payloads: []op.Payload{"x"}})
	explained(t, Gap, []int64{3},
		[]model.Operation{a, first(3, 4, pos(0, 0), "a", "x")},
		[]model.Operation{a, x, first(3, 4, pos(0, 0), "a", "x")},
	)
	explained(t, Gap, []int64{3},
		[]model.Operation{a, x, first(3, 4, pos(0, 0), "a", "y")},
		[]model.Operation{a, x, unknown(2, op.Request{Kind: op.Append, Payloads: []op.Payload{"y"}}), first(3, 4, pos(0, 0), "a", "y")},
	)
	beyond := stored(3, 4, pos(0, 1))
	explained(t, FreshSkipped, []int64{3},
		[]model.Operation{a, beyond},
		[]model.Operation{a, x, beyond},
		[]model.Operation{a, appended(2, 6, pos(0, 1), "b"), beyond},
		[]model.Operation{in(1, a), begun(2, 3, 2, pos(0, 0)), in(2, appended(4, 5, pos(0, 1), "b")), in(2, stored(6, 7, pos(0, 1)))},
	)
	explained(t, Gap, []int64{3},
		[]model.Operation{a, x, newest(3, 4, pos(0, 3))},
		[]model.Operation{a, x, newest(3, 4, pos(0, 2))},
	)
}

// TestOneIncarnation: all answers name the same one, until another one begins.
func TestOneIncarnation(t *testing.T) {
	a := in(1, appended(1, 2, pos(0, 0), "a"))
	explained(t, StaleRead, []int64{1, 5},
		[]model.Operation{a, in(2, first(5, 6, pos(0, 0), "a"))},
		[]model.Operation{a, begun(3, 4, 2, pos(0, 0)), in(2, first(5, 6, pos(0, 0), "a"))},
		[]model.Operation{a, in(1, first(5, 6, pos(0, 0), "a"))},
	)
}

// TestRefusedNumbers: a number is over when a higher one was executed.
func TestRefusedNumbers(t *testing.T) {
	refused := numbered(2, operation(5, 6, op.Request{Kind: op.Append, Payloads: []op.Payload{"b"}}, op.Reply{Code: op.StaleSequence}))
	explained(t, RetriedTwice, []int64{5},
		[]model.Operation{numbered(1, appended(1, 2, pos(0, 0), "a")), refused},
		[]model.Operation{numbered(3, appended(1, 2, pos(0, 0), "a")), refused},
		[]model.Operation{numbered(3, unknown(1, op.Request{Kind: op.Append, Payloads: []op.Payload{"a"}})), refused},
	)
}

// TestBookmarksOfBefore: a purge ends what was set before, whoever saw it later.
func TestBookmarksOfBefore(t *testing.T) {
	a, found := appended(1, 2, pos(0, 0), "a"), deleted(9, 10, op.OK)
	late := unknown(3, op.Request{Kind: op.StoreBookmark, At: pos(0, 0)})
	bare := unknown(3, op.Request{Kind: op.StoreBookmark, At: pos(0, 0), Bare: true})
	explained(t, OldBookmark, []int64{3, 5, 9},
		[]model.Operation{a, late, purged(5, 8, 1), bookmarked(6, 7, pos(0, 0)), found},
		[]model.Operation{a, late, purged(5, 8, 1), bookmarked(6, 7, pos(0, 0)), deleted(9, 10, op.NotFound)},
		[]model.Operation{a, late, purged(5, 11, 1), bookmarked(6, 7, pos(0, 0)), found},
		[]model.Operation{a, bare, purged(5, 6, 1), appended(7, 8, pos(1, 0), "b"), found},
	)
}

// TestCutsWithoutAnAnswer: a cutoff at the end is no end of before its call.
func TestCutsWithoutAnAnswer(t *testing.T) {
	abc, d := appended(1, 2, pos(0, 0), "a", "b", "c"), appended(4, 5, pos(0, 3), "d")
	cut := func(call int64) model.Operation {
		return unknown(call, op.Request{Kind: op.DeleteRecords, At: pos(0, -1)})
	}
	explained(t, LostAppend, []int64{1, 7},
		[]model.Operation{abc, d, cut(6), earliest(7, 8, pos(0, 3))},
		[]model.Operation{abc, d, cut(6), earliest(7, 8, pos(0, 4))},
		[]model.Operation{abc, cut(3), d, earliest(7, 8, pos(0, 3))},
		[]model.Operation{abc, d, cut(6), purged(7, 8, 1), appended(9, 10, pos(1, 0), "e"), earliest(11, 12, pos(1, 1))},
	)
}

// TestPollsThatBeginAtTheEnd: reset latest is for bookmarks below the start.
func TestPollsThatBeginAtTheEnd(t *testing.T) {
	abcd, set := appended(1, 2, pos(0, 0), "a", "b", "c", "d"), stored(3, 4, pos(0, 1))
	late := operation(20, 21, op.Request{Kind: op.Poll, Reset: op.Latest, Max: 1}, op.Reply{Position: pos(0, 4)})
	last := unknown(5, op.Request{Kind: op.StoreBookmark, At: pos(0, 3)})
	explained(t, FreshSkipped, []int64{3, 20},
		[]model.Operation{abcd, set, trimmed(6, 7, pos(0, 2)), late},
		[]model.Operation{abcd, set, trimmed(6, 7, pos(0, 3)), late}, // it lies below the start
		[]model.Operation{abcd, set, trimmed(6, 7, pos(0, 4)), late}, // so it does here, and the start is the end
		[]model.Operation{abcd, set, last, trimmed(6, 7, pos(0, 2)), late},
		[]model.Operation{abcd, set, unknown(5, op.Request{Kind: op.DeleteRecords, At: pos(0, -1)}), trimmed(6, 7, pos(0, 2)), late},
	)
	// A poll does not lower it, unless it was gone.
	low := operation(8, 9, op.Request{Kind: op.Poll, Strategy: op.First, AutoCommit: true, Max: 1}, op.Reply{Count: 1, Position: pos(0, 0), Records: records([]op.Payload{"a"})})
	set, cut := stored(3, 4, pos(0, 2)), trimmed(10, 11, pos(0, 3))
	explained(t, FreshSkipped, []int64{3, 20},
		[]model.Operation{abcd, set, low, cut, late},
		[]model.Operation{abcd, set, unknown(5, op.Request{Kind: op.DeleteBookmark}), low, cut, late},
		[]model.Operation{abcd, set, unknown(5, op.Request{Kind: op.StoreBookmark, At: pos(0, 0)}), low, cut, late},
	)
	explained(t, FreshSkipped, []int64{3, 20},
		[]model.Operation{abcd, stored(1, 2, pos(0, 3)), stored(3, 4, pos(0, 2)), low, cut, late},
		[]model.Operation{abcd, stored(2, 4, pos(0, 3)), stored(3, 5, pos(0, 2)), low, cut, late},
	)
	// Two polls at a time: it is where the further one left it, or further.
	one := operation(4, 5, op.Request{Kind: op.Poll, AutoCommit: true, Max: 1}, op.Reply{Count: 1, Position: pos(0, 0), Records: records([]op.Payload{"a"})})
	two := operation(3, 6, op.Request{Kind: op.Poll, Strategy: op.First, AutoCommit: true, Max: 3}, op.Reply{Count: 3, Position: pos(0, 0), Records: records([]op.Payload{"a", "b", "c"})})
	explained(t, FreshSkipped, []int64{3, 20},
		[]model.Operation{abcd, two, one, cut, late},
		[]model.Operation{abcd, two, one, unknown(7, op.Request{Kind: op.StoreBookmark, At: pos(0, 0)}), cut, late},
		[]model.Operation{abcd, two, one, last, cut, late},
		[]model.Operation{abcd, operation(1, 2, op.Request{Kind: op.StoreBookmark, At: pos(0, 3), Bare: true}, op.Reply{}), two, cut, late},
		[]model.Operation{abcd, two, one, cut, operation(20, 21, *late.Request, op.Reply{Position: pos(0, 3), Count: 1, Records: records([]op.Payload{"d"})})},
	)
	// What was set in an older generation.
	ab, cut := appended(12, 13, pos(1, 0), "e", "f"), trimmed(14, 15, pos(1, 1))
	late = operation(20, 21, *late.Request, op.Reply{Position: pos(1, 2)})
	explained(t, OldBookmark, []int64{3, 20},
		[]model.Operation{abcd, stored(3, 4, pos(0, 1)), purged(5, 6, 1), ab, cut, late},
		[]model.Operation{abcd, stored(3, 4, pos(0, 1)), purged(5, 6, 1), ab, cut, stored(16, 17, pos(1, 1)), late},
	)
}
