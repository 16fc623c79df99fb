package replica

import (
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/model/op"
)

// purgeSyncs are the labels of all syncs of a purge, in their order.
var purgeSyncs = []string{
	"purge.frontier.sync", "purge.frontier.dirsync", "purge.segment.dirsync", "purge.reset.sync", "purge.reset.dirsync",
	"purge.bookmark.dirsync", "purge.gen.sync", "purge.gen.dirsync",
}

// After a failed sync of a purge the replica stops, and the boot after a loss of
// the cache finishes the purge; the variant takes the step again and goes on.
func TestResetRecordFailedSync(t *testing.T) {
	for _, label := range purgeSyncs {
		for _, retry := range []bool{false, true} {
			c := newReset(t, 0)
			c.cfg.Variants.RetrySync = retry
			c.append("old")
			require.Equal(t, op.OK, c.do(c.store(0)).Code)
			require.NoError(t, c.reboot(1)) // the bookmark is on the disk, or its change in the journal
			c.elect()
			c.breaks(1, "fail-before label="+label)
			purge := c.ask(&op.Request{Kind: op.Purge, Intent: 1})
			c.settle()
			if retry {
				require.Equal(t, op.OK, c.wait(purge, 100).Code, label)
			} else {
				var disk *DiskError
				require.ErrorAs(t, c.stopped[1], &disk, label)
				require.NotContains(t, c.answers, purge)
				require.NoError(t, c.reboot(1))
				c.elect()
				require.Equal(t, op.OK, c.wait(c.ask(&op.Request{Kind: op.Purge, Intent: 1}), 100).Code)
			}
			require.Equal(t, "ok i1:g1:0", c.first(), label)
			require.False(t, c.do(&op.Request{Kind: op.GetBookmark}).Found, label)
		}
	}
}

// What the variant costs: a sync of the folder of bookmarks that fails and loses
// the removals is taken again, succeeds, and proves nothing. The power fails, and
// the bookmark of the era before hides fresh messages.
func TestResetRecordRetriedSyncLies(t *testing.T) {
	for _, retry := range []bool{false, true} {
		c := newReset(t, 0)
		c.cfg.Variants.RetrySync = retry
		c.cfg.CheckpointOps = 1
		require.NoError(t, c.reboot(1))
		c.elect()
		c.append("old", "old too")
		require.Equal(t, op.OK, c.do(c.store(1)).Code)
		c.breaks(1, "names-forget label=purge.bookmark")
		purge := c.ask(&op.Request{Kind: op.Purge, Intent: 1})
		c.settle()
		if retry {
			require.Equal(t, op.OK, c.wait(purge, 100).Code)
		} else {
			require.Error(t, c.stopped[1])
			require.NoError(t, c.reboot(1))
			c.elect()
		}
		c.append("fresh", "fresh too")
		require.NoError(t, c.reboot(1))
		c.elect()
		poll := show(c.do(&op.Request{Kind: op.Poll, Max: 10}))
		require.Equal(t, map[bool]string{false: "ok i1:g1:0 fresh fresh too", true: "ok i1:g1:2"}[retry], poll)
	}
}

// The completion cannot be recorded: nothing is served to bookmarks, appends go
// on, and the purge is not acknowledged, however often it fails.
func TestResetRecordCompletionFails(t *testing.T) {
	c := newReset(t, 0, "fail-before label=purge.gen.create times=3")
	s := c.do(&op.Request{Kind: op.Register}).Session
	c.append("old")
	purge := c.ask(&op.Request{Kind: op.Purge, Intent: 1})
	c.settle()
	for range 2 {
		require.Equal(t, op.OK, c.append("fresh").Code)
		require.NotContains(t, c.answers, purge)
		require.Zero(t, c.replicas[0].View().Facts.Settled)
		for range retryTicks {
			c.tick()
		}
	}
	held := c.store(0)
	held.Session, held.Sequence = s, 1
	one := c.ask(held)
	require.NotContains(t, c.answers, one)
	require.Equal(t, op.OK, c.wait(purge, 100).Code)
	require.Equal(t, op.OK, c.wait(one, 10).Code)
	require.Equal(t, "ok i1:g1:0 fresh fresh", c.first())
}

// A boot whose cleanup fails does not serve; the next one goes on where it was,
// whichever step fails and however often.
func TestResetRecordRecoveryFailsAgain(t *testing.T) {
	for _, rule := range []string{
		"fail-before label=purge.bookmark.unlink", "fail-after label=purge.bookmark.unlink",
		"fail-before label=purge.bookmark.dirsync", "fail-after label=purge.bookmark.dirsync", "names-forget label=purge.bookmark",
		"fail-before label=purge.gen.write", "sync-forget label=purge.gen", "fail-after label=purge.gen.rename",
		"fail-before label=purge.gen.dirsync", "fail-after label=purge.gen.dirsync", "fail-before op=list path=p0/bookmarks/* times=6",
	} {
		for _, power := range []bool{true, false} {
			c := newReset(t, 0)
			c.cfg.CheckpointOps = 1
			require.NoError(t, c.reboot(1))
			c.elect()
			c.append("old")
			require.Equal(t, op.OK, c.do(c.store(0)).Code)
			group := c.store(0)
			group.Key.Kind = op.Group
			require.Equal(t, op.OK, c.do(group).Code)
			c.breaks(1, "fail-before label=purge.bookmark.unlink times=0")
			c.ask(&op.Request{Kind: op.Purge, Intent: 1})
			c.settle()
			require.Equal(t, op.OK, c.append("fresh").Code)
			failed := 0
			for range 3 {
				c.rules(1, rule)
				c.crash(1, power || failed > 0) // the first boot may find the cache
				if c.boot(1) != nil {
					failed++
				}
			}
			require.NotZero(t, failed, rule)
			c.faults[0] = nil
			require.NoError(t, c.reboot(1))
			c.elect()
			require.Equal(t, "ok i1:g1:0 fresh", c.first(), rule)
			for _, k := range []op.Key{{}, {Kind: op.Group}} {
				require.False(t, c.do(&op.Request{Kind: op.GetBookmark, Key: k}).Found, rule)
			}
		}
	}
}

// No checkpoint is begun while a cleanup waits, however many ops are materialized
// meanwhile; afterwards one is.
func TestResetRecordCheckpointWaits(t *testing.T) {
	c := newReset(t, 0)
	c.cfg.CheckpointOps = 2
	c.append("old")
	require.Equal(t, op.OK, c.do(c.store(0)).Code)
	c.breaks(1, "fail-before label=purge.bookmark.unlink times=0")
	purge := c.ask(&op.Request{Kind: op.Purge, Intent: 1})
	c.settle()
	c.events = nil
	for range 4 {
		require.Equal(t, op.OK, c.append("fresh").Code)
		c.tick()
	}
	require.NotContains(t, c.actions(1), "Checkpoint")
	c.faults[0].Clear()
	require.Equal(t, op.OK, c.wait(purge, 100).Code)
	c.settle()
	require.Regexp(t, "PurgeComplete.* Checkpoint", c.actions(1))
}
