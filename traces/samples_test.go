package traces

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/observe"
	"purgelab/traces/tlc"
)

// The samples in testdata/accepted are traces of simulated runs; those in
// testdata/rejected were made from them by these corruptions, and end a few
// lines after the one that must be rejected. REWRITE=1 makes them again.

// corruption spoils a trace: it returns the events and the index of the first
// one that nothing can explain any more.
type corruption struct {
	name, base string
	spoil      func(t *testing.T, ev []observe.Event) ([]observe.Event, int)
}

func is(a observe.Action) func(observe.Event) bool {
	return func(e observe.Event) bool { return e.Action == a }
}

// first finds the first event from index i on that all conditions hold for.
func first(t *testing.T, ev []observe.Event, i int, conditions ...func(observe.Event) bool) int {
	t.Helper()
	for ; i < len(ev); i++ {
		if !slices.ContainsFunc(conditions, func(c func(observe.Event) bool) bool { return !c(ev[i]) }) {
			return i
		}
	}
	t.Fatal("the sample has no such event")
	return 0
}

// of narrows a search to a kind.
func of(kind string) func(observe.Event) bool {
	return func(e observe.Event) bool { return e.Kind == kind }
}

// by narrows a search to a replica.
func by(replica int) func(observe.Event) bool {
	return func(e observe.Event) bool { return e.Replica == replica }
}

// dropped removes the step of the second purge, which no crash interrupts; what
// its replica does next of the action `then` cannot be explained.
func dropped(a, then observe.Action) func(*testing.T, []observe.Event) ([]observe.Event, int) {
	return func(t *testing.T, ev []observe.Event) ([]observe.Event, int) {
		i := first(t, ev, first(t, ev, 0, is(PurgeComplete))+1, is(a))
		who := ev[i].Replica
		ev = slices.Delete(ev, i, i+1)
		return ev, first(t, ev, i, is(then), by(who))
	}
}

// changed edits the first event that the conditions hold for.
func changed(edit func(*observe.Event), conditions ...func(observe.Event) bool) func(*testing.T, []observe.Event) ([]observe.Event, int) {
	return func(t *testing.T, ev []observe.Event) ([]observe.Event, int) {
		i := first(t, ev, 0, conditions...)
		edit(&ev[i])
		return ev, i
	}
}

var corruptions = []corruption{
	{"purge-begin-dropped", "one-replica", dropped(PurgeBegin, PurgeSwitch)},
	{"purge-switch-dropped", "one-replica", dropped(PurgeSwitch, PurgeComplete)},
	{"purge-complete-dropped", "one-replica", dropped(PurgeComplete, Reclaim)},
	{"commit-dropped", "three-replicas", func(t *testing.T, ev []observe.Event) ([]observe.Event, int) {
		i := first(t, ev, 0, is(Commit), of("append"))
		n := ev[i].Op
		ev = slices.Delete(ev, i, i+1)
		return ev, first(t, ev, i, is(Materialize), func(e observe.Event) bool { return e.Op == n })
	}},
	{"wrong-base-offset", "one-replica", changed(func(e *observe.Event) { e.Offset++ }, is(Materialize), of("append"))},
	{"batch-half-stored", "three-replicas", changed(func(e *observe.Event) { e.End-- }, is(Materialize), of("append"), by(2))},
	{"resurrected-messages", "one-replica", changed(func(e *observe.Event) { e.End = 5 }, is(PurgeComplete))},
	{"resurrected-bookmark", "three-replicas", func(t *testing.T, ev []observe.Event) ([]observe.Event, int) {
		i := first(t, ev, 0, is(PurgeComplete))
		i = first(t, ev, i, is(Answer), of("get-bookmark"))
		ev[i].Offset += 3
		return ev, i
	}},
	{"bookmark-beyond-end", "one-replica", func(t *testing.T, ev []observe.Event) ([]observe.Event, int) {
		i := first(t, ev, 0, is(Materialize), of("store"))
		at, n := ev[i].End, ev[i].Op
		for j := range ev {
			if ev[j].Op == n && ev[j].Kind == "store" {
				ev[j].Offset = at
			}
		}
		return ev, i
	}},
	{"start-moved-back", "one-replica", func(t *testing.T, ev []observe.Event) ([]observe.Event, int) {
		i := first(t, ev, 0, is(Materialize), of("advance"))
		i = first(t, ev, i, is(Materialize), func(e observe.Event) bool { return e.Start > 0 && e.Kind != "advance" })
		ev[i].Start--
		return ev, i
	}},
	{"materialize-after-begin", "one-replica", func(t *testing.T, ev []observe.Event) ([]observe.Event, int) {
		i := first(t, ev, first(t, ev, 0, is(Boot), of("begun")), is(PurgeSwitch))
		e := ev[i]
		e.Action, e.Kind, e.Applied = Materialize, "other", e.Op
		return slices.Insert(ev, i, e), i
	}},
	{"materialized-below-boundary", "one-replica", func(t *testing.T, ev []observe.Event) ([]observe.Event, int) {
		i := first(t, ev, 0, is(Boot), of("complete"))
		e := ev[i]
		e.Action, e.Kind, e.Op, e.Applied = Materialize, "append", e.Op-1, e.Op-1
		e.Count, e.End, e.Front = 1, e.End+1, 0
		return slices.Insert(ev, i+1, e), i + 1
	}},
	{"marker-forgotten", "one-replica", changed(func(e *observe.Event) { e.Kind, e.Op = "none", 0 }, is(Boot), of("begun"))},
	{"purge-undone-by-power-loss", "one-replica", changed(func(e *observe.Event) { e.Kind, e.Generation, e.Applied = "begun", e.Generation-1, e.Op-1 }, is(Boot), of("complete"))},
	{"checkpoint-forgotten", "three-replicas", func(t *testing.T, ev []observe.Event) ([]observe.Event, int) {
		i := first(t, ev, first(t, ev, 0, is(PurgeComplete)), is(Boot), of("complete"))
		ev[i].Applied--
		return ev, i
	}},
	{"duplicate-purge-begins", "one-replica", func(t *testing.T, ev []observe.Event) ([]observe.Event, int) {
		// The second purge asks for the generation of the first again, which is settled.
		i := first(t, ev, 0, is(PurgeComplete))
		g := ev[i].Generation
		i = first(t, ev, i+1, is(PurgeBegin))
		ev[i].Generation = g
		return ev, i
	}},
	{"served-before-replay", "interrupted-purge", func(t *testing.T, ev []observe.Event) ([]observe.Event, int) {
		i := first(t, ev, 0, is(Boot), of("begun"))
		e := ev[i]
		e.Action, e.Kind, e.Op, e.Count, e.Front = Serve, "", 0, 0, 0
		return slices.Insert(ev, i+1, e), i + 1
	}},
	{"applied-while-down", "three-replicas", func(t *testing.T, ev []observe.Event) ([]observe.Event, int) {
		i := first(t, ev, 0, is(Materialize), of("append"))
		e := ev[i]
		return slices.Insert(ev, i, observe.Event{Time: e.Time, Replica: e.Replica, Action: ProcessCrash}), i + 1
	}},
	{"op-applied-twice", "three-replicas", func(t *testing.T, ev []observe.Event) ([]observe.Event, int) {
		i := first(t, ev, 0, is(Materialize), of("append"))
		return slices.Insert(ev, i, ev[i]), i + 1
	}},
	{"op-skipped", "three-replicas", func(t *testing.T, ev []observe.Event) ([]observe.Event, int) {
		for i := 0; ; i++ {
			i = first(t, ev, i, is(Materialize), by(2))
			next := first(t, ev, i+1, by(2), func(e observe.Event) bool { return e.Action != Commit })
			if ev[next].Action == Materialize {
				ev = slices.Delete(ev, i, i+1)
				return ev, first(t, ev, i, by(2)) // a Commit shows the state, too
			}
		}
	}},
	{"committed-op-replaced", "three-replicas", func(t *testing.T, ev []observe.Event) ([]observe.Event, int) {
		i := first(t, ev, 0, is(Commit), of("append"))
		e := ev[i]
		e.Term++
		return slices.Insert(ev, i+1, e), i + 1
	}},
	{"replicas-disagree", "three-replicas", func(t *testing.T, ev []observe.Event) ([]observe.Event, int) {
		i := first(t, ev, 0, is(Materialize), of("store"))
		i = first(t, ev, i+1, is(Materialize), of("store"), func(e observe.Event) bool { return e.Op == ev[i].Op })
		ev[i].Kind, ev[i].Key, ev[i].Offset = "other", "", 0
		return ev, i
	}},
	{"two-leaders-in-a-term", "three-replicas", func(t *testing.T, ev []observe.Event) ([]observe.Event, int) {
		i := first(t, ev, 0, is(BecomeLeader))
		e := ev[i]
		e.Replica = e.Replica%3 + 1
		return slices.Insert(ev, i+1, e), i + 1
	}},
	{"answer-past-the-end", "three-replicas", changed(func(e *observe.Event) { e.Count += 9 }, is(Answer), of("poll"), func(e observe.Event) bool { return e.Count > 0 })},
}

func readSample(t *testing.T, path string) *Trace {
	t.Helper()
	tr, err := ReadFile(path)
	require.NoError(t, err)
	return tr
}

// spoiled makes the trace of a corruption and tells the line to be rejected.
func spoiled(t *testing.T, c corruption) (*Trace, int) {
	base := readSample(t, filepath.Join("testdata", "accepted", c.base+".ndjson"))
	var ev []observe.Event
	for _, l := range base.Lines {
		ev = append(ev, l.Event)
	}
	ev, bad := c.spoil(t, ev)
	out := &Trace{Name: filepath.Join("testdata", "rejected", c.name+".ndjson"), Header: base.Header}
	for i, e := range ev[:min(len(ev), bad+1+cmp.Or(tails[c.name], 3))] {
		out.Lines = append(out.Lines, Line{Number: i + 2, Event: e})
	}
	return out, bad + 2
}

// write is the trace as a file; unlike Writer it keeps repeated commits.
func (tr *Trace) write(t *testing.T) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	require.NoError(t, enc.Encode(tr.Header))
	for _, l := range tr.Lines {
		require.NoError(t, enc.Encode(l.Event))
	}
	require.NoError(t, os.WriteFile(tr.Name, b.Bytes(), 0o666))
}

func TestSamples(t *testing.T) {
	rewrite := os.Getenv("REWRITE") != ""
	var list []*Trace
	accepted, err := filepath.Glob("testdata/accepted/*.ndjson")
	require.NoError(t, err)
	require.Len(t, accepted, 14)
	for _, path := range accepted {
		list = append(list, readSample(t, path))
	}
	lines := map[string]int{}
	for _, c := range slices.Concat(corruptions, resetCorruptions, advanceCorruptions, memberCorruptions, moveCorruptions, toldCorruptions) {
		tr, line := spoiled(t, c)
		if rewrite {
			require.NoError(t, os.MkdirAll("testdata/rejected", 0o777))
			tr.write(t)
		}
		committed := readSample(t, tr.Name)
		require.Equal(t, tr.Lines, committed.Lines, "%s: REWRITE=1 makes it again", tr.Name)
		lines[tr.Name] = line
		list = append(list, committed)
	}

	var told strings.Builder
	for _, r := range validate(t, list...) {
		line, bad := lines[r.Trace]
		if !bad {
			require.Equal(t, tlc.Pass, r.Verdict, "%s: %s %v", r.Trace, r.Reason, r.Rejections)
			continue
		}
		if !assertRejected(t, r, line) {
			continue
		}
		require.NotContains(t, r.Rejections[0].Reason, "|->", "a reason has the words of the field")
		told.WriteString(filepath.Base(r.Trace) + "\n" + r.Rejections[0].Explain(filepath.Base(r.Trace)) + "\n")
	}
	if rewrite {
		require.NoError(t, os.WriteFile("testdata/rejected.txt", []byte(told.String()), 0o666))
	}
	want, err := os.ReadFile("testdata/rejected.txt")
	require.NoError(t, err)
	require.Equal(t, string(want), told.String(), "REWRITE=1 rewrites it")
}

// assertRejected reports a trace that is not rejected, or for another line.
func assertRejected(t *testing.T, r Report, line int) bool {
	switch {
	case r.Verdict != tlc.Fail:
		t.Errorf("%s: %s (%s), want it rejected at line %d", r.Trace, r.Verdict, r.Reason, line)
		return false
	case r.Rejections[0].Line != line:
		t.Errorf("%s: rejected at line %d, want %d:\n%s", r.Trace, r.Rejections[0].Line, line, r.Rejections[0].Explain(r.Trace))
	}
	return true
}
