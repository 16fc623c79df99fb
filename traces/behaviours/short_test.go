package behaviours

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/traces/models"
	"purgelab/traces/tlc"
)

const (
	mostStates = 50000 // of a model of which every transition is taken
	mostActs   = 3     // for each transition, on the average
)

var states = flag.Int("states", 5000, "take models of at most that many states")

// Every transition of each model of one replica is taken by behaviours that are short
// together: such models are small, and of a shape that lets it be so.
func TestCoversAreShort(t *testing.T) {
	list, err := models.Load("../../spec")
	require.NoError(t, err)
	tool, err := tlc.Find(context.Background(), "../../.tools", os.Stderr)
	require.NoError(t, err)
	page, err := os.ReadFile("../../docs/replay.md")
	require.NoError(t, err)
	covered := map[string]bool{}
	for _, m := range list {
		if modules[m.Module].Design == "" || m.Mode != "check" {
			continue
		}
		require.LessOrEqual(t, m.Distinct, int64(mostStates), m.Name)
		if m.Distinct > int64(*states) {
			continue
		}
		covered[modules[m.Module].Design] = true
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			g, err := Explore(context.Background(), tool, "../../spec", m)
			require.NoError(t, err)
			acts, behaviours := 0, 0
			require.NoError(t, g.Cover(func(b *Behaviour) error {
				acts += len(b.Acts) - 1
				behaviours++
				return nil
			}))
			t.Logf("%d states, %d transitions, %d actions: %.2f", g.States(), g.Transitions(), acts, float64(acts)/float64(g.Transitions()))
			require.LessOrEqual(t, g.States(), mostStates)
			require.LessOrEqual(t, acts, mostActs*g.Transitions())
			require.Contains(t, string(page), fmt.Sprintf("| `%s` | %s | %s | %s | %s | %.1f |\n", m.Name,
				thousands(g.States()), thousands(g.Transitions()), thousands(behaviours), thousands(acts), float64(acts)/float64(g.Transitions())))
		})
	}
	require.Len(t, covered, 3, "designs")
}

// thousands is n as pages write it.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
