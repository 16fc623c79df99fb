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

// Disks fail, lose what they should have synced, and rot: nothing that was
// acknowledged is lost, and all replicas but the rotten ones come to rest.
func TestStorageFaults(t *testing.T) {
	var total sim.Effects
	for seed := range uint64(24) {
		s := Settings{Seed: seed, Faults: string(faults.Storage), Ops: 200, NoTrace: true}
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
	require.LessOrEqual(t, total.Stopped, total.Rotten)
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
