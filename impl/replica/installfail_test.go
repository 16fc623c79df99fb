package replica

import (
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/transfer"
)

// An install whose record cannot be written, or is there although the disk says that
// it failed: the replica stops, and its next boot goes on with the home that counts.
// Nothing that it needs was removed.
func TestInstallFails(t *testing.T) {
	for rule, stops := range map[string]bool{
		"fail-before op=create label=replica.member":             true,
		"fail-before op=rename label=replica.member":             true,
		"fail-after op=rename label=replica.member":              true,
		"fail-before op=syncdir label=replica.member":            true,
		"fail-before op=create label=journal.begin":              false,
		"fail-before op=syncdir label=transfer.names":            true,
		"fail-after op=rename label=transfer.checkpoint":         false,
		"fail-before op=write label=transfer.chunk":              false,
		"fail-before op=create label=transfer.offer":             false,
		"sync-forget label=transfer.chunk":                       true,
		"sync-forget op=sync label=transfer.bookmarks":           true,
		"no-space op=create label=transfer.chunk.create times=3": false,
	} {
		for _, power := range []bool{false, true} {
			c := newClusterOf(t, 3, moving)
			c.elect()
			c.history(5, 2)
			id := c.leader()%3 + 1
			c.crash(id, false)
			c.history(30, 0)
			set := c.rules(id, rule)
			require.NoError(t, c.boot(id))
			c.reach(rule, func() bool { return c.replicas[id-1] == nil || c.whole() })
			require.Positive(t, set.Hits(), rule)
			require.Equal(t, stops, c.replicas[id-1] == nil, rule)
			set.Clear()
			c.crash(id, power)
			require.NoError(t, c.boot(id), rule)
			c.reach(rule+": everything is everywhere", c.whole)
			c.same()
			c.reach("reclaimed", func() bool { return !c.replicas[id-1].homes })
			names, err := c.disks[id-1].FS().List("p0")
			require.NoError(t, err)
			require.Len(t, names, 2, "%s: %v", rule, names)
		}
	}
}

// A state of a term that the receiver has not heard of: its new home knows that term,
// in which it has not voted.
func TestInstallOfATermNotHeardOf(t *testing.T) {
	c := newClusterOf(t, 3, moving)
	c.elect()
	c.history(5, 0)
	first := c.leader()
	id := first%3 + 1
	promised := c.replicas[id-1].jr.State()
	c.crash(id, false)
	c.crash(first, false)
	require.NoError(t, c.boot(first))
	c.elect()
	c.history(30, 0)
	require.NoError(t, c.boot(id))
	lead := c.leader()
	c.replicas[id-1].offered(uint64(lead))
	for range 1000 {
		if c.count(id, "CommitInstall", "") > 0 {
			break
		}
		c.now += 10
		for k := range c.replicas {
			c.step(k+1, Input{Tick: true})
			for c.replicas[k].hasWork() {
				c.step(k+1, Input{Work: true})
			}
		}
		inbox := c.inbox
		c.inbox = nil
		for i := range inbox {
			if inbox[i].To != id && inbox[i].From != id || inbox[i].Transfer != nil { // of raft it hears nothing
				c.step(inbox[i].To, Input{Message: &inbox[i]})
			}
		}
	}
	require.Equal(t, 1, c.count(id, "CommitInstall", ""))
	now := c.replicas[id-1].jr.State()
	require.Equal(t, c.replicas[lead-1].jr.State().Term, now.Term)
	require.Greater(t, now.Term, promised.Term)
	require.NotZero(t, promised.Vote)
	require.Zero(t, now.Vote)
	require.NoError(t, c.replicas[id-1].rep.Suspect)
	c.reach("everything is everywhere", c.whole)
	c.same()
}

// A receiver that lets go an offer it had once does not end the one that it has.
func TestLateDrop(t *testing.T) {
	c := newClusterOf(t, 3, moving)
	c.elect()
	c.history(5, 0)
	lead := c.leader()
	r, member := c.replicas[lead-1], uint64(lead%3+1)
	m, err := r.offerTo(member)
	require.NoError(t, err)
	drop := func(offer uint64) {
		c.step(lead, Input{Message: &Message{From: int(member), To: lead, Incarnation: 1, Member: member, Transfer: &transfer.Message{Drop: &transfer.Drop{Offer: offer}}}})
	}
	drop(m.ID() + 1)
	require.True(t, r.sender.Holds(member))
	drop(m.ID())
	require.False(t, r.sender.Holds(member))
}

// offerTo makes an offer to a member.
func (r *Replica) offerTo(member uint64) (*transfer.Manifest, error) {
	if err := r.serve(&Message{From: int(member), Member: member}, &transfer.Request{}); err != nil {
		return nil, err
	}
	return r.sender.Manifest(member), nil
}
