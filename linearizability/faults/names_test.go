package faults

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Some failed syncs of directories lose names, in every class that has them; nothing
// else changes.
func TestForgetNames(t *testing.T) {
	for _, class := range []Class{DirSync, Storage, All, Network} {
		kept, lost := 0, 0
		for seed := uint64(1); seed <= 100; seed++ {
			before, p := drawn(t, class, seed), drawn(t, class, seed)
			p.ForgetNames(rand.New(rand.NewPCG(seed, 3)))
			for i := range p.Faults {
				f := p.Faults[i]
				require.NoError(t, f.check(3))
				if f.Rule != before.Faults[i].Rule {
					lost++
					require.Equal(t, strings.Replace(before.Faults[i].Rule, "fail-before op=", "names-forget op=", 1), f.Rule)
					f.Rule = before.Faults[i].Rule
				} else if strings.Contains(f.Rule, "fail-before op=syncdir") {
					kept++
				}
				require.Equal(t, before.Faults[i], f)
			}
		}
		require.Equal(t, class != Network, min(kept, lost) > 0, class)
	}
}
