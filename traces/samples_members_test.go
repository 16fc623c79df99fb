package traces

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/observe"
	"purgelab/model/op"
	"purgelab/traces/tlc"
)

// in narrows a search to an incarnation.
func in(i op.Incarnation) func(observe.Event) bool {
	return func(e observe.Event) bool { return e.Incarnation == i }
}

// begun edits what is told of how an incarnation begins; it is rejected where the
// first replica boots in it.
func begun(edit func(*observe.Event)) func(*testing.T, []observe.Event) ([]observe.Event, int) {
	return func(t *testing.T, ev []observe.Event) ([]observe.Event, int) {
		for i := range ev {
			if ev[i].Action == NewIncarnation {
				edit(&ev[i])
			}
		}
		return ev, first(t, ev, 0, in(2))
	}
}

// tails are how many events are kept after the one that is rejected, where what is
// wrong is told later.
var tails = map[string]int{"incarnation-lacks-a-persisted-op": 50, "incarnation-agrees-too-far": 50, "reset-led-from-another-state": 40}

// What nobody may do whose group changes, or goes on in a new incarnation.
var memberCorruptions = []corruption{
	{"incarnation-lacks-a-persisted-op", "forced-incarnation", begun(func(e *observe.Event) { e.Kind = "" })},
	{"incarnation-agrees-too-far", "new-incarnation", begun(func(e *observe.Event) { e.Key = "i1:g0:6" })},
	{"incarnation-agrees-otherwise", "new-incarnation", func(t *testing.T, ev []observe.Event) ([]observe.Event, int) {
		i := first(t, ev, first(t, ev, 0, is(NewIncarnation))+1, is(NewIncarnation))
		ev[i].Key = "i1:g0:4"
		return ev, i
	}},
	{"incarnation-goes-on-from-itself", "new-incarnation", changed(func(e *observe.Event) { e.Key = "i2:g0:5" }, is(NewIncarnation))},
	{"incarnation-begun-too-early", "new-incarnation", func(t *testing.T, ev []observe.Event) ([]observe.Event, int) {
		// One replica does not replay the last op before it.
		i := first(t, ev, first(t, ev, 0, is(NewIncarnation))+1, is(NewIncarnation))
		who := ev[i].Replica
		j := i - 1
		for ev[j].Replica != who || ev[j].Action != Materialize {
			j--
		}
		was := ev[j]
		ev = slices.Delete(ev, j, j+1)
		ev[i-1].Applied, ev[i-1].Start, ev[i-1].End = was.Applied-1, was.Start, was.End
		return ev, i - 1
	}},
	{"incarnation-replays-otherwise", "new-incarnation", changed(func(e *observe.Event) { e.Kind, e.Key, e.Offset = "other", "", 0 }, is(Materialize), in(2), of("store"))},
	{"ended-incarnation-goes-on", "new-incarnation", func(t *testing.T, ev []observe.Event) ([]observe.Event, int) {
		i := first(t, ev, 0, is(BecomeLeader), in(2))
		e := ev[i]
		e.Incarnation = 0
		return slices.Insert(ev, i, e), i
	}},
	{"went-back-to-an-ended-incarnation", "new-incarnation", func(t *testing.T, ev []observe.Event) ([]observe.Event, int) {
		i := first(t, ev, 0, is(Boot), in(2), by(2)) + 1
		e := ev[first(t, ev, first(t, ev, 0, is(Rejoin), by(2)), is(Boot), by(2))]
		e.Time = ev[i-1].Time
		return slices.Insert(ev, i, e), i
	}},
	{"suspect-comes-back-as-it-was", "new-incarnation", func(t *testing.T, ev []observe.Event) ([]observe.Event, int) {
		i := first(t, ev, 0, is(Rejoin))
		who := ev[i].Replica
		ev = slices.Delete(ev, i, i+1)
		return ev, first(t, ev, i, is(Boot), by(who))
	}},
	{"leads-before-it-joined", "advance-joined-anew", func(t *testing.T, ev []observe.Event) ([]observe.Event, int) {
		i := first(t, ev, 0, is(Joined))
		e := ev[i]
		e.Action, e.Op, e.Term = BecomeLeader, 0, 9
		return slices.Insert(ev, i, e), i
	}},
	{"joined-without-a-change", "advance-joined-anew", changed(func(e *observe.Event) { e.Op++ }, is(Joined))},
	{"joined-twice", "advance-joined-anew", func(t *testing.T, ev []observe.Event) ([]observe.Event, int) {
		i := first(t, ev, 0, is(Joined))
		return slices.Insert(ev, i, ev[i]), i + 1
	}},
	{"joined-by-an-op-that-is-applied", "advance-joined-anew", changed(func(e *observe.Event) { e.Op = e.Applied }, is(Joined))},
	{"members-changed-by-an-op-that-is-applied", "advance-joined-anew", changed(func(e *observe.Event) { e.Op = e.Applied }, is(ChangeMembers))},
	{"rejoined-with-a-state", "advance-joined-anew", changed(func(e *observe.Event) { e.Applied, e.End = 9, 4 }, is(Rejoin))},
	{"members-differ", "advance-joined-anew", changed(func(e *observe.Event) { e.Count-- }, is(ChangeMembers), by(2))},
}

// A machine that was down when its incarnation ended may come back in it: it takes no
// part until it hears of the next one.
func TestBootInAnEndedIncarnationIsAccepted(t *testing.T) {
	tr := readSample(t, "testdata/accepted/new-incarnation.ndjson")
	out := &Trace{Name: tr.Name, Header: tr.Header}
	var late []Line
	for _, l := range tr.Lines {
		if l.Replica == 2 && l.Incarnation == 0 && (len(late) > 0 || l.Action == Rejoin) {
			late = append(late, l)
			continue
		}
		if l.Replica == 2 && l.Incarnation == 2 && len(late) > 0 {
			for _, e := range late {
				e.Time = l.Time
				out.Lines = append(out.Lines, e)
			}
			late = nil
		}
		out.Lines = append(out.Lines, l)
	}
	require.NotEqual(t, tr.Lines, out.Lines)
	require.Len(t, out.Lines, len(tr.Lines))
	r := validate(t, out)[0]
	require.Equal(t, tlc.Pass, r.Verdict, "%s %v", r.Reason, r.Rejections)
}
