package replica

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// movesHome lets a member have its files in a home of that kind, once it is whole.
var movesHome = map[string]func(c *cluster, id int){
	"m": func(c *cluster, id int) {
		c.crash(id, true)
		require.NoError(c.t, c.boot(id))
	},
	"h": func(c *cluster, id int) {
		c.crash(id, false)
		c.history(30, 0)
		require.NoError(c.t, c.boot(id))
	},
}

// moved is a cluster of which one member lives in a home of that kind.
func moved(t *testing.T, name string) (c *cluster, id int) {
	c = newClusterOf(t, 3, func(cfg *Config) {
		if cfg.Policy = allReplicated; name == "h" {
			moving(cfg)
		}
	})
	c.elect()
	c.append("a")
	id = c.leader()%3 + 1
	movesHome[name](c, id)
	c.reach("whole", c.whole)
	return c, id
}

// The record that names the home of a member is damaged when all lose power. The log is
// found nevertheless, wherever it is, and kept: the next incarnation goes on from it.
func TestRottenMemberRecord(t *testing.T) {
	for name := range movesHome {
		t.Run(name, func(t *testing.T) {
			c, id := moved(t, name)
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

// It is damaged when the member is sealed already. What is in its home is shown, though
// nobody knows any more whose memory it is, and the next incarnation goes on from it if
// that is most.
func TestRottenMemberRecordOfOneSealed(t *testing.T) {
	for name := range movesHome {
		t.Run(name, func(t *testing.T) {
			c, id := moved(t, name)
			require.Equal(t, name, c.replicas[id-1].cfg.member.Home[:1])
			told := c.records()
			last := c.replicas[id-1].shows()
			for i := range c.replicas {
				c.step(i+1, Input{Seal: true})
			}
			require.Equal(t, Standing{Sealed: true, Evidence: last}, c.replicas[id-1].Standing())
			for i := range c.replicas { // of the others everything is gone
				if i+1 != id {
					c.replace(i + 1)
					require.NoError(t, c.boot(i+1))
				}
			}
			c.crash(id, true)
			require.NoError(t, c.disks[id-1].Rot("p0/member", 40, 1))
			require.NoError(t, c.boot(id))
			require.Equal(t, Standing{Sealed: true, Evidence: last, Copied: true}, c.replicas[id-1].Standing())
			require.Equal(t, id, c.begin())
			c.reach("a base everywhere", c.copied)
			c.elect()
			require.Equal(t, told, c.records())
		})
	}
}

// emptyCopy is how a new member stands that has got nothing, when it is sealed.
var emptyCopy = Standing{Suspect: true, Sealed: true, Copied: true, Evidence: Evidence{Intact: true, Term: 1, Last: 1}}

// A suspect that is sealed shows what was kept of the member before, if that is all
// there still.
func TestSealedShowsWhatIsThere(t *testing.T) {
	c := newClusterOf(t, 3, func(cfg *Config) { cfg.Policy = allReplicated })
	c.elect()
	c.append("a", "b")
	c.append("c")
	for _, r := range c.replicas {
		require.NoError(t, r.jr.Sync())
	}
	c.powerLoss()
	before := c.replicas[0].Standing().Evidence
	require.True(t, before.Intact)
	c.step(1, Input{Seal: true})
	require.Equal(t, before, c.replicas[0].Standing().Evidence)
	c.crash(1, false)
	names, err := c.disks[0].FS().List("p0/journal")
	require.NoError(t, err)
	f, err := c.disks[0].FS().Open("p0/journal/" + names[len(names)-1])
	require.NoError(t, err)
	size, err := f.Size()
	require.NoError(t, err)
	require.NoError(t, f.Truncate("test", size/2))
	require.NoError(t, c.boot(1))
	require.Equal(t, emptyCopy, c.replicas[0].Standing())
}

// Where all is synced before it is acknowledged a suspect shows nothing, sealed or not.
func TestSealedShowsNoDoubtfulLog(t *testing.T) {
	c := newClusterOf(t, 3, func(cfg *Config) { cfg.Policy = Policy{} })
	c.elect()
	c.append("a", "b")
	c.crash(1, false)
	c.cfg.Damaged = &ForgottenError{Front: 9, Last: 3}
	require.NoError(t, c.boot(1))
	c.cfg.Damaged = nil
	require.Equal(t, Standing{Suspect: true}, c.replicas[0].Standing())
	c.step(1, Input{Seal: true})
	require.Equal(t, emptyCopy, c.replicas[0].Standing())
}
