package traces_test

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"purgelab/impl/observe"
	"purgelab/linearizability/run"
	"purgelab/linearizability/verdict"
	"purgelab/traces"
	"purgelab/traces/tlc"
)

// shown are the defects that a trace shows, with the property whose violation
// on the replicas says that a run has met the bug, and the action that the
// specification does not allow.
var shown = []struct {
	design, defect, property string
	rejected                 observe.Action // empty: differs from run to run
}{
	{"ordered", "suspect-votes", "AckDurable", "Boot"},
	{"ordered", "suspect-acks", "AckDurable", "Boot"},
	{"advance", "commit-clamped", "AckDurable", "Boot"},
	{"ordered", "local-boundary", "HistoryAgreement", ""},
	{"ordered", "apply-past-purge", "HistoryAgreement", ""},
	{"ordered", "replay-below-boundary", "BoundaryScope", ""},
	{"ordered", "marker-no-dirsync", "GenerationMonotone", ""},
	{"ordered", "stale-auto-commit", "BookmarkBound", ""},
	{"ordered", "duplicate-purge-wipes", "RetryIdempotent", ""},
	{"advance", "delete-moves-bookmarks", "HistoryAgreement", ""},
	{"advance", "start-not-replayed", "HistoryAgreement", "Materialize"},
	{"reset-record", "bookmark-no-dirsync", "NoResurrectedBookmark", "Boot"},
	{"reset-record", "commit-during-cleanup", "HeldCommits", "Materialize"},
	{"reset-record", "complete-before-cleanup", "CompletionLast", "PurgeComplete"},
	{"reset-record", "floor-not-kept", "BoundaryScope", "Boot"},
	{"reset-record", "held-reordered", "HeldCommits", "Release"},
	{"reset-record", "retry-resets-again", "RetryIdempotent", ""},
}

// met finds a run in which the property is violated.
func met(t *testing.T, design, defect, property string) *run.Result {
	t.Helper()
	s := run.Settings{Design: design, Ops: 150, Faults: "all", Defect: defect}
	switch {
	case design == "reset-record":
		s.Replicas = 1 // more violate properties without a defect
	case property == "AckDurable": // of power that takes what need not be durable
		s.Replicas, s.Messages, s.Bookmarks, s.Faults = 5, "replicated", "replicated", "power-minority"
	}
	for seed := range uint64(200) {
		s.Seed = seed + 1
		r, err := run.Run(context.Background(), s)
		require.NoError(t, err)
		for _, x := range r.Results {
			if x.Property == property && x.Verdict == verdict.Fail {
				return r
			}
		}
	}
	t.Fatalf("no run violates %s: replay with: purgelab sweep --seeds 1..200 %s", property, strings.Join(s.Flags(), " "))
	return nil
}

func traceOf(t testing.TB, r *run.Result) *traces.Trace {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, r.WriteTrace(&b))
	tr, err := traces.Read(&b, r.Settings.Replay())
	require.NoError(t, err)
	return tr
}

// Traces of an implementation with a bug are rejected.
func TestDefectsAreRejected(t *testing.T) {
	var list []*traces.Trace
	for _, d := range shown {
		list = append(list, traceOf(t, met(t, d.design, d.defect, d.property)))
	}
	tool, err := tlc.Find(context.Background(), "../.tools", os.Stderr)
	require.NoError(t, err)
	reports, err := traces.Validate(context.Background(), tool, traces.Options{Spec: "../spec", Jobs: 2, Timeout: 5 * time.Minute}, list)
	require.NoError(t, err)
	for i, r := range reports {
		if r.Verdict != tlc.Fail {
			t.Errorf("%s: %s %s, want it rejected", r.Trace, r.Verdict, r.Reason)
			continue
		}
		if want := shown[i].rejected; want != "" {
			require.Equal(t, want, r.Rejections[0].Event.Action, r.Trace)
		}
		t.Logf("%s", r.Rejections[0].Explain(r.Trace))
	}
}

// BenchmarkValidate measures steps per second of one TLC process, its start
// included.
func BenchmarkValidate(b *testing.B) {
	var list []*traces.Trace
	for seed := range uint64(4) {
		r, err := run.Run(context.Background(), run.Settings{Seed: seed + 1, Faults: "all"})
		require.NoError(b, err)
		list = append(list, traceOf(b, r))
	}
	tool, err := tlc.Find(context.Background(), "../.tools", os.Stderr)
	require.NoError(b, err)
	steps := 0
	for b.Loop() {
		reports, err := traces.Validate(context.Background(), tool, traces.Options{Spec: "../spec", Jobs: 2}, list)
		require.NoError(b, err)
		for _, r := range reports {
			require.Equal(b, tlc.Pass, r.Verdict)
			steps += r.Judged
		}
	}
	b.ReportMetric(float64(steps)/b.Elapsed().Seconds(), "steps/s")
}
