package replica

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
	"purgelab/model/op"
)

func TestPurgeDropsMessagesAndBookmarksTogether(t *testing.T) {
	for _, n := range []int{1, 3, 5} {
		c := newCluster(t, n, 0)
		c.elect()
		c.append("a", "b", "c")
		key := op.Key{ID: 1}
		require.Equal(t, op.OK, c.do(&op.Request{Kind: op.StoreBookmark, Key: key, At: op.Position{Incarnation: 1, Offset: 2}}).Code)
		require.Equal(t, "ok i1:g3:0", show(c.purge(3)))
		require.Equal(t, "ok i1:g3:0", c.first())
		require.False(t, c.do(&op.Request{Kind: op.GetBookmark, Key: key}).Found)
		require.Equal(t, op.Position{Incarnation: 1, Generation: 3}, c.append("x", "y").Position)
		require.Equal(t, "ok i1:g3:0 x y", show(c.do(&op.Request{Kind: op.Poll, Key: key, Max: 10})))

		stale := c.do(&op.Request{Kind: op.StoreBookmark, Key: key, At: op.Position{Incarnation: 1, Offset: 0}})
		require.Equal(t, op.Reply{Code: op.StaleGeneration, Position: op.Position{Incarnation: 1, Generation: 3, Offset: -1}, End: 2}, stale)
		require.Equal(t, "ok i1:g3:0", show(c.purge(3)), "a repeat of the intent is answered")
		require.Equal(t, "ok i1:g2:0", show(c.purge(2)), "a skipped intent is answered with its own number")
		require.Equal(t, "ok i1:g3:0 x y", c.first(), "and neither wipes again")
	}
}

// The steps of a purge, and that nothing else of the replica's materializing
// falls between them, while consensus goes on.
func TestPurgeSteps(t *testing.T) {
	c := newCluster(t, 1, 0)
	c.elect()
	c.append("a")
	c.events = nil
	first := c.ask(&op.Request{Kind: op.Purge, Intent: 1})
	second := c.ask(&op.Request{Kind: op.Append, Payloads: []op.Payload{"fresh"}})
	c.settle()
	require.Equal(t, op.OK, c.answers[first].Code)
	require.Equal(t, op.Position{Incarnation: 1, Generation: 1}, c.answers[second].Position)
	got := c.actions(1)
	require.Contains(t, got, "PurgeBegin(4) PurgeSwitch(4) PurgeComplete(4)", got)
	require.Less(t, strings.Index(got, "PurgeComplete(4)"), strings.Index(got, "Materialize(5)"), got)
}

// A crash at every disk call of a purge, of either kind: after a restart the
// purge is finished, the acknowledged fresh append is there, nothing old is.
func TestCrashAtEveryCallOfAPurge(t *testing.T) {
	for _, power := range []bool{false, true} {
		for _, action := range []crashfs.Action{crashfs.CrashBefore, crashfs.CrashAfter} {
			for nth := 1; ; nth++ {
				c := newCluster(t, 1, 0)
				c.elect()
				c.append("old")
				require.Equal(t, op.OK, c.do(&op.Request{Kind: op.StoreBookmark, At: op.Position{Incarnation: 1}}).Code)
				left, label := nth, ""
				c.disks[0].Arm(func(l vfs.Label, _ string) crashfs.Action {
					if left--; left == 0 {
						label = string(l)
						return action
					}
					return crashfs.Continue
				})
				token := c.ask(&op.Request{Kind: op.Purge, Intent: 1})
				c.settle()
				if c.replicas[0] != nil {
					require.Greater(t, nth, 5, "the purge makes no disk calls")
					break
				}
				_, acknowledged := c.answers[token]
				c.crash(1, power)
				require.NoError(t, c.boot(1), label)
				c.elect()
				if !acknowledged {
					require.Equal(t, "ok i1:g1:0", show(c.purge(1)), label)
				}
				require.Equal(t, "ok i1:g1:0", c.first(), label)
				require.False(t, c.do(&op.Request{Kind: op.GetBookmark}).Found, label)
				c.append("fresh")
				require.Equal(t, "ok i1:g1:0", show(c.purge(1)), label)
				c.crash(1, power)
				require.NoError(t, c.boot(1), label)
				c.elect()
				require.Equal(t, "ok i1:g1:0 fresh", c.first(), label)
			}
		}
	}
}

func TestRepeatIsAnsweredNotExecuted(t *testing.T) {
	c := newCluster(t, 3, 0)
	c.elect()
	s := c.do(&op.Request{Kind: op.Register}).Session
	req := &op.Request{Kind: op.Append, Payloads: []op.Payload{"a"}, Session: s, Sequence: 1}
	first := c.do(req)
	require.Equal(t, first, c.do(req))
	require.Equal(t, "ok i1:g1:0", show(c.purge(1)))
	require.Equal(t, first, c.do(req), "across a purge: the old position, and nothing stored")
	old := c.leader()
	c.crash(old, true)
	c.elect()
	require.Equal(t, first, c.do(req), "across a leader change")
	require.NoError(t, c.boot(old))
	c.settle()
	for _, id := range c.cfg.Members {
		if id != old {
			c.crash(id, false)
			require.NoError(t, c.boot(id))
		}
	}
	c.elect()
	require.Equal(t, first, c.do(req), "across restarts")
	require.Equal(t, "ok i1:g1:0", c.first())

	req2 := &op.Request{Kind: op.Append, Payloads: []op.Payload{"b"}, Session: s, Sequence: 3}
	require.Equal(t, "ok i1:g1:0", show(c.do(req2)))
	require.Equal(t, op.StaleSequence, c.do(req).Code)
	for range c.cfg.Sessions {
		c.do(&op.Request{Kind: op.Register})
	}
	require.Equal(t, op.SessionExpired, c.do(req2).Code)
	require.Equal(t, "ok i1:g1:0 b", c.first())
}

func TestConditionalPurge(t *testing.T) {
	c := newCluster(t, 1, 0)
	c.elect()
	c.append("a", "b")
	at := func(o op.Offset) *op.Position { return &op.Position{Incarnation: 1, Offset: o} }
	refused := c.do(&op.Request{Kind: op.Purge, Intent: 1, Expected: at(1)})
	require.Equal(t, op.Reply{Code: op.Mismatch, Position: op.Position{Incarnation: 1, Offset: -1}, End: 2}, refused)
	require.Equal(t, op.Mismatch, c.purge(1).Code, "the intent is settled")
	require.Equal(t, "ok i1:g0:0 a b", c.first())
	require.Equal(t, "ok i1:g2:0", show(c.do(&op.Request{Kind: op.Purge, Intent: 2, Expected: at(2)})))
	require.Equal(t, "ok i1:g2:0", c.first())
}

// A leader that is cut off does not answer reads, a follower refuses requests.
func TestReadsNeedTheLeader(t *testing.T) {
	c := newCluster(t, 3, 0)
	c.elect()
	c.append("a")
	leader := c.leader()
	c.token++
	c.step(leader%3+1, Input{Request: &Request{Token: c.token, Op: &op.Request{Kind: op.ListOffsets}}})
	require.Equal(t, op.NotLeader, c.answers[c.token].Code)

	token := c.ask(&op.Request{Kind: op.ListOffsets, Which: op.LatestOffset})
	for range 20 {
		c.step(leader, Input{Work: true})
		c.inbox = nil
	}
	require.NotContains(t, c.answers, token, "no answer before a quorum confirmed the leader")
	for range 3 * readRetryTicks {
		c.now += 10
		c.step(leader, Input{Tick: true})
		c.settle()
	}
	require.Equal(t, op.Offset(1), c.answers[token].Position.Offset, "a lost round is asked again")
}

// A purge between the phases of a poll: a plain poll is planned again, one with
// auto-commit finds its range gone.
func TestPurgeBetweenThePhasesOfAPoll(t *testing.T) {
	c := newCluster(t, 1, 0)
	c.elect()
	s := c.do(&op.Request{Kind: op.Register}).Session
	c.append("old")
	poll := &op.Request{Kind: op.Poll, Max: 1, AutoCommit: true, Session: s, Sequence: 1}
	require.Equal(t, "ok i1:g0:0 old", show(c.do(poll)))
	c.purge(1)
	gone := c.do(poll)
	require.Equal(t, op.Reply{Code: op.Gone, Position: op.Position{Incarnation: 1}, Count: 1}, gone)

	c.append("x")
	r := c.replicas[0]
	token := c.ask(&op.Request{Kind: op.Poll, Strategy: op.First, Max: 1})
	for len(r.reads.active) == 0 || r.reads.active[0].phase != completing {
		c.step(1, Input{Work: true})
	}
	c.ask(&op.Request{Kind: op.Purge, Intent: 2})
	for r.eng.Facts().Generation < 2 {
		// Hold the read where it is while the purge goes on.
		held := r.reads.active
		r.reads.active = nil
		c.step(1, Input{Work: true})
		r.reads.active = held
	}
	c.settle()
	require.Equal(t, "ok i1:g2:0", show(c.answers[token]), "no record of the old generation")
}
