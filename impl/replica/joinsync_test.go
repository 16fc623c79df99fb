package replica

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestJoinBackDuringSync: a member hears that it was removed while its journal is
// being synced. It becomes another one only when it hears that again, after the sync:
// the one under way is not taken for a sync of what comes next.
func TestJoinBackDuringSync(t *testing.T) {
	c := newClusterOf(t, 3, func(cfg *Config) { cfg.Policy = allReplicated })
	c.elect()
	c.append("a", "b")
	lead := c.leader()
	id := lead%3 + 1
	c.crash(id, true)
	c.cfg.SyncBeside = true
	require.NoError(t, c.boot(id))
	r := c.replicas[id-1]
	was := r.cfg.member.ID

	var call func() error
	step := func(in Input) {
		in.Now = c.now
		out, err := r.Step(in)
		require.NoError(t, err)
		c.inbox = append(c.inbox, out.Messages...)
		if out.Sync != nil {
			call = out.Sync
		}
	}
	one := func(to int, in Input) {
		if to == id {
			step(in)
		} else {
			c.step(to, in)
		}
	}
	for rounds := 0; call == nil; rounds++ {
		require.Less(t, rounds, 3000, "it never syncs")
		c.now += 10
		for i := range c.replicas {
			one(i+1, Input{Tick: true})
		}
		for k := 0; k < 20 && call == nil; k++ {
			in := c.inbox
			c.inbox = nil
			for _, m := range in {
				one(m.To, Input{Message: &m})
			}
			for i := range c.replicas {
				one(i+1, Input{Work: true})
			}
		}
	}
	removed := Input{Message: &Message{From: lead, To: id, Incarnation: r.cfg.Incarnation, Join: was}}
	step(removed)
	require.Equal(t, was, r.cfg.member.ID)
	step(Input{Sync: &SyncResult{call()}})
	step(removed)
	require.NotEqual(t, was, r.cfg.member.ID)
}
