package journal

import (
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/raftlog"
	"purgelab/impl/vfs/crashfs"
)

// Damage to every proved byte is refused. Damage to the last frame, which nothing
// proves, is taken for a torn write: what it held is gone without a word. That is
// what docs/disks.md says, and why term, vote and the newest entries rely on the
// disk to keep what it has synced.
func TestDamageToWhatIsProved(t *testing.T) {
	d := crashfs.New()
	o := Options{FS: d.FS(), Dir: "p0/journal", Identity: me, FileBytes: 400}
	j, _, err := Open(o)
	require.NoError(t, err)
	for n := j.Last() + 1; n < 14; n++ {
		require.NoError(t, j.Append(&raftlog.State{Term: 1, Commit: n - 1}, []raftlog.Entry{entry(n, 1)}))
		require.NoError(t, j.Sync())
	}
	last := j.Last()
	spans, err := Proved(o.FS, o.Dir, o.Identity)
	require.NoError(t, err)
	require.Len(t, spans, int(last)-2, "all entries but the last one")
	files := map[string]bool{}
	for _, s := range spans {
		files[s.File] = true
		for at := s.From; at < s.To; at++ {
			c := d.Clone()
			require.NoError(t, c.Rot(s.File, at, 0x10))
			o.FS = c.FS()
			_, _, err := Open(o)
			require.ErrorIs(t, err, ErrCorrupt, "%v byte %d", s, at)
		}
	}
	require.Greater(t, len(files), 1)

	c := d.Clone()
	require.NoError(t, c.Rot(j.name(j.number), j.size-1, 0x10))
	o.FS = c.FS()
	k, r, err := Open(o)
	require.NoError(t, err)
	require.NotNil(t, r.Torn)
	require.Equal(t, last-1, k.Last(), "an entry that was synced and acknowledged")

	// A frame that was written after it would have proved it, and so does the next
	// boot.
	o.FS = d.FS()
	j, _, err = Open(o)
	require.NoError(t, err)
	require.NoError(t, j.Close())
	spans, err = Proved(o.FS, o.Dir, o.Identity)
	require.NoError(t, err)
	require.Len(t, spans, int(last)-1)
}
