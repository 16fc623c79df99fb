package traces

import (
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/observe"
	"purgelab/model/op"
)

// An incarnation that ended before anybody lived in it is no line: the next one goes on
// from the one before it, of which it may have more.
func TestIncarnationThatNobodyLivedIn(t *testing.T) {
	tr := &Trace{Header: Header{Design: "ordered", Partitions: 1}}
	say := func(i op.Incarnation, e observe.Event) {
		e.Incarnation = i
		tr.Lines = append(tr.Lines, Line{Number: len(tr.Lines) + 2, Event: e})
	}
	for n := op.Number(2); n <= 5; n++ {
		say(0, observe.Event{Action: Commit, Op: n, Term: 1, Kind: "append", Count: 1})
	}
	say(2, observe.Event{Action: Commit, Op: 2, Term: 1, Kind: "append", Count: 1})
	say(3, observe.Event{Action: NewIncarnation, Op: 4, Count: 3, Key: "i1:g0:3"})
	a := agreedOf(tr, 0)
	require.Len(t, a.lines, 2)
	require.EqualValues(t, 3, a.lines[1].incarnation)
	require.EqualValues(t, 4, a.lines[1].kept)
	require.EqualValues(t, 2, a.in(2).incarnation, "a replica of it is judged by itself")
	require.Equal(t, op.Incarnation(1), a.before(tr.Lines[5].Event, 1))
}
