package gatherfs

import (
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
)

func gathered(path string) bool { return strings.HasPrefix(path, "seg-") }

// TestLikeAPlainFile: whatever is called, and in whatever order, a file reads as
// one that writes at once.
func TestLikeAPlainFile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fs := New(crashfs.New().FS(), 24, gathered)
		plain := crashfs.New().FS()
		f, err := fs.Create("t", "seg-1")
		require.NoError(t, err)
		p, err := plain.Create("t", "seg-1")
		require.NoError(t, err)
		size := 0
		for range rapid.IntRange(1, 40).Draw(t, "calls") {
			data := rapid.SliceOfN(rapid.Byte(), 1, 20).Draw(t, "data")
			at := rapid.IntRange(0, size).Draw(t, "at")
			switch rapid.IntRange(0, 9).Draw(t, "call") {
			case 0, 1, 2, 3, 4:
				at = size
				fallthrough
			case 5:
				_, err := f.WriteAt("t", data, int64(at))
				require.NoError(t, err)
				_, err = p.WriteAt("t", data, int64(at))
				require.NoError(t, err)
				size = max(size, at+len(data))
			case 6:
				require.NoError(t, f.Truncate("t", int64(at)))
				require.NoError(t, p.Truncate("t", int64(at)))
				size = at
			case 7:
				require.NoError(t, f.Sync("t"))
			case 8:
				other, err := fs.Open("seg-1")
				require.NoError(t, err)
				n, err := other.Size()
				require.NoError(t, err)
				require.EqualValues(t, size, n, "what another handle sees")
				if rapid.Bool().Draw(t, "close") {
					require.NoError(t, f.Close())
					f = other
				} else {
					require.NoError(t, other.Close())
				}
			case 9:
				got, want := make([]byte, len(data)), make([]byte, len(data))
				n, err := f.ReadAt(got, int64(at))
				m, wantErr := p.ReadAt(want, int64(at))
				require.Equal(t, m, n)
				require.Equal(t, wantErr == io.EOF, err == io.EOF)
				require.Equal(t, want, got)
			}
			n, err := f.Size()
			require.NoError(t, err)
			require.EqualValues(t, size, n)
		}
	})
}

// TestSyncedIsDurable: bytes that were appended and synced survive a loss of power.
func TestSyncedIsDurable(t *testing.T) {
	d := crashfs.New()
	f, err := New(d.FS(), 1000, gathered).Create("t", "seg-1")
	require.NoError(t, err)
	_, err = f.WriteAt("t", []byte("synced"), 0)
	require.NoError(t, err)
	require.NoError(t, f.Sync("t"))
	require.NoError(t, d.FS().SyncDir("t", "."))
	_, err = f.WriteAt("t", []byte(", not"), 6)
	require.NoError(t, err)
	d.PowerLoss(rand.New(rand.NewPCG(1, 1)))
	h, err := d.FS().Open("seg-1")
	require.NoError(t, err)
	b := make([]byte, 20)
	n, err := h.ReadAt(b, 0)
	require.Equal(t, io.EOF, err)
	require.Equal(t, "synced", string(b[:n]))
}

// full is a disk that has no room from some call on.
type full struct{ vfs.FS }

type fullFile struct{ vfs.File }

func (f full) Create(l vfs.Label, path string) (vfs.File, error) {
	h, err := f.FS.Create(l, path)
	return fullFile{h}, err
}

func (fullFile) WriteAt(vfs.Label, []byte, int64) (int, error) { return 0, vfs.ErrNoSpace }

// TestFailedLate: a write that had returned and comes to nothing is never passed
// over: nobody knows what is there.
func TestFailedLate(t *testing.T) {
	for name, call := range map[string]func(vfs.File) error{
		"sync":     func(f vfs.File) error { return f.Sync("t") },
		"truncate": func(f vfs.File) error { return f.Truncate("t", 1) },
		"close":    func(f vfs.File) error { return f.Close() },
		"append":   func(f vfs.File) error { _, err := f.WriteAt("t", make([]byte, 100), 3); return err },
		"write":    func(f vfs.File) error { _, err := f.WriteAt("t", []byte("x"), 0); return err },
	} {
		f, err := New(full{crashfs.New().FS()}, 10, gathered).Create("t", "seg-1")
		require.NoError(t, err)
		_, err = f.WriteAt("t", []byte("abc"), 0)
		require.NoError(t, err, name)
		err = call(f)
		require.ErrorIs(t, err, vfs.ErrUnsure, name)
		require.True(t, vfs.Failed(err), name)
		_, err = f.WriteAt("t", []byte("d"), 3)
		require.ErrorIs(t, err, vfs.ErrUnsure, name)
		_, err = f.ReadAt(make([]byte, 1), 0)
		require.True(t, errors.Is(err, vfs.ErrUnsure), name)
	}
}

// TestOthersAreLeftAlone: a file that is not named writes at once.
func TestOthersAreLeftAlone(t *testing.T) {
	d := crashfs.New()
	f, err := New(d.FS(), 1000, gathered).Create("t", "journal")
	require.NoError(t, err)
	_, err = f.WriteAt("t", []byte("now"), 0)
	require.NoError(t, err)
	h, err := d.FS().Open("journal")
	require.NoError(t, err)
	n, err := h.Size()
	require.NoError(t, err)
	require.EqualValues(t, 3, n)
}
