package teeth

import (
	"context"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/linearizability/check"
	"purgelab/linearizability/judge"
	"purgelab/linearizability/seeds"
	"purgelab/linearizability/verdict"
)

// TestReasonsNameThePromise: what the judge calls a defect is the promise that it breaks.
// purgelab teeth --reasons looks at more runs.
func TestReasonsNameThePromise(t *testing.T) {
	list, err := ReasonsOf(context.Background(), Table, int(seeds.Count()), 2, runtime.GOMAXPROCS(0), func(int, int) {})
	require.NoError(t, err)
	shown := 0
	for i := range list {
		require.Empty(t, list[i].Wrong, list[i].Defect)
		if list[i].Verdict() == verdict.Pass {
			shown++
		}
	}
	require.Greater(t, shown, len(list)/2, "%v", list)
}

// TestReasonsTable: every defect that histories catch has a row, and no other one.
func TestReasonsTable(t *testing.T) {
	rows := 0
	for i := range Table {
		if x, ok := reasons[Table[i].Name]; Table[i].must(History) {
			require.NotEmpty(t, x.classes, Table[i].Name)
			require.NotEmpty(t, x.why, Table[i].Name)
			rows++
		} else {
			require.False(t, ok, Table[i].Name)
		}
	}
	require.Len(t, reasons, rows)
}

func TestReasonOfAnotherClass(t *testing.T) {
	i := slices.IndexFunc(Table, func(x Tooth) bool { return x.Name == "read-moved" })
	x := reasons[Table[i].Name]
	r := Reasons{Classes: map[judge.Class]int{}, Right: x.classes}
	require.Equal(t, verdict.Undecided, r.Verdict())
	red := check.Result{Result: verdict.Result{Verdict: verdict.Fail}}
	r.note(&red, "")
	require.Equal(t, verdict.Undecided, r.Verdict(), "nobody knows what it is")
	red.Class = judge.FreshSkipped
	r.note(&red, "")
	require.Equal(t, verdict.Pass, r.Verdict())
	red.Class = judge.LostAppend
	r.note(&red, "purgelab run")
	require.Equal(t, verdict.Fail, r.Verdict())
	require.Contains(t, r.Wrong, "purgelab run")
}
