package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"purgelab/linearizability/faults"
	"purgelab/linearizability/guarantee"
	"purgelab/linearizability/run"
	"purgelab/linearizability/verdict"
	"purgelab/traces/tlc"
)

// finished ends a demo whose parts were put together by a test.
func finished(t *testing.T, fill func(*demo)) (code int, out, page string) {
	var b bytes.Buffer
	cmd := &cobra.Command{}
	cmd.SetOut(&b)
	d := &demo{cmd: cmd, out: t.TempDir(), log: io.Discard, begun: time.Now()}
	fill(d)
	code = codeOf(d.finish())
	raw, err := os.ReadFile(filepath.Join(d.out, reportFile))
	require.NoError(t, err)
	return code, b.String(), string(raw)
}

func settings() run.Settings { return run.Settings{Design: "ordered", Replicas: 3} }

func TestDemoEndsWithTheWorstVerdict(t *testing.T) {
	green := &run.Summary{From: 1, To: 1, Runs: 1, Done: []bool{true}}
	open := &run.Summary{From: 1, To: 2, Runs: 1, Done: []bool{true, false}}
	red := &run.Summary{From: 1, To: 1, Runs: 1, Done: []bool{true}, Reds: []run.Red{
		{Seed: 1, Verdict: verdict.Fail, Property: "NoFreshLoss", Reason: "NoFreshLoss: gone", Replay: "purgelab run --seed 1"},
	}}

	code, out, page := finished(t, func(d *demo) { d.judged(settings(), green, 1) })
	require.Equal(t, exitPass, code)
	require.Contains(t, out, "verdict  pass")
	require.Contains(t, page, `badge big pass`)

	code, out, page = finished(t, func(d *demo) { d.judged(settings(), green, 1); d.judged(settings(), open, 1) })
	require.Equal(t, exitUndecided, code, "a run that was not made is no pass")
	require.Contains(t, out, "verdict  undecided")
	require.Contains(t, page, `badge big undecided`)

	code, out, page = finished(t, func(d *demo) { d.judged(settings(), open, 1); d.judged(settings(), red, 1) })
	require.Equal(t, exitViolated, code)
	require.Contains(t, out, "NoFreshLoss: gone\n")
	require.Contains(t, out, "replay  purgelab run --seed 1\n")
	require.Contains(t, out, "verdict  fail")
	require.Contains(t, page, `badge big fail`)

	red.Reds = append(red.Reds, red.Reds[0], red.Reds[0])
	red.Reds[1].Seed, red.Reds[1].Steps, red.Reds[2].Seed, red.Reds[0].Steps = 2, 5, 3, 7
	_, out, _ = finished(t, func(d *demo) { d.judged(settings(), red, 1) })
	require.Contains(t, out, "seed 3 ", "the cheapest")
	require.Contains(t, out, "NoFreshLoss: gone; the same at seeds 1, 2\n")
	require.Equal(t, 1, strings.Count(out, "NoFreshLoss"), "runs that look alike are one line")
}

// What the matrix lists of a design is no failure; what it does not list is, and so
// is everything if the list is of another one.
func TestDemoKnowsWhatIsListed(t *testing.T) {
	s := run.Settings{Design: "reset-record"}
	require.NoError(t, s.Complete())
	known := guarantee.Known
	t.Cleanup(func() { guarantee.Known = known })
	list := func(design string) {
		of := guarantee.SubjectOf(&s)
		of.Design = design
		guarantee.Known = func() *guarantee.Matrix {
			return &guarantee.Matrix{Blocks: []*guarantee.Block{{
				Subject: of, Class: faults.None,
				Simulated: &guarantee.Simulated{Runs: 1, Met: 1, Red: map[string]guarantee.Sighting{"OffsetUnique": {Seed: 1}}},
			}}}
		}
	}
	sum := func(violated ...string) *run.Summary {
		return &run.Summary{From: 1, To: 1, Done: []bool{true}, Runs: 1, Reds: []run.Red{{Seed: 1, Verdict: verdict.Fail, Property: violated[0], Violated: violated}}}
	}
	judged := func(sum *run.Summary) (int, string) {
		code, out, _ := finished(t, func(d *demo) { d.judged(s, sum, 1) })
		return code, out
	}
	list("reset-record")
	code, out := judged(sum("OffsetUnique"))
	require.Equal(t, exitPass, code)
	require.Contains(t, out, "violated, as listed")
	code, out = judged(sum("OffsetUnique", "HeldCommits"))
	require.Equal(t, exitViolated, code, "one that is not listed")
	require.NotContains(t, out, "violated, as listed")
	list("ordered")
	code, _ = judged(sum("OffsetUnique"))
	require.Equal(t, exitViolated, code, "the list is of another design")
}

func TestModelCode(t *testing.T) {
	require.Equal(t, exitPass, modelCode(tlc.Pass))
	require.Equal(t, exitViolated, modelCode(tlc.Fail))
	require.Equal(t, exitUndecided, modelCode(tlc.Undecided))
}

// TestInterruptedDemoIsUndecided: parts that an interrupt kept from being done
// have their lines, and none says pass.
func TestInterruptedDemoIsUndecided(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	code, out, _ := finished(t, func(d *demo) {
		d.share = 10
		require.NoError(t, d.sweeps(ctx))
		require.NoError(t, d.traces(ctx, ".", tlc.Tool{}, nil))
	})
	require.Equal(t, exitUndecided, code)
	require.NotContains(t, out, " pass ")
	require.Contains(t, out, "no run was made")
}

func TestTable(t *testing.T) {
	tab := table{header: []string{"name", "times", "note"}}
	tab.add("a", 7, "…")
	tab.add("long name", 1234, "x")
	var b bytes.Buffer
	require.NoError(t, tab.write(&b))
	require.Equal(t, "name       times  note\na              7  …\nlong name   1234  x\n", b.String())
}

func TestWords(t *testing.T) {
	require.Equal(t, "1 property", plural(1, "property"))
	require.Equal(t, "22 properties", plural(22, "property"))
	require.Equal(t, "0 replicas", plural(0, "replica"))
	require.Equal(t, "gone", why("NoFreshLoss", "NoFreshLoss: gone"))
	require.Equal(t, "gone", why("Linearizable", "gone"))
}

// TestSweepFolder: sweeps that differ in anything but the seeds' range, too, have
// different folders; the same one has the same.
func TestSweepFolder(t *testing.T) {
	a, b := settings(), settings()
	b.Faults = "all"
	require.Equal(t, sweepFolder(&a, 1, 9), sweepFolder(&a, 1, 9))
	require.NotEqual(t, sweepFolder(&a, 1, 9), sweepFolder(&b, 1, 9))
	require.NotEqual(t, sweepFolder(&a, 1, 9), sweepFolder(&a, 1, 8))
}

// TestFinishedSweepBeginsAnew, so that its verdict is of the program of today;
// one that was interrupted goes on, unless told otherwise.
func TestFinishedSweepBeginsAnew(t *testing.T) {
	sweep := func(state string) string {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "sweep.json"), []byte(state), 0o644))
		require.NoError(t, os.Mkdir(filepath.Join(dir, "seed-3"), 0o755))
		return dir
	}
	for _, tc := range []struct {
		state string
		fresh bool
		kept  bool
	}{
		{`{"runs":2,"done":[true,true]}`, false, false},
		{`{"runs":1,"done":[true,false]}`, false, true},
		{`{"runs":1,"done":[true,false]}`, true, false},
		{`{torn`, true, false},
	} {
		dir := sweep(tc.state)
		require.NoError(t, prepareSweep(dir, tc.fresh))
		_, err := os.Stat(filepath.Join(dir, "seed-3"))
		require.Equal(t, tc.kept, err == nil)
	}
	err := prepareSweep(sweep(`{torn`), false)
	require.Equal(t, exitUsage, codeOf(err))
	require.ErrorContains(t, err, "sweep.json")
	require.NoError(t, prepareSweep(t.TempDir(), false))
}
