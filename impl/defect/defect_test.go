package defect

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSwitches: no two names have the same number, which are given out in several
// files, and none has that of no defect.
func TestSwitches(t *testing.T) {
	all := map[Set]string{0: "none"}
	for _, name := range Names() {
		d, err := Parse(name)
		require.NoError(t, err)
		require.Empty(t, all[d], name)
		require.True(t, d.Has(0, d), name)
		require.False(t, d.Has(0, d+1), name)
		all[d] = name
	}
	none, err := Parse("")
	require.NoError(t, err)
	require.Zero(t, none)
	_, err = Parse("no-such")
	require.ErrorContains(t, err, `defect "no-such": want one of ack-before-sync, `)
}
