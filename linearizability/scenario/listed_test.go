package scenario

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/linearizability/guarantee"
)

// TestListedIsInTheMatrix: what a scenario says that its design violates by nature,
// the guarantee matrix says as well.
func TestListedIsInTheMatrix(t *testing.T) {
	for _, s := range own(t) {
		for _, way := range s.Ways() {
			for _, p := range s.Listed {
				listed := slices.ContainsFunc(s.subjects(way), func(of guarantee.Subject) bool { return guarantee.Listed(of, p) })
				require.True(t, listed, "%s: listed: %s: not in %s for design %s", s.File, p, guarantee.Document, way)
			}
		}
	}
}
