package replica

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/corrupt"
	"purgelab/impl/defect"
	"purgelab/model/op"
)

// newReset is one replica of the design reset-record, with rules on its disk.
func newReset(t *testing.T, d defect.Set, rules ...string) *cluster {
	c := newCluster(t, 1, d)
	c.cfg.Design = ResetRecord
	require.NoError(t, c.boot(1)) // nothing was stored
	c.elect()
	if len(rules) > 0 {
		c.breaks(1, rules...)
	}
	return c
}

func (c *cluster) store(o op.Offset) *op.Request {
	f := c.replicas[0].View().Facts
	return &op.Request{Kind: op.StoreBookmark, At: op.Position{Incarnation: 1, Generation: f.Generation, Offset: o}}
}

// until does single steps of work until the condition holds.
func (c *cluster) until(holds func() bool) {
	for range 1000 {
		if holds() {
			return
		}
		c.step(1, Input{Work: true})
	}
	require.Fail(c.t, "never holds")
}

func TestResetRecordTakesItsStepsInOrder(t *testing.T) {
	c := newReset(t, 0)
	c.append("a", "b")
	require.Equal(t, op.OK, c.do(c.store(1)).Code)
	c.events = nil
	require.Equal(t, op.Reply{Position: op.Position{Incarnation: 1, Generation: 2}}, c.purge(2))
	require.Equal(t, "ResetFrontier(4) UnlinkSegments(4) SyncSegments(4) ResetRecord(4) UnlinkBookmarks(4) SyncBookmarks(4) PurgeComplete(4)", c.actions(1))
	for _, power := range []bool{false, true} {
		require.Equal(t, "ok i1:g2:0", c.first())
		require.False(t, c.do(&op.Request{Kind: op.GetBookmark}).Found)
		c.crash(1, power)
		require.NoError(t, c.boot(1))
		c.elect()
	}
}

// An op in the journal when the purge begins is executed in the era before, and
// its client is told so.
func TestResetRecordFiltersWhatItHasJournaled(t *testing.T) {
	c := newReset(t, 0)
	c.append("old")
	late := c.ask(&op.Request{Kind: op.Append, Payloads: []op.Payload{"late"}})
	c.until(func() bool { return c.replicas[0].jr.Last() == 4 })
	purge := c.ask(&op.Request{Kind: op.Purge, Intent: 1})
	c.settle()
	require.Equal(t, op.OK, c.answers[purge].Code)
	require.Equal(t, op.Position{Incarnation: 1, Offset: 1}, c.answers[late].Position)
	require.Contains(t, c.actions(1), "Filtered(4)")
	require.Equal(t, "ok i1:g1:0", c.first())
	c.append("fresh")
	c.crash(1, true)
	require.NoError(t, c.boot(1))
	c.elect()
	require.Equal(t, "ok i1:g1:0 fresh", c.first())
}

// During a cleanup appends go on, changes of bookmarks wait, in order, and polls
// with auto-commit are refused.
func TestResetRecordHoldsBookmarks(t *testing.T) {
	c := newReset(t, 0, "fail-before label=purge.bookmark.unlink times=2")
	s := c.do(&op.Request{Kind: op.Register}).Session
	c.append("old")
	require.Equal(t, op.OK, c.do(c.store(0)).Code)
	purge := c.ask(&op.Request{Kind: op.Purge, Intent: 1})
	c.settle()
	require.NotContains(t, c.answers, purge)
	require.Equal(t, op.Position{Incarnation: 1, Generation: 1}, c.append("fresh", "more").Position)
	first, second := c.store(0), c.store(1)
	first.Session, first.Sequence = s, 1
	second.Session, second.Sequence = s, 2
	one, two := c.ask(first), c.ask(second)
	gone := c.ask(&op.Request{Kind: op.DeleteBookmark, Key: op.Key{ID: 9}, Session: s, Sequence: 3})
	require.Equal(t, op.Transient, c.do(c.store(0)).Code, "nobody waits for it")
	poll := c.do(&op.Request{Kind: op.Poll, AutoCommit: true, Max: 1})
	require.Equal(t, op.Transient, poll.Code)
	require.NotContains(t, c.answers, one)
	require.Equal(t, op.OK, c.wait(purge, 100).Code)
	require.Equal(t, op.OK, c.wait(one, 10).Code)
	require.Equal(t, op.OK, c.answers[two].Code)
	require.Equal(t, op.NotFound, c.answers[gone].Code)
	require.Equal(t, op.Position{Incarnation: 1, Generation: 1, Offset: 1}, c.do(&op.Request{Kind: op.GetBookmark}).Position)
	require.Equal(t, 3, strings.Count(c.actions(1), "Release"))
}

// The retry of a purge whose messages are reset leaves fresh messages alone; with
// the defect it takes them.
func TestResetRecordRetry(t *testing.T) {
	for d, want := range []string{"ok i1:g1:0 X Y", "ok i1:g1:0"} {
		c := newReset(t, defect.RetryResetsAgain*defect.Set(d), "fail-before label=purge.bookmark.unlink")
		c.append("old")
		require.Equal(t, op.OK, c.do(c.store(0)).Code)
		purge := c.ask(&op.Request{Kind: op.Purge, Intent: 1})
		c.settle()
		floor := c.replicas[0].View().Facts.Boundary
		require.Equal(t, op.OK, c.append("X", "Y").Code)
		require.Equal(t, op.OK, c.wait(purge, 100).Code)
		require.Equal(t, want, c.first())
		require.False(t, c.do(&op.Request{Kind: op.GetBookmark}).Found)
		require.Equal(t, d == 0, floor == c.replicas[0].View().Facts.Boundary)
	}
}

// A cleanup that a crash interrupts is finished by the boot, before bookmarks are
// loaded; a higher generation resets again.
func TestResetRecordBootFinishesTheCleanup(t *testing.T) {
	c := newReset(t, 0, "fail-before label=purge.bookmark.unlink times=0")
	c.append("old")
	require.Equal(t, op.OK, c.do(c.store(0)).Code)
	c.ask(&op.Request{Kind: op.Purge, Intent: 1})
	c.settle()
	require.NotNil(t, c.replicas[0].View().Facts.Pending)
	require.Equal(t, op.OK, c.append("fresh").Code)
	require.Error(t, c.reboot(1), "bookmarks of the old era are there")
	c.faults[0] = nil
	require.NoError(t, c.reboot(1))
	require.Nil(t, c.replicas[0].View().Facts.Pending)
	c.elect()
	require.Equal(t, "ok i1:g1:0 fresh", c.first())
	require.False(t, c.do(&op.Request{Kind: op.GetBookmark}).Found)
	require.Equal(t, op.OK, c.purge(3).Code)
	require.Equal(t, "ok i1:g3:0", c.first())
}

func (c *cluster) reboot(id int) error {
	c.crash(id, true)
	return c.boot(id)
}

// A damaged record refuses to serve, whichever of the three it is.
func TestResetRecordRefusesDamage(t *testing.T) {
	for _, file := range []string{"purge.reset", "purge.gen", "checkpoint"} {
		c := newReset(t, 0)
		c.append("old")
		require.Equal(t, op.OK, c.purge(1).Code)
		h, err := c.disks[0].FS().Open("p0/" + file)
		require.NoError(t, err)
		_, err = h.WriteAt("test", []byte{0xff}, 33)
		require.NoError(t, err)
		c.replicas[0] = nil
		require.ErrorIs(t, c.boot(1), corrupt.ErrCorrupt, file)
	}
}

// A purge that expects a position is not offered.
func TestResetRecordHasNoConditions(t *testing.T) {
	c := newReset(t, 0)
	reply := c.do(&op.Request{Kind: op.Purge, Intent: 1, Expected: &op.Position{Incarnation: 1}})
	require.Equal(t, op.PolicyViolation, reply.Code)
}

// Three replicas that have come differently far choose different floors.
func TestResetRecordFloorsDiffer(t *testing.T) {
	c := newCluster(t, 3, 0)
	c.cfg.Design = ResetRecord
	for id := range c.replicas {
		require.NoError(t, c.boot(id+1))
	}
	c.elect()
	lead := c.leader()
	behind := lead%3 + 1
	c.append("old")
	c.replicas[behind-1] = nil
	c.append("missed")
	c.crash(behind, false)
	require.NoError(t, c.boot(behind))
	for id := range c.replicas {
		c.step(id+1, Input{Intents: []Intent{{Generation: 1}}})
	}
	c.settle()
	c.elect()
	for range 20 {
		c.tick()
	}
	a, b := c.replicas[lead-1].View().Facts, c.replicas[behind-1].View().Facts
	require.Greater(t, a.Boundary, b.Boundary)
	require.Zero(t, a.End)
	require.EqualValues(t, 1, b.End, "the purged message is back")
}

// An op at or below the floor is answered from the bookmarks of the era before,
// also if the power fails when the reset was begun, or recorded; and it takes
// effect in that era once and for all, so each replay answers alike.
func TestResetRecordAnswersFromTheOldBookmarks(t *testing.T) {
	for _, at := range []string{"ResetFrontier", "ResetRecord", "Filtered", "never"} {
		c := newReset(t, 0)
		s := c.do(&op.Request{Kind: op.Register}).Session
		c.append("old", "old too")
		require.Equal(t, op.OK, c.do(c.store(0)).Code)
		poll := &op.Request{Kind: op.Poll, Max: 5, AutoCommit: true, Session: s, Sequence: 1}
		last := c.replicas[0].jr.Last()
		c.ask(poll)
		c.until(func() bool { return c.replicas[0].jr.Synced() > last })
		c.step(1, Input{Intents: []Intent{{Generation: 1}}})
		if at != "never" {
			c.until(func() bool { return strings.Contains(c.actions(1), at) })
			require.NoError(t, c.reboot(1))
			c.elect()
		}
		c.settle()
		require.GreaterOrEqual(t, c.replicas[0].View().Facts.Boundary, last+1)
		c.append("fresh")
		for range 2 {
			reply := c.do(poll)
			require.Equal(t, op.Gone, reply.Code, at)
			require.Equal(t, op.Position{Incarnation: 1, Offset: 1}, reply.Position)
			require.EqualValues(t, 1, reply.Count)
			require.NoError(t, c.reboot(1))
			c.elect()
		}
		require.False(t, c.do(&op.Request{Kind: op.GetBookmark}).Found)
	}
}
