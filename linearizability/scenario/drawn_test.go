package scenario

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/traces"
	"purgelab/traces/behaviours"
	"purgelab/traces/models"
	"purgelab/traces/tlc"
)

// TestDrawnAreCalm: whatever way of the specification a group is led, nobody who watches it
// finds anything, and the specification accepts what it did.
func TestDrawnAreCalm(t *testing.T) {
	tool, err := tlc.Find(context.Background(), "../../.tools", os.Stderr)
	require.NoError(t, err)
	all, err := models.Load(specDir)
	require.NoError(t, err)
	list, err := models.Select(all, models.Tiers[len(models.Tiers)-1], []string{"sim-ordered-group-succession", "sim-ordered-group-succession-messages", "sim-ordered-group-rejoin"})
	require.NoError(t, err)
	var did []*traces.Trace
	for _, m := range list {
		require.NoError(t, behaviours.Simulate(context.Background(), tool, specDir, m, 6, m.Steps, m.Seed, func(b *behaviours.Behaviour) error {
			c, err := FromCounterexample(context.Background(), b, m.Name, "none", "can be reached: whatever is drawn")
			require.NoError(t, err)
			require.Nil(t, c.Difference)
			require.True(t, c.Reproduced(), "%s, behaviour %d: %v %s\n%s", m.Name, b.Number, c.Calm.Red, c.Calm.Undecided, c.Text)
			trace, err := c.Calm.DrivenTrace()
			require.NoError(t, err)
			did = append(did, trace)
			return nil
		}))
	}
	reports, err := traces.Validate(context.Background(), tool, traces.Options{Spec: specDir}, did)
	require.NoError(t, err)
	for i, r := range reports {
		require.Equal(t, tlc.Pass, r.Verdict, "%d: %s %v", i, r.Reason, r.Rejections)
	}
}
