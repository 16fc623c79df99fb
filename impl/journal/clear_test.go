package journal

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/raftlog"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
	"purgelab/model/op"
)

// A log that is cleared begins above its last op, or is as before, whatever crash comes in
// between; its files go, and are never read again. What is appended then is there.
func TestClear(t *testing.T) {
	for point := 1; ; point++ {
		for _, power := range []bool{false, true} {
			d := crashfs.New()
			j, _ := open(t, d, 300)
			fill(t, j, 30, 1)
			require.NoError(t, j.Sync())
			calls := 0
			d.Arm(func(vfs.Label, string) crashfs.Action {
				if calls++; calls == point {
					return crashfs.CrashBefore
				}
				return crashfs.Continue
			})
			err := j.Clear()
			for more := err == nil; more && err == nil; {
				more, err = j.Reclaim()
			}
			crashed := d.Crashed()
			d.Arm(nil)
			if !crashed {
				require.NoError(t, err)
				require.Empty(t, logFiles(t, d.FS()))
			}
			if power {
				d.PowerLoss(rand.New(rand.NewPCG(uint64(point), 3)))
			} else {
				d.ProcessCrash()
			}
			j, r := open(t, d, 300)
			require.EqualValues(t, 30, j.Last())
			if first := j.First(); first != 2 || !crashed {
				require.EqualValues(t, 31, first)
				require.Zero(t, r, "nothing is read")
			} else {
				require.Len(t, all(t, j), 29)
				require.NoError(t, j.Clear())
			}
			term, err := j.Term(30)
			require.NoError(t, err)
			require.EqualValues(t, 1, term)
			require.Zero(t, j.Bytes())
			reclaimAll(t, j)
			require.Empty(t, logFiles(t, d.FS()))
			for n := op.Number(31); n < 60; n++ {
				require.NoError(t, j.Append(nil, []raftlog.Entry{entry(n, 2)}))
			}
			require.NoError(t, j.Sync())
			d.PowerLoss(rand.New(rand.NewPCG(uint64(point), 5)))
			j, _ = open(t, d, 300)
			require.Len(t, all(t, j), 29)
			require.EqualValues(t, []op.Number{31, 59}, []op.Number{j.First(), j.Last()})
			if power && !crashed {
				require.Greater(t, point, 7)
				return
			}
		}
	}
}
