package segment

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/corrupt"
	"purgelab/impl/vfs"
	"purgelab/model/op"
)

// counting is a disk that knows how many bytes were read from it, how many files were
// opened or made, and how many of those are open.
type counting struct {
	vfs.FS
	read, opened, open int
}

type countingFile struct {
	vfs.File
	fs *counting
}

func (c *counting) Open(path string) (vfs.File, error) {
	return c.opening(c.FS.Open(path))
}

func (c *counting) Create(label vfs.Label, path string) (vfs.File, error) {
	return c.opening(c.FS.Create(label, path))
}

func (c *counting) opening(f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	c.opened++
	c.open++
	return countingFile{f, c}, nil
}

func (f countingFile) Close() error {
	f.fs.open--
	return f.File.Close()
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

// TestOpenReadsTheTail: Open opens and reads the same, however much a checkpoint covers.
func TestOpenReadsTheTail(t *testing.T) {
	tail := &counting{}
	for _, n := range []op.Number{302, 3002, 30002} {
		o := long(t, n)
		l, r, err := Open(o)
		require.NoError(t, err)
		got := *o.FS.(*counting)
		if tail.FS == nil {
			*tail = got
		}
		require.Equal(t, tail.read, got.read, "%d ops", n)
		require.Equal(t, tail.opened, got.opened, "%d ops", n)
		require.Equal(t, r.Files-r.Unread, got.open, "%d ops", n)
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
		l.Close()
		require.Zero(t, o.FS.(*counting).open)
	}
}

// TestCheckLeavesNothingOpen: a check of many files holds one at a time.
func TestCheckLeavesNothingOpen(t *testing.T) {
	o := long(t, 3002)
	l, r, err := Open(o)
	require.NoError(t, err)
	disk := o.FS.(*counting)
	before := disk.open
	for more := true; more; {
		more, err = l.Check()
		require.NoError(t, err)
		require.LessOrEqual(t, disk.open, before+2)
	}
	require.Equal(t, before, disk.open)
	require.Greater(t, disk.opened, r.Unread)
	_, err = l.Read(0, 1, 1)
	require.NoError(t, err, "it is opened again")
}

// TestHeaderTakenOnTrust: a byte of the header of a file that Open does not read is
// damaged. No message of it is answered, nor of the file before, of which it speaks.
func TestHeaderTakenOnTrust(t *testing.T) {
	for at := range int64(fileHeader) {
		o := long(t, 302)
		l, _, err := Open(o)
		require.NoError(t, err)
		f := l.files[3]
		flip(t, o.FS, f.name, at)
		for _, from := range []op.Offset{f.base - 1, f.base} {
			_, err = l.Read(from, o.End, 1)
			require.ErrorIs(t, err, corrupt.ErrCorrupt)
			require.ErrorContains(t, err, f.name)
		}
		_, _, err = checked(o)
		require.ErrorIs(t, err, corrupt.ErrCorrupt)
	}
}

// TestMissingFile: a file that a checkpoint covers is gone, whichever.
func TestMissingFile(t *testing.T) {
	o := long(t, 302)
	l, r, err := Open(o)
	require.NoError(t, err)
	for i := range r.Unread + 1 {
		o := long(t, 302)
		require.NoError(t, o.FS.Remove("t", l.files[i].name))
		_, _, err := Open(o)
		require.ErrorIs(t, err, corrupt.ErrCorrupt, l.files[i].name)
	}
}

// TestNumbersBeginAnew: the number of a file is counted modulo what there is room for.
func TestNumbersBeginAnew(t *testing.T) {
	before := summary{base: 7, number: numberMask, size: 1<<sizeBits - 1, sum: 1, op: 2, ts: 3}
	got, _, err := decodeFileHeader("f", appendFileHeader(nil, owner{me, 3}, 9, before), owner{me, 3}, 9)
	require.NoError(t, err)
	require.Equal(t, before, got)
	require.Zero(t, got.next())
}

// TestDamageTakenOnTrust: a byte of a file that Open does not read is damaged. Whoever
// reads the file next refuses it, and nobody else is hindered.
func TestDamageTakenOnTrust(t *testing.T) {
	const file = "g/seg-00000000000000000000.log"
	_, o := sample(t)
	l, r, err := Open(o)
	require.NoError(t, err)
	require.Equal(t, 1, r.Unread, "the other one below the checkpoint stands before one that is above")
	require.NoError(t, l.learn(l.files[0]))
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
		require.LessOrEqual(t, disk.read-before, checkBytes+2*fileHeader)
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
		"another file":     {func(s *summary) { s.base = 3 }, 1, ""},
		"another length":   {func(s *summary) { s.size-- }, 1, ""},
		"a later op":       {func(s *summary) { s.op = 6 }, 1, ""},
		"a later time":     {func(s *summary) { s.ts = 6 }, 1, ""},
		"nothing":          {func(s *summary) { *s = summary{} }, 0, "number of the file"},
		"a later number":   {func(s *summary) { s.number++ }, 0, "number of the file"},
	} {
		t.Run(name, func(t *testing.T) {
			d, o := sample(t)
			l, _, err := Open(o)
			require.NoError(t, err)
			require.NoError(t, l.learn(l.files[0]))
			x := l.files[0].summary()
			x.op = 3
			c.say(&x)
			f, err := d.FS().Open(l.name(6))
			require.NoError(t, err)
			_, err = f.WriteAt("t", appendFileHeader(nil, l.owner, 6, x), 0)
			require.NoError(t, err)
			l, r, err := Open(o)
			if c.unread == 0 {
				require.ErrorIs(t, err, corrupt.ErrCorrupt)
				require.ErrorContains(t, err, c.want)
				return
			}
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
