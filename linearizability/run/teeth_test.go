package run

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/defect"
	"purgelab/linearizability/check"
	"purgelab/linearizability/invariant"
)

// TestTeeth switches each defect on and demands a red by a property that it is
// known to break.
func TestTeeth(t *testing.T) {
	for _, tooth := range Teeth {
		t.Run(tooth.Defect, func(t *testing.T) {
			red, runs, err := tooth.Catch(context.Background(), Settings{})
			require.NoError(t, err)
			t.Logf("%d runs; %s\n%s", runs, red.Replay, red.Reason)
		})
	}
}

func TestTeethNameDefects(t *testing.T) {
	seen := map[string]bool{}
	for _, tooth := range Teeth {
		require.Contains(t, defect.Names(), tooth.Defect)
		require.False(t, seen[tooth.Defect], tooth.Defect)
		seen[tooth.Defect] = true
		for _, p := range tooth.Properties {
			require.Contains(t, append(invariant.Names, check.Property), p)
		}
	}
}
