package scenario

import (
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/linearizability/guarantee"
)

// TestListedIsInTheMatrix: what a scenario says that its design violates by nature,
// the guarantee matrix says as well. A scenario sends tagged positions and bare ones.
func TestListedIsInTheMatrix(t *testing.T) {
	for _, s := range own(t) {
		for _, way := range s.Ways() {
			for _, p := range s.Listed {
				listed := false
				for _, positions := range []string{"tagged", "bare"} {
					of := guarantee.Subject{
						Design: way.Design.String(), Variant: s.Variants.String(), Positions: positions,
						Messages: way.Policy.Messages.String(), Bookmarks: way.Policy.Bookmarks.String(),
					}
					if s.Replicas == 1 && !s.leaderShown() {
						of.Replicas = 1
					}
					listed = listed || guarantee.Listed(of, p)
				}
				require.True(t, listed, "%s: listed: %s: not in %s for design %s", s.File, p, guarantee.Document, way)
			}
		}
	}
}
