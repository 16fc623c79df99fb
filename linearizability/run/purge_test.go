package run

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/replica"
	"purgelab/impl/sim"
	"purgelab/linearizability/history"
	"purgelab/linearizability/seeds"
	"purgelab/linearizability/verdict"
	"purgelab/model/op"
)

// Purges that end when they are accepted, and those that end when they are
// applied; one partition, or a topic of several; with the hold of admission and
// without.
func TestSeedsAcceptedPurges(t *testing.T) {
	for _, s := range []Settings{
		{Faults: "all", PurgeAck: "mixed", Partitions: 3},
		{Faults: "all", PurgeAck: "accepted", Hold: true},
		{Faults: "all", PurgeAck: "mixed", Partitions: 2, Positions: "bare"},
	} {
		sum, err := (&Sweep{Settings: s, From: 1, To: (seeds.Count() + 3) / 4}).Run(context.Background())
		require.NoError(t, err)
		for _, bad := range append(sum.Reds, sum.Undecided...) {
			t.Errorf("%v %s: %s\nreplay: %s", bad.Verdict, bad.Property, bad.Reason, bad.Replay)
		}
	}
}

func TestHistoryTellsAcceptedFromApplied(t *testing.T) {
	count := func(s Settings) (accepted, applied, siblings int) {
		r := mustRun(t, s)
		require.Equal(t, verdict.Pass, r.Verdict)
		ops, err := history.Pair("history", r.History)
		require.NoError(t, err)
		at := map[int64]bool{}
		for i := range ops {
			o := &ops[i]
			if o.Request.Kind != op.Purge {
				continue
			}
			require.True(t, o.Outcome == history.NoEffect || o.Request.Intent > 0, "line %d: its intent is known in the end", o.Line)
			switch o.Outcome {
			case history.Accepted:
				accepted++
				if at[o.Call/1000] {
					siblings++
				}
				at[o.Call/1000] = true
			case history.Answered:
				applied++
			}
		}
		return accepted, applied, siblings
	}
	accepted, applied, _ := count(Settings{Seed: 3, Faults: "all", Ops: 600})
	require.Zero(t, accepted)
	require.Positive(t, applied)
	accepted, applied, siblings := count(Settings{Seed: 3, Faults: "all", Ops: 600, PurgeAck: "mixed", Partitions: 3})
	require.Positive(t, accepted)
	require.Positive(t, applied)
	require.Positive(t, siblings, "a topic is purged partition by partition")
	accepted, applied, _ = count(Settings{Seed: 3, Faults: "network", Ops: 600, PurgeAck: "accepted"})
	require.Greater(t, accepted, applied)
}

// A partition that never hears of its intents is stuck: what is accepted must be
// settled.
func TestForgottenIntentsAreCaught(t *testing.T) {
	deaf := func(c replica.Config) (sim.Member, error) {
		r, err := replica.Open(c)
		if err != nil {
			return nil, err
		}
		return &deafReplica{r}, nil
	}
	r, err := run(context.Background(), Settings{Seed: 1, PurgeAck: "accepted"}, deaf)
	require.NoError(t, err)
	require.Equal(t, verdict.Fail, r.Verdict)
	property, reason := r.Red()
	require.Equal(t, "NoStuckReplica", property)
	require.Contains(t, reason, "settled intent 0")
}

type deafReplica struct{ *replica.Replica }

func (d *deafReplica) Step(in replica.Input) (replica.Output, error) {
	if in.Intents != nil {
		in = replica.Input{Now: in.Now, Work: true}
	}
	return d.Replica.Step(in)
}
