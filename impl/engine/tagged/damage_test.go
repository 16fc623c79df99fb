package tagged

import (
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/corrupt"
	"purgelab/impl/purge"
	"purgelab/impl/record"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
	"purgelab/impl/vfs/faultfs"
	"purgelab/impl/vfs/osfs"
	"purgelab/model/op"
)

// stopped is the disk of a replica in the middle of its history: a checkpoint in
// generation 2, and later ops that only the journal keeps.
func stopped(t *testing.T) *driver {
	v := &driver{t: t, s: sample(), d: crashfs.New(), slack: 1}
	require.NoError(t, v.open())
	require.NoError(t, v.run(22))
	v.task = v.e.Checkpoint([]byte("sessions"))
	require.NoError(t, v.finishTask())
	require.NoError(t, v.run(24))
	for more := true; more; {
		var err error
		more, _, err = reclaim(v.e)
		require.NoError(t, err)
	}
	v.d.ProcessCrash()
	return v
}

// TestDamageOneByte damages each byte of each file that a stopped replica left.
// Either Open refuses, and names the file and two values, or what it shows is
// right and replay completes it.
func TestDamageOneByte(t *testing.T) {
	var files []string
	var walk func(fs *driver, dir string)
	walk = func(v *driver, dir string) {
		names, err := v.d.FS().List(dir)
		require.NoError(t, err)
		for _, name := range names {
			if full := dir + "/" + name; name[len(name)-1] == '/' {
				walk(v, full[:len(full)-1])
			} else {
				files = append(files, full)
			}
		}
	}
	walk(stopped(t), "p0")
	require.Len(t, files, 5, "%v", files) // marker, checkpoint, bookmarks, two segments
	refused := map[string]int{}
	for _, file := range files {
		f, err := stopped(t).d.FS().Open(file)
		require.NoError(t, err)
		size, err := f.Size()
		require.NoError(t, err)
		for at := range size {
			v := stopped(t)
			f, err := v.d.FS().Open(file)
			require.NoError(t, err)
			b := make([]byte, 1)
			_, err = f.ReadAt(b, at)
			require.NoError(t, err)
			_, err = f.WriteAt("t", []byte{b[0] ^ 0x40}, at)
			require.NoError(t, err)
			if err := v.open(); err != nil {
				var c *corrupt.Error
				require.ErrorAs(t, err, &c, "%s byte %d", file, at)
				require.Equal(t, file, c.File)
				require.NotEqual(t, c.Want, c.Got)
				refused[file]++
				continue
			}
			v.check()
			require.NoError(t, v.run(v.s.last()))
		}
		if file == "p0/marker" || file == "p0/gen-2/checkpoint" {
			require.EqualValues(t, size, refused[file], "every byte of a record counts")
		}
	}
	for _, file := range files {
		above := file == "p0/gen-2/seg-00000000000000000008.log" // of the checkpoint
		require.Equal(t, above, refused[file] == 0, file)
	}
}

// TestContradictions: each file is intact, but together they lie.
func TestContradictions(t *testing.T) {
	t.Run("no checkpoint", func(t *testing.T) {
		v := stopped(t)
		require.NoError(t, v.d.FS().Remove("t", "p0/gen-2/checkpoint"))
		require.EqualError(t, v.open(), "engine: open: corrupt: p0/gen-2/checkpoint at byte 0: checkpoint of complete(g2, i1:op 18, after g0): want a record, got no file")
	})
	t.Run("another boundary", func(t *testing.T) {
		v := stopped(t)
		require.NoError(t, purge.Write(v.d.FS(), "p0", me, Marker{State: purge.Complete, Generation: 2, Incarnation: 1, Boundary: 17}))
		require.EqualError(t, v.open(), "engine: open: corrupt: p0/gen-2/checkpoint at byte 0: boundary of the generation: want 17, got 18")
	})
	t.Run("another generation", func(t *testing.T) {
		v := stopped(t)
		require.NoError(t, v.d.FS().Mkdir("t", "p0/gen-3"))
		require.NoError(t, v.d.FS().Link("t", "p0/gen-2/checkpoint", "p0/gen-3/checkpoint"))
		require.NoError(t, purge.Write(v.d.FS(), "p0", me, Marker{State: purge.Complete, Generation: 3, Incarnation: 1, Boundary: 18}))
		require.EqualError(t, v.open(), "engine: open: corrupt: p0/gen-3/checkpoint at byte 0: generation of the checkpoint: want 3, got 2")
	})
	t.Run("a marker that the log does not follow", func(t *testing.T) {
		v := stopped(t)
		require.NoError(t, purge.Write(v.d.FS(), "p0", me, Marker{State: purge.Begun, Generation: 3, Before: 2, Incarnation: 1, Boundary: 23}))
		require.NoError(t, v.open())
		require.EqualValues(t, 24, v.e.Facts().Front)
		err := v.run(24)
		var m *MarkerMismatchError
		require.ErrorAs(t, err, &m)
		require.EqualError(t, err, "engine: marker begun(g3, i1:op 23, after g2) is not finished: want the purge at op 23, got op 24")
	})
	t.Run("another replay", func(t *testing.T) {
		v := stopped(t)
		require.NoError(t, v.open())
		require.EqualValues(t, 22, v.e.Facts().Applied)
		require.ErrorIs(t, v.e.Apply(23, Effect{}), corrupt.ErrCorrupt)
		require.EqualValues(t, 22, v.e.Facts().Applied)
	})
}

func TestReadOutsideOfTheRange(t *testing.T) {
	v := stopped(t)
	require.NoError(t, v.open())
	require.NoError(t, v.run(v.s.last()-3))
	require.NoError(t, v.e.Apply(v.s.last()-2, Effect{Kind: Append, Payloads: []op.Payload{"a", "b", "c"}, Timestamp: 99}))
	require.NoError(t, v.e.Apply(v.s.last()-1, Effect{Kind: Advance, Start: 2}))
	for _, from := range []op.Offset{-1, 0, 1, 4} {
		_, err := v.e.Read(from, 1)
		var r *RangeError
		require.ErrorAs(t, err, &r, "before any reclaim too")
		require.Equal(t, RangeError{From: from, Start: 2, End: 3}, *r)
	}
	recs, err := v.e.Read(3, 1)
	require.NoError(t, err)
	require.Empty(t, recs)
	recs, err = v.e.Read(2, 9)
	require.NoError(t, err)
	require.Equal(t, []op.Record{{Payload: "c", Timestamp: 99}}, recs)
}

// TestOnTheRealFileSystem runs the script on a folder of the machine, opening it
// anew now and then.
func TestOnTheRealFileSystem(t *testing.T) {
	fs, err := osfs.New(t.TempDir())
	require.NoError(t, err)
	v := &driver{t: t, s: sample(), fs: fs, checkpointEvery: 4, slack: 1}
	for last := op.Number(5); last < v.s.last()+5; last += 5 {
		require.NoError(t, v.open())
		v.check()
		require.NoError(t, v.run(min(last, v.s.last())))
		v.e.Close()
	}
	require.NoError(t, v.open())
	require.NoError(t, v.run(v.s.last()))
	for more := true; more; {
		more, _, err = reclaim(v.e)
		require.NoError(t, err)
	}
	v.check()
	gens, err := purge.Folders(fs, "p0")
	require.NoError(t, err)
	require.Equal(t, []op.Generation{5}, gens)
}

// TestProved: damage to every byte that Proved lists is refused, whatever a power
// loss takes of what was not synced; and every kind is there.
func TestProved(t *testing.T) {
	lost := func() *driver {
		v := stopped(t)
		v.d.PowerLossAs(nil)
		return v
	}
	v := lost()
	spans, err := Proved(Options{FS: v.d.FS(), Dir: "p0", Identity: me})
	require.NoError(t, err)
	of := map[corrupt.Kind]int64{}
	for _, s := range spans {
		of[s.Of] += s.To - s.From
		for at := s.From; at < s.To; at++ {
			v := lost()
			require.NoError(t, v.d.Rot(s.File, at, 0x08))
			require.ErrorIs(t, v.open(), corrupt.ErrCorrupt, "%s byte %d", s.File, at)
		}
	}
	require.Len(t, of, 3, "%v", of)
	require.EqualValues(t, 2*32+24+checkpointBytes+len("sessions"), of[corrupt.Record], "the marker, and the checkpoint with the sessions")

	require.NoError(t, v.d.Rot("p0/marker", 1, 1))
	_, err = Proved(Options{FS: v.d.FS(), Dir: "p0", Identity: me})
	require.ErrorIs(t, err, corrupt.ErrCorrupt, "nothing is proved by what is damaged")
}

// Whatever call of an Open fails, it is the disk's own error, nothing is taken for
// damage, and the next Open finds everything.
func TestEveryCallOfAnOpenFails(t *testing.T) {
	for _, call := range []string{"open", "read", "list", "syncdir"} {
		failed := 0
		for nth := 1; ; nth++ {
			v := stopped(t)
			r := faultfs.New(faultfs.FailBefore)
			r.Op, r.Nth = call, nth
			set := faultfs.NewSet(r)
			o := Options{FS: set.Wrap(v.d.FS()), Dir: "p0", Identity: me, SegmentBytes: 250, BookmarkSlack: v.slack}
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
			require.NoError(t, v.open())
			v.check()
			require.NoError(t, v.run(v.s.last()))
		}
		require.Positive(t, failed, call)
	}
}

// A checkpoint that is intact and too short is refused, and so is one without the
// marker's value.
func TestRecordsThatAreTooShort(t *testing.T) {
	v := stopped(t)
	require.NoError(t, record.Write(v.d.FS(), "t", "p0/gen-2/checkpoint", me, []byte("short")))
	require.ErrorContains(t, v.open(), "checkpoint bytes: want at least 64, got 5")
	v = stopped(t)
	require.NoError(t, record.Write(v.d.FS(), "t", "p0/marker", me, []byte("short")))
	require.ErrorContains(t, v.open(), "marker bytes: want 24, got 5")
}

// A step of a purge or a reclaim that cannot read its folder is taken again.
func TestFoldersThatCannotBeRead(t *testing.T) {
	v := stopped(t)
	r := faultfs.New(faultfs.FailBefore)
	r.Op, r.Times = "list", 1
	set := faultfs.NewSet()
	o := Options{FS: set.Wrap(v.d.FS()), Dir: "p0", Identity: me, SegmentBytes: 250, BookmarkSlack: v.slack}
	e, _, err := Open(o)
	require.NoError(t, err)
	set.Add(r)
	_, err = e.Reclaim()
	require.ErrorIs(t, err, faultfs.ErrInjected)
	_, err = e.Reclaim()
	require.NoError(t, err)

	failed := 0
	task := e.Purge(e.Facts().Applied, 9, nil)
	set.Add(faultfs.Rule{Action: faultfs.FailBefore, Op: "list", Path: "p0/gen-9", Nth: 1, Times: 2})
	for done := false; !done; {
		if done, _, err = task.Step(); err != nil {
			require.ErrorIs(t, err, faultfs.ErrInjected)
			require.EqualValues(t, 2, e.Facts().Generation)
			failed++
		}
	}
	require.Equal(t, 2, failed)
	require.EqualValues(t, 9, e.Facts().Generation)
}
