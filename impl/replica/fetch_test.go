package replica

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/observe"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
	"purgelab/model/op"
)

// moving is a configuration of which whoever is down for a while needs a transfer, in
// several chunks.
func moving(cfg *Config) {
	compacting(cfg)
	cfg.Compact.Keep, cfg.SegmentBytes = 0, 400
	cfg.Transfer = TransferOptions{ChunkBytes: 120, Window: 2, Budget: 600}
}

// count is how often an action was seen on a machine, of a kind if that is not empty.
func (c *cluster) count(id int, a observe.Action, kind string) (n int) {
	for _, e := range c.events {
		if e.Replica == id && e.Action == a && (kind == "" || e.Kind == kind) {
			n++
		}
	}
	return n
}

// whole: every replica is up, a voter, and has everything.
func (c *cluster) whole() bool {
	for _, r := range c.replicas {
		if r == nil {
			return false
		}
	}
	return c.rejoined()
}

// same demands that all replicas show the same.
func (c *cluster) same() {
	var want string
	for id, r := range c.replicas {
		f := r.eng.Facts()
		records, err := r.eng.Read(f.Start, 1<<20)
		require.NoError(c.t, err)
		got := fmt.Sprint(f.Generation, f.Boundary, f.Start, f.End, f.LastTimestamp, f.Settled, records, r.eng.Bookmarks(), string(r.sessions.encode()), r.members)
		if id == 0 {
			want = got
		}
		require.Equal(c.t, want, got, "replica %d", id+1)
	}
}

// history makes n more messages, with a bookmark, and a purge before the last few.
func (c *cluster) history(n int, purge op.Generation) {
	for k := range n {
		if purge > 0 && k == n-4 {
			c.purge(purge)
		}
		c.append(fmt.Sprintf("%d of %d", k, n), "and another one")
		if k%3 == 0 {
			at := op.Position{Incarnation: 1, Generation: c.replicas[c.leader()-1].eng.Facts().Generation}
			require.Equal(c.t, op.OK, c.do(&op.Request{Kind: op.StoreBookmark, Key: op.Key{Kind: op.Group, ID: uint32(k % 2)}, At: at}).Code)
		}
	}
}

// A follower that was down while the others dropped what it needs gets a checkpoint
// instead, and goes on from there: the same messages, bookmarks, sessions, members.
func TestCatchesUpByTransfer(t *testing.T) {
	for _, design := range []Design{Ordered, Advance} {
		for _, purge := range []op.Generation{0, 7} {
			c := newClusterOf(t, 3, func(cfg *Config) { cfg.Design = design; moving(cfg) })
			c.elect()
			s := c.do(&op.Request{Kind: op.Register}).Session
			c.history(5, 0)
			id := c.leader()%3 + 1
			promised := c.replicas[id-1].jr.State()
			c.crash(id, false)
			if design == Advance {
				purge = min(purge, 0)
				c.purge(0)
			}
			c.history(40, purge)
			repeat := &op.Request{Kind: op.Append, Session: s, Sequence: 1, Payloads: []op.Payload{"once"}}
			first := c.do(repeat)
			c.history(10, 0)
			require.NoError(t, c.boot(id))
			c.reach("everything is everywhere", c.whole)
			require.Equal(t, 1, c.count(id, "CommitInstall", ""), design)
			now := c.replicas[id-1].jr.State()
			require.NotZero(t, now.Vote)
			require.Equal(t, []uint64{promised.Term, promised.Vote}, []uint64{now.Term, now.Vote}, "it votes once in a term")
			require.Greater(t, c.replicas[id-1].jr.First(), op.Number(30))
			c.same()
			// It can lead, and knows what a session was answered.
			for c.leader() != id {
				was := c.leader()
				c.crash(was, false)
				c.elect()
				require.NoError(t, c.boot(was))
				c.reach("everything is everywhere", c.whole)
			}
			require.Equal(t, first, c.do(repeat))
			c.history(3, 0)
			c.reach("everything is everywhere", c.whole)
			c.same()
			// Nothing of the old home is left, nor does the leader hold anything.
			c.reach("reclaimed", func() bool { return c.count(id, "ReclaimOld", "") > 0 })
			names, err := c.disks[id-1].FS().List("p0")
			require.NoError(t, err)
			require.Equal(t, []string{"h1/", "member"}, names)
			c.crash(id, true)
			require.NoError(t, c.boot(id))
			c.reach("everything is everywhere", c.whole)
			c.same()
		}
	}
}

// A leader may need whom it offers its state to, to commit anything in its term.
func TestLeaderNeedsWhoFetches(t *testing.T) {
	c := newClusterOf(t, 3, moving)
	c.elect()
	c.history(5, 0)
	lead := c.leader()
	behind, other := lead%3+1, (lead+1)%3+1
	c.crash(behind, false)
	c.history(30, 3)
	c.crash(lead, false)
	c.crash(other, false)
	require.NoError(t, c.boot(behind))
	require.NoError(t, c.boot(other))
	c.reach("a leader", func() bool { return c.leader() != 0 })
	c.history(3, 0)
	require.Equal(t, 1, c.count(behind, "CommitInstall", ""))
}

// An empty disk, and a member that lost its memory, get a checkpoint: the log that
// would bring them up to date is not there any more.
func TestRejoinsByTransfer(t *testing.T) {
	for _, p := range policies {
		c := newClusterOf(t, 3, func(cfg *Config) { cfg.Policy = p; moving(cfg) })
		c.elect()
		for turn := range 4 {
			c.history(20, op.Generation(turn))
			id := turn%3 + 1
			c.crash(id, true)
			if p == (Policy{}) || turn == 3 {
				c.disks[id-1] = crashfs.New()
				require.NoError(t, c.disks[id-1].FS().Mkdir("test", "p0"))
			}
			require.NoError(t, c.boot(id))
			require.True(t, c.replicas[id-1].View().Joining)
			before := c.count(id, "CommitInstall", "")
			c.reach("rejoined", c.whole)
			require.Greater(t, c.count(id, "CommitInstall", ""), before)
			c.same()
		}
	}
}

// crashesAt lets the disk of a replica that is down crash at the nth call from now on.
// The label of that call is there once it was made.
func (c *cluster) crashesAt(id, nth int) *vfs.Label {
	hit := new(vfs.Label)
	c.disks[id-1].Arm(func(l vfs.Label, _ string) crashfs.Action {
		if nth--; nth == 0 {
			*hit = l
			return crashfs.CrashBefore
		}
		return crashfs.Continue
	})
	return hit
}

// pulls lets so much time pass that a transfer is under way.
func (c *cluster) pulls() {
	for range 12 {
		c.now += 10
		for k := range c.replicas {
			c.step(k+1, Input{Tick: true})
		}
		c.settle()
	}
}

// A crash of either kind at every disk call of a replica that catches up by a
// transfer, with a purge committed while it does: it has the old state or the new one,
// goes on with what it has got, and nothing is left over.
func TestCrashAtEveryCallOfATransfer(t *testing.T) {
	cases, resumed, installed := 0, 0, 0
	for _, power := range []bool{false, true} {
		for nth := 1; ; nth++ {
			c := newClusterOf(t, 3, moving)
			c.elect()
			c.history(4, 2)
			id := c.leader()%3 + 1
			c.crash(id, false)
			c.history(25, 0)
			hit := c.crashesAt(id, nth)
			if err := c.boot(id); err == nil {
				c.pulls()
				c.purge(9)
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
			c.history(3, 0)
			c.reach("everything is everywhere after "+string(*hit), c.whole)
			c.same()
			resumed += c.count(id, "StageManifest", "resumed")
			c.reach("reclaimed", func() bool { return !c.replicas[id-1].homes })
			names, err := c.disks[id-1].FS().List("p0")
			require.NoError(t, err)
			homes := 0
			for _, n := range names {
				if strings.HasPrefix(n, "h") || n == "journal/" {
					homes++
				}
			}
			require.Equal(t, 1, homes, "%s: %v", *hit, names)
		}
	}
	t.Logf("%d cases, %d installs, %d resumed", cases, installed, resumed)
	require.Positive(t, resumed)
}
