package replica

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/corrupt"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/faultfs"
)

// Messages that a boot takes on trust are damaged, or are read wrongly when they are
// checked. The replica stops, and the next boot reads them all: it is suspect, or refuses
// if it is alone, or goes on if the disk is as it should be.
func TestDamageOfWhatABootTakesOnTrust(t *testing.T) {
	const file, note = "p0/gen-0/seg-00000000000000000000.log", "p0/doubt"
	for _, n := range []int{1, 3} {
		for _, rotten := range []bool{true, false} {
			c := newClusterOf(t, n, func(cfg *Config) { cfg.SegmentBytes, cfg.CheckpointOps = 256, 10 })
			c.elect()
			for range 30 {
				c.append("a")
			}
			c.settle()
			c.crash(1, true)
			if rotten {
				require.NoError(t, c.disks[0].Rot(file, 120, 1))
			}
			c.faults[0] = faultfs.NewSet()
			require.NoError(t, c.boot(1))
			require.Positive(t, c.replicas[0].Report().Engine.Segments.Unread)
			if !rotten {
				r, err := faultfs.Parse("bit-flip op=read at=120 bit=1")
				require.NoError(t, err)
				r.Path = file
				c.faults[0].Add(r)
			}
			c.settle()
			require.Nil(t, c.replicas[0])
			require.ErrorIs(t, c.stopped[1], corrupt.ErrCorrupt)
			require.Contains(t, c.stopped[1].Error(), file)
			_, err := c.disks[0].FS().Open(note)
			require.NoError(t, err)

			c.crash(1, true)
			err = c.boot(1)
			if rotten && n == 1 {
				require.ErrorIs(t, err, corrupt.ErrCorrupt)
				continue
			}
			require.NoError(t, err)
			if suspect := c.replicas[0].Report().Suspect; rotten {
				require.ErrorIs(t, suspect, corrupt.ErrCorrupt)
				c.reach("rejoined", c.rejoined)
			} else {
				require.NoError(t, suspect)
				_, err := c.disks[0].FS().Open(note)
				require.ErrorIs(t, err, vfs.ErrNotExist)
				c.elect()
				c.settle()
			}
			require.NotNil(t, c.replicas[0])
			require.Equal(t, "ok i1:g0:0"+strings.Repeat(" a", 30), c.first())
			c.crash(1, true)
			require.NoError(t, c.boot(1))
			require.NoError(t, c.replicas[0].Report().Suspect)
		}
	}
}
