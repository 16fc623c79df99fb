package crashfs

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whoever decides is told of each change what it is, and what it keeps is what is left.
func TestPowerLossKeeping(t *testing.T) {
	d := New()
	fs := d.FS()
	require.NoError(t, fs.Mkdir("t", "d"))
	require.NoError(t, fs.SyncDir("t", "."))
	h, err := fs.Create("t", "d/a")
	require.NoError(t, err)
	_, err = h.WriteAt("t", []byte("one"), 0)
	require.NoError(t, err)
	require.NoError(t, h.Sync("t"))
	require.NoError(t, fs.SyncDir("t", "d"))
	_, err = h.WriteAt("t", []byte("two"), 3)
	require.NoError(t, err)
	_, err = h.WriteAt("t", []byte("three"), 6)
	require.NoError(t, err)
	require.NoError(t, fs.Rename("t", "d/a", "d/b"))

	for _, c := range []struct {
		kept       int64 // bytes that are written up to here
		renamed    bool
		name, text string
	}{
		{3, false, "d/a", "one"},
		{6, false, "d/a", "onetwo"},
		{11, true, "d/b", "onetwothree"},
	} {
		loses := d.Clone()
		var asked []string
		loses.PowerLossKeeping(func(c2 Change) bool {
			asked = append(asked, fmt.Sprintf("%s %d %s>%s %d-%d", c2.Path, c2.Nth, c2.From, c2.To, c2.Offset, c2.End))
			if c2.Names() {
				return c.renamed
			}
			return c2.End <= c.kept
		})
		require.Equal(t, []string{"d 0 a>b 0-0", "d/b 0 > 3-6", "d/b 0 > 3-6", "d/b 1 > 6-11", "d/b 1 > 6-11"}, asked)
		f, err := loses.FS().Open(c.name)
		require.NoError(t, err)
		size, err := f.Size()
		require.NoError(t, err)
		b := make([]byte, size)
		_, err = f.ReadAt(b, 0)
		require.NoError(t, err)
		require.Equal(t, c.text, string(b))
		require.Zero(t, loses.Decisions(), "all that is left is stable")
	}
}
