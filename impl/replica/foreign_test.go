package replica

import (
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/record"
)

// Whoever says that the disk of a machine is gone may have put one in that another
// replica has used: it is refused all the same, and nothing on it is changed.
func TestLostAndForeign(t *testing.T) {
	for _, p := range policies {
		c := newClusterOf(t, 3, func(cfg *Config) { cfg.Policy = p })
		c.elect()
		c.append("a")
		require.NoError(t, c.replicas[1].Stop())
		c.replicas[0], c.replicas[1] = nil, nil
		c.disks[0] = c.disks[1].Clone()
		before := c.disks[0].Digest()
		c.cfg.Lost = true
		var foreign *record.ForeignError
		require.ErrorAs(t, c.boot(1), &foreign, "%v", p)
		require.EqualValues(t, 2, foreign.Got.Replica)
		require.Equal(t, before, c.disks[0].Digest())
	}
}
