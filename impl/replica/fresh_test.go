package replica

import (
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/observe"
	"purgelab/impl/transfer"
)

// offerOf gives a replica a manifest of the leader, and the refusals that this brings.
func (c *cluster) offerOf(lead, id int, m transfer.Manifest) []string {
	before := len(c.events)
	c.replicas[id-1].offered(uint64(lead))
	c.step(id, Input{Message: &Message{From: lead, To: id, Incarnation: 1, Member: uint64(lead), Transfer: &transfer.Message{Offer: &m, ID: m.ID()}}})
	return c.refusals(id, before)
}

// TestRefusesWhatItsLogHolds: an offer of an op that the log has, committed or not, is
// refused, since what was acknowledged above it would be dropped; an op of another term
// is not the one that the log has.
func TestRefusesWhatItsLogHolds(t *testing.T) {
	c := newClusterOf(t, 3, moving)
	c.elect()
	lead := c.leader()
	id := lead%3 + 1
	c.replicas[id-1].cfg.CheckpointOps = 1000 // it has all of the log and none of its state when it comes up again
	c.history(30, 0)
	m, err := c.replicas[lead-1].offerTo(uint64(id))
	require.NoError(t, err)
	c.crash(id, false)
	require.NoError(t, c.boot(id))
	r := c.replicas[id-1]
	r.committed = r.applied
	require.Less(t, r.committed, m.Point.Applied)
	require.Greater(t, r.lastOp(), m.Point.Applied)
	require.Equal(t, []string{"not-above"}, c.offerOf(lead, id, *m))
	require.Nil(t, r.fetch)
	other := *m
	other.Term--
	require.Empty(t, c.offerOf(lead, id, other))
	require.NotNil(t, r.fetch.pull)
}

// endOfPull notes everything, and tells when all that a replica fetches is durable.
type endOfPull struct {
	*cluster
	ended func()
}

func (s endOfPull) Observe(e observe.Event) {
	s.cluster.Observe(e)
	if e.Action == "StageState" {
		s.ended()
	}
}

// TestRefusesAtTheVeryEnd: a replica that came by what it fetches in another way, when
// all of it was stored, does not install it.
func TestRefusesAtTheVeryEnd(t *testing.T) {
	c := newClusterOf(t, 3, moving)
	c.elect()
	c.history(5, 0)
	lead := c.leader()
	id := lead%3 + 1
	c.crash(id, false)
	c.history(30, 0)
	require.NoError(t, c.boot(id))
	r := c.replicas[id-1]
	refused := -1
	r.cfg.Sink = endOfPull{c, func() {
		refused = len(c.events)
		r.committed = r.fetch.pull.Manifest().Point.Applied
	}}
	for ticks := 0; refused < 0; ticks++ {
		require.Less(t, ticks, 1000, "nothing is fetched")
		c.turn(func() bool { return refused >= 0 }, none)
	}
	require.Equal(t, []string{"not-above"}, c.refusals(id, refused))
	require.Zero(t, c.count(id, "CommitInstall", ""))
	require.Empty(t, r.staged)
}
