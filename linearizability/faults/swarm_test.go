package faults

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Plans differ in what can happen in them: each kind is there in many and lacking in
// many, and so is each pair.
func TestSwarmsDiffer(t *testing.T) {
	const plans = 400
	kinds := []Kind{Partition, Isolate, Storm, SlowDisk, ProcessCrash, PowerLoss, CrashAt, CrashAmid, DiskFault, Rot}
	with := map[Kind]int{}
	pair := map[[2]Kind]int{}
	for seed := uint64(1); seed <= plans; seed++ {
		has := drawn(t, Swarm, seed).Kinds()
		require.NotEmpty(t, has)
		for _, a := range kinds {
			if !slices.Contains(has, a) {
				continue
			}
			with[a]++
			for _, b := range kinds {
				if a < b && slices.Contains(has, b) {
					pair[[2]Kind{a, b}]++
				}
			}
		}
	}
	for _, a := range kinds {
		require.Greater(t, with[a], plans/5, a)
		require.Less(t, with[a], plans*19/20, a)
		for _, b := range kinds {
			if a < b {
				require.Greater(t, pair[[2]Kind{a, b}], plans/10, "%s with %s", a, b)
			}
		}
	}
}
