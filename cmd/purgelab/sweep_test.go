package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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

// TestInterruptedSweep: runs that were made stay, and the same command comes to what it
// would have come to without an interrupt; a violation that was seen is not undecided.
func TestInterruptedSweep(t *testing.T) {
	t.Chdir(t.TempDir())
	sweep := func(ctx context.Context, args ...string) (code int, out, log string) {
		var o, l bytes.Buffer
		code = execute(ctx, append([]string{"sweep", "--seeds", "1..100", "--faults", "all", "--ops", "40", "--jobs", "1", "--out", "out"}, args...), &o, &l)
		return code, o.String(), l.String()
	}
	bad := []string{"--defect", "sessions-lost-at-purge"}
	code, want, _ := sweep(context.Background(), bad...)
	require.Equal(t, exitViolated, code)
	require.NoError(t, os.RemoveAll("out"))
	code, out, log := sweep(interruptOnceThere(t, "out/seed-*"), bad...)
	require.Equal(t, exitViolated, code)
	require.Regexp(t, `\nverdict fail: \d+ pass, [1-9]\d* fail, 0 undecided, [1-9]\d* not made\n$`, out)
	require.Regexp(t, `^purgelab: interrupted: \d+ runs? left; the same command goes on\n$`, log)
	code, out, log = sweep(context.Background(), bad...)
	require.Equal(t, exitViolated, code)
	require.Equal(t, want, out)
	require.Regexp(t, `^purgelab: going on: \d+ of 100 runs were made before\n$`, log)

	require.NoError(t, os.RemoveAll("out"))
	code, _, log = sweep(interruptOnceThere(t, "out/sweep.json"))
	require.Equal(t, exitUndecided, code)
	require.Contains(t, log, "left; the same command goes on\n")
	code, out, log = sweep(context.Background())
	require.Equal(t, exitPass, code)
	require.Contains(t, log, " of 100 runs were made before\n")
	require.Contains(t, out, "verdict pass: 100 pass, 0 fail, 0 undecided, 0 not made\n")
}

// interruptOnceThere is a context that ends soon after a file is there.
func interruptOnceThere(t *testing.T, pattern string) context.Context {
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		for found := false; !found && ctx.Err() == nil; time.Sleep(time.Millisecond) {
			names, _ := filepath.Glob(pattern)
			found = len(names) > 0
		}
		stop()
	}()
	return ctx
}
