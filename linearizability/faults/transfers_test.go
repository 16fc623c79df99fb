package faults

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Transfers are spoilt in most plans that break everything, or are swarms, and in no
// others; what those had stays as it was, and what is printed reads back.
func TestSpoilTransfers(t *testing.T) {
	for _, class := range Classes {
		added := 0
		for seed := uint64(1); seed <= 40; seed++ {
			before, p := drawn(t, class, seed), drawn(t, class, seed)
			p.SpoilTransfers(class, 3000, rand.New(rand.NewPCG(seed, 3)))
			n := len(before.Faults)
			require.Equal(t, before.Faults, p.Faults[:n:n])
			for _, f := range p.Faults[n:] {
				require.NoError(t, f.check(3))
				require.Equal(t, SpoilTransfer, f.Kind)
				added++
			}
			var b bytes.Buffer
			require.NoError(t, p.Write(&b))
			got, err := Parse("plan", &b, 3)
			require.NoError(t, err)
			require.Len(t, got.Faults, len(p.Faults))
			if n < len(p.Faults) {
				require.Equal(t, p.Faults[n:], got.Faults[n:])
			}
		}
		require.Equal(t, class == All || class == Swarm, added > 20, class)
	}
}
