package guarantee

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"purgelab/linearizability/faults"
	"purgelab/traces/tlc"
)

const specDir = "../../spec"

func tool(t *testing.T) tlc.Tool {
	t.Helper()
	found, err := tlc.Find(context.Background(), "../../.tools", os.Stderr)
	require.NoError(t, err)
	return found
}

func ask(t *testing.T, m *Models, s Subject, c faults.Class) map[string]Finding {
	t.Helper()
	list, err := m.Ask(context.Background(), s, c)
	require.NoError(t, err)
	return findings(list)
}

// findings are what models say together, of each property that one of them expresses.
func findings(list []*Model) map[string]Finding {
	out := map[string]Finding{}
	b := &Block{Models: list}
	for _, x := range list {
		for _, p := range append(slices.Collect(maps.Keys(x.Violated)), x.Rest...) {
			out[p] = b.model(p)
		}
	}
	return out
}

// outcomes are the names with an outcome, sorted.
func outcomes(of map[string]Finding, o Outcome) []string {
	var out []string
	for p, f := range of {
		if f.Outcome == o {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

func TestModels(t *testing.T) {
	m := NewModels(tool(t), ModelOptions{Dir: specDir, Timeout: 5 * time.Minute})

	// A single replica of ordered holds, under crashes in its recovery too, and bare
	// positions cost what they cost without any fault.
	ordered := Subject{Design: "ordered", Positions: "bare", Messages: persisted, Bookmarks: persisted, Replicas: 1}
	plain := ask(t, m, ordered, faults.None)
	require.Equal(t, []string{"NextContract", "NoLateProgress"}, outcomes(plain, Violated))
	got := ask(t, m, ordered, faults.Second)
	require.Empty(t, outcomes(got, Violated), "what is violated without faults is not asked again")
	require.Empty(t, outcomes(got, Undecided))
	require.Regexp(t, `^MatrixOrderedGroup, \d+ steps$`, plain["NoLateProgress"].Evidence)
	require.Contains(t, plain["NoLateProgress"].Text, "PurgeComplete")
	for _, p := range []string{"BoundaryAgreement", "NoHiddenFresh", "Linearizable", "CompletionLast", "AckDurable"} {
		require.Equal(t, Holds, got[p].Outcome, p)
		require.Positive(t, got[p].Runs, p)
		require.NotEmpty(t, got[p].Evidence, p)
	}

	// A sync that is repeated after a failure proves nothing.
	retry := Subject{Design: "reset-record", Variant: "retry-sync", Positions: "tagged", Messages: persisted, Bookmarks: persisted, Replicas: 1}
	got = ask(t, m, retry, faults.DirSync)
	require.Equal(t, Violated, got["NoResurrectedBookmark"].Outcome)
	require.Contains(t, got["NoResurrectedBookmark"].Text, "SyncFails")
	require.Equal(t, Holds, got["HeldCommits"].Outcome)
	_, ok := got["Linearizable"]
	require.False(t, ok, "the model cannot show that it holds")

	// What is asked again is remembered.
	begun := time.Now()
	require.Equal(t, got, ask(t, m, retry, faults.DirSync))
	require.Less(t, time.Since(begun), time.Second)
}

// One run of TLC with all properties finds what a run for each would find.
func TestModelsFindEach(t *testing.T) {
	m := NewModels(tool(t), ModelOptions{Dir: specDir, Timeout: 5 * time.Minute})
	s := Subject{"reset-record", "", "tagged", persisted, persisted, 0}
	l := resetGroup(s, faults.None)[0]
	l.set["MaxOps"] = number(2)
	got, err := m.level(context.Background(), l, nil)
	require.NoError(t, err)
	for _, p := range []string{"BoundaryAgreement", "OffsetUnique", "BookmarkBound", "CommittedPrefixSafe"} {
		l.only = []string{p}
		alone, err := m.level(context.Background(), l, nil)
		require.NoError(t, err)
		require.Equal(t, slices.Contains(got.Rest, p), slices.Contains(alone.Rest, p), p)
		require.Equal(t, got.Violated[p], alone.Violated[p], p)
	}
}

func TestModelsWithoutATool(t *testing.T) {
	m := NewModels(tlc.Tool{Java: "/no/java", Jar: "/no/jar"}, ModelOptions{Dir: specDir})
	got := ask(t, m, Subjects[0], faults.PowerOne)
	require.NotEmpty(t, got)
	for p, f := range got {
		require.Equal(t, Undecided, f.Outcome, p)
		require.Contains(t, f.Text, "/no/java", p)
	}
	m = NewModels(tool(t), ModelOptions{Dir: specDir, Timeout: time.Millisecond})
	for p, f := range ask(t, m, Subjects[0], faults.None) {
		require.Equal(t, Undecided, f.Outcome, p)
		require.Regexp(t, "no verdict|deadline exceeded", f.Text, p)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := m.Ask(ended, Subjects[1], faults.None)
	require.ErrorIs(t, err, context.Canceled)
}

// Every subject and class has its models, their constants are there, and a fault that
// they name is an action of theirs, or one that the module explains.
func TestLevels(t *testing.T) {
	quoted := regexp.MustCompile(`"(\w+)"`)
	for _, s := range Subjects {
		for _, c := range faults.Matrix {
			for _, l := range levels(s, c) {
				conf, err := l.config(specDir, nil)
				require.NoError(t, err)
				require.NotEmpty(t, conf.all(), "%s, %s, %s", s.Name(), c, l.name)
				text, err := os.ReadFile(filepath.Join(specDir, l.dir, l.module+".tla"))
				require.NoError(t, err)
				for _, f := range quoted.FindAllStringSubmatch(l.set["Faults"], -1) {
					require.Contains(t, string(text), f[0], "%s, %s: no such fault", l.name, c)
				}
			}
		}
	}
	_, err := (&level{cfg: "matrix/OrderedLocal.cfg", set: map[string]string{"MaxMoons": "= 1"}}).config(specDir, nil)
	require.EqualError(t, err, "models: spec/matrix/OrderedLocal.cfg sets no constant MaxMoons")
}

func TestConfig(t *testing.T) {
	c := parseConfig("SPECIFICATION Spec\nINVARIANT One\nPROPERTIES\n    Two\n    Three\nVIEW View\n")
	require.Equal(t, []string{"One", "Two", "Three"}, c.all())
	require.Equal(t, "SPECIFICATION Spec\nVIEW View\nINVARIANTS\n    One\nPROPERTIES\n    Two\n    Three\n", c.String())
	c = c.only(func(p string) bool { return p == "Two" })
	require.Equal(t, "SPECIFICATION Spec\nVIEW View\nPROPERTIES\n    Two\n", c.String())
}

func TestWay(t *testing.T) {
	var trace []tlc.Step
	for _, x := range []struct{ action, last string }{
		{"Initial predicate", `[a |-> "Init"]`},
		{"Apply", `[a |-> "Apply", r |-> r1]`},
		{"Apply", `[a |-> "Apply", r |-> r1]`},
		{"Apply", `[a |-> "Apply", r |-> r2]`},
		{"Propose", `[a |-> "Propose", k |-> "append"]`},
		{"Materialize", `[a |-> "Materialize", n |-> 1, o |-> [k |-> "store", key |-> k1]]`},
		{"Serve", `[a |-> "Serve"]`},
	} {
		v, err := tlc.ParseValue(x.last)
		require.NoError(t, err)
		trace = append(trace, tlc.Step{Action: x.action, State: []tlc.Binding{{Name: "last", Value: v}}})
	}
	require.Equal(t, "Apply r1 ×2, Apply r2, Propose append, Materialize store, Serve", way(trace))
	require.Empty(t, way(nil))
}
