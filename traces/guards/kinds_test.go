package guards

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/traces"
	"purgelab/traces/tlc"
)

// noticed are guards, each with a check that has to notice that it is changed, and what
// that says: one of each kind of check. Other tests see that each is green without.
var noticed = []struct{ check, module, name, text, says string }{
	{"liveness", "Intent", "Wanted", `g \notin underway`, "more distinct states than the manifest's 1933"},
	{"defect-start-not-stored", "AdvanceShows", "StartMonotone", "", "expected StartMonotone to be violated, got pass"},
	{"model ≡ specification", "Contract", "DoStore", "q.pos.o < 0", ""},
	{"traces of advance", "TraceAdvance", "TakeStageManifest", "Newer(E.op)", "advance-staged-what-it-has.ndjson is rejected otherwise"},
	{"replay of advance, two ops", "Effects", "EffectOf", `s > m.start /\ s <= m.end`, ": the specification has"},
	{"replay of sim-advance-group", "Effects", "EffectOf", `s > m.start /\ s <= m.end`, ": the specification has"},
}

// Each kind of check notices a guard that is changed.
func TestKinds(t *testing.T) {
	a, of := asker(t, t.TempDir())
	dir := t.TempDir()
	w, err := newWorkspace(a.root, dir, a.tool, &programs{root: a.root, dir: filepath.Join(dir, "tests")})
	require.NoError(t, err)
	for _, n := range noticed {
		t.Run(n.check, func(t *testing.T) {
			i := slices.IndexFunc(of[n.module], func(g Guard) bool { return g.Name == n.name && strings.HasPrefix(g.Text, n.text) })
			require.GreaterOrEqual(t, i, 0)
			g := of[n.module][i]
			j := slices.IndexFunc(a.checks, func(c check) bool { return c.name == n.check && c.can(&g) })
			require.GreaterOrEqual(t, j, 0)
			says, err := a.red(context.Background(), w, &a.checks[j], &g)
			require.NoError(t, err)
			require.NotContains(t, []string{"", senseless}, says)
			require.Contains(t, says, n.says)
			require.NotContains(t, says, "FAIL")
		})
	}
}

// A tie whose test is not there says nothing.
func TestNoSuchTest(t *testing.T) {
	a, _ := asker(t, t.TempDir())
	dir := t.TempDir()
	w, err := newWorkspace(a.root, dir, a.tool, &programs{root: a.root, dir: filepath.Join(dir, "tests")})
	require.NoError(t, err)
	_, err = w.test(context.Background(), "traces/replay", pattern("TestGroups", "sim-nobody"))
	require.EqualError(t, err, "traces/replay has no test ^TestGroups$/^sim-nobody$")
}

// A sample is odd if it is judged otherwise than is told of it.
func TestOdd(t *testing.T) {
	rejected := func(line int, reason string) *traces.Report {
		return &traces.Report{Trace: "testdata/rejected/a.ndjson", Verdict: tlc.Fail, Rejections: []traces.Rejection{{Line: line, Reason: reason, Spec: "Ordered"}}}
	}
	told := "a.ndjson\n" + rejected(3, "it is wrong").Rejections[0].Explain("a.ndjson") + "\nc.ndjson\n  other\n\n"
	for _, c := range []struct {
		r    *traces.Report
		says string
	}{
		{rejected(3, "it is wrong"), ""},
		{rejected(4, "it is wrong"), "a.ndjson is rejected otherwise: a.ndjson:4:"},
		{rejected(3, "it is odd"), "a.ndjson is rejected otherwise: reason   it is odd, not reason   it is wrong"},
		{&traces.Report{Trace: "a.ndjson", Verdict: tlc.Pass}, "a.ndjson is accepted"},
		{&traces.Report{Trace: "b.ndjson", Verdict: tlc.Pass}, ""},
		{&traces.Report{Trace: "b.ndjson", Verdict: tlc.Fail, Rejections: []traces.Rejection{{Line: 7, Reason: "no"}}}, "b.ndjson is rejected: line 7: no"},
		{&traces.Report{Trace: "b.ndjson", Reason: "TLC fell over"}, senseless},
	} {
		why, err := odd(c.r, told)
		require.NoError(t, err)
		require.Contains(t, why, c.says)
		require.Equal(t, c.says == "", why == "")
	}
	for _, r := range []*traces.Report{{Trace: "b.ndjson", Reason: "no verdict after 3 s"}, {Trace: "b.ndjson", Reason: "exit code 143 without a verdict"}, rejected(3, "TLC could not say where it stops: no verdict after 3 s")} {
		_, err := odd(r, told)
		require.ErrorIs(t, err, errLate)
	}
}

// What a failing test says is cut to what matters.
func TestSaid(t *testing.T) {
	require.Equal(t, "Should be empty, but was store of h1", strings.Join(strings.Fields(said("--- FAIL: TestX (0.1s)\n    x_test.go:9: \n        \tError Trace:\tx_test.go:9\n        \tError:      \tShould be empty, but was store\n        \t            \tof h1\n        \tTest:       \tTestX\n")), " "))
	require.Equal(t, "behaviour 1: nothing", said("--- FAIL: TestX (0.1s)\n    --- FAIL: TestX/two (0.1s)\n        x_test.go:8: 9 states\n        x_test.go:9: behaviour 1: nothing\nFAIL\n"))
	require.Equal(t, "code none", said("--- FAIL: TestX (0.1s)\n    x_test.go:8: 9 states\npanic: code none [recovered, repanicked]\n\ngoroutine 8 [running]:\n"))
	require.Equal(t, senseless, said("    x_test.go:9: undecided: Attempted to select field o"))
}
