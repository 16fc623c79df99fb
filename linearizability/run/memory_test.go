package run

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/replica"
	"purgelab/impl/sim"
	"purgelab/linearizability/faults"
	"purgelab/linearizability/seeds"
)

// TestMemory: machines lose the disks of partitions and of the metadata plane, find
// them damaged, or find those of others, among crashes. Who lost his memory joins
// again, who is not himself refuses, and nothing that was acknowledged is lost.
func TestMemory(t *testing.T) {
	var all sim.Effects
	for _, s := range []Settings{
		{Partitions: 2}, {Replicas: 5, Design: "advance"}, {Replicas: 1, Partitions: 2}, {Messages: "replicated", Bookmarks: "replicated", Recreate: 2, Partitions: 2},
		{Messages: "replicated", Bookmarks: "persisted", Design: "advance"}, {Design: "ordered", Recreate: 3}, {PurgeAck: "accepted", Partitions: 3},
	} {
		s.Faults = string(faults.Memory)
		sum, err := (&Sweep{Settings: s, From: 1, To: seeds.Count()}).Run(context.Background())
		require.NoError(t, err)
		for _, bad := range append(sum.Reds, sum.Undecided...) {
			t.Errorf("%s: %s: %.300s", bad.Replay, bad.Property, bad.Reason)
		}
		all.Add(sum.Effects)
	}
	require.Positive(t, min(all.Replaced, all.Rejoined, all.Foreign, all.PlaneReplaced, all.PlaneRotten, all.PlaneRejoined))
	require.GreaterOrEqual(t, all.ForeignRefused, all.Foreign)
	require.GreaterOrEqual(t, all.PlaneSuspects, all.PlaneReplaced)
}

// A replica that does not look whose disk it is runs on any, and is seen to.
func TestForeignDiskIsNoticed(t *testing.T) {
	s := Settings{Seed: 1, Plan: &faults.Plan{Faults: []faults.Fault{{At: 500, For: 200, Kind: faults.ForeignDisk, Replicas: []int{2}, Whose: sim.OfReplica}}}}
	require.Equal(t, "pass", mustRun(t, s).Verdict.String())
	r, err := run(context.Background(), s, func(c replica.Config) (sim.Member, error) {
		m, err := replica.Open(c)
		if err != nil {
			c.ID++ // it takes itself for whoever the disk says
			if m, err = replica.Open(c); err != nil {
				return nil, err
			}
		}
		return m, nil
	})
	require.NoError(t, err)
	reason, red := r.Violates("NoStuckReplica")
	require.True(t, red)
	require.Contains(t, reason, "it runs on the disk of another replica")
}

// Intents that the metadata plane answered are on a majority. One of the two that hold
// the latest loses its disk while the other is away, and the third has not heard of it:
// with the defect, those two forget it.
func TestPlaneForgets(t *testing.T) {
	for seed := uint64(9); seed <= 12; seed++ {
		s := Settings{Seed: seed, PurgeAck: "accepted", NoTrace: true, Ops: 200}
		p := &faults.Plan{}
		for i := range int64(3) {
			at := 400 + 700*i
			p.Faults = append(p.Faults,
				faults.Fault{At: at, For: 300, Kind: faults.Partition, Replicas: []int{1 + int(i)}},
				faults.Fault{At: at + 290, For: 20, Kind: faults.ReplacePlane, Replicas: []int{1 + int(i+1)%3}},
				faults.Fault{At: at + 300, For: 400, Kind: faults.Partition, Replicas: []int{1 + int(i+2)%3}})
		}
		s.Plan = p
		require.Equal(t, "pass", mustRun(t, s).Verdict.String(), "seed %d", seed)
		s.Defect = "plane-forgets"
		r := mustRun(t, s)
		if _, lost := r.Violates("AckDurable"); lost {
			return
		}
	}
	require.Fail(t, "nothing was forgotten")
}

// All lose power, and the disk of the machine from whose log the partitions go on is lost
// before anybody has a copy: they go on from the next best one.
func TestLostBaseIsSurvived(t *testing.T) {
	for _, compact := range []int{0, 6} {
		for seed := uint64(1); seed <= 4; seed++ {
			s := Settings{Seed: seed, Messages: "replicated", Bookmarks: "replicated", CompactOps: compact, NoTrace: true}
			s.Plan = &faults.Plan{Faults: []faults.Fault{
				{At: 400, For: 3000, Kind: faults.LoseBase},
				{At: 600, For: 100, Kind: faults.PowerLoss, Replicas: []int{1, 2, 3}},
			}}
			r := mustRun(t, s)
			require.Equal(t, "pass", r.Verdict.String(), "seed %d", seed)
			require.Equal(t, 1, r.Faults[faults.LoseBase], "seed %d", seed)
			require.Equal(t, 1, r.Effects.Incarnations, "nobody lived in the one that was given up")
		}
	}
}
