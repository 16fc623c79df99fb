package journal

import (
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/raftlog"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
	"purgelab/model/op"
)

func roomy(t *testing.T, d *crashfs.Disk) (*Journal, Report) {
	j, r, err := Open(Options{FS: d.FS(), Dir: "p0/journal", Identity: me, FileBytes: 300, Room: true})
	require.NoError(t, err)
	return j, r
}

func length(t *testing.T, fs vfs.FS, name string) int64 {
	f, err := fs.Open("p0/journal/" + name)
	require.NoError(t, err)
	size, err := f.Size()
	require.NoError(t, err)
	return size
}

// TestRoom: the last file is as long as it will be, those before it as long as what
// is in them; a journal that was left in order has no torn tail, and keeps its room.
func TestRoom(t *testing.T) {
	d := crashfs.New()
	j, _ := roomy(t, d)
	for n := op.Number(2); n < 12; n++ {
		require.NoError(t, j.Append(nil, []raftlog.Entry{entry(n, 1)}))
	}
	require.NoError(t, j.Sync())
	require.NoError(t, j.Close())
	require.Greater(t, j.number, uint32(2))
	require.Less(t, length(t, d.FS(), "00000001.log"), int64(300))
	require.EqualValues(t, 300, length(t, d.FS(), j.name(j.number)[len("p0/journal/"):]))

	before := all(t, j)
	j, r := roomy(t, d)
	require.Nil(t, r.Torn)
	require.True(t, j.room)
	require.Equal(t, before, all(t, j))
	require.NoError(t, j.Append(nil, []raftlog.Entry{entry(12, 2)}))

	// Without the option zeros are a torn tail like any other.
	_, r = open(t, d, 300)
	require.NotNil(t, r.Torn)
	j, r = roomy(t, d)
	require.Nil(t, r.Torn)
	require.False(t, j.room)
	require.EqualValues(t, 12, j.Last())
}

// TestTornInRoom: what is left of a frame is cut off, and with it the room.
func TestTornInRoom(t *testing.T) {
	d := crashfs.New()
	j, _ := roomy(t, d)
	require.NoError(t, j.Append(nil, []raftlog.Entry{entry(2, 1)}))
	require.NoError(t, j.Sync())
	_, err := j.file.WriteAt("t", []byte("JP"), j.size)
	require.NoError(t, err)
	j, r := roomy(t, d)
	require.NotNil(t, r.Torn)
	require.EqualValues(t, 300-(j.size-frameHeader-5), r.Cut) // a frame that proves it followed
	require.False(t, j.room)
	require.EqualValues(t, 2, j.Last())
}
