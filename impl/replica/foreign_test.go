package replica

import (
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/engine"
	"purgelab/impl/record"
	"purgelab/model/op"
)

// In the place of the disk of a machine there is one that another replica has used: it is
// refused, with the record of its member or without, and nothing on it is changed.
func TestLostAndForeign(t *testing.T) {
	for _, p := range policies {
		c := newClusterOf(t, 3, func(cfg *Config) { cfg.Policy = p })
		c.elect()
		c.append("a")
		require.NoError(t, c.replicas[1].Stop())
		c.replicas[0], c.replicas[1] = nil, nil
		c.disks[0] = c.disks[1].Clone()
		for range 2 {
			before := c.disks[0].Digest()
			var foreign *record.ForeignError
			require.ErrorAs(t, c.boot(1), &foreign, "%v", p)
			require.EqualValues(t, 2, foreign.Got.Replica)
			require.Equal(t, before, c.disks[0].Digest())
			require.NoError(t, removeAll(c.disks[0].FS(), "p0/member"))
			require.NoError(t, c.disks[0].FS().SyncDir("test", "p0"))
		}
	}
}

// A disk that another design has purged on is refused, whichever of the two it is:
// its records are no boundary here, and without one what was purged would come back.
func TestAnotherDesign(t *testing.T) {
	for _, d := range []struct {
		was, is Design
		file    string
	}{{Ordered, ResetRecord, "marker"}, {ResetRecord, Ordered, "purge.reset"}, {ResetRecord, Advance, "purge.reset"}} {
		c := newClusterOf(t, 1, func(cfg *Config) { cfg.Design = d.was })
		c.elect()
		c.append("a")
		require.Equal(t, op.OK, c.purge(1).Code)
		require.NoError(t, c.replicas[0].Stop())
		c.replicas[0] = nil
		c.cfg.Design = d.is
		var other *engine.LayoutError
		require.ErrorAs(t, c.boot(1), &other, "%v, then %v", d.was, d.is)
		require.Contains(t, other.File, "/"+d.file)
	}
}
