package segment

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/corrupt"
	"purgelab/impl/framed"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/faultfs"
	"purgelab/model/op"
)

// Whatever call of an Open fails, it is the disk's own error, nothing is taken for
// damage, and the next Open finds everything.
func TestEveryCallOfAnOpenFails(t *testing.T) {
	for _, call := range []string{"open", "read", "list", "truncate", "sync", "remove", "syncdir"} {
		failed := 0
		for nth := 1; ; nth++ {
			d, o := sample(t)
			// What is above the checkpoint is torn: the file in which op 7 is, so that
			// it is cut and a later one removed.
			flip(t, d.FS(), "g/seg-00000000000000000012.log", 100)
			r := faultfs.New(faultfs.FailBefore)
			r.Op, r.Nth = call, nth
			set := faultfs.NewSet(r)
			disk := &counting{FS: set.Wrap(d.FS())}
			o.FS = disk
			_, _, err := Open(o)
			if set.Hits() == 0 {
				require.NoError(t, err)
				break
			}
			require.Zero(t, disk.open, "%s %d", call, nth)
			failed++
			require.ErrorIs(t, err, faultfs.ErrInjected, "%s %d", call, nth)
			require.NotErrorIs(t, err, corrupt.ErrCorrupt)
			require.True(t, vfs.Failed(err))
			l, _, err := Open(o)
			require.NoError(t, err)
			again(t, l, 6)
		}
		require.Positive(t, failed, call)
	}
}

// After a sync that failed nothing is trusted any more.
func TestNothingAfterAFailedSync(t *testing.T) {
	d := newDisk(t)
	r := faultfs.New(faultfs.FailBefore)
	r.Op = "sync"
	l, _, err := Open(options(faultfs.NewSet(r).Wrap(d.FS())))
	require.NoError(t, err)
	require.NoError(t, l.Append(2, 0, 1, payloads(2, 1)))
	_, _, err = l.SyncNext(0, 1)
	require.ErrorIs(t, err, vfs.ErrUnsure)
	_, _, err = l.SyncNext(0, 1)
	require.ErrorIs(t, err, ErrFailed)
	require.ErrorIs(t, l.Append(3, 1, 1, payloads(3, 1)), ErrFailed)
}

// An append that no log may ask for is refused and changes nothing.
func TestAppendsThatDoNotFit(t *testing.T) {
	l, _, err := Open(options(newDisk(t).FS()))
	require.NoError(t, err)
	require.NoError(t, l.Append(2, 0, 5, payloads(2, 2)))
	require.ErrorContains(t, l.Append(2, 2, 5, payloads(2, 2)), "append op 2 again, the log holds op 2")
	require.ErrorContains(t, l.Append(3, 3, 5, payloads(3, 1)), "at offset 3, time 5, to a log that ends at 2, time 5")
	require.Error(t, l.Append(3, 2, 4, payloads(3, 1)), "an older time")
	require.Error(t, l.Append(3, 2, 5, nil), "no message")
	require.NoError(t, l.Append(3, 2, 5, payloads(3, 1)))
}

// Batches and files that are intact, and not those that must be there.
func TestIntactButWrong(t *testing.T) {
	own := owner{me, 3}
	file := func(base op.Offset, batches ...[]byte) []byte {
		b := appendFileHeader(nil, own, base, summary{})
		for _, x := range batches {
			b = append(b, x...)
		}
		return b
	}
	batch := func(n op.Number, base op.Offset, count int) []byte {
		return appendBatch(nil, own.sum(), n, base, 1, payloads(n, count))
	}
	// The checkpoint says that offsets 0 to 3 are durable, and were stored by ops up to 5.
	for name, c := range map[string]struct {
		named op.Offset
		bytes []byte
		want  string
	}{
		"another base":              {0, file(7), "segment base: want 0, got 7"},
		"no message":                {0, file(0, batch(2, 0, 0)), "batch count: want at least 1, got 0"},
		"a hole":                    {0, file(0, batch(2, 0, 2), batch(3, 3, 1)), "batch base: want 2, got 3"},
		"across the end":            {0, file(0, batch(2, 0, 2), batch(3, 2, 3)), "batch end: want at most 4, got 5"},
		"of an op that comes later": {0, file(0, batch(9, 0, 4)), "batch op: want at most 5, got 9"},
		"the start is missing":      {2, file(2, batch(3, 2, 2)), "segment that holds the start: want base at most 0, got 2"},
		"the end is missing":        {0, file(0, batch(2, 0, 2)), "end of the messages: want 4, got 2"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDisk(t)
			o := options(d.FS())
			l := &Log{o: o}
			f, err := d.FS().Create("t", l.name(c.named))
			require.NoError(t, err)
			_, err = f.WriteAt("t", c.bytes, 0)
			require.NoError(t, err)
			o.End, o.Applied = 4, 5
			disk := &counting{FS: d.FS()}
			o.FS = disk
			_, _, err = Open(o)
			require.ErrorIs(t, err, corrupt.ErrCorrupt)
			require.ErrorContains(t, err, c.want)
			require.Zero(t, disk.open)
		})
	}
}

// A batch whose checksum is right and whose payloads have no legal shape is refused,
// and nothing is read beyond it.
func TestPayloadsWithoutShape(t *testing.T) {
	for want, body := range map[string][]byte{
		"payload length bytes: want 4, got 2":       {1, 0},
		"payload bytes: want 9, got 1":              {9, 0, 0, 0, 'x'},
		"batch bytes after payloads: want 0, got 1": {1, 0, 0, 0, 'x', 'y'},
	} {
		b := append(make([]byte, batchHeader), body...)
		binary.LittleEndian.PutUint32(b[12:], 1)
		framed.Seal(b, batchHeader, batchMagic, 7)
		_, err := decodeBatch("f", 0, b, 7)
		require.ErrorIs(t, err, corrupt.ErrCorrupt)
		require.ErrorContains(t, err, want)
	}
}

// A file that cannot be made stores nothing, one that cannot be removed is removed
// another time, and no read answers with fewer records than it was asked for.
func TestFilesThatFail(t *testing.T) {
	d := newDisk(t)
	set := faultfs.NewSet()
	o := options(set.Wrap(d.FS()))
	l, _, err := Open(o)
	require.NoError(t, err)
	r := faultfs.New(faultfs.FailBefore)
	r.Label = "segment.roll.create"
	set.Add(r)
	require.ErrorIs(t, l.Append(2, 0, 5, payloads(2, 1)), faultfs.ErrInjected)
	for n := op.Number(2); n <= 12; n++ {
		require.NoError(t, l.Append(n, op.Offset(n-2)*3, 5, payloads(n, 3)))
	}
	_, err = l.Read(30, 40, 9)
	require.ErrorContains(t, err, "segment: read offset 30: want 9 records, got 3")
	r = faultfs.New(faultfs.FailBefore)
	r.Label = "segment.reclaim"
	set.Add(r)
	_, err = l.Reclaim(30)
	require.ErrorIs(t, err, faultfs.ErrInjected)
	did, err := l.Reclaim(30)
	require.NoError(t, err)
	require.True(t, did)
}
