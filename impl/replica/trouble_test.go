package replica

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/corrupt"
	"purgelab/impl/vfs/faultfs"
	"purgelab/model/op"
)

// breaks restarts replica id with rules on its disk.
func (c *cluster) breaks(id int, rules ...string) *faultfs.Set {
	s := c.rules(id, rules...)
	c.crash(id, false)
	require.NoError(c.t, c.boot(id))
	c.elect()
	return s
}

// rules makes rules those of the disk of replica id from its next boot on.
func (c *cluster) rules(id int, rules ...string) *faultfs.Set {
	s := faultfs.NewSet()
	for _, text := range rules {
		r, err := faultfs.Parse(text)
		require.NoError(c.t, err)
		s.Add(r)
	}
	c.faults[id-1] = s
	return s
}

// wait lets ticks pass until the token is answered.
func (c *cluster) wait(token uint64, ticks int) op.Reply {
	for range ticks {
		c.settle()
		if reply, ok := c.answers[token]; ok {
			return reply
		}
		c.tick()
	}
	require.Fail(c.t, "no answer")
	return op.Reply{}
}

func (c *cluster) tick() {
	c.now += 10
	for id := range c.replicas {
		c.step(id+1, Input{Tick: true})
	}
	c.settle()
}

// A step of a purge that fails, whichever call of it and however, leaves what is
// applied below the purge while consensus goes on, and is taken again until it
// succeeds; then nothing old is there, and all that is fresh, also after a power
// loss.
func TestFailedPurgeStepIsTakenAgain(t *testing.T) {
	for _, action := range []string{"fail-before", "fail-after", "sync-forget", "sync-evict", "no-space", "short-write"} {
		nth := 1
		for ; ; nth++ {
			c := newCluster(t, 1, 0)
			c.elect()
			c.append("old")
			require.Equal(t, op.OK, c.do(&op.Request{Kind: op.StoreBookmark, At: op.Position{Incarnation: 1}}).Code)
			r, err := faultfs.Parse(action + " label=purge.")
			require.NoError(t, err)
			r.Nth, r.Times = nth, 3
			set := c.breaks(1, r.String())
			before := c.replicas[0].View().Facts.Applied

			purge := c.ask(&op.Request{Kind: op.Purge, Intent: 1})
			fresh := c.ask(&op.Request{Kind: op.Append, Payloads: []op.Payload{"fresh"}})
			c.settle()
			if err := c.stopped[1]; err != nil { // see TestFailedSyncOfADirectoryStops
				require.ErrorContains(t, err, "faultfs: syncdir")
				continue
			}
			v := c.replicas[0].View()
			if set.Hits() == 0 {
				require.Equal(t, op.OK, c.answers[purge].Code)
				break
			}
			if v.Facts.Generation == 0 { // not a reclaim after it
				require.Equal(t, before, v.Facts.Applied, r)
				require.Equal(t, before+2, v.Committed, r)
				require.NotContains(t, c.answers, fresh, r)
			}
			require.Equal(t, "ok i1:g1:0", show(c.wait(purge, 100)), r)
			require.Equal(t, "ok i1:g1:0", show(c.wait(fresh, 10)), r)
			require.GreaterOrEqual(t, set.Hits(), 1)
			require.Equal(t, "ok i1:g1:0 fresh", c.first(), r)
			for range 5 * retryTicks {
				c.tick()
			}
			require.False(t, c.replicas[0].reclaim, r)

			c.faults[0] = nil
			c.crash(1, true)
			require.NoError(t, c.boot(1), r)
			c.elect()
			require.Equal(t, "ok i1:g1:0 fresh", c.first(), r)
			require.False(t, c.do(&op.Request{Kind: op.GetBookmark}).Found, r)
		}
		t.Logf("%s: %d calls", action, nth-1)
		require.Greater(t, nth, map[string]int{"fail-before": 14, "fail-after": 14}[action])
	}
}

// A failed sync of a directory, whichever and whatever came of the names, stops the
// replica: it is not tried again and believed. When the machine is back all that was
// acknowledged is there, and nothing that was purged.
func TestFailedSyncOfADirectoryStops(t *testing.T) {
	for _, action := range []string{"fail-before", "fail-after", "names-forget"} {
		seen := map[string]bool{}
		for nth := 1; ; nth++ {
			c := newCluster(t, 1, 0)
			c.cfg.CheckpointOps, c.cfg.JournalBytes, c.cfg.SegmentBytes = 4, 512, 64
			c.elect()
			r, err := faultfs.Parse(action + " op=syncdir")
			require.NoError(t, err)
			set := c.breaks(1)
			r.Nth = nth
			set.Add(r)
			var label string
			set.Hit = func(e *faultfs.Error) { label = string(e.Label) }
			acked, gen := []string{}, 0
			for i := 0; i < 12 && c.replicas[0] != nil; i++ {
				if i == 6 {
					token := c.ask(&op.Request{Kind: op.Purge, Intent: 1})
					if c.settle(); c.replicas[0] != nil {
						require.Equal(t, op.OK, c.answers[token].Code)
						acked, gen = nil, 1
					}
					continue
				}
				payload := fmt.Sprint(i)
				token := c.ask(&op.Request{Kind: op.Append, Payloads: []op.Payload{op.Payload(payload)}})
				if c.settle(); c.answers[token].Code == op.OK && c.replicas[0] != nil {
					acked = append(acked, payload)
				}
			}
			for range 30 * retryTicks { // what is left to do behind
				if c.replicas[0] != nil {
					c.tick()
				}
			}
			if set.Hits() == 0 {
				require.Nil(t, c.stopped[1])
				break
			}
			seen[label] = true
			var disk *DiskError
			require.ErrorAs(t, c.stopped[1], &disk, r)
			c.crash(1, true)
			require.NoError(t, c.boot(1), r)
			c.elect()
			c.settle()
			got, purged := c.first(), fmt.Sprintf("ok i1:g%d:0 ", gen)
			if gen == 0 && strings.HasPrefix(got, "ok i1:g1:0") { // nobody was told
				acked, purged = nil, "ok i1:g1:0"
			}
			require.True(t, strings.HasPrefix(got, purged+strings.Join(acked, " ")), "%s: %q, acknowledged %q in g%d", r, got, acked, gen)
		}
		t.Log(action, slices.Sorted(maps.Keys(seen)))
		for _, label := range []string{"checkpoint.names", "checkpoint.record.dirsync", "journal.roll.dirsync", "purge.begin.dirsync", "purge.switch.dirsync", "purge.complete.dirsync"} {
			require.True(t, seen[label], "%s: %s", action, label)
		}
	}
}

// A checkpoint that fails is taken again, and ops are applied meanwhile.
func TestFailedCheckpointIsTakenAgain(t *testing.T) {
	for _, rule := range []string{
		"fail-before op=create label=checkpoint. times=3", "fail-after op=rename label=checkpoint. times=2",
		"sync-forget label=checkpoint. times=3", "no-space label=checkpoint. times=3",
	} {
		c := newCluster(t, 1, 0)
		c.cfg.CheckpointOps = 5
		c.elect()
		set := c.breaks(1, rule)
		for _, s := range []string{"a", "b", "c", "d", "e", "f"} {
			c.append(s)
		}
		require.Positive(t, set.Hits(), rule)
		require.Equal(t, op.Number(0), checkpointed(c), rule)
		for range 10 * retryTicks {
			c.tick()
		}
		require.Empty(t, c.stopped, rule)
		require.NotEqual(t, op.Number(0), checkpointed(c), rule)
		c.faults[0] = nil
		c.crash(1, true)
		require.NoError(t, c.boot(1), rule)
		c.elect()
		require.Equal(t, "ok i1:g0:0 a b c d e f", c.first(), rule)
	}
}

// checkpointed is what replica 1 had applied when its last checkpoint ended.
func checkpointed(c *cluster) (n op.Number) {
	for _, e := range c.events {
		if e.Action == "Checkpoint" {
			n = e.Applied
		}
	}
	return n
}

// A failed write of an op, whose session must not take the second try for a
// repeat of the first.
func TestFailedWriteOfAnOpIsTakenAgain(t *testing.T) {
	for _, rule := range []string{"no-space label=segment times=2", "short-write label=segment bytes=50", "fail-after op=create label=segment", "fail-before label=bookmark times=2", "short-write label=bookmark bytes=50"} {
		c := newCluster(t, 1, 0)
		c.elect()
		c.breaks(1, rule)
		s := c.do(&op.Request{Kind: op.Register}).Session
		a := c.ask(&op.Request{Kind: op.Append, Payloads: []op.Payload{"a"}, Session: s, Sequence: 1})
		require.Equal(t, "ok i1:g0:0", show(c.wait(a, 100)), rule)
		b := c.ask(&op.Request{Kind: op.StoreBookmark, At: op.Position{Incarnation: 1}, Session: s, Sequence: 2})
		require.Equal(t, op.OK, c.wait(b, 100).Code, rule)
		require.Equal(t, 1, min(1, c.faults[0].Hits()), rule)
		require.Equal(t, "ok i1:g0:0 a", c.first(), rule)
		c.faults[0] = nil
		c.crash(1, true)
		require.NoError(t, c.boot(1), rule)
		c.elect()
		require.Equal(t, "ok i1:g0:0 a", c.first(), rule)
		require.True(t, c.do(&op.Request{Kind: op.GetBookmark}).Found, rule)
	}
}

// What leaves open what is durable stops the replica. After a restart of the
// machine all that was acknowledged is there.
func TestFailedSyncStopsTheReplica(t *testing.T) {
	for _, rule := range []string{
		"sync-forget label=journal", "sync-evict label=journal", "fail-before label=journal op=write", "no-space label=journal",
		"fail-after label=journal op=sync", "sync-forget label=segment", "sync-evict label=bookmark", "fail-before op=sync label=segment",
	} {
		c := newCluster(t, 1, 0)
		c.cfg.CheckpointOps = 5
		c.elect()
		c.append("a")
		require.Equal(t, op.OK, c.do(&op.Request{Kind: op.StoreBookmark, At: op.Position{Incarnation: 1}}).Code)
		s := c.breaks(1)
		r, err := faultfs.Parse(rule)
		require.NoError(t, err)
		s.Add(r)
		for range 6 {
			if c.replicas[0] != nil {
				c.ask(&op.Request{Kind: op.GetBookmark})
				c.ask(&op.Request{Kind: op.StoreBookmark, At: op.Position{Incarnation: 1}})
				c.settle()
			}
		}
		require.Nil(t, c.replicas[0], rule)
		var disk *DiskError
		require.ErrorAs(t, c.stopped[1], &disk, rule)
		require.ErrorIs(t, c.stopped[1], faultfs.ErrInjected, rule)
		c.crash(1, true)
		require.NoError(t, c.boot(1), rule)
		c.elect()
		require.Equal(t, "ok i1:g0:0 a", c.first(), rule)
		require.True(t, c.do(&op.Request{Kind: op.GetBookmark}).Found, rule)
	}
}

// Why the machine and not the process must be restarted after a failed sync: what
// a cache still shows is read, acknowledged, and gone after a power loss.
func TestRestartOfTheProcessAfterAFailedSyncLies(t *testing.T) {
	for _, machine := range []bool{true, false} {
		c := newCluster(t, 1, 0)
		c.elect()
		c.append("a")
		s := c.breaks(1)
		r, err := faultfs.Parse("sync-forget label=journal")
		require.NoError(t, err)
		s.Add(r)
		c.ask(&op.Request{Kind: op.Append, Payloads: []op.Payload{"b"}})
		c.settle()
		require.Error(t, c.stopped[1])
		c.crash(1, machine)
		require.NoError(t, c.boot(1))
		c.elect()
		seen := c.first()
		c.crash(1, true)
		err = c.boot(1)
		if machine {
			require.NoError(t, err)
			c.elect()
			require.Equal(t, seen, c.first())
			continue
		}
		require.Equal(t, "ok i1:g0:0 a b", seen)
		require.ErrorIs(t, err, corrupt.ErrCorrupt, "what was read is lost, and the journal knows")
	}
}

// A leader whose purge fails for ever lets another one lead, which finishes it;
// the first one follows, and catches up once its disk works.
func TestStuckLeaderLetsAnotherLead(t *testing.T) {
	c := newCluster(t, 3, 0)
	c.elect()
	c.append("old")
	bad := c.leader()
	set := faultfs.NewSet()
	c.faults[bad-1] = set
	c.crash(bad, false)
	require.NoError(t, c.boot(bad))
	for c.leader() != bad {
		if c.leader() != 0 {
			c.crash(c.leader(), false)
		}
		c.elect()
		for id := range c.replicas {
			if c.replicas[id] == nil {
				require.NoError(t, c.boot(id+1))
			}
		}
		c.settle()
	}
	r, err := faultfs.Parse("fail-before op=rename label=purge.begin times=0")
	require.NoError(t, err)
	set.Add(r)
	purge := c.ask(&op.Request{Kind: op.Purge, Intent: 1})
	n := 0
	for ; c.leader() == bad || c.leader() == 0; n++ {
		require.Less(t, n, (stuckTimeouts+8)*c.cfg.ElectionTicks)
		c.tick()
		if c.replicas[bad-1].stuck() && c.replicas[bad-1].leading {
			token := c.token + 1
			c.token = token
			c.step(bad, Input{Request: &Request{Token: token, Op: &op.Request{Kind: op.Append, Payloads: []op.Payload{"x"}}}})
			require.Equal(t, op.NotReady, c.answers[token].Code)
		}
	}
	require.Greater(t, n, stuckTimeouts*c.cfg.ElectionTicks)
	require.NotContains(t, c.answers, purge)
	require.Equal(t, "ok i1:g1:0", show(c.purge(1)))
	require.Equal(t, "ok i1:g1:0", show(c.append("fresh")))
	for range 10 * c.cfg.ElectionTicks {
		c.tick()
	}
	require.NotEqual(t, bad, c.leader())
	require.Equal(t, op.Generation(0), c.replicas[bad-1].View().Facts.Generation)
	set.Clear()
	for range 2 * retryTicks {
		c.tick()
	}
	f := c.replicas[bad-1].View().Facts
	require.Equal(t, op.Generation(1), f.Generation)
	require.Equal(t, op.Offset(1), f.End)
	require.False(t, c.replicas[bad-1].stuck())
}

// A read that fails changes nothing: the client may ask again. One that finds
// damage stops the replica for good.
func TestFailedReads(t *testing.T) {
	c := newCluster(t, 1, 0)
	c.elect()
	c.append("a")
	set := c.breaks(1)
	add := func(rule string) {
		r, err := faultfs.Parse(rule)
		require.NoError(t, err)
		set.Add(r)
	}
	add("fail-before op=read path=seg-*")
	poll := &op.Request{Kind: op.Poll, Strategy: op.First, Max: 1}
	require.Equal(t, op.Transient, c.do(poll).Code)
	require.Equal(t, "ok i1:g0:0 a", show(c.do(poll)))
	set.Clear()
	add("bit-flip op=read path=seg-* at=50")
	token := c.ask(poll)
	c.settle()
	require.NotContains(t, c.answers, token)
	require.ErrorIs(t, c.stopped[1], corrupt.ErrCorrupt)
	var disk *DiskError
	require.NotErrorAs(t, c.stopped[1], &disk)
}
