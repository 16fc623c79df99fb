package replica

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
	"purgelab/model/op"
)

// copied: all replicas have a base.
func (c *cluster) copied() bool {
	return !slices.ContainsFunc(c.replicas, func(r *Replica) bool { return r == nil || r.View().Copying })
}

// A new incarnation goes on from a log that was compacted: from a state and what comes
// after it, on every machine; again and again. Sessions, bookmarks and positions that
// were agreed on are good for it.
func TestNewIncarnationGoesOnFromAState(t *testing.T) {
	for _, p := range policies[1:] {
		for _, n := range []int{1, 3, 5} {
			c := newClusterOf(t, n, func(cfg *Config) { moving(cfg); cfg.Policy = p })
			c.elect()
			key := op.Key{Kind: op.Group, ID: 1}
			var told []string
			for i := range op.Incarnation(4) {
				for k := range 25 {
					s := fmt.Sprintf("%d-%d", i, k)
					require.Equal(t, i+1, c.append(s).Position.Incarnation)
					told = append(told, s)
					if k == 3 {
						at := op.Position{Incarnation: i + 1, Offset: op.Offset(len(told) - 1)}
						require.Equal(t, op.OK, c.do(&op.Request{Kind: op.StoreBookmark, Key: key, At: at}).Code)
					}
				}
				marked := op.Offset(len(told) - 22)
				c.powerLoss()
				require.NotZero(t, c.begin())
				c.reach("a base everywhere", c.copied)
				c.elect()
				c.reach("everything is everywhere", c.rejoined)
				got := c.records()
				require.Equal(t, told[:len(got)], got, "a prefix")
				require.GreaterOrEqual(t, len(got), len(told)-8, "a checkpoint is durable, and the log that ends in it")
				for _, r := range c.replicas {
					require.Greater(t, r.line.base.First(), op.Number(15))
				}
				c.same()
				require.Equal(t, op.Position{Incarnation: i + 2, Offset: marked}, c.do(&op.Request{Kind: op.GetBookmark, Key: key}).Position)
				old := op.Position{Incarnation: i + 1, Offset: 2}
				require.Equal(t, op.OK, c.do(&op.Request{Kind: op.Poll, Strategy: op.AtOffset, At: old, Max: 1}).Code)
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

// A crash of either kind at every disk call of a machine that copies such a base, the
// one that has it or another one, and of a suspect whose base begins with a state.
func TestCrashAtEveryCallOfAStateCopied(t *testing.T) {
	cases := 0
	for _, power := range []bool{false, true} {
		for _, has := range []bool{true, false} {
			for nth := 1; ; nth++ {
				c := newClusterOf(t, 3, func(cfg *Config) { moving(cfg); cfg.Policy = allReplicated })
				c.elect()
				c.history(20, 3)
				c.powerLoss()
				who := c.begin()
				id := who
				if !has {
					id = who%3 + 1
				}
				left, hit := nth, false
				var label vfs.Label
				c.crash(id, false)
				c.disks[id-1].Arm(func(l vfs.Label, _ string) crashfs.Action {
					if left--; left == 0 {
						label, hit = l, true
						return crashfs.CrashBefore
					}
					return crashfs.Continue
				})
				if err := c.boot(id); err == nil {
					c.reach("copied or down", func() bool { return c.replicas[id-1] == nil || c.copied() })
				}
				c.disks[id-1].Arm(nil)
				if !hit {
					require.Greater(t, nth, 20)
					break
				}
				cases++
				c.crash(id, power)
				require.NoError(t, c.boot(id), label)
				c.reach("a base everywhere, after "+string(label), c.copied)
				c.reach("whole, after "+string(label), c.whole)
				c.history(4, 0)
				c.reach("whole again, after "+string(label), c.whole)
				c.same()
			}
		}
	}
	t.Logf("%d cases", cases)
}

// TestIncarnationWithoutAnOpOfItsOwnIsTold: the log that an incarnation goes on from
// holds an op of the one before that was not committed there, so nobody told that this
// one had begun. Whoever goes on from a state that ends where it began tells it.
func TestIncarnationWithoutAnOpOfItsOwnIsTold(t *testing.T) {
	c := newClusterOf(t, 3, func(cfg *Config) { moving(cfg); cfg.Policy = allReplicated })
	c.elect()
	c.history(12, 0)
	c.powerLoss()
	c.cfg.CheckpointOps = 1 // there will be a state of the very end of the base
	c.begin()
	c.reach("a base everywhere", c.copied)
	wrote := func() bool {
		return slices.ContainsFunc(c.replicas, func(r *Replica) bool { return r.lastOp() > r.line.baseLast() })
	}
	for ticks := 0; !wrote(); ticks++ {
		require.Less(t, ticks, 3000, "nobody leads")
		c.turn(wrote, none)
	}
	for _, r := range c.replicas {
		require.NoError(t, r.jr.Sync())
	}
	c.events, c.inbox = nil, nil
	c.powerLoss()
	c.begin()
	c.reach("a base everywhere", c.copied)
	c.elect()
	c.append("a")
	var told []int
	for _, e := range c.events {
		if e.Action == "NewIncarnation" && !slices.Contains(told, e.Count) {
			told = append(told, e.Count)
		}
	}
	require.Equal(t, []int{2, 3}, told)
}
