package segment

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/corrupt"
	"purgelab/impl/vfs"
	"purgelab/model/op"
)

// counting is a disk that knows how many bytes were read from it.
type counting struct {
	vfs.FS
	read int
}

type countingFile struct {
	vfs.File
	fs *counting
}

func (c *counting) Open(path string) (vfs.File, error) {
	f, err := c.FS.Open(path)
	return countingFile{f, c}, err
}

func (f countingFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(p, off)
	f.fs.read += n
	return n, err
}

// long is a log of ops 2 to n, one message each, of which all but the last 20 are below
// a checkpoint.
func long(t *testing.T, n op.Number) Options {
	d := newDisk(t)
	o := options(d.FS())
	l, _, err := Open(o)
	require.NoError(t, err)
	for i := op.Number(2); i <= n; i++ {
		require.NoError(t, l.Append(i, op.Offset(i-2), op.Timestamp(i), []op.Payload{"message"}))
	}
	o.FS = &counting{FS: d.FS()}
	o.End, o.Applied, o.Timestamp = op.Offset(n-21), n-20, op.Timestamp(n-20)
	return o
}

// TestOpenReadsTheTail: of what a checkpoint covers Open reads a header a file, and it
// reads the rest, however much there is before.
func TestOpenReadsTheTail(t *testing.T) {
	tail := 0
	for _, n := range []op.Number{302, 3002, 30002} {
		o := long(t, n)
		l, r, err := Open(o)
		require.NoError(t, err)
		got := o.FS.(*counting).read - fileHeader*r.Files
		if tail == 0 {
			tail = got
		}
		require.Equal(t, tail, got, "%d ops", n)
		require.Greater(t, r.Unread, int(n)/5)
		require.Less(t, r.Files-r.Unread, 10)
		recs, err := l.Read(0, op.Offset(n-1), int(n))
		require.NoError(t, err)
		require.Len(t, recs, int(n-1))
		require.Greater(t, o.FS.(*counting).read, int(n)*50)
		checks := 1
		for more, err := l.Check(); more; more, err = l.Check() {
			require.NoError(t, err)
			checks++
		}
		require.Equal(t, r.Unread, checks, "one file a call")
	}
}

// TestDamageTakenOnTrust: a byte of a file that Open does not read is damaged. Whoever
// reads the file next refuses it, and nobody else is hindered.
func TestDamageTakenOnTrust(t *testing.T) {
	const file = "g/seg-00000000000000000000.log"
	_, o := sample(t)
	l, r, err := Open(o)
	require.NoError(t, err)
	require.Equal(t, 1, r.Unread, "the other one below the checkpoint stands before one that is above")
	size := l.files[0].size
	require.EqualValues(t, 6, l.files[0].end)
	for at := int64(fileHeader); at < size; at++ {
		d, o := sample(t)
		flip(t, d.FS(), file, at)
		l, _, err := Open(o)
		require.NoError(t, err)
		for o := op.Offset(0); o < 6; o++ {
			_, err := l.Read(o, 12, 1)
			var c *corrupt.Error
			require.ErrorAs(t, err, &c)
			require.Equal(t, file, c.File)
		}
		recs, err := l.Read(6, 12, 6)
		require.NoError(t, err)
		require.Len(t, recs, 6, "of the next file")
		_, _, _, err = l.FirstAt(1, 0, 12)
		require.ErrorIs(t, err, corrupt.ErrCorrupt)
		_, _, ok := l.BatchAt(1)
		require.False(t, ok)
		_, _, err = l.Pieces(1, l.Found())
		require.ErrorIs(t, err, corrupt.ErrCorrupt, "it does not travel")
		pieces, known, err := l.Pieces(0, l.Found())
		require.NoError(t, err)
		require.True(t, known)
		for at, files := int64(FirstByte), NewReader(o); err == nil && at < pieces[0].Size; {
			var b []byte
			b, err = files.Read(pieces[0], 0, at, 1)
			at += int64(len(b))
		}
		require.ErrorIs(t, err, corrupt.ErrCorrupt, "nor a chunk of it")
		for range 2 {
			more, err := l.Check()
			if err == nil { // what comes before the damage
				more, err = l.Check()
			}
			require.ErrorIs(t, err, corrupt.ErrCorrupt)
			require.True(t, more, "it is not settled by being found")
		}
	}
}

// TestCheckIsBounded: one call reads no more than a part of a long file.
func TestCheckIsBounded(t *testing.T) {
	d := newDisk(t)
	o := options(d.FS())
	o.SegmentBytes = 10 * checkBytes
	l, _, err := Open(o)
	require.NoError(t, err)
	payload := op.Payload(make([]byte, 1000))
	for n := op.Number(2); n < 1000; n++ {
		require.NoError(t, l.Append(n, l.end, 1, []op.Payload{payload}))
	}
	require.Len(t, l.files, 2)
	disk := &counting{FS: d.FS()}
	o.FS, o.End, o.Applied, o.Timestamp = disk, l.end, 999, 1
	l, _, err = Open(o)
	require.NoError(t, err)
	for calls, more := 0, true; more; calls++ {
		before := disk.read
		more, err = l.Check()
		require.NoError(t, err)
		require.LessOrEqual(t, disk.read-before, checkBytes+fileHeader)
		require.Equal(t, calls < 10, more)
	}
	for start := op.Offset(0); start < l.end; start += 7 { // it has an index now
		before := disk.read
		_, known, err := l.Pieces(start, l.Mark())
		require.NoError(t, err)
		require.True(t, known)
		require.LessOrEqual(t, disk.read-before, 2*(readAhead+batchHeader+len(payload)), "to cut a piece")
	}
	require.NoError(t, d.Rot(l.files[0].name, l.files[0].size-1, 1))
	l, _, err = Open(o)
	require.NoError(t, err)
	calls := 0
	for ; err == nil; calls++ {
		_, err = l.Check()
	}
	require.ErrorIs(t, err, corrupt.ErrCorrupt)
	require.Greater(t, calls, 9)
}

// TestFileThatSaysWrong: what a file says of the one before it is intact, and not so.
func TestFileThatSaysWrong(t *testing.T) {
	for name, c := range map[string]struct {
		say    func(*summary)
		unread int
		want   string
	}{
		"as it is":         {func(*summary) {}, 1, ""},
		"another checksum": {func(s *summary) { s.sum++ }, 1, "checksum of the file"},
		"another file":     {func(s *summary) { s.base = 3 }, 0, ""},
		"another length":   {func(s *summary) { s.size-- }, 0, ""},
		"a later op":       {func(s *summary) { s.op = 6 }, 0, ""},
		"a later time":     {func(s *summary) { s.ts = 6 }, 0, ""},
		"nothing":          {func(s *summary) { *s = summary{} }, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d, o := sample(t)
			l, _, err := Open(o)
			require.NoError(t, err)
			x := l.files[0].summary()
			x.op = 3
			c.say(&x)
			f, err := d.FS().Open(l.name(6))
			require.NoError(t, err)
			_, err = f.WriteAt("t", appendFileHeader(nil, l.owner, 6, x), 0)
			require.NoError(t, err)
			l, r, err := Open(o)
			require.NoError(t, err)
			require.Equal(t, c.unread, r.Unread)
			more, err := l.Check()
			require.Equal(t, c.want != "", more, "%v", err)
			if c.want != "" {
				require.ErrorIs(t, err, corrupt.ErrCorrupt)
				require.ErrorContains(t, err, c.want)
				return
			}
			require.NoError(t, err)
			again(t, l, 6)
		})
	}
}

// TestTrustOverManyBoots: a log that is written to, checkpointed and opened anew over
// and over holds what was written, and Open goes on to read little.
func TestTrustOverManyBoots(t *testing.T) {
	d := newDisk(t)
	o := options(d.FS())
	n := op.Number(2)
	for boot := range 30 {
		l, r, err := Open(o)
		require.NoError(t, err)
		require.LessOrEqual(t, r.Files-r.Unread, 2, "boot %d", boot)
		for range 1 + boot%7 {
			require.NoError(t, l.Append(n, op.Offset(n-2), op.Timestamp(n), []op.Payload{op.Payload(fmt.Sprint(n))}))
			n++
		}
		for from, done := op.Offset(0), false; !done; {
			from, done, err = l.SyncNext(from, l.end)
			require.NoError(t, err)
		}
		require.NoError(t, d.FS().SyncDir("t", "g"))
		o.End, o.Applied, o.Timestamp = l.end, n-1, op.Timestamp(n-1)
		if boot%3 == 0 {
			d.PowerLossAs(nil)
		} else {
			d.ProcessCrash()
		}
		o.FS = d.FS()
	}
	l, _, err := checked(o)
	require.NoError(t, err)
	recs, err := l.Read(0, o.End, int(o.End))
	require.NoError(t, err)
	for i, r := range recs {
		require.Equal(t, op.Payload(fmt.Sprint(i+2)), r.Payload)
	}
	require.Len(t, recs, int(o.End))
}
