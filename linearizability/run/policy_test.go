package run

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/sim"
	"purgelab/impl/transfer"
	"purgelab/linearizability/seeds"
	"purgelab/linearizability/verdict"
)

// TestPolicies: under every policy a partition keeps what its policy promises, and
// goes on after its replicas lost their memory, a minority or all of them, whatever
// became of it; and these runs meet all of that.
func TestPolicies(t *testing.T) {
	p := &Policies{Settings: Settings{Partitions: 2, Faults: "all"}, From: 1, To: max(8, seeds.Count()/5)}
	all, err := p.Run(context.Background())
	require.NoError(t, err)
	require.Len(t, all, 48)
	for _, s := range all {
		for _, bad := range append(s.Summary.Reds, s.Summary.Undecided...) {
			t.Errorf("%s: %s: %.300s", bad.Replay, bad.Property, bad.Reason)
		}
	}
	require.Empty(t, Unmet(all))
	require.Equal(t, verdict.Pass, VerdictOf(all))
}

// Sweeps that all pass and did not meet what they are for are a failure; what was not
// made to its end is undecided; and what was interrupted goes on.
func TestPoliciesThatShowNothing(t *testing.T) {
	p := &Policies{Settings: Settings{Faults: "network", Ops: 20}, From: 1, To: 2, Out: t.TempDir()}
	all, err := p.Run(context.Background())
	require.NoError(t, err)
	require.ElementsMatch(t, append(metCompacted(), metWhole...), Unmet(all))
	require.Equal(t, verdict.Fail, VerdictOf(all))
	for i := range all {
		require.Equal(t, verdict.Pass, all[i].Summary.Verdict())
	}
	all[3].Summary.Effects.Add(sim.Effects{Rejoined: 1})
	require.NotContains(t, Unmet(all), "suspects rejoined")
	refusals := sim.Moves{Refused: make([]int, len(transfer.Reasons))}
	refusals.Refused[0] = 1
	all[3].Summary.Effects.Add(sim.Effects{Moves: refusals})
	require.Contains(t, Unmet(all), "transfers refused, suspect", "where logs are whole it counts for nothing")
	all[24].Summary.Effects.Add(sim.Effects{Moves: refusals})
	require.NotContains(t, Unmet(all), "transfers refused, suspect")

	require.NoError(t, p.Clear(false))
	ctx, stop := context.WithCancel(context.Background())
	p.Progress = func(done, total int) {
		require.Equal(t, 96, total)
		if done == 5 {
			stop()
		}
	}
	p.Jobs = 1
	part, err := p.Run(ctx)
	require.NoError(t, err)
	require.Equal(t, verdict.Undecided, VerdictOf(part))
	require.NoError(t, p.Clear(false))
	made := 0
	p.Progress = func(done, total int) { made++ }
	_, err = p.Run(context.Background())
	require.NoError(t, err)
	require.Equal(t, 91, made)
	require.NoError(t, os.WriteFile(filepath.Join(p.Out, part[0].Name(), stateFile), []byte("{torn"), 0o644))
	require.ErrorContains(t, p.Clear(false), "ordered-1-persisted-persisted: sweep.json")
	require.NoError(t, p.Clear(true))
	require.NoDirExists(t, filepath.Join(p.Out, part[0].Name()))
}

// TestPowerOfAll: what all replicas together lose is what their policy allows, and
// shows in the history.
func TestPowerOfAll(t *testing.T) {
	lost := map[string]int{}
	for _, p := range []string{"persisted", "replicated"} {
		s := Settings{Replicas: 3, Faults: "power-all", Messages: p, Bookmarks: p}
		sum, err := (&Sweep{Settings: s, From: 1, To: seeds.Count()}).Run(context.Background())
		require.NoError(t, err)
		for _, bad := range append(sum.Reds, sum.Undecided...) {
			t.Errorf("%s: %s: %.300s", bad.Replay, bad.Property, bad.Reason)
		}
		lost[p] = sum.Effects.LostAcked
		require.Equal(t, p == "replicated", sum.Effects.Incarnations > 0)
	}
	require.Zero(t, lost["persisted"])
	require.Positive(t, lost["replicated"])
}
