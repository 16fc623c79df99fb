package run

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"purgelab/impl/observe"
	"purgelab/linearizability/verdict"
	"purgelab/traces/tlc"
)

func traceJudge(t *testing.T) *TraceJudge {
	t.Helper()
	tool, err := tlc.Find(context.Background(), "../../.tools", io.Discard)
	require.NoError(t, err)
	return &TraceJudge{Tool: tool, Spec: "../../spec"}
}

// The trace of every run is judged, and one that is rejected makes its run red.
func TestSweepJudgesTraces(t *testing.T) {
	s := Settings{Faults: "all", Ops: 40}
	w := &Sweep{Settings: s, From: 1, To: 4, Jobs: 2, Out: t.TempDir(), Traces: traceJudge(t)}
	sum, err := w.Run(context.Background())
	require.NoError(t, err)
	require.Equal(t, verdict.Pass, sum.Verdict())

	w.Traces = nil
	_, err = w.Run(context.Background())
	require.ErrorContains(t, err, "judges traces: true, this one: false")

	w = &Sweep{Settings: s, From: 1, To: 4, Out: t.TempDir(), Traces: traceJudge(t)}
	w.Settings.Defect = "local-boundary"
	sum, err = w.Run(context.Background())
	require.NoError(t, err)
	require.Equal(t, verdict.Fail, sum.Verdict())
	require.Contains(t, sum.Reds[0].Violated, TraceAccepted)
	text, err := os.ReadFile(filepath.Join(sum.Reds[0].Dir, RejectedFile))
	require.NoError(t, err)
	require.Contains(t, string(text), "no action of Ordered")
	require.Contains(t, string(text), fmt.Sprintf("replay   purgelab sweep --seeds %d..%[1]d --traces --ops 40 --faults all --defect local-boundary\n", sum.Reds[0].Seed))
}

// A trace of which nothing can be said leaves its run undecided, and a TLC that does
// not run leaves the sweep so.
func TestUndecidedTraces(t *testing.T) {
	r := mustRun(t, Settings{Seed: 1, Ops: 20})
	none := *r
	none.Trace = []observe.Event{}
	judge := traceJudge(t)
	decided, err := judge.decide(context.Background(), 1, []*Result{r, &none})
	require.NoError(t, err)
	require.Equal(t, []*Result{r, &none}, decided)
	require.Equal(t, verdict.Pass, r.Verdict)
	require.Equal(t, verdict.Undecided, none.Verdict)
	require.Equal(t, verdict.Result{Property: TraceAccepted, Verdict: verdict.Undecided, Reason: "no replica materialized an op: there is nothing to judge"}, none.Results[len(none.Results)-1])

	judge.Tool.Java = "/nowhere/java"
	sum, err := (&Sweep{Settings: Settings{Ops: 20}, From: 1, To: 2, Traces: judge}).Run(context.Background())
	require.Error(t, err)
	require.Equal(t, verdict.Undecided, sum.Verdict())
	require.Zero(t, sum.Runs)
}

// What replays a red is the run, unless only its trace is red: where it is told and where
// it is kept. The same is said of one that is undecided.
func TestReplayOfARedTrace(t *testing.T) {
	const traced, plain = "purgelab sweep --seeds 7..7 --traces --ops 20", "purgelab run --seed 7 --ops 20"
	r := mustRun(t, Settings{Seed: 7, Ops: 20})
	require.Equal(t, plain, r.replay())
	whole := r.Results
	for _, v := range []verdict.Verdict{verdict.Fail, verdict.Undecided} {
		r.Verdict, r.Results = v, append(slices.Clone(whole), verdict.Result{Property: TraceAccepted, Verdict: v})
		rec, err := r.Record()
		require.NoError(t, err)
		require.Equal(t, traced, rec.Replay)
		r.Results = slices.Insert(r.Results, 0, verdict.Result{Property: "AckDurable", Verdict: v})
		rec, err = r.Record()
		require.NoError(t, err)
		require.Equal(t, plain, rec.Replay)
	}
}

// Traces are judged together once they are enough, and each once: the first ones soon. What
// takes long does not wait until it is much.
func TestTracesWait(t *testing.T) {
	of := func(events int) *Result { return &Result{Trace: make([]observe.Event, events)} }
	var w waiting
	at := time.Unix(1000, 0)
	for enough := judgedFirst; enough < 4*judgedAtOnce; enough *= 2 {
		enough := min(enough, judgedAtOnce)
		a, b := of(enough-1), of(1)
		require.Empty(t, w.put(a, at))
		require.Equal(t, []*Result{a, b}, w.put(b, at))
	}
	a, b := of(1), of(1)
	require.Empty(t, w.put(a, at.Add(judgedAfter))) // the first anew
	require.Equal(t, []*Result{a}, w.take())
	require.Empty(t, w.take())

	require.Empty(t, w.put(a, at))
	require.Equal(t, []*Result{a, b}, w.put(b, at.Add(judgedAfter)))
}

// An interrupt ends the judging of traces: what is red without it is kept, the rest is made
// again.
func TestInterruptedTraces(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	nobody := &TraceJudge{Tool: tlc.Tool{Java: "/nowhere/java"}}
	red, green := &Result{Verdict: verdict.Fail}, &Result{Verdict: verdict.Pass}
	decided, err := nobody.decide(ctx, 1, []*Result{green, red})
	require.NoError(t, err)
	require.Equal(t, []*Result{red}, decided)
	require.Empty(t, red.Results) // nothing is said of its trace

	ctx, stop = context.WithCancel(context.Background())
	w := &Sweep{Settings: Settings{Ops: 40, Faults: "all", Defect: "local-boundary"}, From: 1, To: 3, Jobs: 1, Traces: nobody, made: func(r *Result) {
		if r.Settings.Seed == 2 {
			stop()
		}
	}}
	sum, err := w.Run(ctx)
	require.NoError(t, err)
	require.Equal(t, []bool{true, false, false}, sum.Done)
	require.Equal(t, verdict.Fail, sum.Verdict())
}
