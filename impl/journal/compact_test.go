package journal

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/corrupt"
	"purgelab/impl/raftlog"
	"purgelab/impl/record"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
	"purgelab/model/op"
)

// fill appends and syncs ops up to last.
func fill(t require.TestingT, j *Journal, last op.Number, term uint64) {
	for n := j.Last() + 1; n <= last; n++ {
		require.NoError(t, j.Append(&raftlog.State{Term: term, Vote: uint64(n), Commit: n - 1}, []raftlog.Entry{entry(n, term)}))
		require.NoError(t, j.Sync())
	}
}

func logFiles(t require.TestingT, fs vfs.FS) (files []string) {
	names, err := fs.List("p0/journal")
	require.NoError(t, err)
	for _, n := range names {
		if strings.HasSuffix(n, ".log") {
			files = append(files, n)
		}
	}
	return files
}

func reclaimAll(t require.TestingT, j *Journal) {
	for more := true; more; {
		var err error
		more, err = j.Reclaim()
		require.NoError(t, err)
	}
}

// Whatever op a journal is compacted up to, at most those go; the term of the op
// before the first stays, and so does all of the rest, after a boot, too. Only whole
// files go, so what is kept in vain is less than a file.
func TestCompact(t *testing.T) {
	const last = 40
	for to := op.Number(1); to <= last; to++ {
		d := crashfs.New()
		j, _ := open(t, d, 300)
		fill(t, j, 25, 1)
		fill(t, j, last, 3)
		want, state, before := all(t, j), j.State(), j.Bytes()
		_, err := j.Entries(2, 9, 1<<20) // from an old file, which stays open
		require.NoError(t, err)
		dropped, err := j.Compact(to)
		require.NoError(t, err)
		for boot := range 3 {
			base := j.First() - 1
			require.LessOrEqual(t, base, to)
			require.Equal(t, dropped, base > 1)
			require.Equal(t, want[base-1:], all(t, j))
			require.Equal(t, state, j.State())
			term, err := j.Term(base)
			require.NoError(t, err)
			require.EqualValues(t, map[bool]int{true: 1, false: 3}[base <= 25], term)
			_, err = j.Entries(base, base+1, 1)
			require.ErrorContains(t, err, fmt.Sprintf("have %d to %d", base+1, last+1))
			if base > 1 {
				_, err = j.Term(base - 1)
				require.ErrorContains(t, err, fmt.Sprintf("have %d to %d", base, last))
				require.Less(t, j.Bytes(), before)
			}
			reclaimAll(t, j)
			require.Len(t, logFiles(t, d.FS()), len(j.files))
			require.Less(t, j.lastBefore(j.files[min(1, len(j.files)-1)].number), to+10, "one file more than needed")
			if again, err := j.Compact(to); boot > 0 || base > 1 {
				require.NoError(t, err)
				require.False(t, again)
			}
			require.NoError(t, j.Close())
			if boot == 0 {
				d.PowerLoss(rand.New(rand.NewPCG(uint64(to), 1)))
			}
			j, _ = open(t, d, 300)
		}
		fill(t, j, last+10, 4)
		require.EqualValues(t, last+10, j.Last())
	}
}

// A journal that is appended to and compacted by turns stays as large as what must
// be kept, in memory, too.
func TestCompactedIsBounded(t *testing.T) {
	d := crashfs.New()
	j, _ := open(t, d, 400)
	most := int64(0)
	for n := op.Number(50); n <= 3000; n += 50 {
		fill(t, j, n, uint64(n))
		_, err := j.Compact(n - 10)
		require.NoError(t, err)
		reclaimAll(t, j)
		most = max(most, j.Bytes())
	}
	require.Less(t, most, int64(10*100+2*400))
	require.LessOrEqual(t, len(logFiles(t, d.FS())), 6)
	require.Less(t, len(j.index), 30)
}

// A later file may begin with ops that follow some that an entry dropped since.
// They are not there any more, and are not taken for missing.
func TestCompactWhereOpsWereDropped(t *testing.T) {
	for _, synced := range []bool{false, true} {
		d := crashfs.New()
		j, _ := open(t, d, 300)
		fill(t, j, 4, 1)
		for n := op.Number(5); j.number == 1; n++ {
			fill(t, j, n, 1)
		}
		last := j.Last() // the first one in file 2
		require.NoError(t, j.Append(&raftlog.State{Term: 2}, []raftlog.Entry{entry(last-2, 2)}))
		require.EqualValues(t, 2, j.number)
		if synced {
			require.NoError(t, j.Sync())
		}
		dropped, err := j.Compact(last - 3)
		require.NoError(t, err)
		require.Equal(t, synced, dropped, "what dropped them may be torn")
		if !synced {
			continue
		}
		require.Equal(t, last-2, j.First())
		k, _ := open(t, d, 300)
		require.Equal(t, []raftlog.Entry{entry(last-2, 2)}, all(t, k))
		require.EqualValues(t, 2, k.State().Term)
		_, err = k.Compact(last) // and once more, from what a boot found
		require.NoError(t, err)

		// Without that entry ops are missing.
		c := d.Clone()
		f, err := c.FS().Open(j.name(2))
		require.NoError(t, err)
		require.NoError(t, f.Truncate("t", j.size-1))
		_, _, err = Open(Options{FS: c.FS(), Dir: "p0/journal", Identity: me})
		require.ErrorIs(t, err, ErrCorrupt)
		require.ErrorContains(t, err, fmt.Sprintf("entry after the start of the journal: want %d, got none", last-2))
	}
}

// TestEveryCrashPointOfCompaction stops a journal that is appended to, compacted and
// reclaimed at each call, then again at each call of the boot that follows. The log
// begins where it did or where it was going to, holds what was synced above that, and
// nothing piles up.
func TestEveryCrashPointOfCompaction(t *testing.T) {
	total, _ := compactRun(t, 0, 0, false, 0)
	require.Greater(t, total, 40)
	cases := 0
	for point := 1; point <= 2*total; point++ {
		for _, power := range []bool{false, true} {
			for draw := range uint64(3) {
				_, boot := compactRun(t, point, 0, power, draw)
				for second := 1; second <= 2*boot && draw == 0; second++ {
					compactRun(t, point, second, power, draw)
					cases++
				}
				cases++
			}
		}
	}
	t.Logf("%d cases", cases)
}

func compactRun(t *testing.T, point, second int, power bool, draw uint64) (calls, bootCalls int) {
	d := crashfs.New()
	crashAt := func(point int, calls *int) {
		d.Arm(func(vfs.Label, string) crashfs.Action {
			*calls++
			switch point {
			case 2**calls - 1:
				return crashfs.CrashBefore
			case 2 * *calls:
				return crashfs.CrashAfter
			}
			return crashfs.Continue
		})
	}
	crash := func() {
		d.Arm(nil)
		if power {
			d.PowerLoss(rand.New(rand.NewPCG(draw, uint64(point+1000*second))))
		} else {
			d.ProcessCrash()
		}
	}
	o := Options{FS: d.FS(), Dir: "p0/journal", Identity: me, FileBytes: 230}
	acked, sure, may := op.Number(1), op.Number(1), op.Number(1)
	crashAt(point, &calls)
	script := func() error {
		j, _, err := Open(o)
		for n := op.Number(2); n <= 20 && err == nil; n++ {
			if err = j.Append(&raftlog.State{Term: 1, Vote: uint64(n)}, []raftlog.Entry{entry(n, 1)}); err == nil {
				err = j.Sync()
			}
			if err == nil {
				acked = n
			}
			if err == nil && n%5 == 0 {
				may = max(may, n-3)
				if _, err = j.Compact(n - 3); err == nil {
					sure = j.First() - 1
				}
				for more := true; more && err == nil; {
					more, err = j.Reclaim()
				}
			}
		}
		return err
	}
	if err := script(); point == 0 {
		require.NoError(t, err)
		require.Greater(t, sure, op.Number(10))
	}
	crash()
	crashAt(second, &bootCalls)
	if j, _, err := Open(o); err == nil {
		for more := true; more && err == nil; {
			more, err = j.Reclaim()
		}
	}
	if second > 0 {
		crash()
	}
	d.Arm(nil)
	j, _ := open(t, d, 230)
	base := j.First() - 1
	require.GreaterOrEqual(t, base, sure, "point %d %d", point, second)
	require.LessOrEqual(t, base, max(may, sure))
	require.GreaterOrEqual(t, j.Last(), acked)
	for _, e := range all(t, j) {
		require.Equal(t, fmt.Sprint(entry(e.Op, 1)), fmt.Sprint(e))
	}
	require.GreaterOrEqual(t, j.State().Vote, uint64(acked)*min(1, uint64(acked-1)))
	reclaimAll(t, j)
	require.Len(t, logFiles(t, d.FS()), len(j.files), "point %d %d", point, second)
	return calls, bootCalls
}

// Every byte of the record of the start is proved, and so is the header of the file
// that it names: where a journal begins is never guessed.
func TestDamageToTheStart(t *testing.T) {
	d := crashfs.New()
	j, _ := open(t, d, 300)
	fill(t, j, 30, 1)
	_, err := j.Compact(25)
	require.NoError(t, err)
	reclaimAll(t, j)
	spans, err := Proved(d.FS(), "p0/journal", me)
	require.NoError(t, err)
	require.Equal(t, startFile("p0/journal"), spans[0].File)
	spans = append(spans, corrupt.Span{File: j.name(j.files[0].number), To: fileHeader})
	for _, s := range spans {
		for at := s.From; at < s.To; at++ {
			c := d.Clone()
			require.NoError(t, c.Rot(s.File, at, 0x10))
			_, _, err := Open(Options{FS: c.FS(), Dir: "p0/journal", Identity: me})
			if s.File == startFile("p0/journal") && at >= 4 && at < 4+record.IdentityBytes {
				require.Error(t, err)
				continue // damage, or a record of another replica
			}
			require.ErrorIs(t, err, ErrCorrupt, "%v byte %d", s, at)
		}
	}
	for _, gone := range []string{startFile("p0/journal"), j.name(j.files[0].number)} {
		c := d.Clone()
		require.NoError(t, c.FS().Remove("t", gone))
		_, _, err := Open(Options{FS: c.FS(), Dir: "p0/journal", Identity: me})
		require.ErrorIs(t, err, ErrCorrupt, gone)
	}
	// Nothing but a header that is torn: it was durable before the log began there.
	c := d.Clone()
	for _, f := range j.files[1:] {
		require.NoError(t, c.FS().Remove("t", j.name(f.number)))
	}
	f, err := c.FS().Open(j.name(j.files[0].number))
	require.NoError(t, err)
	require.NoError(t, f.Truncate("t", fileHeader-1))
	_, _, err = Open(Options{FS: c.FS(), Dir: "p0/journal", Identity: me})
	require.ErrorIs(t, err, ErrCorrupt)
	c = d.Clone()
	for _, f := range j.files {
		require.NoError(t, c.FS().Remove("t", j.name(f.number)))
	}
	_, _, err = Open(Options{FS: c.FS(), Dir: "p0/journal", Identity: me})
	require.ErrorContains(t, err, fmt.Sprintf("first journal file: want %d, got none", j.files[0].number))
}

// A journal that was begun above an op goes on from there, whatever crash comes
// between, and beginning it twice is beginning it.
func TestBegin(t *testing.T) {
	state := raftlog.State{Term: 9, Vote: 3, Commit: 70}
	for point := 1; ; point++ {
		d := crashfs.New()
		calls := 0
		d.Arm(func(vfs.Label, string) crashfs.Action {
			if calls++; calls == point {
				return crashfs.CrashBefore
			}
			return crashfs.Continue
		})
		err := Begin(d.FS(), "p0/journal", me, 70, 8, state)
		crashed := d.Crashed()
		d.Arm(nil)
		d.PowerLoss(rand.New(rand.NewPCG(uint64(point), 3)))
		if !crashed {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, vfs.ErrCrashed)
			require.NoError(t, Begin(d.FS(), "p0/journal", me, 70, 8, state))
		}
		j, r := open(t, d, 300)
		require.Equal(t, Report{}, r)
		require.Equal(t, state, j.State())
		require.EqualValues(t, []op.Number{71, 70, 70}, []op.Number{j.First(), j.Last(), j.Synced()})
		term, err := j.Term(70)
		require.NoError(t, err)
		require.EqualValues(t, 8, term)
		require.Error(t, j.Append(nil, []raftlog.Entry{entry(70, 9)}), "before the log")
		fill(t, j, 90, 10)
		d.PowerLoss(rand.New(rand.NewPCG(uint64(point), 4)))
		j, _ = open(t, d, 300)
		require.EqualValues(t, []op.Number{71, 90}, []op.Number{j.First(), j.Last()})
		_, err = j.Compact(85)
		require.NoError(t, err)
		require.Greater(t, j.First(), op.Number(75))
		if !crashed {
			break
		}
	}
}

// TestManyCompactedLives is TestManyLives with compactions between: what was promised
// above the start is there, and so is the term before it.
func TestManyCompactedLives(t *testing.T) {
	compacted := 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 6))
		d := crashfs.New()
		size := []int{150, 250, 400}[r.IntN(3)]
		terms := []uint64{0, 1}   // promised, by op
		committed := op.Number(1) // never overwritten from here down
		for life := range 12 {
			calls, at := 0, 1+r.IntN(50)
			d.Arm(func(vfs.Label, string) crashfs.Action {
				if calls++; calls == at {
					return crashfs.CrashBefore + crashfs.Action(r.IntN(2))
				}
				return crashfs.Continue
			})
			where := fmt.Sprintf("seed %d life %d", seed, life)
			j, _, err := Open(Options{FS: d.FS(), Dir: "p0/journal", Identity: me, FileBytes: size})
			if err != nil {
				require.ErrorIs(t, err, vfs.ErrCrashed, where)
			}
			read := func() {
				require.LessOrEqual(t, j.First()-1, committed, where)
				require.GreaterOrEqual(t, int(j.Last()), len(terms)-1, where)
				for n := j.First() - 1; n <= j.Last(); n++ {
					term, err := j.Term(n)
					require.NoError(t, err)
					if int(n) < len(terms) {
						require.Equal(t, terms[n], term, "%s op %d", where, n)
					} else {
						terms = append(terms, term)
					}
				}
				for _, e := range all(t, j) {
					require.Equal(t, terms[e.Op], e.Term, where)
				}
			}
			if err == nil {
				read()
			}
			term := uint64(1000*seed + 50*uint64(life))
			for err == nil && !d.Crashed() {
				term++
				first := j.Last() + 1
				if r.IntN(4) == 0 && committed < j.Last() {
					first = committed + 1 + op.Number(r.IntN(int(j.Last()-committed)))
				}
				var es []raftlog.Entry
				for k := range 1 + r.IntN(3) {
					es = append(es, entry(first+op.Number(k), term))
				}
				terms = terms[:min(len(terms), int(first))]
				if err = j.Append(&raftlog.State{Term: term}, es); err == nil && r.IntN(3) == 0 {
					if err = j.Sync(); err == nil {
						read()
						committed += op.Number(r.IntN(int(j.Last()-committed) + 1))
					}
				}
				if err == nil && r.IntN(4) == 0 {
					var did bool
					if did, err = j.Compact(committed); did {
						compacted++
					}
				}
				if err == nil && r.IntN(4) == 0 {
					_, err = j.Reclaim()
				}
			}
			d.Arm(nil)
			if r.IntN(2) == 0 {
				d.PowerLoss(r)
			} else {
				d.ProcessCrash()
			}
		}
	}
	require.Greater(t, compacted, 500)
}
