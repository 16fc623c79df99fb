package replica

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/raft/v3/raftpb"

	"purgelab/model/op"
)

// TestSealWaitsForTheSync: a replica that is sealed while its journal is being synced
// says what it holds when that sync is over, and not at all if it failed: to sync once
// more would prove nothing.
func TestSealWaitsForTheSync(t *testing.T) {
	lost := errors.New("lost")
	for _, failure := range []error{nil, lost} {
		c := newClusterOf(t, 1, func(*Config) {})
		c.elect()
		r := c.replicas[0]
		r.cfg.SyncBeside = true
		out, err := r.Step(Input{Now: c.now, Request: &Request{Token: 1, Op: &op.Request{Kind: op.Append, Payloads: []op.Payload{"a"}}}})
		for err == nil && out.Sync == nil && out.Work {
			out, err = r.Step(Input{Now: c.now, Work: true})
		}
		require.NoError(t, err)
		call := out.Sync
		require.NotNil(t, call)
		last := r.shows()
		_, err = r.Step(Input{Now: c.now, Seal: true})
		require.NoError(t, err)
		require.False(t, r.Standing().Sealed)
		if err = failure; err == nil {
			err = call()
		}
		_, err = r.Step(Input{Now: c.now, Sync: &SyncResult{err}})
		if failure != nil {
			require.ErrorIs(t, err, lost)
			require.False(t, r.Standing().Sealed)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, Standing{Sealed: true, Evidence: last}, r.Standing())
	}
}

// TestWhatASealShowsIsDurable: what a sealed replica said that it holds is there after
// a loss of power that keeps nothing but what was synced.
func TestWhatASealShowsIsDurable(t *testing.T) {
	c := newClusterOf(t, 1, func(cfg *Config) { cfg.Policy = allReplicated })
	c.elect()
	c.append("a", "b")
	c.step(1, Input{Seal: true})
	said := c.replicas[0].Standing()
	require.True(t, said.Sealed && said.Evidence.Intact)
	c.replicas[0] = nil
	c.losses[1]++
	c.disks[0].PowerLossAs(nil)
	require.NoError(t, c.boot(1))
	require.Equal(t, said, c.replicas[0].Standing())
}

// TestPromotedWhenCaughtUp: whoever joins again becomes a voter when it has what is
// committed, and not before, however often it asks.
func TestPromotedWhenCaughtUp(t *testing.T) {
	c := newClusterOf(t, 3, func(cfg *Config) { cfg.Policy = allReplicated })
	c.elect()
	c.append("a")
	lead := c.leader()
	id := lead%3 + 1
	c.crash(id, true)
	c.append("b", "c")
	require.NoError(t, c.boot(id))
	member := c.replicas[id-1].cfg.member.ID
	node := c.replicas[lead-1].node
	for range 600 { // it asks, and gets nothing of the log
		c.turn(never, func(m *Message) bool { return m.Raft != nil && m.To == id && m.Raft.GetType() == raftpb.MsgApp })
		now := node.Members()
		require.False(t, now.Joint() || now.Voter(member), "it has nothing yet")
	}
	now := node.Members()
	require.True(t, now.Has(member))
	c.reach("rejoined", c.rejoined)
	now = node.Members()
	require.True(t, now.Voter(member))
}

// TestRenounceKeepsTheBetterLog: a member that is renounced before it belonged leaves
// what the one before it can show, unless it can show more itself.
func TestRenounceKeepsTheBetterLog(t *testing.T) {
	c := newClusterOf(t, 1, func(cfg *Config) { cfg.Policy = allReplicated })
	cfg := c.replicas[0].cfg
	require.NoError(t, cfg.renounce(Evidence{Intact: true, Term: 2, Last: 7}, "m1"))
	for _, step := range []struct {
		shows Evidence
		home  string
		kept  string
	}{
		{Evidence{Intact: true, Term: 1, Last: 9}, "m2", "m1"},
		{Evidence{}, "m3", "m1"},
		{Evidence{Intact: true, Term: 2, Last: 8}, "m4", "m4"},
		{Evidence{Intact: true, Term: 2, Last: 8}, "m5", "m4"},
	} {
		require.NoError(t, cfg.renounce(step.shows, step.home))
		again := cfg
		require.NoError(t, again.findMember())
		require.Equal(t, step.kept, again.member.Kept, step.home)
	}
	require.Equal(t, Evidence{Intact: true, Term: 2, Last: 8}, cfg.member.Evidence)
	_, err := c.disks[0].FS().List("p0/" + cfg.member.Home)
	require.NoError(t, err)
}
