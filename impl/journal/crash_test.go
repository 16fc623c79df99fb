package journal

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/raftlog"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
	"purgelab/model/op"
)

// TestEveryCrashPoint runs a script of appends and syncs, stops it at each
// call, loses power, and expects: everything that was synced, at most what was
// appended, each Append whole or not at all, and a journal that goes on.
func TestEveryCrashPoint(t *testing.T) {
	for _, o := range []Options{{FileBytes: 4000}, {FileBytes: 220}, {FileBytes: 4000, Room: true}, {FileBytes: 220, Room: true}} {
		for _, power := range []bool{false, true} {
			total := crashRun(t, o, 0, power, 0)
			require.Greater(t, total, 15)
			for point := 1; point <= 2*total; point++ {
				for draw := range uint64(6) {
					crashRun(t, o, point, power, draw)
				}
			}
		}
	}
}

func crashRun(t *testing.T, o Options, point int, power bool, draw uint64) (calls int) {
	d := crashfs.New()
	o.FS, o.Dir, o.Identity = d.FS(), "p0/journal", me
	d.Arm(func(vfs.Label, string) crashfs.Action {
		calls++
		switch point {
		case 2*calls - 1:
			return crashfs.CrashBefore
		case 2 * calls:
			return crashfs.CrashAfter
		}
		return crashfs.Continue
	})
	// history[k] is the log after k Appends; acked is how many were synced.
	history := [][]raftlog.Entry{nil}
	acked, tried := 0, 0
	script := func() error {
		j, _, err := Open(o)
		if err != nil {
			return err
		}
		for i, es := range [][]raftlog.Entry{
			{entry(2, 1), entry(3, 1)}, {entry(4, 1)}, {entry(5, 1), entry(6, 1), entry(7, 1)}, {entry(6, 2)}, {entry(7, 2)}, {entry(3, 3), entry(4, 3)}, {entry(5, 3)},
		} {
			last := history[len(history)-1]
			history = append(history, append(append([]raftlog.Entry{}, last[:es[0].Op-2]...), es...))
			tried++
			if err := j.Append(&raftlog.State{Term: es[0].Term, Vote: uint64(i), Commit: 1}, es); err != nil {
				return err
			}
			if i%2 == 1 {
				if err := j.Sync(); err != nil {
					return err
				}
				acked = tried
			}
		}
		return nil
	}
	err := script()
	if point == 0 {
		require.NoError(t, err)
	}
	d.Arm(nil)
	crash := func() {
		if power {
			d.PowerLoss(rand.New(rand.NewPCG(draw, uint64(point))))
		} else {
			d.ProcessCrash()
		}
	}
	crash()
	o.FS = d.FS()
	j, _, err := Open(o)
	require.NoError(t, err)
	got, found := all(t, j), -1
	for k := acked; k <= tried; k++ {
		if fmt.Sprint(history[k]) == fmt.Sprint(got) {
			found = k
		}
	}
	require.GreaterOrEqual(t, found, acked, "point %d draw %d: %v", point, draw, got)
	if found > 0 {
		require.EqualValues(t, found-1, j.State().Vote, "the state of the same Append")
	}
	if !power {
		require.GreaterOrEqual(t, found, tried-1)
	}
	// What Open showed stays, and the journal goes on.
	next := entry(j.Last()+1, 9)
	require.NoError(t, j.Append(nil, []raftlog.Entry{next}))
	require.NoError(t, j.Sync())
	crash()
	o.FS = d.FS()
	j, r, err := Open(o)
	require.NoError(t, err)
	require.Nil(t, r.Torn)
	require.Equal(t, fmt.Sprint(append(got, next)), fmt.Sprint(all(t, j)))
	return calls
}

// TestCrashDuringOpen stops the machine while it opens a journal whose end is in
// the cache only, then loses power.
func TestCrashDuringOpen(t *testing.T) {
	for point := range 12 {
		for draw := range uint64(20) {
			d := crashfs.New()
			j, _ := open(t, d, 0)
			require.NoError(t, j.Append(nil, []raftlog.Entry{entry(2, 1)}))
			require.NoError(t, j.Sync())
			for n := op.Number(3); n < 8; n++ {
				require.NoError(t, j.Append(nil, []raftlog.Entry{entry(n, 1)}))
			}
			d.ProcessCrash()
			calls := 0
			d.Arm(func(vfs.Label, string) crashfs.Action {
				if calls++; calls == point/2+1 {
					return crashfs.CrashBefore + crashfs.Action(point%2)
				}
				return crashfs.Continue
			})
			opened, _, err := Open(Options{FS: d.FS(), Dir: "p0/journal", Identity: me})
			d.Arm(nil)
			d.PowerLoss(rand.New(rand.NewPCG(draw, uint64(point))))
			j, _ = open(t, d, 0)
			require.GreaterOrEqual(t, j.Last(), op.Number(2))
			if err == nil {
				require.EqualValues(t, 7, opened.Synced())
				require.EqualValues(t, 7, j.Last())
			}
			last := j.Last()
			d.PowerLoss(rand.New(rand.NewPCG(draw, 0)))
			j, _ = open(t, d, 0)
			require.Equal(t, last, j.Last(), "what an open shows stays")
		}
	}
}

// TestManyLives runs drawn appends and syncs through many lives, each ended by a
// process crash or a power loss at a drawn call, that of Open included. What
// Synced promised in any life must be there in the next, with its term, unless a
// later append has overwritten it.
func TestManyLives(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 5))
		d := crashfs.New()
		size, room := []int{0, 150, 400}[r.IntN(3)], seed%2 == 1
		var promised []raftlog.Entry // from op 2 on
		for life := range 12 {
			calls, at := 0, 1+r.IntN(30)
			d.Arm(func(vfs.Label, string) crashfs.Action {
				if calls++; calls == at {
					return crashfs.CrashBefore + crashfs.Action(r.IntN(2))
				}
				return crashfs.Continue
			})
			j, _, err := Open(Options{FS: d.FS(), Dir: "p0/journal", Identity: me, FileBytes: size, Room: room})
			if err != nil {
				require.ErrorIs(t, err, vfs.ErrCrashed, "seed %d life %d", seed, life)
			} else {
				got := all(t, j)
				for i, e := range promised {
					require.Less(t, i, len(got), "seed %d life %d: op %d is gone", seed, life, e.Op)
					require.Equal(t, e.Term, got[i].Term, "seed %d life %d: op %d", seed, life, e.Op)
				}
				require.EqualValues(t, len(got)+1, j.Synced())
				promised = got
				term := uint64(1000*seed + 50*uint64(life))
				for err == nil && !d.Crashed() {
					term++
					first := j.Last() + 1
					if r.IntN(5) == 0 {
						first = 2 + op.Number(r.IntN(int(j.Last())))
					}
					var es []raftlog.Entry
					for k := range 1 + r.IntN(3) {
						es = append(es, entry(first+op.Number(k), term))
					}
					if int(first-2) < len(promised) {
						promised = promised[:first-2]
					}
					if err = j.Append(&raftlog.State{Term: term}, es); err == nil && r.IntN(3) == 0 {
						if err = j.Sync(); err == nil {
							promised = all(t, j)
						}
					}
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
}
