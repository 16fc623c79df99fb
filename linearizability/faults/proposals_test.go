package faults

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Proposals are dropped in some plans of retries and in no others, and what those had
// stays as it was.
func TestLoseProposals(t *testing.T) {
	for _, class := range Classes {
		added := 0
		for seed := uint64(1); seed <= 40; seed++ {
			before, p := drawn(t, class, seed), drawn(t, class, seed)
			p.LoseProposals(class, 3, 3000, rand.New(rand.NewPCG(seed, 3)))
			n := len(before.Faults)
			require.Equal(t, before.Faults, p.Faults[:n:n])
			for _, f := range p.Faults[n:] {
				require.NoError(t, f.check(3))
				require.Equal(t, DropProposals, f.Kind)
				added++
			}
		}
		require.Equal(t, class == Retry || class == Swarm, added > 0, class)
	}
}
