package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/linearizability/run"
	"purgelab/linearizability/verdict"
)

// Runs that look alike are told once, with the one to look at; a long list of the others
// is cut.
func TestGroupsAreTold(t *testing.T) {
	var reds []run.Red
	for seed := uint64(1); seed <= 30; seed++ {
		reds = append(reds, run.Red{Seed: seed, Verdict: verdict.Fail, Property: "OffsetUnique", Reason: "OffsetUnique: op 7", Steps: 100 - seed, Replay: "purgelab run"})
	}
	reds = append(reds, run.Red{Seed: 31, Verdict: verdict.Fail, Property: "AckDurable", Reason: "op 9 is gone", Steps: 1, Replay: "purgelab run --seed 31", Dir: "out/seed-31"})
	var b bytes.Buffer
	printGroups(&b, run.Groups(reds))
	require.Equal(t, `
1 run: fail AckDurable, the cheapest seed 31
  op 9 is gone
  purgelab run --seed 31
  out/seed-31

30 runs: fail OffsetUnique, the cheapest seed 30
  op 7
  purgelab run
  also seeds 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, and 9 more
`, b.String())
	require.Equal(t, 2, strings.Count(b.String(), "the cheapest"))

	all := []run.PolicySweep{
		{Settings: run.Settings{Design: "ordered"}, Summary: &run.Summary{Reds: reds[:2]}},
		{Settings: run.Settings{Design: "advance"}, Summary: &run.Summary{Reds: reds[2:]}},
	}
	b.Reset()
	require.NoError(t, printPolicies(&b, all))
	text := b.String()
	require.Contains(t, text, "\n30 runs: fail OffsetUnique, the cheapest seed 30\n  op 7\n  purgelab run\n")
	require.Equal(t, 2, strings.Count(text, "the cheapest"))
	require.Less(t, strings.Index(text, "AckDurable"), strings.Index(text, "OffsetUnique"), "the cheapest first")
	require.Empty(t, seedList([]uint64{4}, 4))
}
