package tagged

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
	"purgelab/model/op"
)

// sample is a short history with everything in it: two purges, bookmarks set,
// moved back and deleted, starts that pass whole segments.
func sample() *script {
	s := newScript()
	s.append(3)
	s.store(1, 1)
	s.append(2)
	s.delete(1)
	s.store(2, 4)
	s.append(4)
	s.advance(4)
	s.store(1, 7)
	s.add(step{})
	s.append(5)
	s.store(2, 2)
	s.store(1, 8)
	s.store(2, 6)
	s.store(2, 7)
	s.advance(9)
	s.append(1)
	s.purge(2)
	s.append(2)
	s.store(3, 1)
	s.store(2, 0)
	s.delete(3)
	s.append(6)
	s.append(6)
	s.advance(14)
	s.add(step{eff: Effect{Kind: Settle, Settled: 4}})
	s.purge(5)
	s.append(1)
	s.store(1, 0)
	s.append(7)
	return s
}

func TestScriptWithoutCrash(t *testing.T) {
	for _, every := range []int{0, 1, 3, 7} {
		v := &driver{t: t, s: sample(), d: crashfs.New(), checkpointEvery: every}
		require.NoError(t, v.open())
		v.check()
		require.NoError(t, v.run(v.s.last()))
		for more := true; more; {
			var err error
			more, _, err = reclaim(v.e)
			require.NoError(t, err)
		}
		v.check()
		require.Equal(t, []op.Generation{5}, v.folders())
		v.d.ProcessCrash()
		require.NoError(t, v.open())
		v.check()
		require.NoError(t, v.run(v.s.last()))
	}
}

// TestEveryCrashPoint stops the machine before and after each mutating call,
// lets the process or the power fail, opens, compares, goes on to the end, and
// compares again.
func TestEveryCrashPoint(t *testing.T) {
	draws := uint64(3)
	if testing.Short() {
		draws = 1
	}
	for _, every := range []int{3, 7} {
		total := crashRun(t, crash{every: every})
		require.Greater(t, total, 80)
		for point := 1; point <= 2*total; point++ {
			crashRun(t, crash{every: every, point: point})
			for draw := range draws {
				crashRun(t, crash{every: every, point: point, power: true, draw: draw})
			}
		}
	}
}

// TestCrashDuringRecovery stops the machine a second time, soon after the first
// crash, by the same or the other kind of crash.
func TestCrashDuringRecovery(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	runs := 2500
	if testing.Short() {
		runs = 1500
	}
	for range runs {
		crashRun(t, crash{
			every: 2 + r.IntN(6), point: 1 + r.IntN(300), power: r.IntN(2) == 0,
			again: 1 + r.IntN(60), againPower: r.IntN(4) > 0, draw: r.Uint64(),
		})
	}
}

// crash says where a run stops: at point (2k-1: before call k; 2k: after it; 0:
// never), by a power loss or not, and at point again of the next life.
type crash struct {
	every      int // ops between checkpoints
	point      int
	power      bool
	again      int
	againPower bool
	draw       uint64
}

func crashRun(t *testing.T, c crash) (calls int) {
	v := &driver{t: t, s: sample(), d: crashfs.New(), checkpointEvery: c.every, slack: 1}
	r := rand.New(rand.NewPCG(c.draw, uint64(c.point)))
	live := func(point int, power bool) {
		calls = 0
		v.d.Arm(func(vfs.Label, string) crashfs.Action {
			calls++
			switch point {
			case 2*calls - 1:
				return crashfs.CrashBefore
			case 2 * calls:
				return crashfs.CrashAfter
			}
			return crashfs.Continue
		})
		err := v.open()
		if err == nil {
			v.check()
			err = v.run(v.s.last())
		}
		v.d.Arm(nil)
		if err != nil {
			require.ErrorIs(t, err, vfs.ErrCrashed, "%+v", c)
		}
		if power {
			v.d.PowerLoss(r)
		} else {
			v.d.ProcessCrash()
		}
	}
	live(c.point, c.power)
	first := calls
	if c.again > 0 {
		live(c.again, c.againPower)
	}
	require.NoError(t, v.open(), "%+v", c)
	v.check()
	require.NoError(t, v.run(v.s.last()), "%+v", c)
	// What is left behind goes away, and nothing visible with it.
	require.NoError(t, v.finishTask())
	for more := true; more; {
		var err error
		more, _, err = reclaim(v.e)
		require.NoError(t, err)
	}
	v.check()
	require.Equal(t, []op.Generation{5}, v.folders())
	v.d.PowerLoss(r)
	require.NoError(t, v.open(), "%+v", c)
	v.check()
	return first
}

// TestRandomScripts runs drawn scripts with drawn crashes.
func TestRandomScripts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		v := &driver{t: rt, s: newScript(), d: crashfs.New(), checkpointEvery: rapid.IntRange(0, 9).Draw(rt, "every"), slack: rapid.IntRange(1, 4).Draw(rt, "slack")}
		v.opts = func(o *Options) {
			o.SegmentBytes = rapid.SampledFrom([]int{1, 200, 600, 0}).Draw(rt, "segment-bytes")
			o.IndexEvery = rapid.SampledFrom([]int{1, 150, 0}).Draw(rt, "index-every")
		}
		for range rapid.IntRange(5, 60).Draw(rt, "ops") {
			now := v.s.now()
			switch k := rapid.IntRange(0, 11).Draw(rt, "kind"); {
			case k <= 4 || now.end == 0 && k <= 9:
				v.s.append(rapid.IntRange(1, 6).Draw(rt, "count"))
			case k <= 7:
				v.s.store(rapid.IntRange(0, 3).Draw(rt, "key"), op.Offset(rapid.IntRange(0, int(now.end)-1).Draw(rt, "offset")))
			case k == 8 && len(now.marks) > 0:
				id := rapid.IntRange(0, 3).Draw(rt, "key")
				if _, ok := now.marks[key(id)]; ok {
					v.s.delete(id)
				}
			case k == 9:
				v.s.advance(op.Offset(rapid.IntRange(int(now.start), int(now.end)).Draw(rt, "start")))
			case k == 10:
				v.s.purge(max(now.gen, now.settled) + op.Generation(rapid.IntRange(1, 3).Draw(rt, "skip")))
			default:
				v.s.add(step{})
			}
		}
		for range rapid.IntRange(0, 4).Draw(rt, "crashes") {
			at, n := rapid.IntRange(1, 120).Draw(rt, "call"), 0
			action := rapid.SampledFrom([]crashfs.Action{crashfs.CrashBefore, crashfs.CrashAfter}).Draw(rt, "when")
			v.d.Arm(func(vfs.Label, string) crashfs.Action {
				if n++; n == at {
					return action
				}
				return crashfs.Continue
			})
			err := v.open()
			if err == nil {
				v.check()
				err = v.run(v.s.last())
			}
			v.d.Arm(nil)
			if err != nil {
				require.ErrorIs(rt, err, vfs.ErrCrashed)
			}
			if rapid.Bool().Draw(rt, "power") {
				v.d.PowerLoss(rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0)))
			} else {
				v.d.ProcessCrash()
			}
		}
		require.NoError(rt, v.open())
		v.check()
		require.NoError(rt, v.run(v.s.last()))
	})
}

// TestReclaimBetweenTheStepsOfACheckpoint: until the record is durable, the files
// that the record before names stay, though others have taken their place.
func TestReclaimBetweenTheStepsOfACheckpoint(t *testing.T) {
	for stop := range 40 {
		s := newScript()
		s.append(9)
		for i := range 30 {
			s.append(2)
			s.store(1, op.Offset(i%9))
		}
		s.advance(50)
		s.append(1)
		v := &driver{t: t, s: s, d: crashfs.New(), slack: 1}
		require.NoError(t, v.open())
		require.NoError(t, v.run(10))
		v.task = v.e.Checkpoint(nil)
		require.NoError(t, v.finishTask())
		require.NoError(t, v.run(s.last()))
		v.task = v.e.Checkpoint(nil)
		for range stop {
			if v.task != nil {
				require.NoError(t, v.between())
			}
		}
		v.e.unclaimed = true
		for more := true; more; {
			var err error
			more, _, err = reclaim(v.e)
			require.NoError(t, err)
		}
		v.check()
		v.d.PowerLoss(rand.New(rand.NewPCG(uint64(stop), 0)))
		require.NoError(t, v.open(), "after %d steps", stop)
		v.check()
		require.NoError(t, v.run(s.last()))
	}
}
