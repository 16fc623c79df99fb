package minimize

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/linearizability/faults"
	"purgelab/linearizability/run"
)

// Every change comes to an end: what is plain already is not changed again, so a
// minimisation ends.
func TestChangesEnd(t *testing.T) {
	for _, class := range []faults.Class{faults.All, faults.Storage, faults.Swarm} {
		r, err := run.Run(context.Background(), run.Settings{Seed: 7, Faults: string(class), PurgeAck: "mixed", Partitions: 2, CompactOps: 40})
		require.NoError(t, err)
		c := caseOf(r)
		changed := map[string]int{}
		ends := func(name string, c *aCase, change func(*aCase) *aCase) {
			for n := 0; ; n++ {
				d := change(c)
				if d == nil {
					return
				}
				require.NotEqual(t, c.key(), d.key(), "%s says that it changed something", name)
				require.Less(t, n, 20, "%s does not end", name)
				changed[name]++
				c = d
			}
		}
		for i := 0; i < len(c.steps); i += 9 {
			for _, change := range stepChanges {
				ends("a step", c, func(c *aCase) *aCase { return changedStep(c, i, change) })
			}
		}
		for i := range c.plan.Faults {
			for _, change := range faultChanges {
				ends("a fault", c, func(c *aCase) *aCase { return changedFault(c, i, change) })
			}
		}
		for i := 0; i < len(c.times()); i += 20 {
			ends("a time", c, func(c *aCase) *aCase { return sooner(c, min(i, len(c.times())-1)) })
		}
		for _, change := range append(caseChanges, named, withoutNetwork, withoutEras) {
			ends("a case", c, change)
		}
		require.Greater(t, changed["a step"], 10)
		require.Positive(t, changed["a fault"], class)
		require.Positive(t, changed["a case"])
		require.Equal(t, c.key(), caseOf(r).key(), "a case is never changed")
	}
}
