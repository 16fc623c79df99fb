package replica

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/purge"
	"purgelab/model/op"
)

// unmatched is a cluster of which one replica is down, whose disk says that a purge was
// begun at an op of the log that is another one; and that op.
func unmatched(t *testing.T, n int, change func(*Config), g op.Generation) (c *cluster, id int, at op.Number) {
	c = newClusterOf(t, n, change)
	c.elect()
	c.history(6, 0)
	c.purge(2)
	c.append("after it", "all of this")
	id = c.leader()%n + 1
	if g > 3 {
		c.purge(g - 1)
	}
	r := c.replicas[id-1]
	m := purge.Marker{State: purge.Begun, Generation: g, Before: g - 1, Incarnation: 1, Boundary: r.lastOp()}
	cfg := r.cfg
	c.crash(id, false)
	require.NoError(t, purge.Write(c.disks[id-1].FS(), "p0", cfg.identity(), m))
	return c, id, m.Boundary
}

// A replica of ordered whose marker does not match the log cannot use its own state: it
// is suspect, takes what it lacks under another id, from a log or by a transfer, and has
// the boundary of the others then.
func TestUnmatchedBoundary(t *testing.T) {
	for _, compacted := range []bool{false, true} {
		for _, g := range []op.Generation{3, 4} {
			c, id, at := unmatched(t, 3, func(cfg *Config) {
				if compacted {
					moving(cfg)
				}
			}, g)
			c.history(30, 0)
			require.NoError(t, c.boot(id))
			r := c.replicas[id-1]
			var u *UnmatchedError
			require.ErrorAs(t, r.Report().Suspect, &u)
			require.Equal(t, at, u.Marker.Boundary)
			require.Equal(t, map[op.Generation]string{3: "append", 4: fmt.Sprintf("the state as of op %d", at)}[g], u.Got)
			require.True(t, r.View().Joining)
			require.Equal(t, id, machineOf(r.cfg.member.ID))
			require.NotEqual(t, uint64(id), r.cfg.member.ID)
			c.reach("rejoined", c.whole)
			require.Equal(t, compacted, c.count(id, "CommitInstall", "") > 0)
			c.same()
		}
	}
}

// One that is alone has nobody to take a state from, and refuses.
func TestUnmatchedBoundaryAlone(t *testing.T) {
	c, _, at := unmatched(t, 1, func(*Config) {}, 3)
	err := c.boot(1)
	var u *UnmatchedError
	require.ErrorAs(t, err, &u)
	require.Equal(t, at, u.Marker.Boundary)
	require.ErrorContains(t, err, "suspect: begun(g3, i1:op ")
	require.ErrorContains(t, err, ": want the purge to generation 3 at op ")
	require.ErrorContains(t, err, ", got append")
}
