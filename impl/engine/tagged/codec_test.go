package tagged

import (
	"testing"

	fuzz "github.com/google/gofuzz"
	"github.com/stretchr/testify/require"

	"purgelab/impl/bookmark"
	"purgelab/impl/corrupt"
)

func TestCheckpointRoundTrip(t *testing.T) {
	f := fuzz.NewWithSeed(1).NilChance(0)
	for range 500 {
		var want checkpoint
		f.Fuzz(&want.Generation)
		f.Fuzz(&want.Settled)
		f.Fuzz(&want.Boundary)
		f.Fuzz(&want.Applied)
		f.Fuzz(&want.Start)
		f.Fuzz(&want.End)
		f.Fuzz(&want.Timestamp)
		f.Fuzz(&want.Extra)
		want.Bookmarks = bookmark.Capture{Number: uint32(want.Applied), Length: int64(want.End)}
		b := want.encode()
		got, err := decodeCheckpoint("c", b)
		require.NoError(t, err)
		require.Equal(t, want, got)
		_, err = decodeCheckpoint("c", b[:checkpointBytes-1])
		require.ErrorIs(t, err, corrupt.ErrCorrupt)
	}
}
