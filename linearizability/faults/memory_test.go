package faults

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Loss of memory is added to some plans of the classes that have it, within their
// span, and leaves what they had as it was; others stay as they are.
func TestLoseMemory(t *testing.T) {
	for _, class := range Classes {
		kinds, losing := map[Kind]int{}, 0
		for seed := uint64(1); seed <= 100; seed++ {
			before, p := drawn(t, class, seed), drawn(t, class, seed)
			p.LoseMemory(class, 3, 3000, rand.New(rand.NewPCG(seed, 2)))
			require.Equal(t, before.Network, p.Network)
			require.Equal(t, before.Faults, p.Faults[:len(before.Faults):len(before.Faults)])
			for _, f := range p.Faults[len(before.Faults):] {
				require.NoError(t, f.check(3))
				require.True(t, f.Kind.Forgets())
				require.Less(t, f.At, int64(3000))
				kinds[f.Kind]++
			}
			require.Subset(t, []Kind{ReplaceDisk}, p.Losing())
			losing += len(p.Losing())
			require.Empty(t, p.Keeping().Losing())
		}
		require.Equal(t, class == Memory || class == All || class == Storage || class == Swarm, losing > 0, class)
		want := 0
		if class == All || class == Storage || class == Swarm {
			want = 4
		}
		require.Len(t, kinds, want, class)
	}
}

// So is the loss of a base, in some plans of the classes that have it.
func TestLoseBases(t *testing.T) {
	for _, class := range Classes {
		n := 0
		for seed := uint64(1); seed <= 100; seed++ {
			before, p := drawn(t, class, seed), drawn(t, class, seed)
			p.LoseBases(class, 3000, rand.New(rand.NewPCG(seed, 2)))
			require.Equal(t, before.Faults, p.Faults[:len(before.Faults):len(before.Faults)])
			for _, f := range p.Faults[len(before.Faults):] {
				require.NoError(t, f.check(3))
				require.Equal(t, LoseBase, f.Kind)
				n++
			}
		}
		if class == All || class == Storage || class == Memory {
			require.InDelta(t, 33, n, 15, class)
		} else {
			require.Zero(t, n, class)
		}
	}
}
