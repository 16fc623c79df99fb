package replica

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/model/op"
)

// busy lets ticks pass in each of which so many messages are appended, and a message
// between replicas takes a sixth of a tick.
func (c *cluster) busy(ticks, rate int) { c.slowly(ticks, rate, 0, 1) }

// slowly is busy, and the disk of one machine does one piece of work in so many ticks.
func (c *cluster) slowly(ticks, rate, slow, every int) {
	for range ticks {
		c.now++
		for range rate {
			c.ask(&op.Request{Kind: op.Append, Payloads: []op.Payload{op.Payload(strings.Repeat("x", 60))}})
		}
		for id := range c.replicas {
			c.step(id+1, Input{Tick: true})
		}
		for range 6 {
			for id := range c.replicas {
				for k := 0; id+1 != slow && k < 8 && c.step(id+1, Input{Work: true}); k++ {
				}
			}
			inbox := c.inbox
			c.inbox = nil
			for i := range inbox {
				c.step(inbox[i].To, Input{Message: &inbox[i]})
			}
		}
		if slow > 0 && int(c.now)%every == 0 {
			c.step(slow, Input{Work: true})
		}
	}
}

// lags is how many committed ops a machine has not applied.
func (c *cluster) lags(id int) op.Number {
	return c.replicas[c.leader()-1].committed - c.replicas[id-1].applied
}

// outdated is a cluster some members of which were down for so long that the log has
// nothing for them any more, and are up again.
func outdated(t *testing.T, members, down int) (c *cluster, ids []int) {
	c = newClusterOf(t, members, moving)
	c.elect()
	c.history(5, 0)
	for k := range down {
		ids = append(ids, (c.leader()+k)%members+1)
		c.crash(ids[k], false)
	}
	c.history(200, 0)
	for _, id := range ids {
		require.NoError(t, c.boot(id))
	}
	return c, ids
}

// Who has installed a checkpoint catches up while messages are appended all the time,
// though the log keeps nothing below its last checkpoint, and that goes on meanwhile.
// Then the log is short again.
func TestCatchesUpUnderLoad(t *testing.T) {
	for _, x := range []struct{ members, down, rate int }{{3, 1, 1}, {3, 1, 2}, {3, 1, 4}, {5, 2, 2}} {
		t.Run(fmt.Sprintf("%+v", x), func(t *testing.T) {
			c, ids := outdated(t, x.members, x.down)
			lead, held := c.replicas[c.leader()-1], 0
			for range 1500 {
				c.busy(1, x.rate)
				if len(lead.catching) > 0 {
					held++
				}
			}
			require.Positive(t, held)
			require.Less(t, held, idleTicks/4, "ticks until it had caught up")
			for range 50 {
				c.busy(1, x.rate)
				for _, id := range ids {
					require.LessOrEqual(t, c.lags(id), op.Number(8*x.rate), "machine %d", id)
				}
			}
			for _, id := range ids {
				require.Equal(t, 1, c.count(id, "CommitInstall", ""), "machine %d", id)
			}
			require.Less(t, lead.jr.Last()-lead.jr.First(), op.Number(40))
		})
	}
}

// Those that have installed a checkpoint and go down then, one after the other, hold the
// log, but not for ever; when they are up again, they catch up.
func TestCatchingUpIsGivenUp(t *testing.T) {
	c, ids := outdated(t, 5, 2)
	lead := c.replicas[c.leader()-1]
	for k := range ids {
		for len(lead.catching) == k {
			c.busy(1, 1)
		}
		c.crash(machineOf(lead.catching[k].member), false)
	}
	has := min(lead.catching[0].has, lead.catching[1].has)
	c.busy(idleTicks-20, 1)
	require.Len(t, lead.catching, 2)
	require.LessOrEqual(t, lead.jr.First(), has+1, "held")
	c.busy(40, 1)
	require.Empty(t, lead.catching)
	require.Less(t, lead.jr.Last()-lead.jr.First(), op.Number(40))
	for _, id := range ids {
		require.NoError(t, c.boot(id))
	}
	c.busy(600, 1)
	for _, id := range ids {
		require.LessOrEqual(t, c.lags(id), op.Number(8))
		require.Equal(t, 2, c.count(id, "CommitInstall", ""))
	}
}

// Whoever has installed a checkpoint and is up, but slow, is waited for as long as it comes
// closer. One that is slower than the log grows falls back, or comes no closer than it
// was, and is given up; what it lacks when it is faster again it gets by another transfer.
func TestSlowOneCatchesUp(t *testing.T) {
	for _, x := range []struct {
		rate, every, least, most int // of appends in a tick; ticks of a piece of work; ticks that it is waited for
	}{{1, 1, 5, 30}, {1, 12, idleTicks + 40, idleTicks + 200}, {4, 9, idleTicks, idleTicks}} {
		t.Run(fmt.Sprintf("%+v", x), func(t *testing.T) {
			c, ids := outdated(t, 3, 1)
			id, lead := ids[0], c.replicas[c.leader()-1]
			for len(lead.catching) == 0 {
				c.busy(1, 1)
			}
			waited, has := 0, op.Number(0)
			for ; len(lead.catching) > 0; waited++ {
				has = lead.catching[0].has
				require.LessOrEqual(t, lead.jr.First(), has+1, "held")
				c.slowly(1, x.rate, id, x.every)
			}
			require.GreaterOrEqual(t, waited, x.least)
			require.LessOrEqual(t, waited, x.most)
			require.Equal(t, 1, c.count(id, "CommitInstall", ""))
			c.slowly(60, x.rate, id, x.every)
			require.Greater(t, lead.jr.First(), has+1, "not held any more")
			require.NotNil(t, c.replicas[id-1], "it is up all the time")
			c.busy(900, 1)
			require.Less(t, c.lags(id), op.Number(20))
			if x.most == idleTicks {
				require.Equal(t, 2, c.count(id, "CommitInstall", ""))
			}
		})
	}
}
