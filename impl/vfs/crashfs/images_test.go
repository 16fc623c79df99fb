package crashfs

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// What a power loss can leave of a few changes, counted by hand.
func TestImagesCounted(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	write := func(d *Disk, path string, n int, off int64) {
		f, err := d.FS().Open(path)
		if err != nil {
			f, err = d.FS().Create("t", path)
		}
		require.NoError(t, err)
		p := make([]byte, n)
		for i := range p {
			p[i] = 1
		}
		_, err = f.WriteAt("t", p, off)
		require.NoError(t, err)
	}
	durable := func(d *Disk, path string) {
		f, err := d.FS().Open(path)
		require.NoError(t, err)
		require.NoError(t, f.Sync("t"))
		require.NoError(t, d.FS().SyncDir("t", "."))
	}
	count := func(d *Disk) int {
		list, all := d.Images(1<<10, r)
		require.True(t, all)
		return len(list)
	}
	d := New()
	require.Equal(t, 1, count(d), "nothing to lose")

	write(d, "a", 10, 0)
	require.Equal(t, 4, count(d), "no name; empty; zeros; whole")
	durable(d, "a")
	require.Equal(t, 1, count(d))

	write(d, "a", 10, 5)
	require.Equal(t, 3, count(d), "10 bytes; 15 with 5 zeros; 15 whole. Rewritten bytes are the same")
	durable(d, "a")

	write(d, "a", 1200, 15)
	require.Equal(t, 1+8, count(d), "as before, or any of three sectors")
	durable(d, "a")

	require.NoError(t, d.FS().Rename("t", "a", "b"))
	require.Equal(t, 2, count(d))
	require.NoError(t, d.FS().Mkdir("t", "d"))
	require.NoError(t, d.FS().SyncDir("t", "."))
	require.NoError(t, d.FS().Rename("t", "b", "d/b"))
	require.Equal(t, 2, count(d), "a rename between directories is one decision")

	for range 30 {
		write(d, "d/b", 10, 0)
	}
	write(d, "d/b", 10, 5000)
	list, all := d.Images(64, r)
	require.False(t, all)
	require.LessOrEqual(t, len(list), 64)
}

// Every drawn power loss is one of the images that are listed, and a clone ends
// as its original does.
func TestDrawnImagesAreListed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &world{t: t, d: New(), m: newNaive()}
		w.fs = w.d.FS()
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			w.step()
		}
		list, all := w.d.Images(1<<9, rand.New(rand.NewPCG(1, 2)))
		if !all {
			return
		}
		var digests []uint64
		for _, m := range list {
			c := w.d.Clone()
			require.Equal(t, w.d.Digest(), c.Digest())
			c.PowerLossAs(m)
			digests = append(digests, c.Digest())
		}
		for range 8 {
			seed := rapid.Uint64().Draw(t, "seed")
			c := w.d.Clone()
			c.PowerLoss(rand.New(rand.NewPCG(seed, 3)))
			require.True(t, slices.Contains(digests, c.Digest()), "a drawn image is not listed")
		}
	})
}

// A sync that lost its data is followed by syncs that succeed and prove nothing
// about it; what is written later is durable as usual.
func TestForgottenChangesNeverBecomeStable(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, evict := range []bool{false, true} {
		d := New()
		fs := d.FS()
		f, err := fs.Create("t", "a")
		require.NoError(t, err)
		require.NoError(t, fs.SyncDir("t", "."))
		put := func(s string, off int64) {
			_, err := f.WriteAt("t", []byte(s), off)
			require.NoError(t, err)
		}
		put("stable", 0)
		require.NoError(t, f.Sync("t"))
		put("LOST", 2)
		put("more", 6)
		if evict {
			require.NoError(t, f.(Forgetter).Evict())
			require.Equal(t, "stable", string(readAll(t, f)))
		} else {
			require.NoError(t, f.(Forgetter).Forget())
			require.Equal(t, "stLOSTmore", string(readAll(t, f)))
		}
		require.NoError(t, f.Sync("t"))
		put("new", 8)
		require.NoError(t, f.Sync("t"))
		put("drawn", 11)
		list, all := d.Images(64, r)
		require.True(t, all)
		require.Len(t, list, 3)
		d.ProcessCrash()
		if !evict {
			g, err := d.FS().Open("a")
			require.NoError(t, err)
			require.Equal(t, "stLOSTmonewdrawn", string(readAll(t, g)), "the cache still shows it")
		}
		c := d.Clone()
		c.PowerLossAs(nil)
		g, err := c.FS().Open("a")
		require.NoError(t, err)
		require.Equal(t, "stable\x00\x00new", string(readAll(t, g)))
	}
}

// What rots stays rotten, but for what is written over it later.
func TestRot(t *testing.T) {
	d := New()
	f, err := d.FS().Create("t", "a")
	require.NoError(t, err)
	require.NoError(t, d.FS().SyncDir("t", "."))
	_, err = f.WriteAt("t", []byte("abcd"), 0)
	require.NoError(t, err)
	require.NoError(t, f.Sync("t"))
	require.NoError(t, d.Rot("a", 0, 1))
	require.NoError(t, d.Rot("a", 1, 1))
	require.Error(t, d.Rot("a", 4, 1))
	require.Error(t, d.Rot("b", 0, 1))
	require.Equal(t, "`ccd", string(readAll(t, f)))
	_, err = f.WriteAt("t", []byte("B"), 1)
	require.NoError(t, err)
	require.NoError(t, d.Rot("a", 1, 1))
	d.PowerLossAs(nil)
	f, err = d.FS().Open("a")
	require.NoError(t, err)
	require.Equal(t, "`bcd", string(readAll(t, f)), "the bit of the stable byte was changed twice")
}

// What a write that went astray leaves is there, whatever survives.
func TestPut(t *testing.T) {
	d := New()
	f, err := d.FS().Create("t", "a")
	require.NoError(t, err)
	require.NoError(t, d.FS().SyncDir("t", "."))
	_, err = f.WriteAt("t", []byte("abcdef"), 0)
	require.NoError(t, err)
	require.NoError(t, f.Sync("t"))
	_, err = f.WriteAt("t", []byte("CDX"), 2)
	require.NoError(t, err)
	c := d.Clone()
	require.NoError(t, d.Put("a", 1, []byte("123")))
	require.Error(t, d.Put("a", 4, []byte("123")))
	require.Error(t, d.Put("b", 0, []byte("1")))
	require.Equal(t, "a123Xf", string(readAll(t, f)))
	for kept, want := range map[bool]string{false: "a123ef", true: "a123Xf"} {
		e := d.Clone()
		e.PowerLossAs(Image{kept})
		g, err := e.FS().Open("a")
		require.NoError(t, err)
		require.Equal(t, want, string(readAll(t, g)))
	}
	c.PowerLossAs(nil)
	g, err := c.FS().Open("a")
	require.NoError(t, err)
	require.Equal(t, "abcdef", string(readAll(t, g)), "a clone is a disk of its own")
}
