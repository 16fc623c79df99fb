package purge

import (
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/corrupt"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
	"purgelab/impl/vfs/faultfs"
	"purgelab/model/op"
)

// Whatever call fails, the error is the disk's, and the same call succeeds when it
// is made again.
func TestEveryCallFails(t *testing.T) {
	steps := map[string]func(vfs.FS) error{
		"read":       func(fs vfs.FS) error { _, err := Read(fs, "p0", me); return err },
		"write":      func(fs vfs.FS) error { return Write(fs, "p0", me, Marker{State: Begun, Generation: 1, Incarnation: 1}) },
		"folders":    func(fs vfs.FS) error { _, err := Folders(fs, "p0"); return err },
		"make":       func(fs vfs.FS) error { return MakeFolder(fs, "p0", 1) },
		"removeFile": func(fs vfs.FS) error { _, err := RemoveSome(fs, "p0", 0); return err },
	}
	for name, step := range steps {
		for nth := 1; ; nth++ {
			d := crashfs.New()
			fs := d.FS()
			for _, dir := range []string{"p0", "p0/gen-0", "p0/gen-1"} {
				require.NoError(t, fs.Mkdir("t", dir))
			}
			for _, f := range []string{"p0/gen-0/a", "p0/gen-1/left"} {
				_, err := fs.Create("t", f)
				require.NoError(t, err)
			}
			require.NoError(t, Write(fs, "p0", me, Marker{State: Complete, Generation: 1, Incarnation: 1, Boundary: 7}))
			r := faultfs.New(faultfs.FailBefore)
			r.Nth = nth
			set := faultfs.NewSet(r)
			err := step(set.Wrap(fs))
			if set.Hits() == 0 {
				require.NoError(t, err)
				require.Greater(t, nth, 1, name)
				break
			}
			require.ErrorIs(t, err, faultfs.ErrInjected, "%s %d", name, nth)
			require.NotErrorIs(t, err, corrupt.ErrCorrupt)
			require.NoError(t, step(set.Wrap(fs)))
		}
	}
}

// A folder of a name that is none of ours is nobody's.
func TestFoldersOfOthers(t *testing.T) {
	fs := crashfs.New().FS()
	for _, dir := range []string{"p0", "p0/gen-3", "p0/gen-03", "p0/gen-x", "p0/journal"} {
		require.NoError(t, fs.Mkdir("t", dir))
	}
	_, err := fs.Create("t", "p0/gen-4")
	require.NoError(t, err)
	got, err := Folders(fs, "p0")
	require.NoError(t, err)
	require.Equal(t, []op.Generation{3}, got)
}
