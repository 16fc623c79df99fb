package segment

import (
	"fmt"
	"math/rand/v2"
	"testing"

	fuzz "github.com/google/gofuzz"
	"github.com/stretchr/testify/require"

	"purgelab/impl/corrupt"
	"purgelab/impl/record"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
	"purgelab/model/op"
)

var me = record.Identity{Cluster: 7, Partition: 0, Replica: 2, Incarnation: 1}

func options(fs vfs.FS) Options {
	return Options{FS: fs, Dir: "g", Identity: me, Generation: 3, SegmentBytes: 236, IndexEvery: 60}
}

func newDisk(t require.TestingT) *crashfs.Disk {
	d := crashfs.New()
	require.NoError(t, d.FS().Mkdir("t", "g"))
	require.NoError(t, d.FS().SyncDir("t", "."))
	return d
}

func payloads(n op.Number, count int) (ps []op.Payload) {
	for i := range count {
		ps = append(ps, op.Payload(fmt.Sprintf("op%d.%d", n, i)))
	}
	return ps
}

// sample holds ops 2 to 9 of three messages each. Up to op 5, offset 12, it is
// durable and known to be.
func sample(t require.TestingT) (*crashfs.Disk, Options) {
	d := newDisk(t)
	o := options(d.FS())
	l, _, err := Open(o)
	require.NoError(t, err)
	for n := op.Number(2); n <= 9; n++ {
		require.NoError(t, l.Append(n, op.Offset(3*(n-2)), op.Timestamp(n), payloads(n, 3)))
		if n == 5 {
			for from, done := op.Offset(0), false; !done; {
				from, done, err = l.SyncNext(from, 12)
				require.NoError(t, err)
			}
			require.NoError(t, d.FS().SyncDir("t", "g"))
		}
	}
	o.Start, o.End, o.Applied, o.Timestamp = 1, 12, 5, 5
	return d, o
}

func flip(t require.TestingT, fs vfs.FS, file string, at int64) {
	f, err := fs.Open(file)
	require.NoError(t, err)
	b := make([]byte, 1)
	_, err = f.ReadAt(b, at)
	require.NoError(t, err)
	b[0] ^= 0x04
	_, err = f.WriteAt("t", b, at)
	require.NoError(t, err)
}

// again applies ops from n on, as replay does.
func again(t require.TestingT, l *Log, n op.Number) {
	for ; n <= 9; n++ {
		require.NoError(t, l.Append(n, op.Offset(3*(n-2)), op.Timestamp(n), payloads(n, 3)))
		require.NoError(t, l.Passed(n))
	}
	recs, err := l.Read(1, 24, 100)
	require.NoError(t, err)
	require.Len(t, recs, 23)
	for i, r := range recs {
		n := op.Number((i+1)/3 + 2)
		require.Equal(t, op.Record{Payload: op.Payload(fmt.Sprintf("op%d.%d", n, (i+1)%3)), Timestamp: op.Timestamp(n)}, r)
	}
}

// checked is Open, and Check of all that it did not read.
func checked(o Options) (*Log, Report, error) {
	l, r, err := Open(o)
	for more := err == nil; more; {
		if more, err = l.Check(); err != nil {
			return nil, r, err
		}
	}
	return l, r, err
}

// TestDamageOneByte damages each byte of each file. Below the end that the
// checkpoint names Open refuses, or Check; above it the log is cut, and replay from
// the journal makes it whole.
func TestDamageOneByte(t *testing.T) {
	d, o := sample(t)
	names, err := d.FS().List("g")
	require.NoError(t, err)
	require.Greater(t, len(names), 3)
	refused, cut := 0, 0
	for _, name := range names {
		file := "g/" + name
		f, err := d.FS().Open(file)
		require.NoError(t, err)
		size, err := f.Size()
		require.NoError(t, err)
		for at := int64(0); at < size; at++ {
			d, o := sample(t)
			flip(t, d.FS(), file, at)
			l, r, err := checked(o)
			if err != nil {
				var c *corrupt.Error
				require.ErrorAs(t, err, &c)
				require.Equal(t, file, c.File)
				require.NotEqual(t, fmt.Sprint(c.Want), fmt.Sprint(c.Got))
				refused++
				continue
			}
			require.NotNil(t, r.Torn, "%s byte %d", file, at)
			require.Equal(t, file, r.Torn.File)
			require.Positive(t, r.Cut+int64(r.Removed))
			// Cut for good: another boot finds nothing to cut.
			_, r, err = Open(o)
			require.NoError(t, err)
			require.Nil(t, r.Torn)
			again(t, l, 6)
			cut++
		}
	}
	// Exactly the bytes that hold the first four batches, with the headers of
	// their files, refuse.
	l, _, err := Open(o)
	require.NoError(t, err)
	durable := 0
	for _, f := range l.files {
		require.NoError(t, l.indexed(f))
		if f.base < o.End {
			durable += fileHeader
		}
		require.NoError(t, l.scan(f, f.index[0], func(b *batch) bool {
			if b.base < o.End {
				durable += int(b.size)
			}
			return true
		}))
	}
	require.Equal(t, durable, refused)
	require.Positive(t, cut)
}

// TestCutAtEveryByte is the same for files that lost their end, or are missing.
func TestCutAtEveryByte(t *testing.T) {
	d, _ := sample(t)
	names, err := d.FS().List("g")
	require.NoError(t, err)
	for _, name := range names {
		f, err := d.FS().Open("g/" + name)
		require.NoError(t, err)
		size, err := f.Size()
		require.NoError(t, err)
		for at := int64(-1); at < size; at++ {
			d, o := sample(t)
			f, err := d.FS().Open("g/" + name)
			require.NoError(t, err)
			if at < 0 {
				require.NoError(t, d.FS().Remove("t", "g/"+name))
			} else {
				require.NoError(t, f.Truncate("t", at))
			}
			l, _, err := checked(o)
			if err != nil {
				require.ErrorIs(t, err, corrupt.ErrCorrupt)
				continue
			}
			again(t, l, 6)
		}
	}
}

func TestForeign(t *testing.T) {
	_, o := sample(t)
	o.Generation = 4
	_, _, err := Open(o)
	require.EqualError(t, err, "corrupt: g/seg-00000000000000000000.log at byte 4: segment owner: want 7/p0/r2/i1/g4, got 7/p0/r2/i1/g3")
}

// TestReplayIsCompared: what the disk holds of an op must be what the op does.
func TestReplayIsCompared(t *testing.T) {
	_, o := sample(t)
	l, _, err := Open(o)
	require.NoError(t, err)
	require.EqualValues(t, 9, l.LastOp())
	err = l.Append(6, 12, 6, payloads(60, 3))
	require.ErrorIs(t, err, corrupt.ErrCorrupt)
	require.ErrorContains(t, err, "checksum of the batch of op 6")

	l, _, err = Open(o)
	require.NoError(t, err)
	require.NoError(t, l.Passed(5))
	require.ErrorIs(t, l.Passed(6), corrupt.ErrCorrupt, "op 6 stored nothing, says the log")

	l, _, err = Open(o)
	require.NoError(t, err)
	require.ErrorIs(t, l.Append(7, 12, 7, payloads(7, 3)), corrupt.ErrCorrupt, "op 6 was left out")
}

// TestRandomAgainstSlice reads every range of a random log.
func TestRandomAgainstSlice(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	f := fuzz.NewWithSeed(3)
	for range 60 {
		d := newDisk(t)
		o := options(d.FS())
		o.SegmentBytes, o.IndexEvery = []int{1, 300, 5000, 1 << 20}[r.IntN(4)], []int{1, 200, 4096}[r.IntN(3)]
		l, _, err := Open(o)
		require.NoError(t, err)
		var want []op.Record
		ts := op.Timestamp(0)
		for n := op.Number(2); n < 60; n++ {
			ts += op.Timestamp(r.IntN(3))
			base := op.Offset(len(want))
			var ps []op.Payload
			for range 1 + r.IntN(5) {
				var s string
				f.Fuzz(&s)
				ps = append(ps, op.Payload(s[:len(s)%200]))
				want = append(want, op.Record{Payload: ps[len(ps)-1], Timestamp: ts})
			}
			require.NoError(t, l.Append(n, base, ts, ps))
		}
		if r.IntN(2) == 0 {
			d.ProcessCrash()
			o.FS = d.FS()
			l, _, err = Open(o)
			require.NoError(t, err)
			require.EqualValues(t, 59, l.LastOp())
		}
		end := op.Offset(len(want))
		for range 60 {
			from := op.Offset(r.IntN(len(want)))
			limit := from + op.Offset(r.IntN(len(want)-int(from)+1))
			max := r.IntN(40)
			got, err := l.Read(from, limit, max)
			require.NoError(t, err)
			w := want[from:min(from+op.Offset(max), limit)]
			require.Equal(t, append([]op.Record{}, w...), append([]op.Record{}, got...))

			at, found, start := op.Timestamp(r.IntN(int(ts)+2)), -1, from
			for i := start; i < end; i++ {
				if want[i].Timestamp >= at {
					found = int(i)
					break
				}
			}
			o, gotTS, ok, err := l.FirstAt(at, start, end)
			require.NoError(t, err)
			require.Equal(t, found >= 0, ok)
			if ok {
				require.EqualValues(t, found, o)
				require.Equal(t, want[found].Timestamp, gotTS)
			}
		}
	}
}

// TestIndexIsSparse: the index grows with bytes, not with messages.
func TestIndexIsSparse(t *testing.T) {
	o := options(newDisk(t).FS())
	o.SegmentBytes, o.IndexEvery = 1<<20, 4096
	l, _, err := Open(o)
	require.NoError(t, err)
	for n := op.Number(2); n < 2002; n++ {
		require.NoError(t, l.Append(n, op.Offset(n-2), 1, []op.Payload{"0123456789"}))
	}
	points := 0
	for _, f := range l.files {
		points += len(f.index)
	}
	require.LessOrEqual(t, points, 2000*54/4096+2)
}

func TestBatchRoundTrip(t *testing.T) {
	f := fuzz.NewWithSeed(1).NilChance(0).NumElements(1, 20)
	for range 500 {
		var n op.Number
		var base op.Offset
		var ts op.Timestamp
		var ps []op.Payload
		f.Fuzz(&n)
		f.Fuzz(&base)
		f.Fuzz(&ts)
		f.Fuzz(&ps)
		b := appendBatch(nil, 99, n, base, ts, ps)
		x, err := decodeBatch("f", 0, append(b, 1, 2, 3), 99)
		require.NoError(t, err)
		require.Equal(t, n, x.op)
		require.Equal(t, base, x.base)
		require.Equal(t, ts, x.ts)
		require.EqualValues(t, len(b), x.size)
		recs := x.records(nil, 0, 1000)
		require.Len(t, recs, len(ps))
		for i := range ps {
			require.Equal(t, ps[i], recs[i].Payload)
		}
		_, err = decodeBatch("f", 0, b, 98)
		require.ErrorIs(t, err, corrupt.ErrCorrupt, "another owner's")
	}
}

// TestGarbage: no input makes a decoder read beyond it.
func TestGarbage(t *testing.T) {
	f := fuzz.NewWithSeed(2).NilChance(0).NumElements(0, 200)
	good := appendBatch(nil, 0, 2, 0, 1, payloads(2, 4))
	for range 3000 {
		var b []byte
		f.Fuzz(&b)
		_, err := decodeBatch("f", 0, b, 0)
		require.Error(t, err)
		mixed := append([]byte{}, good...)
		copy(mixed[len(b)%len(mixed):], b)
		_, _ = decodeBatch("f", 0, mixed, 0)
		_, _, err = decodeFileHeader("f", b, owner{}, 0)
		require.Error(t, err)
	}
}

func TestFailedAppendChangesNothing(t *testing.T) {
	for _, batches := range []int{1, 30} {
		d, fails := newDisk(t), false
		o := options(&failing{FS: d.FS(), fail: func(l vfs.Label) bool {
			fails = !fails
			return fails && (l == "segment.append.write" || l == "segment.roll.write")
		}})
		l, _, err := Open(o)
		require.NoError(t, err)
		errs := 0
		for n := op.Number(2); int(n) < 2+batches; n++ {
			for l.Append(n, op.Offset(3*(n-2)), 1, payloads(n, 3)) != nil {
				errs++
				require.EqualValues(t, 3*(n-2), l.end)
			}
		}
		require.Positive(t, errs)
		d.ProcessCrash()
		o.FS = d.FS()
		l, r, err := Open(o)
		require.NoError(t, err)
		require.Nil(t, r.Torn)
		require.Equal(t, batches, r.Batches)
		recs, err := l.Read(0, op.Offset(3*batches), 1000)
		require.NoError(t, err)
		require.Len(t, recs, 3*batches)
	}
}

// failing writes half of what it should, and says so.
type failing struct {
	vfs.FS
	fail func(vfs.Label) bool
}

type failingFile struct {
	vfs.File
	fs *failing
}

func (f *failing) Create(l vfs.Label, p string) (vfs.File, error) {
	h, err := f.FS.Create(l, p)
	return failingFile{h, f}, err
}

func (f failingFile) WriteAt(l vfs.Label, p []byte, off int64) (int, error) {
	if f.fs.fail(l) {
		n, _ := f.File.WriteAt(l, p[:len(p)/2], off)
		return n, vfs.ErrNoSpace
	}
	return f.File.WriteAt(l, p, off)
}
