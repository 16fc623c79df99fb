package faultfs

import (
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/vfs/osfs"
)

// A real file system cannot forget what was not synced: a rule that asks for it says
// so, beside its own error. All other rules work there, too.
func TestOnTheRealFileSystem(t *testing.T) {
	under, err := osfs.New(t.TempDir())
	require.NoError(t, err)
	for _, a := range []Action{SyncForget, SyncEvict} {
		f, err := NewSet(New(a)).Wrap(under).Create("t", "f")
		require.NoError(t, err)
		err = f.Sync("t")
		require.ErrorIs(t, err, ErrInjected)
		require.ErrorIs(t, err, ErrCannotForget)
	}
	r := New(BitFlip)
	r.Op, r.Arg = "read", 1
	set := NewSet(r)
	f, err := set.Wrap(under).Create("t", "g")
	require.NoError(t, err)
	_, err = f.WriteAt("t", []byte("abc"), 0)
	require.NoError(t, err)
	b := make([]byte, 3)
	_, err = f.ReadAt(b, 0)
	require.NoError(t, err)
	require.Equal(t, "acc", string(b))
	set.Drop(r)
	require.Empty(t, set.Rules())
	set.Drop(r)
	_, err = f.ReadAt(b, 0)
	require.NoError(t, err)
	require.Equal(t, "abc", string(b))

	fs := NewSet(New(FailAfter)).Wrap(under)
	require.ErrorIs(t, fs.Link("t", "g", "h"), ErrInjected)
	_, err = fs.Open("h")
	require.NoError(t, err, "the link was made")
}
