package run

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/replica"
	"purgelab/impl/sim"
	"purgelab/linearizability/faults"
	"purgelab/model/op"
)

// TestBoundedLiveness: after the last fault every replica has joined again and has
// everything, and every partition takes an append and a purge, in time; and a replica
// that asks only once to be taken in is seen not to.
func TestBoundedLiveness(t *testing.T) {
	for _, replicas := range []int{1, 3, 5} {
		for seed := uint64(1); seed <= 4; seed++ {
			s := Settings{Seed: seed, Replicas: replicas, Partitions: 2, Messages: "replicated", Bookmarks: "replicated", Faults: string(faults.PowerMajority), NoTrace: true}
			r := mustRun(t, s)
			require.Equal(t, "pass", r.Verdict.String())
			require.Positive(t, r.Served)
			require.Less(t, r.Rested, int64(RestTicks))
			require.Less(t, r.Served, int64(ServeTicks))
		}
	}
	s := Settings{Seed: 1, Plan: &faults.Plan{Faults: []faults.Fault{{At: 900, For: 100, Kind: faults.ReplaceDisk, Replicas: []int{2}}}}}
	require.Equal(t, "pass", mustRun(t, s).Verdict.String())
	s.Defect = "join-once"
	reason, red := mustRun(t, s).Violates("NoStuckReplica")
	require.True(t, red)
	require.Contains(t, reason, "replica 2 of partition 0 has not joined again")
}

// stale is a replica that is as good as any until all is at rest, and then answers no
// appends, or never settles another intent.
type stale struct {
	*replica.Replica
	refuses op.Kind
	given   *int // that it was told of
	after   int
}

func (m *stale) Step(in replica.Input) (replica.Output, error) {
	if in.Request != nil && in.Request.Op.Kind == m.refuses || in.Intents != nil && m.refuses == op.Purge {
		if *m.given++; *m.given > m.after {
			in = replica.Input{Tick: true, Now: in.Now}
		}
	}
	return m.Replica.Step(in)
}

// A partition that comes to rest, and then takes no append or finishes no purge, is seen,
// whichever it is: what is asked of it after the last fault is not asked before.
func TestProbesAreNeeded(t *testing.T) {
	// A purge comes from the plane and from its client.
	for kind, probe := range map[op.Kind]int{op.Append: 1, op.Purge: 2} {
		for partition := range op.Partition(2) {
			given := 0
			open := func(after int) func(replica.Config) (sim.Member, error) {
				return func(c replica.Config) (sim.Member, error) {
					m, err := replica.Open(c)
					if err != nil || c.Partition != partition {
						return m, err
					}
					return &stale{m, kind, &given, after}, nil
				}
			}
			s := Settings{Seed: 3, Replicas: 1, Partitions: 2, Ops: 100, NoTrace: true}
			all, err := run(context.Background(), s, open(1<<30))
			require.NoError(t, err)
			require.Equal(t, "pass", all.Verdict.String())
			last := given
			given = 0
			r, err := run(context.Background(), s, open(last-probe))
			require.NoError(t, err)
			reason, red := r.Violates("NoStuckReplica")
			require.True(t, red, "%v of partition %d", kind, partition)
			require.Equal(t, "an append or a purge after the last fault was not answered", reason)
		}
	}
}

// When nothing breaks any more a minority of the machines goes down for good. What the
// others then serve they serve by themselves: a group in which only one machine can lead
// is seen not to.
func TestMinorityLeaves(t *testing.T) {
	s := Settings{Seed: 3, Ops: 100, NoTrace: true}
	require.NoError(t, s.Complete())
	leaves := 1 + sim.Split(s.Seed, "left").Perm(s.Replicas)[0]
	for lead := 1; lead <= s.Replicas; lead++ {
		r, err := run(context.Background(), s, func(c replica.Config) (sim.Member, error) {
			if c.ID != lead {
				c.ElectionTicks = 1_000_000
			}
			return replica.Open(c)
		})
		require.NoError(t, err)
		reason, red := r.Violates("NoStuckReplica")
		require.Equal(t, lead == leaves, red, "%d leads, %d leaves: %s", lead, leaves, reason)
	}
}

// The bounds stand in the documentation as they are.
func TestBoundsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/recovery.md")
	require.NoError(t, err)
	require.Contains(t, string(text), fmt.Sprintf("within %d ticks", RestTicks))
	require.Contains(t, string(text), fmt.Sprintf("within %d ticks more", ServeTicks))
}
