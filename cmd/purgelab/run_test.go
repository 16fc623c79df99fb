package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/linearizability/run"
	"purgelab/linearizability/verdict"
)

// TestInterruptedRunIsShort: what all properties have in common is said once.
func TestInterruptedRunIsShort(t *testing.T) {
	r := run.Record{Verdict: verdict.Undecided}
	require.NoError(t, r.Settings.Complete())
	for _, p := range []string{"AckDurable", "OffsetUnique", "SessionOnce"} {
		r.Results = append(r.Results, verdict.Result{Verdict: verdict.Undecided, Property: p, Reason: "interrupted"})
	}
	r.Results = append(r.Results, verdict.Result{Verdict: verdict.Undecided, Property: "Linearizable", Reason: "partition 0: interrupted"})
	var b bytes.Buffer
	require.NoError(t, printRun(&b, &r, ""))
	require.Contains(t, b.String(), "undecided AckDurable and 2 more: interrupted\nundecided Linearizable: partition 0: interrupted\nreplay ")
}
