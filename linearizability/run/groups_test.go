package run

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/linearizability/verdict"
)

func TestShape(t *testing.T) {
	for reason, want := range map[string]string{
		"replica 3, partition 0, at 2356 ms: boots in generation 0, had completed 2": "replica #, partition #, at # ms: boots in generation #, had completed #",
		"m167....... is stored at i1:g7:8 and at i1:g7:11":                           "m# is stored at i#:g#:# and at i#:g#:#",
		"holds m1 m2.... m33, want m1":                                               "holds m#, want m#",
		"line 78, process 1: poll group-2 next (session 3, 8) → session-expired; code: want ok, got session-expired (in the state i1:g5 [0, 0)); 41 of 342 fit": "line #, process #: poll; code: want ok, got session-expired",
	} {
		require.Equal(t, want, Shape(reason))
	}
}

func TestRunsThatLookAlikeAreOne(t *testing.T) {
	red := func(seed, steps uint64, property, reason string) Red {
		return Red{Seed: seed, Verdict: verdict.Fail, Property: property, Reason: reason, Steps: steps}
	}
	groups := Groups([]Red{
		red(1, 900, "A", "op 7 is gone"), red(2, 500, "B", "op 7 is gone"), red(3, 300, "A", "op 12 is gone"),
		red(4, 300, "A", "op 9 is gone"), red(5, 400, "A", "op 9 is there twice"),
	})
	require.Len(t, groups, 3)
	require.Equal(t, []uint64{1, 3, 4}, groups[0].Seeds)
	require.EqualValues(t, 3, groups[0].Cheapest.Seed)
	require.EqualValues(t, 5, groups[1].Cheapest.Seed)
	require.Equal(t, "B", groups[2].Property)
}

// A sweep that is interrupted and goes on has one line for each run.
func TestLinesOfAnInterruptedSweep(t *testing.T) {
	dir := t.TempDir()
	ctx, stop := context.WithCancel(context.Background())
	w := Sweep{Settings: Settings{Ops: 30}, From: 5, To: 24, Jobs: 2, Out: dir, Progress: func(s *Summary) {
		if s.Runs == 8 {
			stop()
		}
	}}
	first, err := w.Run(ctx)
	require.NoError(t, err)
	require.Less(t, first.Runs, 20)
	require.Equal(t, verdict.Undecided, first.Verdict())
	// A line of a run that the state does not know of, as after a loss of power.
	f, err := os.OpenFile(filepath.Join(dir, RunsFile), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString("{\"seed\":24,\"verdict\":\"fail\"}\n{\"seed\":")
	require.NoError(t, err)
	require.NoError(t, f.Close())

	went := 0
	w.Progress, w.Resumed = nil, func(done int) { went = done }
	all, err := w.Run(context.Background())
	require.NoError(t, err)
	require.Equal(t, first.Runs, went)
	require.Equal(t, verdict.Pass, all.Verdict())
	text, err := os.ReadFile(filepath.Join(dir, RunsFile))
	require.NoError(t, err)
	require.Equal(t, 20, strings.Count(string(text), `"verdict":"pass"`), "%s", text)
	require.Equal(t, 20, strings.Count(string(text), "\n"))
}
