package replica

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
)

// A copy of the base that is damaged before it is whole is begun anew, on the machine
// that has the chosen log and on another one, whatever crash comes amid that.
func TestRottenPartOfABase(t *testing.T) {
	for _, chosen := range []bool{false, true} {
		for _, power := range []bool{false, true} {
			for nth, hit := 1, true; hit; nth++ {
				c := newClusterOf(t, 3, func(cfg *Config) { cfg.Policy, cfg.JournalBytes = allReplicated, 1<<10 })
				c.elect()
				for i := range 8 {
					c.append(fmt.Sprintf("%d%030000d", i, 0))
				}
				told := c.records()
				for _, r := range c.replicas {
					require.NoError(t, r.jr.Sync())
				}
				c.powerLoss()
				id := c.begin()
				if !chosen {
					for c.replicas[id-1].copy != nil {
						c.step(id, Input{Work: true})
					}
					id = id%3 + 1
				}
				log := c.replicas[id-1].copy.log
				files := func() []string {
					names, err := c.disks[id-1].FS().List("p0-i2/base-log")
					require.NoError(t, err)
					return names
				}
				for n := 0; len(files()) < 3; n++ {
					require.Less(t, n, 1000)
					c.step(id, Input{Tick: true})
					c.step(id, Input{Work: true})
					inbox := c.inbox
					c.inbox = nil
					for i := range inbox {
						c.step(inbox[i].To, Input{Message: &inbox[i]})
					}
				}
				require.NoError(t, log.Sync())
				c.crash(id, false)
				require.NoError(t, c.disks[id-1].Rot("p0-i2/base-log/"+files()[0], 130, 1))

				left := nth
				hit = false
				c.disks[id-1].Arm(func(vfs.Label, string) crashfs.Action {
					if left--; left == 0 {
						hit = true
						return crashfs.CrashBefore
					}
					return crashfs.Continue
				})
				err := c.boot(id)
				c.disks[id-1].Arm(nil)
				if hit {
					require.ErrorIs(t, err, vfs.ErrCrashed)
					c.crash(id, power)
					err = c.boot(id)
				}
				require.NoError(t, err)
				require.True(t, c.replicas[id-1].View().Copying)
				c.reach("a base everywhere", c.copied)
				c.elect()
				c.reach("everything is everywhere", c.rejoined)
				require.Equal(t, told, c.records())
				c.same()
				if !hit {
					require.Greater(t, nth, 5)
				}
			}
		}
	}
}
