package run

import (
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/sim"
	"purgelab/linearizability/faults"
)

// TestDroppedProposals: a purge whose proposal is dropped is proposed again by the same
// leader, and takes effect once.
func TestDroppedProposals(t *testing.T) {
	var all sim.Effects
	took := 0
	for seed := uint64(1); seed <= 12; seed++ {
		for _, design := range []string{"ordered", "advance"} {
			r := mustRun(t, Settings{Seed: seed, Design: design, Faults: string(faults.Retry), NoTrace: true})
			property, reason := r.Red()
			require.Equal(t, "pass", r.Verdict.String(), "%s: %s %s", r.Settings.Replay(), property, reason)
			all.Add(r.Effects)
			took += r.Faults[faults.DropProposals]
		}
	}
	require.Positive(t, took)
	require.Greater(t, all.Dropped, took)
}
