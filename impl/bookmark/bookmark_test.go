package bookmark

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

const file = "g/bookmarks-00000001.log"

func newDisk(t require.TestingT) (*crashfs.Disk, Options) {
	d := crashfs.New()
	require.NoError(t, d.FS().Mkdir("t", "g"))
	require.NoError(t, d.FS().SyncDir("t", "."))
	return d, Options{FS: d.FS(), Dir: "g", Identity: me, Generation: 3, Number: 1, Slack: 4}
}

func key(i int) op.Key { return op.Key{Kind: op.ConsumerKind(i % 2), ID: uint32(i)} }

func at(o op.Offset) op.Position { return op.Position{Incarnation: 1, Generation: 3, Offset: o} }

// script is ops 2 to 9; sets below zero are deletes.
var script = []struct {
	key int
	to  op.Offset
}{{1, 4}, {2, 5}, {1, 3}, {2, -1}, {3, 9}, {1, -1}, {2, 0}, {1, 8}}

// apply takes op n of the script in.
func apply(l *Log, n op.Number) error {
	x := script[n-2]
	err := error(nil)
	if x.to < 0 {
		err = l.Delete(n, key(x.key))
	} else {
		err = l.Store(n, key(x.key), at(x.to))
	}
	if err == nil {
		err = l.Passed(n)
	}
	return err
}

// after is the table after op n, by the map of a reader.
func after(n op.Number) string {
	m := map[op.Key]string{}
	for i := range n - 1 {
		x := script[i]
		if delete(m, key(x.key)); x.to >= 0 {
			m[key(x.key)] = fmt.Sprintf("%v=%v by op %d", key(x.key), at(x.to), i+2)
		}
	}
	out := ""
	for _, i := range []int{2, 1, 3} { // consumers first
		if s, ok := m[key(i)]; ok {
			out += s + "\n"
		}
	}
	return out
}

func shown(l *Log) string {
	out := ""
	for _, e := range l.All() {
		out += fmt.Sprintf("%v=%v by op %d\n", e.Key, e.Position, e.Op)
	}
	return out
}

// sample holds ops 2 to 9, of which those up to 5 are durable and known to be.
func sample(t require.TestingT) (*crashfs.Disk, Options) {
	d, o := newDisk(t)
	l, _, err := Open(o)
	require.NoError(t, err)
	for n := op.Number(2); n <= 9; n++ {
		require.NoError(t, apply(l, n))
		require.Equal(t, after(n), shown(l))
		if n == 5 {
			c := l.Capture()
			require.NoError(t, l.Sync(c))
			require.NoError(t, d.FS().SyncDir("t", "g"))
			o.Number, o.Length, o.Applied = c.Number, c.Length, n
		}
	}
	return d, o
}

// TestAsOf: what the disk holds of later ops counts when replay comes to it.
func TestAsOf(t *testing.T) {
	_, o := sample(t)
	l, _, err := Open(o)
	require.NoError(t, err)
	require.EqualValues(t, 9, l.LastOp())
	size := l.size
	for n := op.Number(5); ; n++ {
		require.Equal(t, after(n), shown(l))
		if n == 9 {
			break
		}
		require.NoError(t, apply(l, n+1))
	}
	require.Equal(t, size, l.size, "nothing was written again")

	l, _, err = Open(o)
	require.NoError(t, err)
	require.ErrorIs(t, l.Store(6, key(3), at(8)), corrupt.ErrCorrupt, "not what op 6 stored")
	require.ErrorIs(t, l.Passed(6), corrupt.ErrCorrupt, "op 6 stored something")
}

func TestDamageOneByte(t *testing.T) {
	d, o := sample(t)
	f, err := d.FS().Open(file)
	require.NoError(t, err)
	size, err := f.Size()
	require.NoError(t, err)
	for i := int64(0); i < size; i++ {
		d, o := sample(t)
		f, err := d.FS().Open(file)
		require.NoError(t, err)
		b := make([]byte, 1)
		_, err = f.ReadAt(b, i)
		require.NoError(t, err)
		_, err = f.WriteAt("t", []byte{b[0] ^ 8}, i)
		require.NoError(t, err)
		l, r, err := Open(o)
		if i < o.Length {
			var c *corrupt.Error
			require.ErrorAs(t, err, &c, "byte %d", i)
			require.Equal(t, file, c.File)
			require.NotEqual(t, c.Want, c.Got)
			continue
		}
		require.NoError(t, err, "byte %d", i)
		require.NotNil(t, r.Torn)
		require.Equal(t, size-l.size, r.Cut)
		for n := op.Number(6); n <= 9; n++ {
			require.NoError(t, apply(l, n))
		}
		require.Equal(t, after(9), shown(l))
		_, r, err = Open(o)
		require.NoError(t, err)
		require.Nil(t, r.Torn)
	}
	for i := int64(-1); i < size; i++ {
		d, o := sample(t)
		f, err := d.FS().Open(file)
		require.NoError(t, err)
		if i < 0 {
			require.NoError(t, d.FS().Remove("t", file))
		} else {
			require.NoError(t, f.Truncate("t", i))
		}
		_, _, err = Open(o)
		require.Equal(t, i < o.Length, err != nil, "length %d", i)
	}
	o.Generation = 4
	_, _, err = Open(o)
	require.EqualError(t, err, "corrupt: g/bookmarks-00000001.log at byte 4: bookmark log owner: want 7/p0/r2/i1/g4 number 1, got 7/p0/r2/i1/g3 number 1")
}

// TestRewrite: a log of dead frames becomes a table of the live ones, and ops
// that come while it does are not lost, whichever of the two files is the log in
// the end.
func TestRewrite(t *testing.T) {
	d, o := newDisk(t)
	l, _, err := Open(o)
	require.NoError(t, err)
	for n := op.Number(2); n <= 20; n++ {
		require.NoError(t, l.Store(n, key(int(n)%3), at(op.Offset(n))))
	}
	c := l.Capture()
	require.EqualValues(t, 2, c.Number)
	require.EqualValues(t, fileHeader+3*frameSize, c.Length)
	then := shown(l)
	require.NoError(t, l.Store(21, key(7), at(1)))
	require.NoError(t, l.Delete(22, key(0)))
	require.NoError(t, l.Sync(c))
	require.NoError(t, d.FS().SyncDir("t", "g"))
	require.NoError(t, l.Store(23, key(8), at(2)))
	now := shown(l)

	newer := o
	newer.Number, newer.Length, newer.Applied = c.Number, c.Length, 20
	l, _, err = Open(newer)
	require.NoError(t, err)
	require.Equal(t, then, shown(l))
	require.NoError(t, l.Store(21, key(7), at(1)))
	require.NoError(t, l.Delete(22, key(0)))
	require.NoError(t, l.Store(23, key(8), at(2)))
	require.Equal(t, now, shown(l))

	l, _, err = Open(o)
	require.NoError(t, err)
	require.EqualValues(t, 22, l.LastOp())
	require.Empty(t, shown(l))

	// Only the other file goes, and only one.
	did, err := l.Reclaim(1)
	require.NoError(t, err)
	require.True(t, did)
	did, err = l.Reclaim(1)
	require.NoError(t, err)
	require.False(t, did)
	names, err := d.FS().List("g")
	require.NoError(t, err)
	require.Equal(t, []string{"bookmarks-00000001.log"}, names)
}

func TestRewriteThatFailsChangesNothing(t *testing.T) {
	for _, label := range []vfs.Label{"bookmark.rewrite.create", "bookmark.rewrite.write", "bookmark.rewrite.sync"} {
		d, o := newDisk(t)
		fs := &failing{FS: d.FS()}
		o.FS = fs
		l, _, err := Open(o)
		require.NoError(t, err)
		for n := op.Number(2); n <= 20; n++ {
			require.NoError(t, l.Store(n, key(int(n)%3), at(op.Offset(n))))
		}
		c := l.Capture()
		fs.label = label
		require.ErrorIs(t, l.Sync(c), vfs.ErrNoSpace)
		fs.label = ""
		require.NoError(t, l.Store(21, key(7), at(1)))
		_, r, err := Open(Options{FS: d.FS(), Dir: "g", Identity: me, Generation: 3, Number: 1})
		require.NoError(t, err)
		require.Nil(t, r.Torn)
		require.Equal(t, 20, r.Frames, "the old log goes on")
		require.NoError(t, l.Sync(c), "again, in a new file")
		d.ProcessCrash()
		o.FS, o.Number, o.Length, o.Applied = d.FS(), c.Number, c.Length, 20
		l, r, err = Open(o)
		require.NoError(t, err)
		require.Nil(t, r.Torn)
		require.Equal(t, 4, r.Frames)
		require.NoError(t, l.Store(21, key(7), at(1)))
	}
}

// failing refuses the calls of one label.
type failing struct {
	vfs.FS
	label vfs.Label
}

type failingFile struct {
	vfs.File
	fs *failing
}

func (f *failing) Create(l vfs.Label, p string) (vfs.File, error) {
	if l == f.label {
		return nil, vfs.ErrNoSpace
	}
	h, err := f.FS.Create(l, p)
	return failingFile{h, f}, err
}

func (f failingFile) WriteAt(l vfs.Label, p []byte, off int64) (int, error) {
	if l == f.fs.label {
		n, _ := f.File.WriteAt(l, p[:len(p)/3], off)
		return n, vfs.ErrNoSpace
	}
	return f.File.WriteAt(l, p, off)
}

func (f failingFile) Sync(l vfs.Label) error {
	if l == f.fs.label {
		return vfs.ErrNoSpace
	}
	return f.File.Sync(l)
}

func TestFrameRoundTrip(t *testing.T) {
	f := fuzz.NewWithSeed(4)
	_, o := newDisk(t)
	l, _, err := Open(o)
	require.NoError(t, err)
	for range 1000 {
		var x frame
		var seq uint32
		f.Fuzz(&x.Entry)
		f.Fuzz(&x.flags)
		f.Fuzz(&seq)
		b := l.encode(nil, x, seq)
		require.Len(t, b, frameSize)
		got, err := l.decode(0, b, seq)
		require.NoError(t, err)
		require.Equal(t, x, got)
		_, err = l.decode(0, b, seq+1)
		require.ErrorIs(t, err, corrupt.ErrCorrupt)
	}
}

// TestEveryCrashPoint: whatever of ops 2 to 9 was lost, the table is as of the
// last durable checkpoint, and replay completes it.
func TestEveryCrashPoint(t *testing.T) {
	for point := 1; point < 60; point++ {
		for draw := range uint64(20) {
			d, o := newDisk(t)
			n := 0
			d.Arm(func(vfs.Label, string) crashfs.Action {
				if n++; n == (point+1)/2 {
					return crashfs.CrashBefore + crashfs.Action(point%2)
				}
				return crashfs.Continue
			})
			_ = func() error {
				l, _, err := Open(o)
				if err != nil {
					return err
				}
				for n := op.Number(2); n <= 9; n++ {
					if err := apply(l, n); err != nil {
						return err
					}
					if n%3 == 0 {
						c := l.Capture()
						if err := l.Sync(c); err != nil {
							return err
						}
						if err := o.FS.SyncDir("t", "g"); err != nil {
							return err
						}
						o.Number, o.Length, o.Applied = c.Number, c.Length, n
					}
				}
				return nil
			}()
			d.Arm(nil)
			d.PowerLoss(rand.New(rand.NewPCG(draw, uint64(point))))
			o.FS = d.FS()
			l, _, err := Open(o)
			require.NoError(t, err, "point %d draw %d", point, draw)
			from := max(o.Applied, 1)
			require.Equal(t, after(from), shown(l))
			for n := from + 1; n <= 9; n++ {
				require.NoError(t, apply(l, n))
			}
			require.Equal(t, after(9), shown(l))
		}
	}
}
