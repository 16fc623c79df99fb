package replica

import (
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/corrupt"
)

// A replica that is alone, need not sync, and lost power goes on from what its disk
// shows. If the state that its log goes on from is damaged it cannot, and says what is.
func TestAloneWithADamagedState(t *testing.T) {
	for _, damaged := range []string{"", "p0/gen-3/checkpoint", "p0/gen-3/seg-00000000000000000000.log"} {
		c := newClusterOf(t, 1, func(cfg *Config) {
			compacting(cfg)
			cfg.Policy = Policy{Messages: Replicated, Bookmarks: Replicated}
			cfg.SegmentBytes = 256
		})
		c.elect()
		c.history(30, 3)
		require.Positive(t, c.journalFiles(1))
		c.history(12, 0)
		c.crash(1, false)
		if damaged != "" {
			f, err := c.disks[0].FS().Open(damaged)
			require.NoError(t, err)
			_, err = f.WriteAt("test", []byte{0xff}, 90)
			require.NoError(t, err)
			require.NoError(t, f.Sync("test"))
		}
		c.losses[1]++ // the machine, though nothing was lost with it
		err := c.boot(1)
		var unclean *UncleanError
		if damaged != "" {
			require.ErrorIs(t, err, corrupt.ErrCorrupt)
			require.ErrorContains(t, err, damaged)
			require.ErrorAs(t, err, &unclean)
		} else {
			require.NoError(t, err)
			require.ErrorAs(t, c.replicas[0].rep.Suspect, &unclean)
		}
	}
}
