package run

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/linearizability/check"
	"purgelab/linearizability/history"
	"purgelab/model/op"
)

// TestRunsWithNewIncarnationsHaveOrders: the judge finds an order of a run in which a
// majority lost its memory, whatever the search would have made of it. That of seed 528
// has more outcomes than it can list.
func TestRunsWithNewIncarnationsHaveOrders(t *testing.T) {
	begun := 0
	for _, s := range []Settings{{Seed: 528, CompactOps: 6}, {Seed: 1021}, {Seed: 1033, Replicas: 1}, {Seed: 1035, CompactOps: 6}} {
		s.Faults, s.Partitions, s.Messages, s.Bookmarks, s.NoTrace = "all", 2, "replicated", "replicated", true
		r, err := Run(context.Background(), s)
		require.NoError(t, err)
		ops, err := history.Pair("history.jsonl", r.History)
		require.NoError(t, err)
		_, all, err := check.Check(context.Background(), ops, r.CheckOptions())
		require.NoError(t, err)
		for _, x := range all {
			require.NotNil(t, x.Order, "%s: partition %d: %s", r.Settings.Replay(), x.Partition, x.Reason)
		}
		for i := range ops {
			if ops[i].Request.Kind == op.NewIncarnation && ops[i].Reply != nil {
				begun++
			}
		}
	}
	require.Greater(t, begun, 4)
}
