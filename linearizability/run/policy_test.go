package run

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/sim"
	"purgelab/linearizability/seeds"
)

// TestPolicies: under every policy a partition keeps what its policy promises, and
// goes on after its replicas lost their memory, a minority or all of them.
func TestPolicies(t *testing.T) {
	var all sim.Effects
	for _, design := range []string{"ordered", "advance"} {
		for _, replicas := range []int{1, 3, 5} {
			for _, p := range [][2]string{{"replicated", "replicated"}, {"replicated", "persisted"}, {"persisted", "replicated"}} {
				s := Settings{Design: design, Replicas: replicas, Partitions: 2, Faults: "all", Messages: p[0], Bookmarks: p[1]}
				sum, err := (&Sweep{Settings: s, From: 1, To: max(1, seeds.Count()/5)}).Run(context.Background())
				require.NoError(t, err)
				for _, bad := range append(sum.Reds, sum.Undecided...) {
					t.Errorf("%s: %s: %.300s", bad.Replay, bad.Property, bad.Reason)
				}
				all.Add(sum.Effects)
			}
		}
	}
	for _, n := range []int{all.Suspects, all.Rejoined, all.Changed, all.Incarnations, all.LostAcked} {
		require.Positive(t, n)
	}
}

// TestPowerOfAll: what all replicas together lose is what their policy allows, and
// shows in the history.
func TestPowerOfAll(t *testing.T) {
	lost := map[string]int{}
	for _, p := range []string{"persisted", "replicated"} {
		s := Settings{Replicas: 3, Faults: "power-all", Messages: p, Bookmarks: p}
		sum, err := (&Sweep{Settings: s, From: 1, To: seeds.Count()}).Run(context.Background())
		require.NoError(t, err)
		for _, bad := range append(sum.Reds, sum.Undecided...) {
			t.Errorf("%s: %s: %.300s", bad.Replay, bad.Property, bad.Reason)
		}
		lost[p] = sum.Effects.LostAcked
		require.Equal(t, p == "replicated", sum.Effects.Incarnations > 0)
	}
	require.Zero(t, lost["persisted"])
	require.Positive(t, lost["replicated"])
}
