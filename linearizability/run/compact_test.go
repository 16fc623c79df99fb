package run

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/sim"
	"purgelab/impl/transfer"
	"purgelab/linearizability/faults"
	"purgelab/linearizability/verdict"
)

// Runs whose journals stay short pass under faults of every kind, and whoever needs
// what was dropped gets the state.
func TestRunsWithTransfers(t *testing.T) {
	var all sim.Effects
	for _, x := range []struct {
		design string
		seeds  []uint64
	}{{"ordered", []uint64{3, 7, 22, 24, 29, 38, 42, 89}}, {"advance", []uint64{24, 38, 39, 50, 58, 60}}} {
		for _, seed := range x.seeds {
			s := Settings{Seed: seed, Faults: "all", CompactOps: 6, Design: x.design, NoTrace: true}
			r, err := Run(context.Background(), s)
			require.NoError(t, err)
			require.Equal(t, verdict.Pass, r.Verdict, "%s: %v", r.Settings.Replay(), r.Violated())
			all.Add(r.Effects)
		}
	}
	m := all.Moves
	t.Logf("%+v", m)
	for _, n := range []int{m.Compacted, m.Started, m.Resumed, m.Interrupted, m.Completed, m.Purged} {
		require.Positive(t, n)
	}
	require.Equal(t, m.Started+m.Resumed, m.Completed+m.Interrupted)
}

// TestRunsCompactedByBytes: some of the runs that Policies makes ask only for how many
// bytes a journal takes, and their journals are compacted, too.
func TestRunsCompactedByBytes(t *testing.T) {
	drawn := 0
	for seed := uint64(1); seed <= 40; seed++ {
		s := Settings{Seed: seed, Faults: "all", CompactOps: compactOps, NoTrace: true}
		require.NoError(t, s.Complete())
		var o sim.Options
		s.shape(&o)
		require.NotEqual(t, o.Compact.Ops > 0, o.Compact.Bytes > 0, "seed %d", seed)
		if o.Compact.Bytes == 0 {
			continue
		}
		r := mustRun(t, s)
		require.Equal(t, verdict.Pass, r.Verdict, "%s: %v", r.Settings.Replay(), r.Violated())
		require.Positive(t, r.Effects.Moves.Compacted, r.Settings.Replay())
		t.Logf("seed %d: %d bytes, %+v", seed, o.Compact.Bytes, r.Effects.Moves)
		drawn++
	}
	require.Positive(t, drawn)
}

func TestCompactOpsOfADesign(t *testing.T) {
	s := Settings{CompactOps: -1}
	require.EqualError(t, s.Complete(), "compact-ops -1: want 0 to 1000000")
	s = Settings{CompactOps: 5}
	require.NoError(t, s.Complete())
	require.Contains(t, s.Replay(), "--compact-ops 5")
}

// TestResetRecordMovesState: transfers break nothing of reset-record that it does not
// break by nature, and where a replica is alone it keeps all its promises.
func TestResetRecordMovesState(t *testing.T) {
	var all sim.Effects
	for _, seed := range []uint64{2, 4, 6, 8, 12, 17} {
		for _, replicas := range []int{1, 3} {
			s := Settings{Seed: seed, Faults: "all", CompactOps: 5, Design: "reset-record", Replicas: replicas, NoTrace: true}
			r, err := Run(context.Background(), s)
			require.NoError(t, err)
			if replicas == 1 {
				require.Equal(t, verdict.Pass, r.Verdict, "%s: %v", r.Settings.Replay(), r.Violated())
			}
			for _, p := range []string{"HistoryAgreement", "NoFreshLoss", "NoErrorNoAdvance", "RetryIdempotent", "OfferFreshness", "BoundaryScope", "NoStuckReplica", "NoResurrectedBookmark", "CompletionLast"} {
				require.NotContains(t, r.Violated(), p, r.Settings.Replay())
			}
			all.Add(r.Effects)
		}
	}
	t.Logf("%+v", all.Moves)
	for _, n := range []int{all.Moves.Started, all.Moves.Completed, all.Moves.Purged, all.Moves.Interrupted} {
		require.Positive(t, n)
	}
}

// TestSpoiltTransfers: machines that lost their disks get their state although most of
// what they are sent was altered on its way, or comes late; what was is refused.
func TestSpoiltTransfers(t *testing.T) {
	var all sim.Moves
	for seed := uint64(7); seed <= 18; seed++ {
		s := Settings{Seed: seed, Messages: "replicated", Bookmarks: "replicated", CompactOps: 6, NoTrace: true}
		s.Plan = &faults.Plan{Faults: []faults.Fault{
			{At: 100, For: 4000, Kind: faults.SpoilTransfer, Transfers: &sim.Spoil{Chunk: 0.5, Manifest: 0.5, Late: 1}},
			{At: 600, For: 60, Kind: faults.ReplaceDisk, Replicas: []int{1 + int(seed)%3}},
			{At: 1400, For: 60, Kind: faults.PowerLoss, Replicas: []int{0}},
			{At: 2000, For: 60, Kind: faults.PowerLoss, Replicas: []int{1 + int(seed)%3}},
		}}
		r := mustRun(t, s)
		require.Equal(t, verdict.Pass, r.Verdict, "%s: %v", r.Settings.Replay(), r.Violated())
		require.Equal(t, 1, r.Faults[faults.SpoilTransfer], "seed %d", seed)
		e := sim.Effects{Moves: all}
		e.Add(r.Effects)
		all = e.Moves
	}
	t.Logf("%+v", all)
	for i, r := range transfer.Reasons {
		switch r {
		case transfer.Contradiction, transfer.WrongChecksum, transfer.WrongChunk, transfer.Suspect:
			require.Positive(t, all.Refused[i], r)
		case transfer.OtherIncarnation, transfer.Rewinds:
			require.Zero(t, all.Refused[i], r)
		}
	}
	require.Greater(t, all.Completed, 12)
}

// TestLateOffers: a member that falls behind twice is made an offer each time, and the first
// one comes once more before the second: it has got past that.
func TestLateOffers(t *testing.T) {
	for _, design := range []string{"ordered", "advance"} {
		refused, completed := 0, 0
		for seed := uint64(1); seed <= 12; seed++ {
			s := Settings{Seed: seed, Design: design, CompactOps: 6, Ops: 900, NoTrace: true}
			s.Plan = &faults.Plan{Faults: []faults.Fault{
				{At: 100, For: 6000, Kind: faults.SpoilTransfer, Transfers: &sim.Spoil{Late: 1}},
				{At: 500, For: 700, Kind: faults.ProcessCrash, Replicas: []int{1 + int(seed)%3}},
				{At: 1700, For: 700, Kind: faults.ProcessCrash, Replicas: []int{1 + int(seed)%3}},
				{At: 2900, For: 700, Kind: faults.ProcessCrash, Replicas: []int{1 + int(seed)%3}},
			}}
			r := mustRun(t, s)
			require.Equal(t, verdict.Pass, r.Verdict, "%s: %v", r.Settings.Replay(), r.Violated())
			completed += r.Effects.Moves.Completed
			if m := r.Effects.Moves.Refused; m != nil {
				refused += m[slices.Index(transfer.Reasons, transfer.NotAbove)]
			}
		}
		t.Logf("%s: %d refused, %d completed", design, refused, completed)
		require.Greater(t, refused, 3, design)
		require.Greater(t, completed, 6, design)
	}
}
