package flat

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/corrupt"
	"purgelab/impl/engine"
	"purgelab/impl/record"
	"purgelab/impl/vfs/crashfs"
	"purgelab/impl/vfs/faultfs"
	"purgelab/model/op"
)

func options(d *crashfs.Disk) Options {
	return Options{Options: engine.Options{
		FS: d.FS(), Dir: "p0", Identity: record.Identity{Cluster: 7, Replica: 2, Incarnation: 1},
		HighestOp: func() op.Number { return 9 },
	}}
}

func mustOpen(t *testing.T, o Options) *Engine {
	e, _, err := Open(o)
	require.NoError(t, err)
	return e
}

// filled holds a message and a bookmark of each kind, checkpointed.
func filled(t *testing.T) (*crashfs.Disk, *Engine) {
	d := crashfs.New()
	e := mustOpen(t, options(d))
	require.NoError(t, e.Apply(2, engine.Effect{Kind: engine.Append, Payloads: []op.Payload{"a"}}))
	require.NoError(t, e.Apply(3, engine.Effect{Kind: engine.Store, Key: op.Key{ID: 1}, Position: op.Position{Incarnation: 1}}))
	require.NoError(t, e.Apply(4, engine.Effect{Kind: engine.Store, Key: op.Key{Kind: op.Group, ID: 2}, Position: op.Position{Incarnation: 1}}))
	finish(t, e.Checkpoint(nil))
	return d, e
}

func finish(t *testing.T, w engine.Task) {
	for done := false; !done; {
		var err error
		done, _, err = w.Step()
		require.NoError(t, err)
	}
}

// The order of the durable steps is the design; the disk sees exactly this.
func TestOrderOfSteps(t *testing.T) {
	d, e := filled(t)
	d.LogCalls(true)
	var did []string
	for w, done := e.Purge(9, 1, nil), false; !done; {
		over, action, err := w.Step()
		require.NoError(t, err)
		for _, c := range d.Calls() {
			did = append(did, string(c.Label)+" "+strings.TrimPrefix(c.Path, "p0/"))
		}
		d.LogCalls(true)
		if action != "" {
			did = append(did, "= "+string(action))
		}
		done = over
	}
	record := func(label, file string) string {
		dir := "p0"
		return strings.Join([]string{label + ".create " + file + ".tmp", label + ".write " + file + ".tmp", label + ".sync " + file + ".tmp", label + ".rename " + file + ".tmp", label + ".dirsync " + dir}, "\n")
	}
	require.Equal(t, strings.Join([]string{
		record("purge.frontier", "checkpoint"), "= ResetFrontier",
		"purge.segment.unlink segments/seg-00000000000000000000.log", "= UnlinkSegments",
		"purge.segment.dirsync segments", "= SyncSegments",
		record("purge.reset", "purge.reset"), "= ResetRecord",
		"purge.bookmark.unlink bookmarks/consumer/1", "purge.bookmark.unlink bookmarks/group/2", "= UnlinkBookmarks",
		"purge.bookmark.dirsync bookmarks/consumer", "purge.bookmark.dirsync bookmarks/group", "= SyncBookmarks",
		record("purge.gen", "purge.gen"), "= PurgeComplete",
	}, "\n"), strings.Join(did, "\n"))
}

// A bookmark that an unlink left behind counts, unless bookmarks are tagged.
func TestLeftOverBookmark(t *testing.T) {
	for _, tagged := range []bool{false, true} {
		d := crashfs.New()
		o := options(d)
		o.Tagged = tagged
		e := mustOpen(t, o)
		require.NoError(t, e.Apply(2, engine.Effect{Kind: engine.Append, Payloads: []op.Payload{"a"}}))
		require.NoError(t, e.Apply(3, engine.Effect{Kind: engine.Store, Key: op.Key{ID: 1}, Position: op.Position{Incarnation: 1}}))
		fs := d.FS()
		require.NoError(t, fs.Link("test", "p0/bookmarks/consumer/1", "p0/kept"))
		finish(t, e.Purge(3, 1, nil))
		require.Empty(t, e.Bookmarks())
		require.NoError(t, fs.Rename("test", "p0/kept", "p0/bookmarks/consumer/1"))
		require.Len(t, mustOpen(t, o).Bookmarks(), map[bool]int{false: 1, true: 0}[tagged])
	}
}

// spoilMark flips one bit of a byte of a bookmark, in the copies given.
func spoilMark(t *testing.T, d *crashfs.Disk, at int64, copies ...int64) {
	h, err := d.FS().Open("p0/bookmarks/group/2")
	require.NoError(t, err)
	for _, c := range copies {
		b := make([]byte, 1)
		_, err = h.ReadAt(b, at+c*markBytes)
		require.NoError(t, err)
		_, err = h.WriteAt("test", []byte{b[0] ^ 1}, at+c*markBytes)
		require.NoError(t, err)
	}
}

// One flipped byte of a bookmark does no harm; in both copies it is refused if a
// checkpoint covers the bookmark, and so is a file that is missing.
func TestDamagedBookmark(t *testing.T) {
	for at := range int64(markBytes) {
		for copy := range int64(2) {
			d, e := filled(t)
			spoilMark(t, d, at, copy)
			require.Equal(t, e.Bookmarks(), mustOpen(t, options(d)).Bookmarks(), "byte %d", at)
		}
		d, _ := filled(t)
		spoilMark(t, d, at, 0, 1)
		_, _, err := Open(options(d))
		require.ErrorIs(t, err, corrupt.ErrCorrupt, "byte %d", at)
	}
	d, _ := filled(t)
	require.NoError(t, d.FS().Remove("test", "p0/bookmarks/group/2"))
	_, _, err := Open(options(d))
	require.ErrorIs(t, err, corrupt.ErrCorrupt)
}

// A write that the disk breaks off, at any byte, and a crash: what was there
// before is there, or the new bookmark.
func TestBrokenOffBookmark(t *testing.T) {
	for _, first := range []bool{true, false} {
		for bytes := range 2*markBytes + 1 {
			d, e := filled(t)
			k := op.Key{Kind: op.Group, ID: 2}
			if first {
				k.ID = 9
			}
			r := faultfs.New(faultfs.ShortWrite)
			r.Arg = bytes
			e.o.FS = faultfs.NewSet(r).Wrap(e.o.FS)
			if m := e.marks.find(k); m != nil {
				var err error
				m.h, err = e.o.FS.Open(e.o.bookmarkFile(k))
				require.NoError(t, err)
			}
			require.Error(t, e.Apply(5, engine.Effect{Kind: engine.Store, Key: k, Position: op.Position{Incarnation: 1, Offset: 0}}))
			d.ProcessCrash()
			again := mustOpen(t, options(d))
			require.Len(t, again.Bookmarks(), 2, "as of the checkpoint")
			require.NoError(t, again.Apply(5, engine.Effect{Kind: engine.Store, Key: k, Position: op.Position{Incarnation: 1, Offset: 0}}))
			at, ok := again.Bookmark(k)
			require.True(t, ok)
			require.Zero(t, at.Offset)
		}
	}
}

// A completion above the reset cannot be.
func TestCompletionAboveReset(t *testing.T) {
	d, _ := filled(t)
	o := options(d)
	require.NoError(t, writeGen(&o, 2))
	_, _, err := Open(o)
	require.ErrorIs(t, err, corrupt.ErrCorrupt)
}

// TestProved: damage to every byte that Proved lists is refused, whatever a power
// loss takes of what was not synced. Bookmarks are not among them.
func TestProved(t *testing.T) {
	d, e := filled(t)
	finish(t, e.Purge(9, 1, nil))
	for n := op.Number(5); n <= 9; n++ {
		require.NoError(t, e.Apply(n, engine.Effect{}))
	}
	require.NoError(t, e.Apply(10, engine.Effect{Kind: engine.Append, Payloads: []op.Payload{"b"}}))
	require.NoError(t, e.Apply(11, engine.Effect{Kind: engine.Store, Key: op.Key{ID: 1}, Position: op.Position{Incarnation: 1, Generation: 1}}))
	finish(t, e.Checkpoint([]byte("sessions")))
	e.Close()
	d.PowerLossAs(nil)
	spans, err := Proved(options(d))
	require.NoError(t, err)
	files := map[string]corrupt.Kind{}
	for _, s := range spans {
		files[s.File] = s.Of
		for at := s.From; at < s.To; at++ {
			c := d.Clone()
			require.NoError(t, c.Rot(s.File, at, 0x08))
			_, _, err := Open(options(c))
			require.ErrorIs(t, err, corrupt.ErrCorrupt, "%s byte %d", s.File, at)
		}
	}
	require.Equal(t, map[string]corrupt.Kind{
		"p0/checkpoint": corrupt.Record, "p0/purge.reset": corrupt.Record, "p0/purge.gen": corrupt.Record,
		"p0/segments/seg-00000000000000000000.log": corrupt.Messages,
	}, files)
}
