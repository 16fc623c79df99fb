package run

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/sim"
	"purgelab/impl/transfer"
	"purgelab/linearizability/verdict"
)

// Runs whose journals stay short pass under faults of every kind, and whoever needs
// what was dropped gets the state.
func TestRunsWithTransfers(t *testing.T) {
	var all sim.Effects
	for _, x := range []struct {
		design string
		seeds  []uint64
	}{{"ordered", []uint64{3, 7, 22, 24, 29, 38, 42, 89}}, {"advance", []uint64{24, 38, 39, 50, 58, 60}}} {
		for _, seed := range x.seeds {
			s := Settings{Seed: seed, Faults: "all", CompactOps: 6, Design: x.design, NoTrace: true}
			r, err := Run(context.Background(), s)
			require.NoError(t, err)
			require.Equal(t, verdict.Pass, r.Verdict, "%s: %v", r.Settings.Replay(), r.Violated())
			all.Add(r.Effects)
		}
	}
	m := all.Moves
	t.Logf("%+v", m)
	for _, n := range []int{m.Compacted, m.Started, m.Resumed, m.Interrupted, m.Completed, m.Purged} {
		require.Positive(t, n)
	}
	require.Equal(t, m.Started+m.Resumed, m.Completed+m.Interrupted)
	refused := map[transfer.Reason]int{}
	for i, n := range m.Refused {
		refused[transfer.Reasons[i]] = n
	}
	require.Positive(t, refused[transfer.Behind])
	require.Positive(t, refused[transfer.NotAbove])
}

func TestCompactOpsOfADesign(t *testing.T) {
	s := Settings{Design: "reset-record", CompactOps: 5}
	require.EqualError(t, s.Complete(), "compact-ops 5: want 0 with design reset-record")
	s = Settings{CompactOps: -1}
	require.EqualError(t, s.Complete(), "compact-ops -1: want 0 to 1000000")
	s = Settings{CompactOps: 5}
	require.NoError(t, s.Complete())
	require.Contains(t, s.Replay(), "--compact-ops 5")
}
