package faults

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestKindsOfClasses(t *testing.T) {
	require.Empty(t, None.Kinds(3))
	require.Equal(t, []Kind{Partition, Isolate, Storm}, Network.Kinds(3))
	require.Equal(t, []Kind{SlowDisk, ProcessCrash, CrashAt}, Process.Kinds(3))
	require.Equal(t, []Kind{PowerLoss, CrashAt}, PowerAll.Kinds(3))
	for _, c := range Classes {
		kinds := c.Kinds(3)
		require.Equal(t, c == None, len(kinds) == 0, c)
		for seed := range uint64(100) {
			require.Subset(t, kinds, drawn(t, c, 1000+seed).Kinds(), "class %s, seed %d", c, seed)
		}
	}
}
