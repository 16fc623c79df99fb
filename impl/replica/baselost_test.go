package replica

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/journal"
	"purgelab/impl/raftlog"
	"purgelab/impl/vfs/crashfs"
	"purgelab/model/op"
)

// replace gives a machine an empty disk on which somebody made the folder of its
// partition.
func (c *cluster) replace(id int) {
	c.crash(id, true)
	c.disks[id-1] = crashfs.New()
	require.NoError(c.t, c.disks[id-1].FS().Mkdir("test", c.cfg.Dir))
	require.NoError(c.t, c.disks[id-1].FS().SyncDir("test", "."))
}

// retire removes what a machine has of the incarnations before.
func (c *cluster) retire(id int) {
	for _, p := range c.cfg.Base.Past {
		require.NoError(c.t, removeAll(c.disks[id-1].FS(), p.Dir))
	}
	require.NoError(c.t, c.disks[id-1].FS().SyncDir("test", "."))
}

// The disk of the machine that has the chosen log is lost, or its log is damaged, before
// anybody has a copy. That machine says so, the incarnation ends in which nobody lived,
// and the next one goes on from the next best log, whole: again, until one is left.
func TestLostBase(t *testing.T) {
	for name, lose := range map[string]func(c *cluster, id int){
		"disk replaced": (*cluster).replace,
		"disk replaced, had its base": func(c *cluster, id int) {
			for range 1000 {
				if c.replicas[id-1].copy != nil {
					c.step(id, Input{Work: true})
				}
			}
			require.False(c.t, c.replicas[id-1].View().Copying)
			c.retire(id)
			c.replace(id)
		},
		"log damaged": func(c *cluster, id int) {
			c.crash(id, false)
			was := c.cfg.past(c.cfg.Base.Past[len(c.cfg.Base.Past)-1])
			was.FS, was.ID = c.disks[id-1].FS(), id
			require.NoError(c.t, was.findMember())
			home := was.home()
			if was.member.Kept == ownHome {
				home = was.Dir
			}
			names, err := was.FS.List(home + "/journal")
			require.NoError(c.t, err)
			for _, name := range names {
				require.NoError(c.t, c.disks[id-1].Rot(home+"/journal/"+name, 10, 0xff))
			}
		},
	} {
		for _, compacted := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", compacted ", compacted), func(t *testing.T) {
				c := newClusterOf(t, 3, func(cfg *Config) {
					if compacted {
						moving(cfg)
					}
					cfg.Policy, cfg.JournalBytes = allReplicated, 1<<10
				})
				c.elect()
				c.history(20, 3)
				told := c.records()
				for _, r := range c.replicas {
					require.NoError(t, r.jr.Sync())
				}
				c.powerLoss()
				lost := map[int]bool{}
				for len(lost) < 2 {
					who := c.begin()
					require.NotZero(t, who)
					require.False(t, lost[who], "nobody can go on from that")
					lose(c, who)
					require.NoError(t, c.boot(who))
					lost[who] = true
					since := c.now
					c.reach("it says that it has nothing", func() bool { return c.replicas[who-1].Standing().Baseless })
					require.Greater(t, c.now-since, int64(10*askTicks*vainAsks*3), "each was asked, and again")
					for _, r := range c.replicas {
						require.True(t, r.View().Copying, "nobody lives in it")
					}
				}
				last := c.begin()
				require.False(t, lost[last])
				c.reach("a base everywhere", c.copied)
				c.elect()
				require.Equal(t, told, c.records())
				require.EqualValues(t, 4, c.append("fresh").Position.Incarnation)
				c.reach("everything is everywhere", c.whole)
				c.same()
				require.Equal(t, 3, c.began(4), "who is in it says so, once")
				require.Zero(t, c.began(2)+c.began(3), "nobody was in those")
			})
		}
	}
}

// began counts how often an incarnation was said to have begun.
func (c *cluster) began(i op.Incarnation) (n int) {
	for _, e := range c.events {
		if e.Action == "NewIncarnation" && op.Incarnation(e.Count) == i {
			n++
		}
	}
	return n
}

// Somebody has a copy: the machine that lost the chosen log gets that, and never says
// that there is none. If all have to say what they hold just then, the copy is what
// shows most.
func TestLostBaseThatWasCopied(t *testing.T) {
	for _, ends := range []bool{false, true} {
		c := newClusterOf(t, 3, func(cfg *Config) { cfg.Policy = allReplicated })
		c.elect()
		for range 3 { // terms of the first incarnation are higher than those of the next
			c.history(4, 0)
			c.crash(c.leader(), false)
			c.elect()
			for id := range c.replicas {
				if c.replicas[id] == nil {
					require.NoError(t, c.boot(id+1))
				}
			}
			c.reach("up to date", c.rejoined)
		}
		told := c.records()
		for _, r := range c.replicas {
			require.NoError(t, r.jr.Sync())
		}
		c.powerLoss()
		who := c.begin()
		has, not := who%3+1, (who+1)%3+1
		c.crash(not, false)
		c.reach("a copy", func() bool { return !c.replicas[has-1].View().Copying })
		require.False(t, c.replicas[has-1].View().Copying)
		c.replace(who)
		c.inbox = nil
		require.NoError(t, c.boot(who))
		require.NoError(t, c.boot(not))
		if ends {
			require.Equal(t, has, c.begin())
			require.EqualValues(t, 2, c.cfg.Base.From)
		}
		c.reach("a base everywhere", func() bool {
			for _, r := range c.replicas {
				require.False(t, r.Standing().Baseless)
			}
			return c.copied()
		})
		c.elect()
		c.reach("everything is everywhere", c.rejoined)
		require.Equal(t, told, c.records())
	}
}

// A copy of a base that is not whole is no replica of its incarnation, though there is a
// journal beside it already: what the machine had before is what it shows.
func TestCopyIsNoReplica(t *testing.T) {
	c := newClusterOf(t, 1, func(cfg *Config) { cfg.Policy = allReplicated })
	c.elect()
	c.append("a")
	had := c.replicas[0].shows()
	c.step(1, Input{Seal: true})
	fs := c.disks[0].FS()
	require.NoError(t, fs.Mkdir("test", "p0-i2"))
	cfg := c.cfg
	cfg.ID, cfg.FS, cfg.Incarnation, cfg.Dir = 1, fs, 2, "p0-i2"
	require.NoError(t, Format(cfg))
	require.NoError(t, fs.Mkdir("test", "p0-i2/base-log"))
	jr, _, err := journal.Open(journal.Options{FS: fs, Dir: "p0-i2/journal", Identity: cfg.identity(), FileBytes: 1 << 10})
	require.NoError(t, err)
	require.NoError(t, jr.Append(&raftlog.State{Term: 1}, []raftlog.Entry{{Op: 2, Term: 1}}))
	require.NoError(t, jr.Close())
	cfg.Incarnation, cfg.Dir = 3, "p0-i3"
	cfg.Base = &Base{From: 2, Machine: 1, Past: []Past{{2, "p0-i2"}, {1, "p0"}}}
	word, err := LastWord(cfg)
	require.NoError(t, err)
	require.Equal(t, Standing{Evidence: had, Of: 1, Copied: true}, word, "it does not know who it is in incarnation 3")
	require.NoError(t, fs.Mkdir("test", "p0-i3"))
	require.NoError(t, Format(cfg))
	word, err = LastWord(cfg)
	require.NoError(t, err)
	require.Equal(t, Standing{Evidence: had, Of: 1}, word)
}
