package guarantee

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/linearizability/faults"
	"purgelab/linearizability/run"
	"purgelab/linearizability/verdict"
)

var findSeeds = flag.Bool("find-seeds", false, "give each kept plan that does not show what it says the lowest seed with which it does")

// shows tells whether a kept plan violates what it says, and whether the same plan
// with the same seed does no harm to a purge that is an op of the log.
func shows(t *testing.T, w *Weakness) (shown, harmless error) {
	_, shown = w.Show(context.Background(), w.Subject)
	s := w.Settings
	s.Design, s.Variant, s.Positions, s.Messages, s.Bookmarks = "ordered", "", "tagged", persisted, persisted
	r, err := run.Run(context.Background(), s)
	require.NoError(t, err)
	if r.Verdict != verdict.Pass {
		harmless = fmt.Errorf("%s under ordered: violated %v", w.File, r.Violated())
	}
	return shown, harmless
}

// TestWeaknessesAreThoseOfTheDesign: each plan that is kept shows what it says, and
// the same plan with the same seed does no harm to ordered.
func TestWeaknessesAreThoseOfTheDesign(t *testing.T) {
	list, err := Weaknesses()
	require.NoError(t, err)
	require.Greater(t, len(list), 10)
	all := map[string]bool{}
	for i := range list {
		w := &list[i]
		shown, harmless := shows(t, w)
		if *findSeeds && (shown != nil || harmless != nil) {
			for w.Settings.Seed = 1; w.Settings.Seed < 5000; w.Settings.Seed++ {
				if shown, harmless = shows(t, w); shown == nil && harmless == nil {
					break
				}
			}
			file := "weaknesses/" + path.Base(w.File)
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			text = regexp.MustCompile(`("seed": ?)\d+`).ReplaceAll(text, fmt.Appendf(nil, "${1}%d", w.Settings.Seed))
			require.NoError(t, os.WriteFile(file, text, 0o644))
		}
		require.NoError(t, shown)
		require.NoError(t, harmless)
		for _, p := range w.Properties {
			all[p] = true
		}
	}
	for _, p := range []string{
		"BoundaryAgreement", "OffsetUnique", "SessionOnce", "AckDurable", "NoHiddenFresh", "NoResurrectedMessage", "NoResurrectedBookmark",
		"StartMonotone", "LatestMonotone", "NoLateProgress", "NextContract", "Linearizable",
	} {
		require.True(t, all[p], p)
	}
}

// TestWeaknessesOfOtherPolicies: what reset-record gives up when processes crash it gives
// up whatever is synced before it is acknowledged. So the list of a row that is not run
// under that class for its policy is that of its family, and no other's is.
func TestWeaknessesOfOtherPolicies(t *testing.T) {
	for _, c := range []struct {
		seed       uint64
		properties []string
	}{
		{33, []string{"GenerationMonotone"}},
		{37, []string{"StartMonotone", "LatestMonotone"}},
		{80, []string{"NextContract"}},
	} {
		s := run.Settings{Seed: c.seed, Design: "reset-record", Messages: replicated, Bookmarks: replicated, Faults: string(faults.OneProcess), Ops: 200}
		require.NoError(t, s.Complete())
		r, err := run.Run(context.Background(), s)
		require.NoError(t, err)
		for _, p := range c.properties {
			require.Contains(t, r.Violated(), p, "seed %d", c.seed)
			require.True(t, Listed(SubjectOf(&r.Settings), p), p)
			require.False(t, Listed(Subject{"ordered", "", "tagged", replicated, replicated, 0}, p), p)
			require.False(t, Listed(Subject{"reset-record", "", "tagged", replicated, replicated, 1}, p), p)
		}
	}
}
