package traces_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
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
// on the replicas says that a run has met the bug, the action that the
// specification does not allow, and the condition of it that the reason names.
var shown = []struct {
	design, defect, property string
	rejected                 observe.Action // empty: differs from run to run
	says                     string
}{
	{"ordered", "suspect-votes", "AckDurable", "Boot", "may have forgotten what it acknowledged"},
	{"ordered", "suspect-acks", "AckDurable", "Boot", "may have forgotten what it acknowledged"},
	{"advance", "commit-clamped", "AckDurable", "Boot", "may have forgotten what it acknowledged"},
	{"ordered", "local-boundary", "HistoryAgreement", "", "Materialize leads to"},
	{"ordered", "apply-past-purge", "HistoryAgreement", "", `was told before as purge of generation 1`},
	{"ordered", "replay-below-boundary", "BoundaryScope", "", "what the disk holds says"},
	{"ordered", "marker-no-dirsync", "GenerationMonotone", "", "the marker on the disk is complete"},
	{"ordered", "complete-early", "CompletionLast", "PurgeComplete", "the new generation's folder is not there"},
	{"ordered", "future-bookmarks", "NoStuckReplica", "Boot", "bookmarks are loaded, the disk holds"},
	{"ordered", "stale-auto-commit", "BookmarkBound", "", "the end is 0"},
	{"ordered", "duplicate-purge-wipes", "RetryIdempotent", "", "is settled already"},
	{"advance", "delete-moves-bookmarks", "HistoryAgreement", "", "the replica holds"},
	{"advance", "start-not-replayed", "HistoryAgreement", "Materialize", `was told before as advance to offset`},
	{"reset-record", "bookmark-no-dirsync", "NoResurrectedBookmark", "Boot", "bookmarks are loaded, the disk holds 0"},
	{"reset-record", "commit-during-cleanup", "HeldCommits", "Materialize", "while bookmarks are cleaned up"},
	{"reset-record", "complete-before-cleanup", "CompletionLast", "PurgeComplete", `the purge stands at "clean"`},
	{"reset-record", "floor-not-kept", "BoundaryScope", "Boot", "the floor is op 0, the disk holds"},
	{"reset-record", "held-reordered", "HeldCommits", "Release", "the first change that is held is"},
	{"reset-record", "retry-resets-again", "RetryIdempotent", "", "the floor is"},
}

// tables are docs/traces.md with what was rejected, and why.
var tables = flag.String("defects-page", "", "page that gets the table of defects, between its marks")

const tableBegins, tableEnds = "<!-- begin: make mutations -->\n", "<!-- end -->\n"

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
	table := "| defect | run | refused | reason |\n|---|---|---|---|\n"
	for i, r := range reports {
		if r.Verdict != tlc.Fail {
			t.Errorf("%s: %s %s, want it rejected", r.Trace, r.Verdict, r.Reason)
			continue
		}
		x := r.Rejections[0]
		if want := shown[i].rejected; want != "" {
			require.Equal(t, want, x.Event.Action, r.Trace)
		}
		require.Contains(t, x.Reason, shown[i].says, r.Trace)
		table += fmt.Sprintf("| %s | `%s` | %s, line %d | %s |\n", shown[i].defect, r.Trace, x.Event.Action, x.Line, strings.ReplaceAll(x.Reason, "|", `\|`))
		t.Logf("%s", x.Explain(r.Trace))
	}
	if *tables != "" {
		page, err := os.ReadFile(*tables)
		require.NoError(t, err)
		before, rest, ok := strings.Cut(string(page), tableBegins)
		_, after, closed := strings.Cut(rest, tableEnds)
		require.True(t, ok && closed, "%s has no %q", *tables, tableBegins)
		require.NoError(t, os.WriteFile(*tables, []byte(before+tableBegins+"\n"+table+"\n"+tableEnds+after), 0o644))
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
