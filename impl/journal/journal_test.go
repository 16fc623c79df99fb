package journal

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	fuzz "github.com/google/gofuzz"
	"github.com/stretchr/testify/require"

	"purgelab/impl/corrupt"
	"purgelab/impl/raftlog"
	"purgelab/impl/record"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
	"purgelab/model/op"
)

var me = record.Identity{Cluster: 7, Partition: 0, Replica: 2, Incarnation: 1}

func open(t require.TestingT, d *crashfs.Disk, bytes int) (*Journal, Report) {
	j, r, err := Open(Options{FS: d.FS(), Dir: "p0/journal", Identity: me, FileBytes: bytes})
	require.NoError(t, err)
	return j, r
}

func entry(n op.Number, term uint64) raftlog.Entry {
	return raftlog.Entry{Op: n, Term: term, Data: fmt.Appendf(nil, "op %d of term %d", n, term)}
}

func all(t require.TestingT, j *Journal) []raftlog.Entry {
	if j.Last() < j.First() {
		return nil
	}
	out, err := j.Entries(j.First(), j.Last()+1, 1<<30)
	require.NoError(t, err)
	return out
}

func TestEmpty(t *testing.T) {
	j, r := open(t, crashfs.New(), 0)
	require.Equal(t, Report{}, r)
	require.Equal(t, raftlog.State{Term: 1, Commit: 1}, j.State())
	require.EqualValues(t, 2, j.First())
	require.EqualValues(t, 1, j.Last())
	require.EqualValues(t, 1, j.Synced())
	term, err := j.Term(1)
	require.NoError(t, err)
	require.EqualValues(t, 1, term)
	_, err = j.Term(2)
	require.Error(t, err)
	_, err = j.Entries(2, 3, 1)
	require.Error(t, err)
}

func TestAppendOverwriteReopen(t *testing.T) {
	for _, size := range []int{0, 200} {
		d := crashfs.New()
		j, _ := open(t, d, size)
		require.NoError(t, j.Append(&raftlog.State{Term: 1, Vote: 2, Commit: 1}, []raftlog.Entry{entry(2, 1), entry(3, 1), entry(4, 1)}))
		require.NoError(t, j.Append(nil, []raftlog.Entry{entry(5, 1)}))
		require.NoError(t, j.Sync())
		require.EqualValues(t, 5, j.Synced())
		require.NoError(t, j.Append(&raftlog.State{Term: 2, Commit: 2}, []raftlog.Entry{entry(4, 2)}))
		require.EqualValues(t, 3, j.Synced())
		require.EqualValues(t, 4, j.Last())
		require.NoError(t, j.Sync())
		require.EqualValues(t, 4, j.Synced())
		require.Error(t, j.Append(nil, []raftlog.Entry{entry(6, 2)}), "a gap")
		require.Error(t, j.Append(nil, []raftlog.Entry{entry(5, 2), entry(7, 2)}), "a gap within")
		require.Error(t, j.Append(nil, []raftlog.Entry{entry(1, 2)}), "the bootstrap")
		want := []raftlog.Entry{entry(2, 1), entry(3, 1), entry(4, 2)}
		require.Equal(t, want, all(t, j))
		d.PowerLoss(rand.New(rand.NewPCG(1, 1)))
		j, r := open(t, d, size)
		require.Nil(t, r.Torn)
		require.Equal(t, want, all(t, j))
		require.Equal(t, raftlog.State{Term: 2, Commit: 2}, j.State())
		require.EqualValues(t, 4, j.Synced())
		got, err := j.Entries(2, 5, 0)
		require.NoError(t, err)
		require.Equal(t, want[:1], got, "at least one")
		got, err = j.Entries(3, 5, len(want[1].Data)+len(want[2].Data)+2*entryHeader-1)
		require.NoError(t, err)
		require.Equal(t, want[1:2], got)
	}
}

// sample is a journal of three synced frames and one that is not, in one file.
func sample(t *testing.T) (d *crashfs.Disk, file string, starts []int64) {
	d = crashfs.New()
	j, _ := open(t, d, 0)
	for n := op.Number(2); n <= 5; n++ {
		require.NoError(t, j.Append(&raftlog.State{Term: 1, Commit: n - 1}, []raftlog.Entry{entry(n, 1)}))
		starts = append(starts, j.size-int64(len(j.buf)))
		if n < 5 {
			require.NoError(t, j.Sync())
		}
	}
	return d, "p0/journal/00000001.log", append(starts, j.size)
}

func flip(t *testing.T, fs vfs.FS, file string, at int64) {
	f, err := fs.Open(file)
	require.NoError(t, err)
	b := make([]byte, 1)
	_, err = f.ReadAt(b, at)
	require.NoError(t, err)
	b[0] ^= 0x10
	_, err = f.WriteAt("t", b, at)
	require.NoError(t, err)
}

// TestDamageOneByte damages each byte of the file in turn. Below the synced
// number that the last frame carries the journal refuses; in the last frame,
// which nothing proves synced, the tail is cut.
func TestDamageOneByte(t *testing.T) {
	_, _, starts := sample(t)
	for at := int64(0); at < starts[4]; at++ {
		d, file, _ := sample(t)
		flip(t, d.FS(), file, at)
		j, r, err := Open(Options{FS: d.FS(), Dir: "p0/journal", Identity: me})
		if at < starts[3] {
			var c *corrupt.Error
			require.ErrorAs(t, err, &c, "byte %d", at)
			require.Equal(t, file, c.File)
			require.NotEqual(t, c.Want, c.Got)
			continue
		}
		require.NoError(t, err, "byte %d", at)
		require.NotNil(t, r.Torn)
		require.Equal(t, starts[4]-starts[3], r.Cut)
		require.Equal(t, file, r.Torn.File)
		require.EqualValues(t, 4, j.Last())
		require.EqualValues(t, 3, j.State().Commit)
	}
}

// TestDamageAfterReopen: once opened, everything found is known to be synced,
// so the same damage to the last frame is no longer taken for a torn tail.
func TestDamageAfterReopen(t *testing.T) {
	_, _, starts := sample(t)
	for at := int64(0); at < starts[4]; at++ {
		d, file, _ := sample(t)
		open(t, d, 0)
		flip(t, d.FS(), file, at)
		_, _, err := Open(Options{FS: d.FS(), Dir: "p0/journal", Identity: me})
		require.ErrorIs(t, err, ErrCorrupt, "byte %d", at)
	}
}

// TestCutAtEveryByte cuts the file at each length.
func TestCutAtEveryByte(t *testing.T) {
	_, _, starts := sample(t)
	for at := int64(0); at < starts[4]; at++ {
		d, file, _ := sample(t)
		f, err := d.FS().Open(file)
		require.NoError(t, err)
		require.NoError(t, f.Truncate("t", at))
		j, r := open(t, d, 0)
		want := 1
		for _, s := range starts[1:] {
			if at >= s {
				want++
			}
		}
		require.EqualValues(t, want, j.Last(), "length %d", at)
		whole := at == fileHeader
		for _, s := range starts {
			whole = whole || at == s
		}
		require.Equal(t, whole, r.Torn == nil, "length %d", at)
		// It goes on from there.
		require.NoError(t, j.Append(nil, []raftlog.Entry{entry(j.Last()+1, 9)}))
		require.NoError(t, j.Sync())
		last := j.Last()
		d.PowerLoss(rand.New(rand.NewPCG(1, uint64(at))))
		j, r = open(t, d, 0)
		require.Nil(t, r.Torn)
		require.Equal(t, last, j.Last())
	}
}

func TestDamageInAnOlderFile(t *testing.T) {
	build := func() (*crashfs.Disk, *Journal) {
		d := crashfs.New()
		j, _ := open(t, d, 200)
		for n := op.Number(2); n <= 9; n++ {
			require.NoError(t, j.Append(nil, []raftlog.Entry{entry(n, 1)}))
		}
		require.Greater(t, j.number, uint32(2))
		return d, j
	}
	d, _ := build()
	f, err := d.FS().Open("p0/journal/00000001.log")
	require.NoError(t, err)
	size, err := f.Size()
	require.NoError(t, err)
	for at := int64(0); at < size; at++ {
		d, _ := build()
		flip(t, d.FS(), "p0/journal/00000001.log", at)
		_, _, err := Open(Options{FS: d.FS(), Dir: "p0/journal", Identity: me})
		var c *corrupt.Error
		require.ErrorAs(t, err, &c, "byte %d", at)
		require.Equal(t, "p0/journal/00000001.log", c.File)

		d, _ = build()
		f, err := d.FS().Open("p0/journal/00000001.log")
		require.NoError(t, err)
		require.NoError(t, f.Truncate("t", at))
		_, _, err = Open(Options{FS: d.FS(), Dir: "p0/journal", Identity: me})
		require.ErrorIs(t, err, ErrCorrupt, "length %d", at)
	}
	for _, name := range []string{"p0/journal/00000001.log", "p0/journal/00000002.log"} {
		d, _ := build()
		require.NoError(t, d.FS().Remove("t", name))
		_, _, err := Open(Options{FS: d.FS(), Dir: "p0/journal", Identity: me})
		require.ErrorIs(t, err, ErrCorrupt)
	}
}

func TestForeign(t *testing.T) {
	d, _, _ := sample(t)
	other := me
	other.Incarnation++
	_, _, err := Open(Options{FS: d.FS(), Dir: "p0/journal", Identity: other})
	require.EqualError(t, err, "record: p0/journal/00000001.log belongs to another replica: want 7/p0/r2/i2, got 7/p0/r2/i1")
}

// TestFailedWriteChangesNothing: half a frame is written, the disk is full, and
// the next append, in a new file, is fine.
func TestFailedWriteChangesNothing(t *testing.T) {
	d := crashfs.New()
	fs := &full{FS: d.FS()}
	j, _, err := Open(Options{FS: fs, Dir: "p0/journal", Identity: me, FileBytes: 250})
	require.NoError(t, err)
	for n := op.Number(2); n < 12; n++ {
		fs.full = true
		require.ErrorIs(t, j.Append(&raftlog.State{Term: 9}, []raftlog.Entry{entry(n, 9)}), vfs.ErrNoSpace)
		require.Equal(t, n-1, j.Last())
		require.EqualValues(t, 1, j.State().Term)
		fs.full = false
		require.NoError(t, j.Append(nil, []raftlog.Entry{entry(n, 1)}))
	}
	d.ProcessCrash()
	j, r := open(t, d, 250)
	require.Nil(t, r.Torn)
	require.EqualValues(t, 11, j.Last())
	require.Greater(t, r.Files, 2)
}

// TestFailedSyncStops: a repeated sync may lie, so there is none.
func TestFailedSyncStops(t *testing.T) {
	d := crashfs.New()
	fs := &full{FS: d.FS()}
	j, _, err := Open(Options{FS: fs, Dir: "p0/journal", Identity: me})
	require.NoError(t, err)
	require.NoError(t, j.Append(nil, []raftlog.Entry{entry(2, 1)}))
	fs.syncFails = true
	require.ErrorIs(t, j.Sync(), vfs.ErrNoSpace)
	require.EqualValues(t, 1, j.Synced())
	fs.syncFails = false
	require.ErrorIs(t, j.Sync(), ErrFailed)
	require.ErrorIs(t, j.Append(nil, []raftlog.Entry{entry(3, 1)}), ErrFailed)
	require.EqualValues(t, 1, j.Synced())
}

// full is a disk that can be full, or fail to sync.
type full struct {
	vfs.FS
	full, syncFails bool
}

type fullFile struct {
	vfs.File
	fs *full
}

func (f *full) Create(l vfs.Label, p string) (vfs.File, error) {
	h, err := f.FS.Create(l, p)
	return fullFile{h, f}, err
}

func (f fullFile) WriteAt(l vfs.Label, p []byte, off int64) (int, error) {
	if f.fs.full && l == "journal.append.write" {
		n, _ := f.File.WriteAt(l, p[:len(p)/2], off)
		return n, vfs.ErrNoSpace
	}
	return f.File.WriteAt(l, p, off)
}

func (f fullFile) Sync(l vfs.Label) error {
	if f.fs.syncFails {
		return vfs.ErrNoSpace
	}
	return f.File.Sync(l)
}

// TestDamageUnderARunningJournal: what is read back is checked again.
func TestDamageUnderARunningJournal(t *testing.T) {
	d, file, starts := sample(t)
	j, _ := open(t, d, 0)
	require.Equal(t, 4, len(all(t, j)))
	for at := starts[1]; at < starts[2]; at++ {
		flip(t, d.FS(), file, at)
		_, err := j.Entries(2, 6, 1<<20)
		var c *corrupt.Error
		require.ErrorAs(t, err, &c, "byte %d", at)
		require.Equal(t, file, c.File)
		flip(t, d.FS(), file, at)
	}
	f, err := d.FS().Open(file)
	require.NoError(t, err)
	for at := starts[1]; at < starts[2]; at++ {
		require.NoError(t, f.Truncate("t", at))
		_, err := j.Entries(3, 4, 1<<20)
		require.ErrorIs(t, err, ErrCorrupt)
	}
}

func TestOrderOfSteps(t *testing.T) {
	d := crashfs.New()
	d.LogCalls(true)
	j, _ := open(t, d, 200)
	for n := op.Number(2); n <= 4; n++ {
		require.NoError(t, j.Append(nil, []raftlog.Entry{entry(n, 1)}))
	}
	require.NoError(t, j.Sync())
	var got []string
	for _, c := range d.Calls() {
		got = append(got, c.String())
	}
	require.Equal(t, `journal.open.mkdir mkdir p0
journal.open.mkdir-sync syncdir .
journal.open.mkdir mkdir p0/journal
journal.open.mkdir-sync syncdir p0
journal.roll.create create p0/journal/00000001.log
journal.roll.write write p0/journal/00000001.log at 0 bytes 40
journal.roll.sync sync p0/journal/00000001.log
journal.roll.dirsync syncdir p0/journal
journal.append.write write p0/journal/00000001.log at 40 bytes 72
journal.append.write write p0/journal/00000001.log at 112 bytes 72
journal.roll.sync-old sync p0/journal/00000001.log
journal.roll.create create p0/journal/00000002.log
journal.roll.write write p0/journal/00000002.log at 0 bytes 40
journal.roll.sync sync p0/journal/00000002.log
journal.roll.dirsync syncdir p0/journal
journal.append.write write p0/journal/00000002.log at 40 bytes 72
journal.sync sync p0/journal/00000002.log`, strings.Join(got, "\n"))
}

// TestRandomAgainstSlice compares with a slice that holds everything, with the
// cache of recent entries much smaller than the log.
func TestRandomAgainstSlice(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	f := fuzz.NewWithSeed(5).NilChance(0).NumElements(0, 700)
	d := crashfs.New()
	j, _ := open(t, d, 64<<10)
	var want []raftlog.Entry
	for step := range 3000 {
		next := op.Number(2 + len(want))
		if r.IntN(10) == 0 && len(want) > 0 {
			next -= op.Number(r.IntN(min(len(want), 200)))
		}
		var es []raftlog.Entry
		for k := range 1 + r.IntN(4) {
			e := raftlog.Entry{Op: next + op.Number(k), Term: uint64(step + 1), Type: raftlog.EntryType(r.IntN(2))}
			if f.Fuzz(&e.Data); r.IntN(40) == 0 {
				e.Data = make([]byte, r.IntN(3*chunkBytes))
			}
			es = append(es, e)
		}
		want = append(want[:next-2], es...)
		require.NoError(t, j.Append(nil, es))
		if r.IntN(100) == 0 {
			require.NoError(t, j.Sync())
			d.ProcessCrash()
			j, _ = open(t, d, 64<<10)
		}
		require.EqualValues(t, len(want)+1, j.Last())
		lo := 2 + r.IntN(len(want))
		hi := lo + 1 + r.IntN(min(20, len(want)-lo+2))
		got, err := j.Entries(op.Number(lo), op.Number(hi), 1<<20)
		require.NoError(t, err)
		require.Len(t, got, hi-lo)
		for i, e := range got {
			w := want[lo-2+i]
			require.True(t, w.Op == e.Op && w.Term == e.Term && w.Type == e.Type && string(w.Data) == string(e.Data), "op %d", w.Op)
			term, err := j.Term(e.Op)
			require.NoError(t, err)
			require.Equal(t, w.Term, term)
		}
		require.LessOrEqual(t, len(j.tail), cacheEntries)
		require.LessOrEqual(t, j.tailBytes, cacheBytes)
	}
}
