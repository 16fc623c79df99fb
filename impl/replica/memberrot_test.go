package replica

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The record that names the home of a member is damaged when all lose power. The log is
// found nevertheless, wherever it is, and kept: the next incarnation goes on from it.
func TestRottenMemberRecord(t *testing.T) {
	for name, move := range map[string]func(c *cluster, id int){
		"m": func(c *cluster, id int) {
			c.crash(id, true)
			require.NoError(c.t, c.boot(id))
		},
		"h": func(c *cluster, id int) {
			c.crash(id, false)
			c.history(30, 0)
			require.NoError(c.t, c.boot(id))
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClusterOf(t, 3, func(cfg *Config) {
				if cfg.Policy = allReplicated; name == "h" {
					moving(cfg)
				}
			})
			c.elect()
			c.append("a")
			id := c.leader()%3 + 1
			move(c, id)
			c.reach("whole", c.whole)
			home := c.replicas[id-1].cfg.member.Home
			require.Equal(t, name, home[:1])
			c.append("b", "c")
			c.append("d")
			told := c.records()
			require.NoError(t, c.replicas[id-1].jr.Sync())
			last := c.replicas[id-1].shows()
			for i := range c.disks {
				c.crash(i+1, true)
			}
			require.NoError(t, c.disks[id-1].Rot("p0/member", 40, 1))
			for i := range c.disks {
				require.NoError(t, c.boot(i+1))
			}
			r := c.replicas[id-1]
			require.ErrorContains(t, r.Report().Suspect, "p0/member")
			require.Equal(t, last, r.Standing().Evidence)
			require.Equal(t, home, r.cfg.member.Kept)
			require.Equal(t, id, c.begin(), "nobody else has all of it")
			c.reach("a base everywhere", c.copied)
			c.elect()
			require.Equal(t, told, c.records())
		})
	}
}
