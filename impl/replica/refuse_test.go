package replica

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/transfer"
	"purgelab/model/op"
)

// refusals are those that a machine told of from an event on.
func (c *cluster) refusals(id, from int) (out []string) {
	for _, e := range c.events[from:] {
		if e.Replica == id && e.Action == "RefuseTransfer" {
			out = append(out, e.Kind)
		}
	}
	return out
}

// Who may offer nothing says so, whether it leads or not; one that stands well and does
// not lead is silent.
func TestRefusesToOffer(t *testing.T) {
	c := newClusterOf(t, 3, func(cfg *Config) { cfg.Policy = allReplicated; moving(cfg) })
	c.elect()
	c.history(20, 0)
	lead := c.leader()
	id := lead%3 + 1
	asks := func(to int) []string {
		before := len(c.events)
		c.step(to, Input{Message: &Message{From: lead%3 + 2, To: to, Incarnation: 1, Member: 99, Transfer: &transfer.Message{Request: &transfer.Request{}}}})
		c.inbox = nil
		return c.refusals(to, before)
	}
	require.Empty(t, asks(id))
	c.crash(id, false)
	require.NoError(t, c.boot(id))
	require.False(t, c.replicas[id-1].serving)
	require.Equal(t, []string{"recovering"}, asks(id))
	c.reach("everything is everywhere", c.whole)
	r := c.replicas[lead-1]
	r.committed++
	require.Equal(t, []string{"behind"}, asks(lead))
	r.committed--
	require.Empty(t, asks(lead))
	c.crash(id, true)
	require.NoError(t, c.boot(id))
	require.Equal(t, []string{"suspect"}, asks(id))
}

// An offer of another incarnation is refused in so many words, and one that was altered
// on its way is refused and asked for again; neither has an effect.
func TestRefusesOffers(t *testing.T) {
	c := newClusterOf(t, 3, moving)
	c.elect()
	c.history(5, 0)
	lead := c.leader()
	id := lead%3 + 1
	c.crash(id, false)
	c.history(30, 0)
	sound, err := c.replicas[lead-1].offerTo(uint64(id))
	require.NoError(t, err)
	require.NoError(t, c.boot(id))
	c.replicas[id-1].offered(uint64(lead))
	offer := func(i op.Incarnation, change func(m *transfer.Manifest)) []string {
		before, m := len(c.events), *sound
		m.Point.Pieces, m.Point.Bookmarks = slices.Clone(m.Point.Pieces), slices.Clone(m.Point.Bookmarks)
		m.Point.Incarnation = i
		for k := range m.Point.Bookmarks {
			m.Point.Bookmarks[k].Position.Incarnation = i
		}
		name := m.ID()
		if change != nil {
			change(&m)
		}
		c.step(id, Input{Message: &Message{From: lead, To: id, Incarnation: i, Member: uint64(lead), Transfer: &transfer.Message{Offer: &m, ID: name}}})
		c.inbox = nil
		require.Nil(t, c.replicas[id-1].fetch.pull)
		return c.refusals(id, before)
	}
	require.Equal(t, []string{"other-incarnation"}, offer(2, nil))
	require.Empty(t, offer(2, func(m *transfer.Manifest) { m.Term++ }), "nobody knows of which one it was")
	c.replicas[id-1].cfg.Incarnation = 3
	require.Equal(t, []string{"older-incarnation"}, offer(2, nil))
	c.replicas[id-1].cfg.Incarnation = 1
	require.Equal(t, []string{"wrong-checksum"}, offer(1, func(m *transfer.Manifest) { m.Point.Extra = nil }))
	require.Equal(t, []string{"wrong-checksum"}, offer(1, func(m *transfer.Manifest) { m.Point.Pieces[0].Size++ }))
	require.NotNil(t, c.replicas[id-1].fetch)
	// What it keeps beside the state cannot be read: no boot could use it. Each is as
	// it was sent.
	for _, extra := range []string{"\xff", "\xf7\xff", "\x81\xf6", "\x80\x80"} {
		bad := *sound
		bad.Point.Extra = []byte(extra)
		before := len(c.events)
		c.replicas[id-1].offered(uint64(lead))
		c.step(id, Input{Message: &Message{From: lead, To: id, Incarnation: 1, Member: uint64(lead), Transfer: &transfer.Message{Offer: &bad, ID: bad.ID()}}})
		c.inbox = nil
		require.Equal(t, []string{"contradiction"}, c.refusals(id, before), "%x", extra)
		require.Nil(t, c.replicas[id-1].fetch)
		require.Empty(t, c.replicas[id-1].staged)
	}
	c.reach("everything is everywhere", c.whole)
	require.Equal(t, 1, c.count(id, "CommitInstall", ""))
	c.same()
}
