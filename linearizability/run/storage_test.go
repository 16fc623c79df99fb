package run

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"purgelab/impl/replica"
	"purgelab/impl/sim"
	"purgelab/linearizability/faults"
	"purgelab/linearizability/verdict"
)

// Disks fail, lose what they should have synced, rot, write elsewhere and read
// wrongly: nothing that was acknowledged is lost, and all replicas but those that
// refuse a damaged disk come to rest.
func TestStorageFaults(t *testing.T) {
	var total sim.Effects
	for seed := range uint64(40) {
		s := Settings{Seed: seed, Faults: string(faults.Storage), Ops: 200, NoTrace: true, Design: []string{"ordered", "advance"}[seed%2]}
		if seed%6 == 5 {
			s.Replicas = 1
		}
		r, err := Run(context.Background(), s)
		require.NoError(t, err)
		property, reason := r.Red()
		require.Equal(t, verdict.Pass, r.Verdict, "%s: %s %s", r.Settings.Replay(), property, reason)
		total.Add(r.Effects)
	}
	require.Greater(t, total.DiskFaults, 50)
	require.Greater(t, total.DiskRestarts, 5)
	require.Greater(t, total.Rotten, 3)
	require.Positive(t, total.Stopped)
}

// What a disk may do to a replica, one thing a run, at a boot and while it is up:
// each takes effect, and harms nobody.
func TestEachDamage(t *testing.T) {
	rule := func(r string) faults.Fault { return faults.Fault{Kind: faults.Lie, Rule: r} }
	for name, f := range map[string]faults.Fault{
		"rot": {Kind: faults.Rot}, "rot, live": {Kind: faults.Rot, Live: true},
		"misdirect": {Kind: faults.Misdirect}, "misdirect, live": {Kind: faults.Misdirect, Live: true},
		"flip-read": {Kind: faults.FlipRead}, "flip-read, live": {Kind: faults.FlipRead, Live: true},
		"a write lands elsewhere":        rule("misdirect path=p0/gen-*/seg-*.log by=-512 times=3"),
		"a bookmark lands on another":    rule("misdirect path=p0/gen-*/bookmarks-*.log by=-44 nth=3"),
		"a write never lands":            rule("drop-write path=p0/gen-*/seg-*.log nth=2"),
		"a wrong bit is written":         rule("bit-flip op=write path=p0/gen-*/seg-*.log at=70 times=2"),
		"a wrong bit is read":            rule("bit-flip op=read path=p0/gen-*/seg-*.log at=90 times=2"),
		"what was there before is read":  rule("stale-read path=p0/gen-*/seg-*.log nth=2 times=3"),
		"bookmarks of before are loaded": rule("stale-read path=p0/gen-*/bookmarks-*.log"),
	} {
		t.Run(name, func(t *testing.T) {
			var total sim.Effects
			took := 0
			for seed := range uint64(8) {
				f := f
				f.At, f.For, f.Draw, f.Replicas = 500, 600, seed, []int{1 + int(seed)%3}
				plan := &faults.Plan{Faults: []faults.Fault{f, {At: 900, For: 100, Kind: faults.PowerLoss, Replicas: []int{2}}, {At: 1000, For: 50, Kind: faults.ProcessCrash, Replicas: f.Replicas}}}
				r := mustRun(t, Settings{Seed: seed, NoTrace: true, Ops: 250, Plan: plan})
				property, reason := r.Red()
				require.Equal(t, verdict.Pass, r.Verdict, "seed %d: %s %s", seed, property, reason)
				total.Add(r.Effects)
				took += r.Faults[f.Kind]
			}
			require.Positive(t, took)
			t.Logf("%d of 8 took effect, %d replicas stopped", took, total.Stopped)
		})
	}
}

// A leader whose purge fails for ever does not keep the group from purging.
func TestPurgeOfALeaderThatCannot(t *testing.T) {
	took := 0
	for seed := range uint64(6) {
		r, err := Run(context.Background(), Settings{Seed: seed, NoTrace: true, Ops: 200, Plan: &faults.Plan{Faults: []faults.Fault{
			{At: 100, For: 20_000, Kind: faults.DiskFault, Replicas: []int{0}, Rule: "fail-before op=rename label=purge times=0"},
		}}})
		require.NoError(t, err)
		property, reason := r.Red()
		require.Equal(t, verdict.Pass, r.Verdict, "%s %s", property, reason)
		if r.Faults[faults.DiskFault] > 0 {
			took++
			require.Less(t, r.Millis, int64(20_000), "nobody had to wait for the end of the fault")
		}
	}
	require.Greater(t, took, 3)
}

// A singleton whose disk rots refuses to serve, and that is all it can do. Rot
// that finds nothing to hit, since nothing was synced yet, is not counted.
func TestRottenSingletonRefuses(t *testing.T) {
	rotten := 0
	for draw := range uint64(8) {
		r, err := Run(context.Background(), Settings{Seed: draw, Replicas: 1, NoTrace: true, Ops: 200, Plan: &faults.Plan{Faults: []faults.Fault{
			{At: 500, For: 50, Kind: faults.Rot, Replicas: []int{1}, Draw: draw},
		}}})
		require.NoError(t, err)
		property, reason := r.Red()
		require.Equal(t, verdict.Pass, r.Verdict, "%s %s", property, reason)
		require.Equal(t, r.Effects.Rotten, r.Effects.Stopped)
		rotten += r.Effects.Rotten
	}
	require.Greater(t, rotten, 4)
}

// The partitions beside one that a rotten disk took go on, and are judged to the
// end: a replica of another one that is stuck is still seen.
func TestRottenSingletonTakesNoOther(t *testing.T) {
	lazy := func(c replica.Config) (sim.Member, error) {
		m, err := replica.Open(c)
		if err != nil {
			return nil, err
		}
		if c.Partition == 0 { // the one that rots
			return m, nil
		}
		return &idler{Replica: m}, nil
	}
	whole, stuck := 0, 0
	for seed := uint64(1); seed <= 10; seed++ {
		s := Settings{Seed: seed, Replicas: 1, Partitions: 2, NoTrace: true, Ops: 200, Plan: &faults.Plan{Faults: []faults.Fault{
			{At: 500, For: 50, Kind: faults.Rot, Replicas: []int{1}, Draw: seed},
		}}}
		r := mustRun(t, s)
		require.Equal(t, verdict.Pass, r.Verdict)
		require.GreaterOrEqual(t, r.Ops, 200)
		whole += r.Effects.Stopped

		r, err := run(context.Background(), s, lazy)
		require.NoError(t, err)
		if r.Effects.Stopped > 0 {
			property, _ := r.Red()
			require.Equal(t, "NoStuckReplica", property, "seed %d", seed)
			stuck++
		}
	}
	require.Positive(t, whole)
	require.Positive(t, stuck)
}

// idler is a replica that does no work any more after a while.
type idler struct {
	*replica.Replica
	steps int
}

func (m *idler) Step(in replica.Input) (replica.Output, error) {
	if m.steps++; m.steps > 200 && in.Work {
		return replica.Output{}, nil
	}
	return m.Replica.Step(in)
}

// What reset-record cannot promise is listed elsewhere; that its replicas come to
// rest when their disks work again is promised by all designs.
func TestResetRecordIsNotStuck(t *testing.T) {
	for seed := uint64(1); seed <= 12; seed++ {
		r, err := Run(context.Background(), Settings{Seed: seed, Design: "reset-record", Faults: string(faults.Storage), NoTrace: true, Timeout: time.Second})
		require.NoError(t, err)
		for _, x := range r.Results {
			if x.Property == "NoStuckReplica" {
				require.NotEqual(t, verdict.Fail, x.Verdict, "%s: %s", r.Settings.Replay(), x.Reason)
			}
		}
	}
}
