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
		for _, d := range s.Designs {
			for _, p := range s.Listed {
				listed := false
				for _, positions := range []string{"tagged", "bare"} {
					of := guarantee.Subject{
						Design: d.String(), Variant: s.Variants.String(), Positions: positions,
						Messages: s.Policy.Messages.String(), Bookmarks: s.Policy.Bookmarks.String(),
					}
					if s.Replicas == 1 {
						of.Replicas = 1
					}
					listed = listed || guarantee.Listed(of, p)
				}
				require.True(t, listed, "%s: listed: %s: not in %s for design %s", s.File, p, guarantee.Document, d)
			}
		}
	}
}
