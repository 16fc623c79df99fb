package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/linearizability/run"
	"purgelab/linearizability/verdict"
)

// TestReplayOfChecks: what shows that the trace is rejected is not what shows that a history
// is wrong.
func TestReplayOfChecks(t *testing.T) {
	var r runFiles
	r.record.Settings = run.Settings{Seed: 7}
	require.NoError(t, r.record.Settings.Complete())
	r.record.Results = []verdict.Result{{Property: "Linearizable", Verdict: verdict.Fail}, {Property: run.TraceAccepted, Verdict: verdict.Fail}}
	got := r.checks()
	require.Len(t, got, 2)
	require.Equal(t, "purgelab run --seed 7", got[0].Replay)
	require.Equal(t, "purgelab sweep --seeds 7..7 --traces", got[1].Replay)
}
