package judge

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The oldest snapshot gives its memory to the newest, and no other one does.
func TestSnapshotsAreApart(t *testing.T) {
	f := &finder{hints: &hints{calls: make([]int32, 3*maxKept)}, called: make([]bool, 1), bookmarks: []bookmark{{configs: []config{{offset: none}}}}}
	var kept []*snapshot
	for n := range 3 * maxKept {
		f.callsDone, f.bookmarks[0].configs[0].offset = n, none+1
		kept = f.keep(kept)
		require.Len(t, kept, min(n+1, maxKept))
		for k, s := range kept {
			require.Equal(t, n+1-len(kept)+k, s.event())
		}
	}
	s := kept[0]
	f.bookmarks[0].configs[0].offset, f.bookmarks[0].used = 7, 1
	require.Equal(t, none+1, s.bookmarks[0].configs[0].offset)
	f.restore(s)
	require.Equal(t, none+1, f.bookmarks[0].configs[0].offset)
	require.Zero(t, f.bookmarks[0].used)
	f.bookmarks[0].configs[0].offset = 7
	require.Equal(t, none+1, s.bookmarks[0].configs[0].offset)
}
