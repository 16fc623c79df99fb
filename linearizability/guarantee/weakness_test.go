package guarantee

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/linearizability/run"
	"purgelab/linearizability/verdict"
)

// TestWeaknessesAreThoseOfTheDesign: each plan that is kept shows what it says, and
// the same plan with the same seed does no harm to a purge that is an op of the log.
func TestWeaknessesAreThoseOfTheDesign(t *testing.T) {
	list, err := Weaknesses()
	require.NoError(t, err)
	require.Greater(t, len(list), 10)
	shown := map[string]bool{}
	for _, w := range list {
		_, err := w.Show(context.Background())
		require.NoError(t, err)
		for _, p := range w.Properties {
			shown[p] = true
		}
		s := w.Settings
		s.Design, s.Variant, s.Positions, s.Messages, s.Bookmarks = "ordered", "", "tagged", persisted, persisted
		r, err := run.Run(context.Background(), s)
		require.NoError(t, err)
		require.Equal(t, verdict.Pass, r.Verdict, "%s under ordered: %v", w.File, r.Violated())
	}
	for _, p := range []string{
		"BoundaryAgreement", "OffsetUnique", "SessionOnce", "AckDurable", "NoHiddenFresh", "NoResurrectedMessage", "NoResurrectedBookmark",
		"StartMonotone", "LatestMonotone", "NoLateProgress", "NextContract", "Linearizable",
	} {
		require.True(t, shown[p], p)
	}
}
