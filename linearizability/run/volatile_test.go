package run

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/linearizability/check"
	"purgelab/linearizability/faults"
	"purgelab/linearizability/seeds"
	"purgelab/linearizability/verdict"
)

// volatile are runs of the design that keeps no journal when all machines lose power.
func volatile(replicas int, variant string) Settings {
	return Settings{
		Design: "reset-record", Variant: variant, Replicas: replicas, Messages: "replicated", Bookmarks: "replicated",
		Faults: string(faults.PowerAll), NoTrace: true,
	}
}

// violatedIn counts what some seeds violate.
func violatedIn(t *testing.T, s Settings, n uint64) map[string]int {
	red := map[string]int{}
	sequences := 0
	for s.Seed = 1; s.Seed <= n; s.Seed++ {
		r, err := Run(context.Background(), s)
		require.NoError(t, err)
		sequences += r.Effects.Sequences
		for _, x := range r.Results {
			require.NotEqual(t, verdict.Undecided, x.Verdict, x)
			if x.Verdict == verdict.Fail {
				red[x.Property]++
			}
		}
	}
	require.Positive(t, sequences)
	return red
}

// TestSeedsVolatile: a single replica keeps its promises, which begin anew with its
// op numbers.
func TestSeedsVolatile(t *testing.T) {
	sum, err := (&Sweep{Settings: volatile(1, ""), From: 1, To: seeds.Count()}).Run(context.Background())
	require.NoError(t, err)
	for _, bad := range append(sum.Reds, sum.Undecided...) {
		t.Errorf("%v %s: %s\nreplay: %s", bad.Verdict, bad.Property, bad.Reason, bad.Replay)
	}
	require.NotZero(t, sum.Effects.Sequences)
}

// TestKeptFloorHidesFreshMessages: a floor that is kept over op numbers which begin
// anew hides what was acknowledged, and both judges see it. The variant and the
// defect are the same.
func TestKeptFloorHidesFreshMessages(t *testing.T) {
	for _, s := range []Settings{volatile(1, "keep-floor"), volatile(1, "")} {
		if s.Variant == "" {
			s.Defect = "floor-kept-across-sequences"
		}
		red := violatedIn(t, s, 40)
		require.Greater(t, red["NoHiddenFresh"], 10)
		require.Greater(t, red[check.Property], 10)
		for property := range red { // what is hidden is answered as of the generation before
			require.Contains(t, []string{"NoHiddenFresh", check.Property, "GenerationMonotone"}, property)
		}
	}
}

// TestOneOfTwoIsPersisted: there is one journal, so what need not be synced for the
// one kind of data is lost for the other, too, although the policy promised it.
func TestOneOfTwoIsPersisted(t *testing.T) {
	for _, messages := range []bool{true, false} {
		s := volatile(1, "")
		if messages {
			s.Messages = "persisted"
		} else {
			s.Bookmarks = "persisted"
		}
		red := violatedIn(t, s, 40)
		require.Greater(t, red["AckDurable"], 10)
		delete(red, "AckDurable")
		require.Empty(t, red)
	}
}

// TestVolatileGroup: among three replicas everything holds that does not suffer from
// floors which differ, and they always come to rest.
func TestVolatileGroup(t *testing.T) {
	for _, class := range []faults.Class{faults.PowerAll, faults.All} {
		s := volatile(3, "")
		s.Faults = string(class)
		red := violatedIn(t, s, 40)
		for _, property := range []string{
			"CommittedPrefixSafe", "CompletionLast", "NoErrorNoAdvance", "RetryIdempotent", "CommittedOnlyDurable",
			"NoPhantomEmpty", "PurgeEventuallyApplied", "NoStuckReplica",
		} {
			require.Zero(t, red[property], property)
		}
	}
}

// TestPowerThatFailsInTheDark: power that fails where there is none ends no second
// sequence of op numbers, and a machine that is down with what it has cached loses
// that, too.
func TestPowerThatFailsInTheDark(t *testing.T) {
	all := []int{1, 2, 3}
	s := volatile(3, "")
	s.Plan = &faults.Plan{Faults: []faults.Fault{
		{At: 500, For: 400, Kind: faults.ProcessCrash, Replicas: []int{2}},
		{At: 600, For: 200, Kind: faults.PowerLoss, Replicas: all},
		{At: 700, For: 200, Kind: faults.PowerLoss, Replicas: all},
		{At: 750, For: 200, Kind: faults.PowerLoss, Replicas: all},
	}}
	for s.Seed = 1; s.Seed <= 5; s.Seed++ {
		r, err := Run(context.Background(), s)
		require.NoError(t, err)
		require.Equal(t, 1, r.Effects.Sequences)
		require.Equal(t, 2, r.Partitions)
	}
}

// TestVolatilePlans: a plan that takes the power from one machine of three is refused.
func TestVolatilePlans(t *testing.T) {
	s := volatile(3, "")
	s.Plan = &faults.Plan{Faults: []faults.Fault{{At: 50, For: 20, Kind: faults.PowerLoss, Replicas: []int{2}}}}
	require.ErrorContains(t, s.Complete(), "takes the power from all 3 replicas together or from none")
	s.Plan.Faults[0].Replicas = []int{2, 3, 1}
	require.NoError(t, s.Complete())
	s.Recreate = 1
	require.ErrorContains(t, s.Complete(), "recreate 1: want 0 with design reset-record")
}
