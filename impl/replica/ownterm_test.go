package replica

import (
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/model/op"
)

// A replica that is alone has voted for itself before it knows what it had
// committed: its journal says so only for what came before the last frame. What it
// acknowledged is committed again by the entry of its new term, and no read is
// answered before that was materialized. (raft itself would answer at once.)
func TestReadOfALoneLeaderWaitsForItsOwnTerm(t *testing.T) {
	c := newCluster(t, 1, 0)
	c.elect()
	c.append("a")
	c.replicas[0] = nil
	c.disks[0].PowerLossAs(nil)
	c.losses[1]++
	set := c.rules(1, "fail-before label=segment times=0") // so that it stays so for a while
	require.NoError(t, c.boot(1))
	require.Zero(t, c.replicas[0].View().Facts.End, "nothing of it is materialized yet")
	for !c.replicas[0].leading {
		c.step(1, Input{Tick: true})
		if !c.replicas[0].leading { // its vote for itself must be durable first
			c.step(1, Input{Work: true})
		}
	}
	c.step(1, Input{Request: &Request{Token: 99, Op: &op.Request{Kind: op.ListOffsets, Which: op.LatestOffset}}})
	c.settle()
	require.NotContains(t, c.answers, uint64(99))
	set.Clear()
	for range retryTicks {
		c.tick()
	}
	c.settle()
	require.Equal(t, op.OK, c.answers[99].Code)
	require.EqualValues(t, 1, c.answers[99].Position.Offset)
}

// The contexts of reads are those of one boot, so that no answer to a read can be
// taken for that of another one.
func TestReadContextsAreOfOneBoot(t *testing.T) {
	c := newCluster(t, 1, 0)
	seen := map[uint64]bool{}
	for range 8 {
		base := c.replicas[0].reads.base
		require.Zero(t, base&0xffffffff, "the low half counts")
		require.NotZero(t, base)
		require.False(t, seen[base])
		seen[base] = true
		c.crash(1, false)
		require.NoError(t, c.boot(1))
	}
}
