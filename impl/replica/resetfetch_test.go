package replica

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/defect"
	"purgelab/model/op"
)

// newMoving is three replicas of the design reset-record that need transfers.
func newMoving(t *testing.T, p Policy, d defect.Set) *cluster {
	c := newClusterOf(t, 3, func(cfg *Config) { moving(cfg); cfg.Design, cfg.Policy, cfg.Defects = ResetRecord, p, d })
	c.elect()
	return c
}

// learn hands an intent to the replicas that are up.
func (c *cluster) learn(g op.Generation) {
	for id := range c.replicas {
		c.step(id+1, Input{Intents: []Intent{{Generation: g}}})
	}
	c.settle()
}

// alike demands that all replicas show the same but for the floor, which is each one's
// own.
func (c *cluster) alike() {
	c.t.Helper()
	var want string
	for id, r := range c.replicas {
		f := r.eng.Facts()
		records, err := r.eng.Read(f.Start, 1<<20)
		require.NoError(c.t, err)
		got := fmt.Sprint(f.Generation, f.Start, f.End, f.LastTimestamp, f.Settled, records, r.eng.Bookmarks(), string(r.sessions.encode()))
		if id == 0 {
			want = got
		}
		require.Equal(c.t, want, got, "replica %d", id+1)
	}
}

// A follower of the design reset-record that missed a purge, too, gets a checkpoint,
// with the two records of the purge; it does not purge again when it learns of it.
func TestResetRecordCatchesUpByTransfer(t *testing.T) {
	for _, p := range []Policy{{}, {Messages: Replicated, Bookmarks: Replicated}} {
		c := newMoving(t, p, 0)
		c.history(5, 0)
		id := c.leader()%3 + 1
		c.crash(id, false)
		c.history(20, 0)
		c.learn(7)
		c.history(30, 0)
		require.NoError(t, c.boot(id))
		c.reach("everything is everywhere", c.whole)
		require.Equal(t, 1, c.count(id, "CommitInstall", ""))
		c.alike()
		c.learn(7)
		c.history(5, 0)
		c.alike()
		require.Zero(t, c.count(id, "ResetRecord", ""))
		for _, g := range []op.Generation{8, 9} {
			c.learn(g)
			c.history(2, 0)
			c.crash(id, false)
			require.NoError(t, c.boot(id))
			c.reach("everything is everywhere", c.whole)
			c.alike()
		}
	}
}

// newResetBehind is a group of which a replica comes back that needs a state of the others.
func newResetBehind(t *testing.T) (c *cluster, id int) {
	c = newMoving(t, Policy{}, 0)
	c.history(5, 0)
	id = c.leader()%3 + 1
	c.crash(id, false)
	c.history(30, 0)
	require.NoError(t, c.boot(id))
	return c, id
}

// A replica that has purged already takes no state of the generation before; when the
// others have purged, too, it gets theirs.
func TestResetRecordTakesNoOlderGeneration(t *testing.T) {
	c, id := newResetBehind(t)
	c.step(id, Input{Intents: []Intent{{Generation: 4}}})
	for c.step(id, Input{Work: true}) {
	}
	require.EqualValues(t, 4, c.replicas[id-1].eng.Facts().Settled)
	for range 60 {
		c.now += 10
		for k := range c.replicas {
			c.step(k+1, Input{Tick: true})
		}
		c.settle()
	}
	require.Zero(t, c.count(id, "CommitInstall", ""))
	require.Positive(t, c.count(id, "RefuseTransfer", "rewinds"))
	c.learn(4)
	c.history(10, 0)
	c.reach("everything is everywhere", c.whole)
	require.Equal(t, 1, c.count(id, "CommitInstall", ""))
	c.alike()
}

// A floor that a replica took of its own ops, which were never committed, does not
// outlive the install of a state that is made of others: it would hide fresh ones.
func TestResetRecordDropsItsFloorWithAnInstall(t *testing.T) {
	for _, d := range []defect.Set{0, defect.BoundaryNotRebased} {
		c := newMoving(t, Policy{}, d)
		c.history(5, 0)
		id := c.leader()
		for range 60 { // nobody hears of them
			c.ask(&op.Request{Kind: op.Append, Payloads: []op.Payload{"never committed"}})
			for c.step(id, Input{Work: true}) {
			}
			c.inbox = nil
		}
		c.step(id, Input{Intents: []Intent{{Generation: 4}}})
		for c.step(id, Input{Work: true}) {
		}
		c.inbox = nil
		floor := c.replicas[id-1].eng.Facts().Boundary
		require.Greater(t, floor, op.Number(60))
		c.crash(id, false)
		c.elect()
		c.learn(4)
		c.history(15, 0)
		require.NoError(t, c.boot(id))
		c.reach("everything is everywhere", c.whole)
		require.Equal(t, 1, c.count(id, "CommitInstall", ""))
		require.Less(t, c.replicas[id-1].applied, floor)
		c.history(30, 0)
		c.reach("everything is everywhere", c.whole)
		ends := map[op.Offset]bool{}
		for _, r := range c.replicas {
			ends[r.eng.Facts().End] = true
		}
		require.Equal(t, d == 0, len(ends) == 1, "%v", ends)
	}
}

// When a group that need not sync has lost all power, op numbers begin anew in the
// home that a transfer made, and with them a floor.
func TestResetRecordBeginsAnewAfterATransfer(t *testing.T) {
	c := newMoving(t, Policy{Messages: Replicated, Bookmarks: Replicated}, 0)
	c.history(5, 0)
	id := c.leader()%3 + 1
	c.crash(id, false)
	c.history(20, 0)
	c.learn(7)
	c.history(30, 0)
	require.NoError(t, c.boot(id))
	c.reach("everything is everywhere", c.whole)
	require.Equal(t, 1, c.count(id, "CommitInstall", ""))
	c.loseAll()
	for k := range c.replicas {
		require.NoError(t, c.boot(k+1))
	}
	c.elect()
	require.Equal(t, "ok i1:g7:0", c.first())
	c.history(12, 0)
	c.reach("everything is everywhere", c.whole)
	c.alike()
	for _, r := range c.replicas {
		require.Zero(t, r.eng.Facts().Boundary)
		require.EqualValues(t, 24, r.eng.Facts().End)
	}
	cfg := c.cfg
	cfg.ID, cfg.FS = id, c.disks[id-1].FS()
	g, err := PurgedTo(&cfg)
	require.NoError(t, err)
	require.EqualValues(t, 7, g)
}

// A crash of either kind at calls of a replica of reset-record that catches up by a
// transfer, and learns of a purge while it does: it has the old state or the new one,
// with the records of the purge that belong to it.
func TestResetRecordCrashesInATransfer(t *testing.T) {
	cases, installed := 0, 0
	for _, power := range []bool{false, true} {
		for nth := 1; ; nth += 3 {
			c := newMoving(t, Policy{}, 0)
			c.history(4, 0)
			c.learn(2)
			id := c.leader()%3 + 1
			c.crash(id, false)
			c.history(25, 0)
			hit := c.crashesAt(id, nth)
			if err := c.boot(id); err == nil {
				c.pulls()
				c.learn(9)
				c.history(4, 0)
				c.reach("there or down", func() bool { return c.replicas[id-1] == nil || c.whole() && !c.replicas[id-1].homes })
			}
			c.disks[id-1].Arm(nil)
			installed += c.count(id, "CommitInstall", "")
			if *hit == "" {
				break
			}
			cases++
			c.crash(id, power)
			require.NoError(t, c.boot(id), *hit)
			c.learn(9)
			c.history(3, 0)
			c.reach("everything is everywhere after "+string(*hit), c.whole)
			c.reach("purged after "+string(*hit), func() bool {
				f := c.replicas[id-1].eng.Facts()
				return f.Settled == 9 && f.Applied == c.replicas[c.leader()-1].applied
			})
			require.False(t, c.replicas[id-1].cleaning(), *hit)
			c.reach("reclaimed", func() bool { return !c.replicas[id-1].homes })
		}
	}
	t.Logf("%d cases, %d installs", cases, installed)
	require.Greater(t, cases, 60)
	require.Positive(t, installed)
}

// What is left of a pull goes when the replica has purged more, though it has not come to
// the op of that: after a boot, and when it boots.
func TestResetRecordForgetsAnOlderGenerationStaged(t *testing.T) {
	for _, boots := range []bool{false, true} {
		c, id := newResetBehind(t)
		c.reach("a pull", func() bool { f := c.replicas[id-1].fetch; return f != nil && f.pull != nil })
		c.crash(id, false)
		require.NoError(t, c.boot(id))
		c.inbox = nil
		r := c.replicas[id-1]
		staged := r.staged
		require.Equal(t, "h1", staged.name)
		c.step(id, Input{Intents: []Intent{{Generation: 4}}})
		for c.step(id, Input{Work: true, Job: PurgeOn}); r.purge != nil; {
			c.step(id, Input{Work: true, Job: PurgeOn})
		}
		require.Less(t, r.committed, staged.op)
		require.Equal(t, "h1", r.staged.name)
		if boots {
			c.crash(id, false)
			require.NoError(t, c.boot(id))
			r = c.replicas[id-1]
		} else {
			c.step(id, Input{Tick: true})
		}
		require.Empty(t, r.staged)
		for r.homes {
			c.step(id, Input{Work: true, Job: Clear})
		}
		names, err := c.disks[id-1].FS().List("p0")
		require.NoError(t, err)
		require.NotContains(t, names, "h1/")
	}
}
