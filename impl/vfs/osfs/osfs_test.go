package osfs

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/vfs"
)

// What crashfs and the real file system have in common is compared in package
// crashfs; here is what only the real one has.
func TestRoot(t *testing.T) {
	root := t.TempDir()
	_, err := New(filepath.Join(root, "absent"))
	require.ErrorIs(t, err, vfs.ErrNotExist)
	require.NoError(t, os.WriteFile(filepath.Join(root, "file"), nil, 0o600))
	_, err = New(filepath.Join(root, "file"))
	require.ErrorContains(t, err, "is not a folder")

	fs, err := New(root)
	require.NoError(t, err)
	require.NoError(t, fs.Mkdir("t", "d"))
	require.NoError(t, fs.Mkdir("t", "d"), "no error if it is there")
	require.Error(t, fs.Mkdir("t", "file"))
	f, err := fs.Create("t", "d/a")
	require.NoError(t, err)
	_, err = f.WriteAt("t", []byte("x"), 3)
	require.NoError(t, err)
	require.NoError(t, f.Sync("t"))
	require.NoError(t, fs.SyncDir("t", "d"))
	require.NoError(t, f.Close())
	b, err := os.ReadFile(filepath.Join(root, "d", "a"))
	require.NoError(t, err)
	require.Equal(t, "\x00\x00\x00x", string(b))
	require.ErrorIs(t, fs.SyncDir("t", "absent"), vfs.ErrNotExist)
	names, err := fs.List(".")
	require.NoError(t, err)
	require.Equal(t, []string{"d/", "file"}, names)
}
