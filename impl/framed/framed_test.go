package framed

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/corrupt"
	"purgelab/impl/vfs/crashfs"
)

const magic = 0x31545354

// TestDamageOneByte: no byte of a header or of a frame can change unseen.
func TestDamageOneByte(t *testing.T) {
	sum := Sum([]byte("mine"))
	f := make([]byte, 20, 20+7)
	copy(f[12:], "fixed.")
	f = append(f, "payload"...)
	Seal(f, 20, magic, sum)
	head := SealHeader([]byte{0x54, 0x53, 0x54, 0x31, 'm', 'e'}, 0)

	got, err := Check("x.log", "test frame", 0, append(f, "more"...), 20, magic, sum)
	require.NoError(t, err)
	require.Equal(t, f, got)
	require.NoError(t, CheckHeader("x.log", "test", head, len(head), magic))
	for i := range f {
		f[i] ^= 8
		_, err := Check("x.log", "test frame", 100, f, 20, magic, sum)
		require.ErrorIs(t, err, corrupt.ErrCorrupt, "byte %d", i)
		f[i] ^= 8
		_, err = Check("x.log", "test frame", 100, f[:i], 20, magic, sum)
		require.ErrorIs(t, err, corrupt.ErrCorrupt, "%d bytes", i)
	}
	for i := range head {
		head[i] ^= 8
		require.ErrorIs(t, CheckHeader("x.log", "test", head, len(head), magic), corrupt.ErrCorrupt, "byte %d", i)
		head[i] ^= 8
		require.ErrorIs(t, CheckHeader("x.log", "test", head[:i], len(head), magic), corrupt.ErrCorrupt, "%d bytes", i)
	}
	_, err = Check("x.log", "test frame", 100, f, 20, magic, Sum([]byte("theirs")))
	require.ErrorContains(t, err, "corrupt: x.log at byte 108: test frame checksum: want ")
	_, err = Check("x.log", "test frame", 100, f[:26], 20, magic, sum)
	require.EqualError(t, err, "corrupt: x.log at byte 104: test frame length: want at most 6, got 7")
	require.EqualError(t, CheckHeader("x.log", "test", head[:5], len(head), magic), "corrupt: x.log at byte 0: test header bytes: want 10, got 5")
}

// TestCut: what was cut off does not come back with a power loss.
func TestCut(t *testing.T) {
	d := crashfs.New()
	h, err := d.FS().Create("t", "x.log")
	require.NoError(t, err)
	_, err = h.WriteAt("t", []byte("kept and torn"), 0)
	require.NoError(t, err)
	require.NoError(t, h.Sync("t"))
	require.NoError(t, d.FS().SyncDir("t", "."))
	require.NoError(t, Cut(h, "t.cut", 4))
	for seed := range uint64(20) {
		d := d.Clone()
		d.PowerLoss(rand.New(rand.NewPCG(seed, 0)))
		_, b, err := ReadFile(d.FS(), "x.log")
		require.NoError(t, err)
		require.Equal(t, "kept", string(b), "seed %d", seed)
	}
}
