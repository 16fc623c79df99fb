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
		onlyListed(t, s, sum)
	}
}

// Partitions that are deleted and created again: nothing of their namesakes
// survives or counts.
func TestSeedsRecreatedPartitions(t *testing.T) {
	for _, s := range []Settings{
		{Faults: "all", Recreate: 4, Partitions: 2},
		{Faults: "all", Recreate: 3, Positions: "bare"},
		{Faults: "power", Recreate: 6, Partitions: 3, PurgeAck: "mixed"},
		{Faults: "process", Recreate: 4, Replicas: 1},
	} {
		sum, err := (&Sweep{Settings: s, From: 1, To: (seeds.Count() + 3) / 4}).Run(context.Background())
		require.NoError(t, err)
		onlyListed(t, s, sum)
		require.Positive(t, min(sum.Effects.Recreated, sum.Effects.Retired, sum.Effects.Stale))
	}
}

// The judges see it if a replica takes its namesake's requests, messages or
// positions for its own.
func TestMixedUpIncarnationsAreCaught(t *testing.T) {
	for name, mixUp := range map[string]func(*replica.Input){
		"requests": func(in *replica.Input) {
			if in.Request != nil {
				q := *in.Request
				q.Incarnation = 0
				in.Request = &q
			}
		},
		"positions": func(in *replica.Input) {
			if in.Request != nil && !in.Request.Op.Bare {
				q := *in.Request
				o := *q.Op
				o.At.Incarnation, q.Op = q.Incarnation, &o
				in.Request = &q
			}
		},
	} {
		caught := false
		for seed := uint64(1); seed <= 20 && !caught; seed++ {
			r, err := run(context.Background(), Settings{Seed: seed, Faults: "all", Recreate: 4}, func(c replica.Config) (sim.Member, error) {
				r, err := replica.Open(c)
				if err != nil {
					return nil, err
				}
				return &mixedUp{r, mixUp}, nil
			})
			require.NoError(t, err)
			caught = r.Verdict == verdict.Fail
		}
		require.True(t, caught, name)
	}
}

type mixedUp struct {
	*replica.Replica
	mixUp func(*replica.Input)
}

func (m *mixedUp) Step(in replica.Input) (replica.Output, error) {
	m.mixUp(&in)
	return m.Replica.Step(in)
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

// A partition that never hears of its intents does not carry them out: what is accepted must be
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
	require.Equal(t, "PurgeEventuallyApplied", property)
	require.Contains(t, reason, "settled intent 0")
}

type deafReplica struct{ *replica.Replica }

func (d *deafReplica) Step(in replica.Input) (replica.Output, error) {
	if in.Intents != nil {
		in = replica.Input{Now: in.Now, Work: true}
	}
	return d.Replica.Step(in)
}
