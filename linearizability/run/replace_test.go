package run

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/sim"
	"purgelab/linearizability/faults"
	"purgelab/linearizability/seeds"
)

// TestReplacedDisks: a machine that comes back with an empty disk has nothing to show
// and joins again, whatever else happens, and nothing that a quorum held is lost.
func TestReplacedDisks(t *testing.T) {
	var all sim.Effects
	for seed := uint64(1); seed <= seeds.Count(); seed++ {
		for _, policy := range []string{"persisted", "replicated"} {
			s := Settings{Seed: seed, Replicas: 3 + 2*int(seed%2), Partitions: 2, Messages: policy, Bookmarks: policy, NoTrace: true}
			require.NoError(t, s.Complete())
			plan, err := faults.Draw(faults.Process, s.Replicas, span(&s), sim.Split(seed, "faults"))
			require.NoError(t, err)
			for i := range int64(8) {
				plan.Faults = append(plan.Faults, faults.Fault{At: 200 + 150*i, For: 60, Kind: faults.ReplaceDisk, Replicas: []int{int(i+int64(seed)) % (s.Replicas + 1)}})
			}
			s.Plan = plan
			r, err := Run(context.Background(), s)
			require.NoError(t, err)
			require.Equal(t, "pass", r.Verdict.String(), "seed %d %s: %v", seed, policy, r.Results)
			all.Add(r.Effects)
		}
	}
	require.Greater(t, all.Replaced, int(seeds.Count())/4)
	require.GreaterOrEqual(t, all.Rejoined, all.Replaced)
}

// A late Join makes a member another one while its machine runs (seed 74 draws it): what it
// materializes from then on is looked at as after a boot.
func TestMemberBecomesAnother(t *testing.T) {
	s := Settings{Seed: 74, Partitions: 2, Messages: "replicated", Bookmarks: "replicated", Faults: "all", NoTrace: true}
	require.Equal(t, "pass", mustRun(t, s).Verdict.String())
}
