package journal

import (
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/raftlog"
	"purgelab/impl/vfs/crashfs"
	"purgelab/impl/vfs/faultfs"
	"purgelab/model/op"
)

// A disk that says it wrote, and did not, or elsewhere, or wrong, is found out by
// the next boot if a later frame speaks of what is missing; if it was the last
// frame, what it held is gone without a word. See docs/disks.md.
func TestDiskThatLies(t *testing.T) {
	const frames = 6
	for _, rule := range []string{"drop-write", "misdirect by=4096", "misdirect by=-7", "bit-flip op=write at=70 bit=2", "bit-flip op=write at=3", "bit-flip op=write at=20 bit=7"} {
		for nth := 1; nth <= frames; nth++ {
			d := crashfs.New()
			r, err := faultfs.Parse(rule + " label=journal.append")
			require.NoError(t, err)
			r.Nth = nth
			set := faultfs.NewSet(r)
			j, _, err := Open(Options{FS: set.Wrap(d.FS()), Dir: "p0/journal", Identity: me})
			require.NoError(t, err)
			for range frames {
				n := j.Last() + 1
				require.NoError(t, j.Append(&raftlog.State{Term: 1, Commit: n - 1}, []raftlog.Entry{entry(n, 1)}))
				require.NoError(t, j.Sync())
			}
			require.Equal(t, 1, set.Hits())
			d.PowerLossAs(nil)
			k, report, err := Open(Options{FS: d.FS(), Dir: "p0/journal", Identity: me})
			if nth == frames && rule != "misdirect by=-7" {
				require.NoError(t, err, rule)
				require.Equal(t, op.Number(frames), k.Last(), rule)
				require.Equal(t, rule == "drop-write", report.Torn == nil, "%s: not even a torn tail is seen", rule)
				continue
			}
			require.ErrorIs(t, err, ErrCorrupt, "%s of frame %d", rule, nth)
		}
	}
}

// A read that shows the last frame as it was before it was written cannot be told
// from a torn write either: it is cut. A frame that a later one proves is missed.
func TestStaleReadAtBoot(t *testing.T) {
	for _, proved := range []bool{false, true} {
		d := crashfs.New()
		set := faultfs.NewSet()
		stale, err := faultfs.Parse("stale-read")
		require.NoError(t, err)
		set.Add(stale)
		fs := set.Wrap(d.FS())
		j, _, err := Open(Options{FS: fs, Dir: "p0/journal", Identity: me})
		require.NoError(t, err)
		for range 3 {
			n := j.Last() + 1
			require.NoError(t, j.Append(&raftlog.State{Term: 1, Commit: n - 1}, []raftlog.Entry{entry(n, 1)}))
			require.NoError(t, j.Sync())
		}
		if proved { // behind the back of the rule, so that the frame before is stale
			k, _, err := Open(Options{FS: d.FS(), Dir: "p0/journal", Identity: me})
			require.NoError(t, err)
			require.NoError(t, k.Close())
		}
		k, report, err := Open(Options{FS: fs, Dir: "p0/journal", Identity: me})
		if proved {
			require.ErrorIs(t, err, ErrCorrupt)
			continue
		}
		require.NoError(t, err)
		require.NotNil(t, report.Torn)
		require.Equal(t, op.Number(3), k.Last())
	}
}

// An entry that is read from the place of another one, which a misdirected write has
// taken, is not given out, and the search for it ends.
func TestReadOfAnotherFrame(t *testing.T) {
	d := crashfs.New()
	set := faultfs.NewSet()
	j, _, err := Open(Options{FS: set.Wrap(d.FS()), Dir: "p0/journal", Identity: me})
	require.NoError(t, err)
	add := func() {
		n := j.Last() + 1
		require.NoError(t, j.Append(nil, []raftlog.Entry{{Op: n, Term: 1, Data: []byte("same")}}))
	}
	add()
	size := int(j.size) - fileHeader
	add()
	r := faultfs.New(faultfs.Misdirect)
	r.Arg = -size
	set.Add(r)
	add() // op 4 lands where op 3 is
	j.drop(len(j.tail))
	j.tail = nil
	_, err = j.Entries(2, 3, 1)
	require.NoError(t, err)
	_, err = j.Entries(3, 4, 1)
	require.ErrorIs(t, err, ErrCorrupt)
	require.ErrorContains(t, err, "op of term 1 in the frame: want 3, got 4")
}
