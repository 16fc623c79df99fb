package traces_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"purgelab/linearizability/run"
	"purgelab/traces"
	"purgelab/traces/tlc"
)

// judged are runs whose traces the specification has to accept: each design, policy,
// variant and number of replicas, with what breaks there.
var judged = []run.Settings{
	{Design: "ordered", Replicas: 1, Faults: "all", Seed: 1},
	{Design: "ordered", Replicas: 1, Faults: "power-all", Messages: "replicated", Seed: 31},
	{Design: "ordered", Replicas: 3, Faults: "all", Partitions: 2, Hold: true, Seed: 2},
	{Design: "ordered", Replicas: 3, Faults: "storage", Seed: 1050},
	{Design: "ordered", Replicas: 3, Faults: "power-all", Messages: "replicated", Bookmarks: "replicated", Seed: 6},
	{Design: "ordered", Replicas: 3, Faults: "power-all", Bookmarks: "replicated", Seed: 33},
	{Design: "ordered", Replicas: 3, Faults: "storage", Messages: "replicated", Bookmarks: "replicated", Seed: 1980},
	{Design: "ordered", Replicas: 5, Faults: "all", Messages: "replicated", Bookmarks: "replicated", Partitions: 2, Seed: 90},
	{Design: "advance", Replicas: 1, Faults: "storage", Messages: "replicated", Seed: 1790},
	{Design: "advance", Replicas: 1, Faults: "power", Bookmarks: "replicated", Seed: 14, Ops: 60}, // goes on with ops that nobody had told
	{Design: "advance", Replicas: 3, Faults: "all", Messages: "replicated", Seed: 104},
	{Design: "advance", Replicas: 3, Faults: "all", Partitions: 2, Seed: 3},
	{Design: "advance", Replicas: 5, Faults: "power-all", Messages: "replicated", Bookmarks: "replicated", Seed: 211},
	{Design: "ordered", Replicas: 3, Faults: "all", CompactOps: 4, Seed: 10},
	{Design: "ordered", Replicas: 3, Faults: "power-all", Messages: "replicated", Bookmarks: "replicated", CompactOps: 4, Seed: 12},
	{Design: "ordered", Replicas: 3, Faults: "power", Messages: "replicated", CompactOps: 6, Seed: 7, Ops: 60}, // comes back with what it copied
	{Design: "advance", Replicas: 3, Faults: "memory", CompactOps: 4, Seed: 3},
	{Design: "reset-record", Replicas: 3, Faults: "all", Seed: 25},
	{Design: "reset-record", Replicas: 3, Faults: "cleanup", Partitions: 2, Seed: 19},
	{Design: "reset-record", Replicas: 1, Faults: "storage", Seed: 1},
	{Design: "reset-record", Replicas: 3, Faults: "power-all", Messages: "replicated", Bookmarks: "replicated", Seed: 1},
	{Design: "reset-record", Replicas: 5, Faults: "process", Messages: "replicated", CompactOps: 6, Seed: 6, Ops: 60}, // an op told by a leader that crashes then
	{Design: "reset-record", Replicas: 5, Faults: "power-all", Variant: "keep-floor", Messages: "replicated", Bookmarks: "replicated", Seed: 2},
	{Design: "reset-record", Replicas: 3, Faults: "cleanup", Variant: "tagged-bookmarks,retry-sync", Seed: 2},
}

// What replicas do is what the specification allows, with members that join anew and
// new incarnations among it.
func TestRunsAreAccepted(t *testing.T) {
	var list []*traces.Trace
	seen := map[string]int{}
	for _, s := range judged {
		if s.Ops == 0 {
			s.Ops = 50
		}
		r, err := run.Run(context.Background(), s)
		require.NoError(t, err)
		tr := traceOf(t, r)
		for _, l := range tr.Lines {
			seen[string(l.Action)]++
		}
		list = append(list, tr)
	}
	for _, a := range []string{"Rejoin", "Joined", "ChangeMembers", "NewIncarnation", "Compact", "CommitInstall", "CopyState", "BeginSequence", "PurgeDuplicate", "Filtered", "Hold"} {
		require.Positive(t, seen[a], "%s: choose other seeds", a)
	}
	tool, err := tlc.Find(context.Background(), "../.tools", os.Stderr)
	require.NoError(t, err)
	told, judged := [2]int{}, 0
	reports, err := traces.Validate(context.Background(), tool, traces.Options{Spec: "../spec", Jobs: 2, Timeout: 5 * time.Minute, Progress: func(done, all int) {
		assert.Greater(t, done, told[0])
		told = [2]int{done, all}
	}}, list)
	require.NoError(t, err)
	for _, r := range reports {
		judged += r.Judged
		for _, x := range r.Rejections {
			t.Log(x.Explain(r.Trace))
		}
		require.Equal(t, tlc.Pass, r.Verdict, "%s: %s", r.Trace, r.Reason)
	}
	require.Equal(t, [2]int{judged, judged}, told, "steps done, of all")
}
