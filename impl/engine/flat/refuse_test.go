package flat

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/corrupt"
	"purgelab/impl/engine"
	"purgelab/impl/framed"
	"purgelab/impl/record"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/faultfs"
	"purgelab/model/op"
)

// Whatever call of an Open fails, it is the disk's own error, nothing is taken for
// damage, and the next Open finds everything.
func TestEveryCallOfAnOpenFails(t *testing.T) {
	for _, call := range []string{"open", "read", "list", "syncdir"} {
		failed := 0
		for nth := 1; ; nth++ {
			d, e := filled(t)
			e.Close()
			d.ProcessCrash()
			r := faultfs.New(faultfs.FailBefore)
			r.Op, r.Nth = call, nth
			set := faultfs.NewSet(r)
			o := options(d)
			o.FS = set.Wrap(d.FS())
			_, _, err := Open(o)
			if set.Hits() == 0 {
				require.NoError(t, err)
				break
			}
			if call == "list" && err == nil {
				continue // whether a folder is there can be told otherwise
			}
			failed++
			require.ErrorIs(t, err, faultfs.ErrInjected, "%s %d", call, nth)
			require.NotErrorIs(t, err, corrupt.ErrCorrupt)
			require.True(t, vfs.Failed(err))
			e, _, err = Open(o)
			require.NoError(t, err)
			require.Len(t, e.Bookmarks(), 2)
			require.EqualValues(t, 1, e.Facts().End)
		}
		require.Positive(t, failed, call)
	}
}

// Records and bookmarks that are intact, and not those that must be there.
func TestIntactButWrong(t *testing.T) {
	put := func(o *Options, file string, b []byte) {
		f, err := o.FS.Create("t", file)
		require.NoError(t, err)
		_, err = f.WriteAt("t", b, 0)
		require.NoError(t, err)
	}
	mark := func(o *Options, change func([]byte)) {
		b := encodeMark(o, []version{{op: 3, set: true}})
		change(b)
		binary.LittleEndian.PutUint32(b[28:], 0)
		binary.LittleEndian.PutUint32(b[28:], framed.Sum(b))
		put(o, o.bookmarkFile(op.Key{ID: 1}), b)
	}
	other := record.Identity{Cluster: 7, Replica: 3, Incarnation: 1}
	for name, c := range map[string]struct {
		wrong func(*Options)
		want  string
	}{
		"complete, and not reset": {func(o *Options) { require.NoError(t, writeGen(o, 4)) }, "generation that is complete: want at most 0, which was reset, got 4"},
		"a floor of another incarnation": {func(o *Options) {
			me := o.Identity
			b := binary.LittleEndian.AppendUint32(nil, 1)
			b = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32(b, 2), 9)
			put(o, o.resetFile(), record.Encode(me, b))
		}, "incarnation of the floor: want 1, got 2"},
		"bookmarks of the era before that are not there": {func(o *Options) {
			b := make([]byte, checkpointBytes)
			binary.LittleEndian.PutUint32(b[60:], 9)
			put(o, o.checkpointFile(), record.Encode(o.Identity, b))
		}, "bookmarks of the generation before: want at most 0, got 9"},
		"a short record":     {func(o *Options) { put(o, o.genFile(), record.Encode(o.Identity, []byte{1})) }, "record bytes: want at least 4, got 1"},
		"another's bookmark": {func(o *Options) { mark(o, func(b []byte) { copy(b[4:], other.Append(nil)) }) }, "belongs to another replica"},
		"no version":         {func(o *Options) { mark(o, func(b []byte) { b[24] = 0 }) }, "bookmarks as of op 4: want 2, got 1"},
		"too many versions":  {func(o *Options) { mark(o, func(b []byte) { b[24] = 9 }) }, "bookmarks as of op 4: want 2, got 1"},
		"a short bookmark":   {func(o *Options) { put(o, o.bookmarkFile(op.Key{ID: 1}), []byte{1, 2}) }, "bookmarks as of op 4: want 2, got 1"},
		"a bookmark is gone": {func(o *Options) { require.NoError(t, o.FS.Remove("t", o.bookmarkFile(op.Key{ID: 1}))) }, "bookmarks as of op 4: want 2, got 1"},
	} {
		t.Run(name, func(t *testing.T) {
			d, e := filled(t)
			e.Close()
			o := options(d)
			c.wrong(&o)
			_, _, err := Open(options(d))
			require.ErrorContains(t, err, c.want)
		})
	}
}

// What cannot be a name of ours among the bookmarks is passed over.
func TestFilesOfOthers(t *testing.T) {
	d, e := filled(t)
	e.Close()
	for _, name := range []string{"x", "01", "4294967296"} {
		_, err := d.FS().Create("t", "p0/bookmarks/consumer/"+name)
		require.NoError(t, err)
	}
	e = mustOpen(t, options(d))
	require.Len(t, e.Bookmarks(), 2)
	require.Panics(t, func() { _ = e.Apply(9, engine.Effect{}) }, "an op left out")
}

// A checkpoint whose call fails says of which op it is, and the next one ends.
func TestCheckpointThatFails(t *testing.T) {
	d, e := filled(t)
	e.Close()
	r := faultfs.New(faultfs.FailBefore)
	r.Label = "checkpoint.record"
	o := options(d)
	o.FS = faultfs.NewSet(r).Wrap(d.FS())
	e = mustOpen(t, o)
	require.NoError(t, e.Apply(5, engine.Effect{Kind: engine.Append, Payloads: []op.Payload{"b"}}))
	var err error
	for w, done := e.Checkpoint(nil), false; err == nil && !done; {
		done, _, err = w.Step()
	}
	require.ErrorIs(t, err, faultfs.ErrInjected)
	require.ErrorContains(t, err, "flat: checkpoint of op 5: ")
	finish(t, e.Checkpoint(nil))
	e.Close()
	require.EqualValues(t, 5, mustOpen(t, options(d)).Facts().Applied)
}
