package defect

import (
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSwitches: each name is one bit, and no bit has two names: they are given out in
// several files.
func TestSwitches(t *testing.T) {
	var all Set
	for _, name := range Names() {
		d, err := Parse(name)
		require.NoError(t, err)
		require.Equal(t, 1, bits.OnesCount64(uint64(d)), name)
		require.False(t, all.Has(d), name)
		all |= d
	}
	none, err := Parse("")
	require.NoError(t, err)
	require.Zero(t, none)
	_, err = Parse("no-such")
	require.ErrorContains(t, err, `defect "no-such": want one of ack-before-sync, `)
}
