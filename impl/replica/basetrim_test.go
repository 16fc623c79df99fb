package replica

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
	"purgelab/model/op"
)

// logBytes is how much of the disk of a machine the logs in the directory of the
// partition take, that of the base among them.
func (c *cluster) logBytes(id int) (base, all int64) {
	fs := c.disks[id-1].FS()
	var walk func(string)
	walk = func(d string) {
		names, err := fs.List(d)
		require.NoError(c.t, err)
		for _, name := range names {
			path := d + "/" + name
			if folder, ok := strings.CutSuffix(path, "/"); ok {
				walk(folder)
			} else if strings.HasSuffix(name, ".log") && !strings.HasPrefix(name, "seg-") && !strings.HasPrefix(name, "bookmarks-") {
				f, err := fs.Open(path)
				require.NoError(c.t, err)
				n, err := f.Size()
				require.NoError(c.t, err)
				if all += n; strings.Contains(path, "base-log") {
					base += n
				}
			}
		}
	}
	walk(c.cfg.Dir)
	return base, all
}

// The log of a base is there until a checkpoint holds what it leads to, and no boot reads
// anything of it then. So logs take as much in the tenth incarnation as in the second. Who
// is new then takes a state.
func TestBaseIsCompacted(t *testing.T) {
	for _, n := range []int{1, 3} {
		c := newClusterOf(t, n, func(cfg *Config) { moving(cfg); cfg.Policy = allReplicated })
		c.elect()
		for i := range op.Incarnation(9) {
			c.history(12, 0)
			c.powerLoss()
			require.NotZero(t, c.begin())
			c.reach("a base everywhere", c.copied)
			c.elect()
			c.reach("everything is everywhere", c.whole)
			c.history(8, 0)
			c.reach("everything is everywhere again", c.whole)
			for id := range c.disks {
				base, all := c.logBytes(id + 1)
				require.Zero(t, base, "of the base, incarnation %d", i+2)
				require.LessOrEqual(t, all, int64(2000), "incarnation %d", i+2)
				c.crash(id+1, false)
				require.NoError(t, c.boot(id+1))
				b := c.replicas[id].line.base
				require.Equal(t, b.Last()+1, b.First())
			}
			c.elect()
		}
		if n == 1 {
			continue
		}
		c.disks[1] = crashfs.New()
		c.crash(2, true)
		fs := c.disks[1].FS()
		require.NoError(t, fs.Mkdir("test", c.cfg.Dir))
		require.NoError(t, fs.SyncDir("test", "."))
		require.NoError(t, c.boot(2))
		c.events = nil
		c.reach("a new disk is whole", c.whole)
		require.Positive(t, c.count(2, "StageManifest", ""))
		c.same()
	}
}

// A crash of either kind at every disk call between a checkpoint and the removal of the
// last file of the base: nothing is lost, and nothing stays.
func TestCrashWhileTheBaseIsCompacted(t *testing.T) {
	seen := map[vfs.Label]int{}
	for _, power := range []bool{false, true} {
		for nth := 1; ; nth++ {
			c := newClusterOf(t, 1, func(cfg *Config) { moving(cfg); cfg.JournalBytes, cfg.Policy = 300, allReplicated })
			c.elect()
			c.history(12, 0)
			c.powerLoss()
			require.NotZero(t, c.begin())
			label := c.crashesAt(1, nth)
			c.reach("compacted, or down", func() bool {
				if c.replicas[0] == nil {
					return true
				}
				if c.leader() != 0 {
					c.ask(&op.Request{Kind: op.Append, Payloads: []op.Payload{"m"}})
				}
				r := c.replicas[0]
				return r != nil && r.copy == nil && r.line.base.First() > r.line.base.Last() && !r.baseLeft()
			})
			c.disks[0].Arm(nil)
			if *label == "" {
				require.Greater(t, nth, 40)
				break
			}
			seen[*label]++
			c.crash(1, power)
			require.NoError(t, c.boot(1))
			if c.replicas[0].joining { // it has lost its memory once more
				require.NotZero(t, c.begin())
			}
			c.elect()
			c.history(12, 0)
			base, _ := c.logBytes(1)
			require.Zero(t, base, *label)
		}
	}
	require.Equal(t, 2, seen["journal.clear.rename"], "%v", seen)
	require.GreaterOrEqual(t, seen["journal.reclaim"], 2)
}

// TestKeptLogKeepsItsBase: a machine that lost its memory keeps the log of the member
// before until it has joined, and the base that this goes on from, whatever checkpoints
// it makes meanwhile: it is sealed and shows what that member had.
func TestKeptLogKeepsItsBase(t *testing.T) {
	c := newClusterOf(t, 3, func(cfg *Config) { moving(cfg); cfg.Policy = allReplicated })
	c.elect()
	c.history(12, 0)
	c.powerLoss()
	id := c.begin()
	c.reach("a base", func() bool { return !c.replicas[id-1].View().Copying })
	for other := range c.replicas {
		if other+1 != id {
			c.crash(other+1, false)
		}
	}
	c.inbox = nil
	c.cfg.CheckpointOps = 3 // what is left of the log is shorter than usual
	for range 2 {
		c.crash(id, true)
		require.NoError(t, c.boot(id))
		require.NotEmpty(t, c.replicas[id-1].cfg.member.Kept)
		before := c.count(id, "Checkpoint", "")
		for range 100 {
			c.now += 10
			c.step(id, Input{Tick: true})
			for c.step(id, Input{Work: true}) {
			}
		}
		require.Greater(t, c.count(id, "Checkpoint", ""), before)
	}
	c.step(id, Input{Seal: true})
	now := c.replicas[id-1].Standing()
	require.True(t, now.Evidence.Intact && !now.Copied, now)
	require.Zero(t, now.Of, "of the incarnation that has the base")
}
