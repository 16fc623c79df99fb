package purge

import (
	"math/rand/v2"
	"testing"

	fuzz "github.com/google/gofuzz"
	"github.com/stretchr/testify/require"

	"purgelab/impl/corrupt"
	"purgelab/impl/record"
	"purgelab/impl/vfs/crashfs"
	"purgelab/model/op"
)

var me = record.Identity{Cluster: 7, Partition: 0, Replica: 2, Incarnation: 1}

func TestMarker(t *testing.T) {
	fs := crashfs.New().FS()
	require.NoError(t, fs.Mkdir("t", "p0"))
	m, err := Read(fs, "p0", me)
	require.NoError(t, err)
	require.Equal(t, None, m.State)
	f := fuzz.NewWithSeed(1)
	for i := range 200 {
		var want Marker
		f.Fuzz(&want)
		want.State, want.Incarnation = Begun+State(i%2), me.Incarnation
		require.NoError(t, Write(fs, "p0", me, want))
		got, err := Read(fs, "p0", me)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	// Nobody guesses: another incarnation's marker is refused, not ignored.
	other := me
	other.Incarnation = 2
	_, err = Read(fs, "p0", other)
	var foreign *record.ForeignError
	require.ErrorAs(t, err, &foreign)
	require.NoError(t, Write(fs, "p0", me, Marker{State: Begun, Incarnation: 2}))
	_, err = Read(fs, "p0", me)
	require.EqualError(t, err, "corrupt: p0/marker at byte 12: incarnation of the boundary: want 1, got 2")
	require.NoError(t, Write(fs, "p0", me, Marker{State: 3, Incarnation: 1}))
	_, err = Read(fs, "p0", me)
	require.ErrorIs(t, err, corrupt.ErrCorrupt)
	require.NoError(t, record.Write(fs, "t", File("p0"), me, []byte("short")))
	_, err = Read(fs, "p0", me)
	require.ErrorIs(t, err, corrupt.ErrCorrupt)
}

func TestDamageOneByte(t *testing.T) {
	build := func() *crashfs.Disk {
		d := crashfs.New()
		require.NoError(t, d.FS().Mkdir("t", "p0"))
		require.NoError(t, Write(d.FS(), "p0", me, Marker{State: Complete, Generation: 3, Incarnation: 1, Boundary: 17}))
		return d
	}
	f, err := build().FS().Open("p0/marker")
	require.NoError(t, err)
	size, err := f.Size()
	require.NoError(t, err)
	for i := range size {
		fs := build().FS()
		f, err := fs.Open("p0/marker")
		require.NoError(t, err)
		b := make([]byte, 1)
		_, err = f.ReadAt(b, i)
		require.NoError(t, err)
		_, err = f.WriteAt("t", []byte{b[0] ^ 1}, i)
		require.NoError(t, err)
		_, err = Read(fs, "p0", me)
		require.ErrorIs(t, err, corrupt.ErrCorrupt, "byte %d", i)
	}
}

// TestMakeFolderIsEmptyAfterPowerLoss: what an earlier attempt left in the
// folder does not come back.
func TestMakeFolderIsEmptyAfterPowerLoss(t *testing.T) {
	for seed := range uint64(40) {
		d := crashfs.New()
		fs := d.FS()
		require.NoError(t, fs.Mkdir("t", "p0"))
		require.NoError(t, fs.SyncDir("t", "."))
		require.NoError(t, fs.Mkdir("t", "p0/gen-5"))
		for _, name := range []string{"checkpoint", "seg-00000000000000000000.log"} {
			f, err := fs.Create("t", "p0/gen-5/"+name)
			require.NoError(t, err)
			require.NoError(t, f.Sync("t"))
		}
		require.NoError(t, fs.SyncDir("t", "p0/gen-5"))
		require.NoError(t, MakeFolder(fs, "p0", 5))
		d.PowerLoss(rand.New(rand.NewPCG(seed, 0)))
		names, err := d.FS().List("p0/gen-5")
		require.NoError(t, err)
		require.Empty(t, names)
	}
}

func TestFolders(t *testing.T) {
	fs := crashfs.New().FS()
	require.NoError(t, fs.Mkdir("t", "p0"))
	for _, name := range []string{"gen-10", "gen-9", "gen-0", "gen-x", "gen-1x", "journal", "gen-"} {
		require.NoError(t, fs.Mkdir("t", "p0/"+name))
	}
	_, err := fs.Create("t", "p0/gen-7")
	require.NoError(t, err)
	gens, err := Folders(fs, "p0")
	require.NoError(t, err)
	require.Equal(t, []op.Generation{0, 9, 10}, gens)
	for _, want := range []bool{false, true} {
		if !want {
			_, err := fs.Create("t", "p0/gen-9/f")
			require.NoError(t, err)
		}
		gone, err := RemoveSome(fs, "p0", 9)
		require.NoError(t, err)
		require.Equal(t, want, gone)
	}
}
