package replay

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/defect"
	"purgelab/impl/observe"
	"purgelab/traces/behaviours"
	"purgelab/traces/models"
	"purgelab/traces/tlc"
)

// drawn are behaviours of a model of a group.
func drawn(t *testing.T, name string, count int) (list []*behaviours.Behaviour) {
	t.Helper()
	tool, err := tlc.Find(context.Background(), "../../.tools", os.Stderr)
	require.NoError(t, err)
	all, err := models.Load(specDir)
	require.NoError(t, err)
	all, err = models.Select(all, models.Tiers[len(models.Tiers)-1], []string{name})
	require.NoError(t, err)
	m := all[0]
	require.NoError(t, behaviours.Simulate(context.Background(), tool, specDir, m, count, m.Steps, m.Seed, func(b *behaviours.Behaviour) error {
		list = append(list, b)
		return nil
	}))
	return list
}

// Three replicas follow the specification of a group, and with a defect that shows in a
// group they do not.
func TestGroups(t *testing.T) {
	for _, c := range []struct {
		model   string
		count   int
		held    int // how often each of heldOf is there at least
		defects []string
	}{
		{"sim-ordered-group", 60, 20, []string{"local-boundary", "duplicate-purge-wipes", "start-not-replayed"}},
		{"sim-reset-record-group", 60, 15, []string{"start-not-replayed", "floor-not-kept"}},
		{"sim-advance-group", 20, 20, []string{"start-not-replayed", "whole-batch-deleted", "earliest-from-records"}},
		{"sim-ordered-group-succession", 40, 2, []string{"two-incarnations", "commit-clamped", "lost-disk-unnoticed", "join-once", "boundary-outlives"}},
		{"sim-ordered-group-succession-messages", 15, 2, []string{"two-incarnations", "suspect-acks"}},
		{"sim-ordered-group-rejoin", 15, 2, []string{"lost-disk-unnoticed", "join-once"}},
		{"sim-transfer-group", 150, 20, []string{"older-offer-accepted"}},
		{"sim-transfer-group-succession", 20, 2, []string{"older-offer-accepted", "two-incarnations"}},
		{"sim-transfer-advance-group", 100, 20, []string{"older-offer-accepted"}},
		{"sim-transfer-reset-group", 60, 20, []string{"boundary-not-rebased", "bookmark-no-dirsync"}},
		{"sim-advance-group-succession", 15, 2, []string{"two-incarnations", "suspect-votes", "stale-auto-commit"}},
	} {
		t.Run(c.model, func(t *testing.T) {
			list := drawn(t, c.model, c.count)
			follows(t, list)
			t.Run("shows", func(t *testing.T) {
				taken, steps := map[string]int{}, map[string]int{} // of new members
				for _, b := range list {
					for _, a := range b.Acts {
						taken[string(a.Action)]++
						if step := settled(&a).With["step"]; step != nil {
							steps[fmt.Sprint(step)]++
						}
					}
				}
				t.Logf("taken: %v, of new members: %v", taken, steps)
				held := heldOf(list)
				t.Logf("held: %v", held)
				for what, n := range held {
					require.GreaterOrEqual(t, n, c.held, what)
				}
				misplaced(t, list)
				begins := strings.Contains(c.model, "succession")
				rejoins := begins && !moving(list[0]) || strings.Contains(c.model, "rejoin")
				require.Equal(t, rejoins, steps["learner"] > 0 && steps["voter"] > 0 && steps["end"] > 0)
				require.Equal(t, rejoins, taken["Rejoin"] > 0)
				require.Equal(t, begins, taken["NewIncarnation"] > 0)
				if moving(list[0]) {
					seen := seenOf(list)
					for _, what := range slices.Sorted(maps.Keys(seen)) {
						t.Logf("%s: %d", what, seen[what])
						require.Positive(t, seen[what], what)
					}
				}
				for _, g := range Groups {
					for _, r := range g.Rows {
						moves := Moves(&behaviours.Act{Event: observe.Event{Action: r.Action}})
						if g.Name == list[0].Design && !rejoins && !begins && r.Action != "Rejoin" && r.Action != "NewIncarnation" && (!moves || moving(list[0])) {
							require.Positive(t, taken[string(r.Action)], "%s is in the table and was never taken", r.Action)
						}
					}
				}
				finds(t, list, c.defects)
				// What is said of one of them and is not so is found.
				b := list[0]
				last := &b.Acts[len(b.Acts)-1]
				for name, v := range last.State["rep"].(map[string]any) {
					if f := v.(map[string]any); f["up"] == true {
						f["applied"] = f["applied"].(float64) + 1
						diff, err := Replay(b, 0)
						require.NoError(t, err)
						require.NotNil(t, diff)
						require.Equal(t, "rep."+name+".applied", diff.Field)
						f["applied"] = f["applied"].(float64) - 1
					}
				}
			})
		})
	}
}

// finds shows that each defect makes the implementation differ from the behaviours.
func finds(t *testing.T, list []*behaviours.Behaviour, defects []string) {
	for _, name := range defects {
		d, err := defect.Parse(name)
		require.NoError(t, err)
		diff := first(t, list, d)
		require.NotNil(t, diff, name)
		t.Logf("%s: %v", name, diff)
	}
}
