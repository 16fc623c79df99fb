package replica

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/defect"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
	"purgelab/model/op"
)

// newVolatile is a group of the design reset-record that acknowledges what is
// written.
func newVolatile(t *testing.T, n int, p Policy, v Variants, d defect.Set) *cluster {
	return newClusterOf(t, n, func(c *Config) {
		c.Design, c.Policy, c.Variants, c.Defects, c.CheckpointOps = ResetRecord, p, v, d, 3
	})
}

// purgeAll makes every replica learn a purge, and waits until it is over.
func (c *cluster) purgeAll(g op.Generation) {
	for id := range c.replicas {
		c.step(id+1, Input{Intents: []Intent{{Generation: g}}})
	}
	c.settle()
	for id := range c.replicas {
		require.Equal(c.t, g, c.replicas[id].View().Facts.Settled)
	}
}

// loseAll takes the power from all machines together.
func (c *cluster) loseAll() {
	c.inbox = nil
	for id := range c.replicas {
		c.crash(id+1, true)
	}
	for id := range c.replicas {
		require.NoError(c.t, c.boot(id+1))
	}
	c.elect()
}

// Power fails on all machines: op numbers begin anew, messages and bookmarks are
// gone, and the purge is remembered. Fresh messages are there, unless the floor is
// kept, which was measured in other op numbers.
func TestSequenceBeginsAnew(t *testing.T) {
	for _, p := range policies[1:] {
		for _, keep := range []string{"", "variant", "defect"} {
			d := defect.Set(0)
			if keep == "defect" {
				d = defect.FloorKeptAcrossSequences
			}
			c := newVolatile(t, 3, p, Variants{KeepFloor: keep == "variant"}, d)
			c.elect()
			c.append("a", "b", "c")
			c.append("d")
			require.Equal(t, op.OK, c.do(c.store(1)).Code)
			c.purgeAll(2)
			floor := c.replicas[0].View().Facts.Boundary
			require.Greater(t, floor, op.Number(4))
			c.append("e")
			require.Equal(t, op.OK, c.do(c.store(0)).Code)
			c.loseAll()
			f := c.replicas[0].View().Facts
			require.Equal(t, op.Generation(2), f.Generation)
			require.Zero(t, f.End)
			require.Empty(t, c.replicas[0].Bookmarks())
			require.LessOrEqual(t, c.replicas[0].View().Last, op.Number(2), "op numbers begin anew")
			reply := c.append("fresh")
			if keep != "" {
				require.Equal(t, floor, f.Boundary)
				require.Equal(t, "ok i1:g2:0", c.first(), "acknowledged and hidden")
				require.Equal(t, op.OK, reply.Code)
				continue
			}
			require.Zero(t, f.Boundary)
			require.Equal(t, op.Position{Incarnation: 1, Generation: 2}, reply.Position)
			require.Equal(t, "ok i1:g2:0 fresh", c.first())
			// A crash of processes loses nothing, and a purge works as before.
			for id := range c.replicas {
				c.crash(id+1, false)
			}
			for id := range c.replicas {
				require.NoError(t, c.boot(id+1))
			}
			c.elect()
			require.Equal(t, "ok i1:g2:0 fresh", c.first())
			c.purgeAll(3)
			require.Equal(t, "ok i1:g3:0", c.first())
		}
	}
}

// A machine that loses power, or whose process dies, while it begins anew begins
// anew again: of a journal of several files, too, a part of which is gone then.
func TestCrashAtEveryCallOfANewSequence(t *testing.T) {
	for _, compact := range []Compaction{{}, {Ops: 3}} {
		for _, power := range []bool{false, true} {
			for _, after := range []crashfs.Action{crashfs.CrashBefore, crashfs.CrashAfter} {
				for nth := 1; crashesAnew(t, compact, power, after, nth); nth++ {
				}
			}
		}
	}
}

// crashesAnew crashes a machine at the nth call of a boot that begins anew; false if
// that makes fewer.
func crashesAnew(t *testing.T, compact Compaction, power bool, after crashfs.Action, nth int) bool {
	c := newClusterOf(t, 1, func(c *Config) {
		c.Design, c.Policy, c.CheckpointOps, c.JournalBytes, c.Compact = ResetRecord, policies[1], 3, 300, compact
	})
	c.elect()
	for k := range 10 {
		c.append(fmt.Sprint("a", k), "b")
	}
	require.Equal(t, op.OK, c.do(c.store(1)).Code)
	c.purgeAll(1)
	c.append("c")
	require.Equal(t, op.OK, c.do(c.store(0)).Code)
	names, err := c.disks[0].FS().List("p0/journal")
	require.NoError(t, err)
	require.Greater(t, len(names), 2, names)
	require.Equal(t, compact.On(), slices.Contains(names, "start"), names)
	c.crash(1, true)
	left, hit := nth, ""
	c.disks[0].Arm(func(l vfs.Label, path string) crashfs.Action {
		if left--; left == 0 {
			hit = string(l) + " " + path
			return after
		}
		return crashfs.Continue
	})
	err = c.boot(1)
	c.disks[0].Arm(nil)
	if hit != "" {
		require.ErrorIs(t, err, vfs.ErrCrashed)
		c.crash(1, power)
		require.NoError(t, c.boot(1), "%s, power %v", hit, power)
	}
	c.elect()
	f := c.replicas[0].View().Facts
	require.Equal(t, op.Generation(1), f.Generation)
	require.Zero(t, f.Boundary)
	require.Empty(t, c.replicas[0].Bookmarks())
	c.append("fresh")
	require.Equal(t, "ok i1:g1:0 fresh", c.first())
	if hit == "" {
		require.NoError(t, err)
		require.Greater(t, nth, 20)
	}
	return hit != ""
}
