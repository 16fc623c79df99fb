package replica

import (
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/model/op"
)

// A partition that was created again has nothing to do with its namesake: not
// its positions, not its clients' requests, not its replicas' messages.
func TestNamesakeHasNoEffect(t *testing.T) {
	c := newCluster(t, 3, 0)
	c.cfg.Incarnation = 2
	for i, d := range c.disks {
		require.NoError(t, d.FS().Mkdir("test", "p0-i2"))
		require.NoError(t, d.FS().SyncDir("test", "."))
		c.crash(i+1, false)
	}
	c.cfg.Dir = "p0-i2"
	for _, id := range c.cfg.Members {
		c.format(id)
		require.NoError(t, c.boot(id))
	}
	c.elect()
	require.Equal(t, op.Position{Incarnation: 2}, c.append("a", "b").Position)
	lead, key := c.leader(), op.Key{ID: 1}
	bounds := op.Reply{Code: op.StaleIncarnation, Position: op.Position{Incarnation: 2, Offset: -1}, End: 2}

	old := op.Position{Incarnation: 1, Offset: 1}
	require.Equal(t, bounds, c.do(&op.Request{Kind: op.StoreBookmark, Key: key, At: old}), "a position of the namesake")
	for name, req := range map[string]*op.Request{
		"tagged": {Kind: op.StoreBookmark, Key: key, At: op.Position{Incarnation: 2}},
		"bare":   {Kind: op.StoreBookmark, Key: key, At: op.Position{}, Bare: true},
		"repeat": {Kind: op.Append, Payloads: []op.Payload{"x"}, Session: 3, Sequence: 1},
		"purge":  {Kind: op.Purge, Intent: 7},
		"read":   {Kind: op.GetBookmark, Key: key},
	} {
		c.token++
		c.step(lead, Input{Request: &Request{Token: c.token, Incarnation: 1, Op: req}})
		c.settle()
		require.Equal(t, bounds, c.answers[c.token], "a %s request that means the namesake", name)
		c.token++
		c.step(lead%3+1, Input{Request: &Request{Token: c.token, Incarnation: 1, Op: req}})
		require.Equal(t, op.NotLeader, c.answers[c.token].Code, "the bounds of a follower lag")
		c.token++
		c.step(lead, Input{Request: &Request{Token: c.token, Incarnation: 1, Op: req}})
		for c.step(lead, Input{Work: true}) {
		}
		require.NotContains(t, c.answers, c.token, "nobody has said yet that it still leads")
		c.settle()
	}
	c.token++
	c.step(lead, Input{Request: &Request{Token: c.token, Incarnation: 3, Op: &op.Request{Kind: op.GetBookmark, Key: key}}})
	require.Equal(t, op.NotReady, c.answers[c.token].Code, "one that means a later namesake")
	require.False(t, c.do(&op.Request{Kind: op.GetBookmark, Key: key}).Found)
	require.Equal(t, "ok i2:g0:0 a b", c.first())

	// A message of the namesake's group, of a higher term, deposes nobody.
	term := c.replicas[lead-1].View().Term
	c.replicas[lead-1].node.Tick()
	other := lead%3 + 1
	for range 100 {
		c.step(other, Input{Tick: true})
		c.step(other, Input{Work: true})
	}
	require.NotEmpty(t, c.inbox)
	for _, m := range c.inbox {
		require.EqualValues(t, 2, m.Incarnation)
		m.Incarnation = 1
		c.step(m.To, Input{Message: &m})
	}
	c.inbox = nil
	c.settle()
	require.Equal(t, term, c.replicas[lead-1].View().Term)
	require.Equal(t, lead, c.leader())
}
