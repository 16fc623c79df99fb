package bookmark

import (
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/corrupt"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/faultfs"
	"purgelab/model/op"
)

// Whatever call of an Open fails, it is the disk's own error, nothing is taken for
// damage, and the next Open finds everything.
func TestEveryCallOfAnOpenFails(t *testing.T) {
	for _, call := range []string{"open", "read", "truncate", "sync"} {
		failed := 0
		for nth := 1; ; nth++ {
			d, o := newDisk(t)
			l, _, err := Open(o)
			require.NoError(t, err)
			for n := op.Number(2); n <= 4; n++ {
				require.NoError(t, apply(l, n))
			}
			h, err := d.FS().Open(file)
			require.NoError(t, err)
			require.NoError(t, h.Truncate("t", l.size-1)) // op 4 is torn, and cut
			o.Length, o.Applied = l.size-2*frameSize, 2

			r := faultfs.New(faultfs.FailBefore)
			r.Op, r.Nth = call, nth
			set := faultfs.NewSet(r)
			o.FS = set.Wrap(d.FS())
			_, _, err = Open(o)
			if set.Hits() == 0 {
				require.NoError(t, err)
				break
			}
			failed++
			require.ErrorIs(t, err, faultfs.ErrInjected)
			require.NotErrorIs(t, err, corrupt.ErrCorrupt)
			require.True(t, vfs.Failed(err))
			l, _, err = Open(o)
			require.NoError(t, err)
			require.EqualValues(t, 3, l.LastOp())
		}
		require.Positive(t, failed, call)
	}
}

// After a sync that failed nothing is trusted any more.
func TestNothingAfterAFailedSync(t *testing.T) {
	d, o := newDisk(t)
	r := faultfs.New(faultfs.FailBefore)
	r.Op = "sync"
	o.FS = faultfs.NewSet(r).Wrap(d.FS())
	l, _, err := Open(o)
	require.NoError(t, err)
	require.NoError(t, apply(l, 2))
	c := l.Capture()
	require.ErrorIs(t, l.Sync(c), vfs.ErrUnsure)
	require.ErrorIs(t, l.Sync(c), ErrFailed)
	require.ErrorIs(t, apply(l, 3), ErrFailed)
}

// Frames that are intact, and of ops that cannot be there: below what the checkpoint
// covers one that comes later, above it one that it has covered, or one twice.
func TestOpsThatCannotBeThere(t *testing.T) {
	for _, c := range []struct {
		ops     []op.Number
		covered int
		want    string
	}{
		{[]op.Number{2, 9}, 2, "bookmark op: want at most 5, got 9"},
		{[]op.Number{2, 4}, 1, ""},
		{[]op.Number{2, 7, 7}, 1, ""},
	} {
		d, o := newDisk(t)
		l, _, err := Open(o)
		require.NoError(t, err)
		b := l.header(nil, 1)
		for i, n := range c.ops {
			b = l.encode(b, frame{Entry: Entry{Key: key(1), Position: at(0), Op: n}}, uint32(i+1))
		}
		h, err := d.FS().Create("t", file)
		require.NoError(t, err)
		_, err = h.WriteAt("t", b, 0)
		require.NoError(t, err)
		o.Length, o.Applied = fileHeader+int64(c.covered)*frameSize, 5
		_, r, err := Open(o)
		if c.want != "" {
			require.ErrorContains(t, err, c.want)
			continue
		}
		// Above the checkpoint the journal is the source: it is cut, and comes again.
		require.NoError(t, err)
		require.NotNil(t, r.Torn)
		require.Contains(t, r.Torn.What, "bookmark op")
	}
}

// Files of other logs that cannot be listed are reclaimed later.
func TestReclaimThatCannotList(t *testing.T) {
	d, o := newDisk(t)
	r := faultfs.New(faultfs.FailBefore)
	r.Op = "list"
	o.FS = faultfs.NewSet(r).Wrap(d.FS())
	l, _, err := Open(o)
	require.NoError(t, err)
	_, err = l.Reclaim(1)
	require.ErrorIs(t, err, faultfs.ErrInjected)
	more, err := l.Reclaim(1)
	require.NoError(t, err)
	require.False(t, more)
}

// What cannot be removed stays, and is removed another time.
func TestRemovalsThatFail(t *testing.T) {
	d, o := newDisk(t)
	set := faultfs.NewSet()
	o.FS = set.Wrap(d.FS())
	fails := func(label string) {
		r := faultfs.New(faultfs.FailBefore)
		r.Label = label
		set.Clear()
		set.Add(r)
	}
	l, _, err := Open(o)
	require.NoError(t, err)
	for n := op.Number(2); n <= 20; n++ {
		require.NoError(t, l.Store(n, key(int(n)%3), at(op.Offset(n))))
	}
	c := l.Capture()
	fails("bookmark.rewrite.discard")
	require.ErrorIs(t, l.Sync(c), faultfs.ErrInjected)
	require.NoError(t, l.Sync(c))
	fails("bookmark.reclaim")
	_, err = l.Reclaim(c.Number)
	require.ErrorIs(t, err, faultfs.ErrInjected)
	did, err := l.Reclaim(c.Number)
	require.NoError(t, err)
	require.True(t, did)

	// A file that was made and got no header.
	d, o = newDisk(t)
	_, err = d.FS().Create("t", file)
	require.NoError(t, err)
	set = faultfs.NewSet()
	o.FS = set.Wrap(d.FS())
	fails("bookmark.cut.remove")
	_, _, err = Open(o)
	require.ErrorIs(t, err, faultfs.ErrInjected)
	require.NotErrorIs(t, err, corrupt.ErrCorrupt)
	_, report, err := Open(o)
	require.NoError(t, err)
	require.NotNil(t, report.Torn)
}
