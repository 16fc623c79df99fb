package replica

import (
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/model/op"
)

// A boot replays ops whose effect the disk shows already. The file of a bookmark that was
// stored twice holds the newer version only, so a checkpoint as of the older one would
// count a bookmark that no boot finds again.
func TestNoCheckpointOfAVersionThatIsGone(t *testing.T) {
	c := newClusterOf(t, 1, func(cfg *Config) { cfg.Design = ResetRecord })
	c.elect()
	c.append("a", "b")
	first := c.stored(1, 0)
	c.stored(1, 1)
	c.crash(1, false)
	require.NoError(t, c.boot(1))
	r := c.replicas[0]
	for r.View().Agreeing {
		c.step(1, Input{Work: true, Job: Agree})
	}
	for r.applied < first {
		c.step(1, Input{Work: true, Job: ApplyOne})
	}
	c.events = nil
	for range 10 {
		c.step(1, Input{Work: true, Job: Save})
	}
	require.NotContains(t, c.actions(1), "Checkpoint")
	c.crash(1, false)
	require.NoError(t, c.boot(1))
}

// stored sets the bookmark of a consumer and returns the op that did.
func (c *cluster) stored(id uint32, at op.Offset) op.Number {
	c.do(&op.Request{Kind: op.StoreBookmark, Key: op.Key{ID: id}, At: op.Position{Offset: at}, Bare: true})
	return c.replicas[c.leader()-1].applied
}
