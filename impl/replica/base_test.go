package replica

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
	"purgelab/model/op"
)

// begin does what the metadata plane does: everybody is sealed and says what it
// holds, and the next incarnation goes on from what is most. It tells from whom.
func (c *cluster) begin() int {
	from := max(1, c.cfg.Incarnation)
	past := []Past{{from, c.cfg.Dir}}
	if c.cfg.Base != nil {
		past = append(past, c.cfg.Base.Past...)
	}
	best, who := Standing{}, 0
	for id, r := range c.replicas {
		_, err := r.Step(Input{Seal: true})
		require.NoError(c.t, err)
		s := r.Standing()
		require.True(c.t, s.Sealed)
		if s.Of == 0 {
			s.Of = from
		}
		if s.Evidence.Intact && (s.Of > best.Of || s.Of == best.Of && s.Evidence.Above(best.Evidence)) {
			best, who = s, id+1
		}
	}
	c.inbox = nil
	c.cfg.Incarnation = from + 1
	c.cfg.Dir = fmt.Sprintf("p0-i%d", from+1)
	c.cfg.Base = &Base{From: best.Of, Machine: who, Term: best.Evidence.Term, Last: best.Evidence.Last, Past: past}
	for id := range c.replicas {
		fs := c.disks[id].FS()
		require.NoError(c.t, fs.Mkdir("test", c.cfg.Dir))
		require.NoError(c.t, fs.SyncDir("test", "."))
		c.format(id + 1)
		require.NoError(c.t, c.boot(id+1))
		require.True(c.t, c.replicas[id].View().Copying)
	}
	return who
}

// powerLoss takes the power from everybody at once.
func (c *cluster) powerLoss() {
	for id := range c.disks {
		c.crash(id+1, true)
	}
	for id := range c.disks {
		require.NoError(c.t, c.boot(id+1))
		require.True(c.t, c.replicas[id].View().Joining)
	}
}

func (c *cluster) records() []string {
	var out []string
	for _, r := range c.do(&op.Request{Kind: op.Poll, Strategy: op.First, Max: 1000}).Records {
		out = append(out, string(r.Payload))
	}
	return out
}

// A power loss of all, and the partition goes on from a prefix, under the next
// incarnation; again and again.
func TestNewIncarnationGoesOn(t *testing.T) {
	for _, p := range policies[1:] {
		for _, n := range []int{1, 3, 5} {
			c := newClusterOf(t, n, func(cfg *Config) { cfg.Policy, cfg.CheckpointOps, cfg.JournalBytes = p, 8, 1<<10 })
			c.elect()
			key := op.Key{ID: 1}
			var told, bookmarked []string
			for i := range op.Incarnation(4) {
				at := op.Position{Incarnation: i + 1}
				for k := range 12 {
					s := fmt.Sprintf("%d-%d", i, k)
					require.Equal(t, i+1, c.append(s).Position.Incarnation)
					told = append(told, s)
					if k == 4 && p.Bookmarks == Persisted {
						at.Offset = op.Offset(len(told) - 1)
						require.Equal(t, op.OK, c.do(&op.Request{Kind: op.StoreBookmark, Key: key, At: at}).Code)
						bookmarked = slices.Clone(told)
					}
				}
				c.powerLoss()
				who := c.begin()
				require.NotZero(t, who)
				c.elect()
				c.reach("a base everywhere", func() bool {
					return !slices.ContainsFunc(c.replicas, func(r *Replica) bool { return r.View().Copying })
				})
				got := c.records()
				require.Equal(t, told[:len(got)], got, "a prefix")
				if p.Messages == Persisted {
					require.Equal(t, told, got)
				}
				require.GreaterOrEqual(t, len(got), len(bookmarked), "what a persisted bookmark makes so is there")
				if len(bookmarked) > 0 {
					require.Equal(t, op.Position{Incarnation: i + 2, Offset: op.Offset(len(bookmarked) - 1)}, c.do(&op.Request{Kind: op.GetBookmark, Key: key}).Position)
				}
				told = got
			}
			for id := range c.disks { // nothing of it is lost by a restart
				c.crash(id+1, false)
				require.NoError(t, c.boot(id+1))
			}
			c.elect()
			require.Equal(t, told, c.records())
		}
	}
}

// Positions of older incarnations are good for what was agreed on in the generation
// that is still there, and for nothing else, ever.
func TestPositionsOfOlderIncarnations(t *testing.T) {
	c := newClusterOf(t, 1, func(cfg *Config) { cfg.Policy = Policy{Messages: Replicated} })
	c.elect()
	at := func(i op.Incarnation, g op.Generation, o op.Offset) string {
		return show(c.do(&op.Request{Kind: op.Poll, Strategy: op.AtOffset, At: op.Position{Incarnation: i, Generation: g, Offset: o}, Max: 9}))
	}
	c.append("a", "b")
	require.Equal(t, op.OK, c.do(&op.Request{Kind: op.StoreBookmark, At: op.Position{Incarnation: 1, Offset: 0}}).Code) // syncs both
	require.Equal(t, op.OK, c.do(&op.Request{Kind: op.StoreBookmark, At: op.Position{Incarnation: 1, Offset: 1}}).Code) // says that they are committed
	c.append("c")
	c.append("d")
	require.Equal(t, "ok i1:g0:2 c d", at(1, 0, 2))
	c.powerLoss()
	c.begin()
	c.elect()
	require.Equal(t, []string{"a", "b"}, c.records())
	require.Equal(t, "ok i2:g0:1 b", at(1, 0, 1))
	require.Equal(t, "stale-incarnation i2:g0:-1", at(1, 0, 2))
	require.Equal(t, op.Position{Incarnation: 2, Offset: 2}, c.append("x", "y").Position)
	require.Equal(t, "ok i2:g0:2 x y", at(2, 0, 2))
	require.Equal(t, "stale-incarnation i2:g0:-1", at(1, 0, 2), "it never names another message")
	require.Equal(t, "stale-incarnation i2:g0:-1", at(3, 0, 0))
	require.Equal(t, op.InvalidOffset, c.do(&op.Request{Kind: op.StoreBookmark, At: op.Position{Incarnation: 1, Offset: -1}}).Code)
	require.Equal(t, op.OK, c.do(&op.Request{Kind: op.StoreBookmark, At: op.Position{Incarnation: 1, Offset: 0}}).Code)
	require.Equal(t, op.Position{Incarnation: 2}, c.do(&op.Request{Kind: op.GetBookmark}).Position)
	require.Equal(t, op.OK, c.do(&op.Request{Kind: op.StoreBookmark, At: op.Position{Incarnation: 2, Offset: 3}}).Code)
	require.Equal(t, op.OK, c.do(&op.Request{Kind: op.StoreBookmark, At: op.Position{Incarnation: 2, Offset: 3}}).Code)
	c.powerLoss()
	c.begin()
	c.elect()
	require.Equal(t, "ok i3:g0:0 a b x y", at(1, 0, 0))
	require.Equal(t, "ok i3:g0:3 y", at(2, 0, 3))
	require.Equal(t, "stale-incarnation i3:g0:-1", at(1, 0, 2))
	require.Equal(t, "ok i3:g5:0", strings.TrimSpace(show(c.purge(5))))
	require.Equal(t, "stale-incarnation i3:g5:-1", at(1, 0, 0))
	require.Equal(t, "stale-generation i3:g5:-1", at(3, 0, 0))
	c.crash(1, false)
	require.NoError(t, c.boot(1))
	c.elect()
	require.Equal(t, "stale-incarnation i3:g5:-1", at(2, 0, 0))
}

// A crash of either kind at every disk call of a copy, on the machine that has the
// log and on another one.
func TestCrashAtEveryCallOfACopy(t *testing.T) {
	for _, victim := range []int{1, 2} {
		for _, power := range []bool{false, true} {
			for nth := 1; ; nth++ {
				c := newClusterOf(t, 3, func(cfg *Config) { cfg.Policy, cfg.JournalBytes = allReplicated, 1<<10 })
				c.elect()
				for i := range 30 {
					c.append(fmt.Sprint("message ", i))
				}
				c.purge(3)
				c.append("x", "y")
				for id := range c.disks { // without losing anything
					require.NoError(t, c.replicas[id].jr.Sync())
				}
				c.powerLoss()
				require.Equal(t, 1, c.begin())
				left, label, hit := nth, "", false
				c.disks[victim-1].Arm(func(l vfs.Label, _ string) crashfs.Action {
					if left--; left == 0 {
						label, hit = string(l), true
						return crashfs.CrashBefore
					}
					return crashfs.Continue
				})
				whole := func() bool {
					return !slices.ContainsFunc(c.replicas, func(r *Replica) bool { return r == nil || r.View().Copying || r.View().Joining })
				}
				c.reach("a base or a crash", func() bool { return hit || whole() })
				c.disks[victim-1].Arm(nil)
				if hit {
					c.crash(victim, power)
					require.NoError(t, c.boot(victim), label)
				}
				c.reach("a base", whole)
				c.elect()
				require.Equal(t, "ok i2:g3:0 x y", c.first(), label)
				require.Equal(t, op.Position{Incarnation: 2, Generation: 3, Offset: 2}, c.append("z").Position)
				if !hit {
					require.Greater(t, nth, 10)
					break
				}
			}
		}
	}
}

// Whoever is sealed stays so over a restart, and does nothing any more.
func TestSealed(t *testing.T) {
	c := newCluster(t, 3, 0)
	c.elect()
	c.append("a")
	want := c.replicas[0].shows()
	for id := range c.replicas {
		c.step(id+1, Input{Seal: true})
		c.step(id+1, Input{Seal: true})
	}
	for _, power := range []bool{false, true} {
		for id := range c.replicas {
			c.crash(id+1, power)
			require.NoError(t, c.boot(id+1))
			require.Equal(t, Standing{Sealed: true, Evidence: want}, c.replicas[id].Standing())
		}
	}
	c.inbox = nil
	for range 500 {
		for id := range c.replicas {
			c.step(id+1, Input{Tick: true})
			c.step(id+1, Input{Work: true})
		}
	}
	require.Empty(t, c.inbox)
	require.Zero(t, c.leader())
	require.True(t, c.replicas[0].View().Sealed)
}
