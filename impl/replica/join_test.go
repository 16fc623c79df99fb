package replica

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/corrupt"
	"purgelab/impl/record"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
	"purgelab/model/op"
)

var allReplicated = Policy{Messages: Replicated, Bookmarks: Replicated}

// until ticks until a condition holds.
func (c *cluster) reach(what string, ok func() bool) {
	for range 3000 {
		if c.settle(); ok() {
			return
		}
		c.now += 10
		for id := range c.replicas {
			c.step(id+1, Input{Tick: true})
		}
	}
	c.t.Fatalf("not reached: %s", what)
}

// rejoined: nobody joins any more, and every replica has everything.
func (c *cluster) rejoined() bool {
	lead := c.leader()
	if lead == 0 {
		return false
	}
	want := c.replicas[lead-1].View()
	for _, r := range c.replicas {
		if v := r.View(); v.Joining || v.Facts.Applied != want.Last || v.Last != want.Last {
			return false
		}
	}
	return true
}

func voters(r *Replica) []int {
	var out []int
	for _, id := range r.node.Members().Voters {
		out = append(out, machineOf(id))
	}
	return out
}

// A member that lost power under a policy that does not sync all comes back as
// another one, gets everything, and the one before is a member no more. It may
// happen to each of them in turn, and to one again before it is a voter.
func TestPowerLossRejoins(t *testing.T) {
	for _, p := range policies[1:] {
		c := newClusterOf(t, 3, func(cfg *Config) { cfg.Policy, cfg.CheckpointOps = p, 8 })
		c.elect()
		var want []string
		for turn := range 6 {
			for _, s := range []string{"a", "b", "c"} {
				want = append(want, s)
				c.append(s)
			}
			id := turn%3 + 1
			before := c.replicas[id-1].View().Member
			c.crash(id, true)
			if turn > 3 {
				require.NoError(t, c.boot(id))
				c.crash(id, true)
			}
			require.NoError(t, c.boot(id))
			r := c.replicas[id-1]
			require.True(t, r.View().Joining)
			require.ErrorContains(t, r.Report().Suspect, "suspect:")
			require.NotEqual(t, before, r.View().Member)
			require.Equal(t, id, machineOf(r.View().Member))
			c.reach("rejoined", c.rejoined)
			for _, r := range c.replicas {
				now := r.node.Members()
				require.ElementsMatch(t, []int{1, 2, 3}, voters(r))
				require.Empty(t, now.Learners)
				require.False(t, now.Has(before))
			}
			require.Equal(t, "ok i1:g0:0 "+strings.Join(want, " "), c.first())
		}
		require.NotZero(t, c.replicas[0].members.Gone, "checkpoints keep the membership")
		for id := 1; id <= 3; id++ { // and a crash of the process takes nothing
			before := c.replicas[id-1].View().Member
			c.crash(id, false)
			require.NoError(t, c.boot(id))
			require.Equal(t, before, c.replicas[id-1].View().Member)
		}
		c.reach("up to date", c.rejoined)
		require.Equal(t, "ok i1:g0:0 "+strings.Join(want, " "), c.first())
	}
}

// A crash of either kind at every disk call of a rejoin.
func TestCrashAtEveryCallOfARejoin(t *testing.T) {
	for _, power := range []bool{false, true} {
		for nth := 1; ; nth++ {
			c := newClusterOf(t, 3, func(cfg *Config) { cfg.Policy, cfg.CheckpointOps = allReplicated, 4 })
			c.elect()
			c.append("a", "b")
			c.purge(2)
			c.append("c")
			id := c.leader()%3 + 1
			c.crash(id, true)
			left, label, hit := nth, "", false
			c.disks[id-1].Arm(func(l vfs.Label, _ string) crashfs.Action {
				if left--; left == 0 {
					label, hit = string(l), true
					return crashfs.CrashBefore
				}
				return crashfs.Continue
			})
			if err := c.boot(id); err == nil {
				c.reach("rejoined or down", func() bool { return c.replicas[id-1] == nil || c.rejoined() })
			}
			c.disks[id-1].Arm(nil)
			if hit {
				c.crash(id, power)
				require.NoError(t, c.boot(id), label)
			}
			c.reach("rejoined", c.rejoined)
			require.Equal(t, "ok i1:g2:0 c", c.first(), label)
			if !hit {
				require.Greater(t, nth, 10)
				break
			}
		}
	}
}

// Whoever was stopped before the power went is not suspect.
func TestCleanStop(t *testing.T) {
	c := newClusterOf(t, 1, func(cfg *Config) { cfg.Policy = allReplicated })
	c.elect()
	c.append("a")
	require.NoError(t, c.replicas[0].Stop())
	c.crash(1, true)
	require.NoError(t, c.boot(1))
	require.False(t, c.replicas[0].View().Joining)
	c.elect()
	require.Equal(t, "ok i1:g0:0 a", c.first())
}

// A disk that is damaged, or gone, makes its member suspect under any policy; that
// of another replica is refused.
func TestDisks(t *testing.T) {
	for name, spoil := range map[string]func(c *cluster, fs vfs.FS){
		"gone": func(c *cluster, fs vfs.FS) {
			c.disks[0] = crashfs.New()
			require.NoError(c.t, c.disks[0].FS().Mkdir("test", "p0"))
		},
		"damaged journal": func(c *cluster, fs vfs.FS) {
			require.NoError(c.t, c.disks[0].Rot("p0/journal/00000001.log", 90, 1))
		},
		"no journal": func(c *cluster, fs vfs.FS) {
			require.NoError(c.t, fs.Remove("test", "p0/journal/00000001.log"))
		},
	} {
		c := newCluster(t, 3, 0)
		c.elect()
		c.append("a", "b")
		c.purge(1)
		c.append("c")
		c.crash(1, true)
		spoil(c, c.disks[0].FS())
		require.NoError(t, c.boot(1), name)
		require.True(t, c.replicas[0].View().Joining, name)
		require.Equal(t, Evidence{}, c.replicas[0].Standing().Evidence, name)
		c.reach("rejoined", c.rejoined)
		require.Equal(t, "ok i1:g1:0 c", c.first(), name)
	}
	c := newCluster(t, 3, 0)
	c.elect()
	c.append("a")
	c.disks[0], c.disks[1] = c.disks[1], c.disks[0]
	var foreign *record.ForeignError
	err := c.boot(1)
	require.ErrorAs(t, err, &foreign)
	require.NotErrorIs(t, err, corrupt.ErrCorrupt)
	require.Contains(t, err.Error(), "want 1/p0/r1/i1, got 1/p0/r2/i1")
	c.cfg.Partition = 7
	require.ErrorAs(t, c.boot(2), &foreign)
}

func TestEvidence(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	draw := func() Evidence {
		return Evidence{Intact: r.IntN(2) == 0, Term: uint64(r.IntN(3)), Last: op.Number(r.IntN(3))}
	}
	for range 200 {
		a, b := draw(), draw()
		require.False(t, a.Above(b) && b.Above(a))
	}
	intact := Evidence{Intact: true, Term: 1, Last: 1}
	require.True(t, intact.Above(Evidence{Term: 9, Last: 9}))
	require.True(t, Evidence{Intact: true, Term: 2, Last: 5}.Above(Evidence{Intact: true, Term: 1, Last: 9}))
}

// A Join of a member that its machine gave up comes late, and takes the place of the one
// that it is now, while that is no voter yet. Who was removed is never taken in again,
// since nobody would listen to it: its machine becomes yet another member.
func TestLateJoin(t *testing.T) {
	for _, stale := range []bool{false, true} {
		c := newClusterOf(t, 3, func(cfg *Config) { cfg.Policy = allReplicated })
		c.elect()
		c.append("a")
		lead := c.leader()
		id := lead%3 + 1
		again := func() uint64 {
			c.crash(id, true)
			require.NoError(t, c.boot(id))
			return c.replicas[id-1].cfg.member.ID
		}
		leader := func() *Replica { return c.replicas[lead-1] }
		first := again()
		second := again()
		c.reach("a learner", func() bool { return slices.Contains(leader().node.Members().Learners, second) })
		require.NotContains(t, leader().node.Members().Voters, second)
		c.step(lead, Input{Message: &Message{From: id, To: lead, Incarnation: c.replicas[id-1].cfg.Incarnation, Join: first}})
		c.settle()
		require.Contains(t, leader().node.Members().Gone, second)
		if stale { // an older one that comes back means nothing
			c.step(id, Input{Message: &Message{From: lead, To: id, Incarnation: c.replicas[id-1].cfg.Incarnation, Join: first}})
			require.Equal(t, second, c.replicas[id-1].cfg.member.ID)
		}
		c.reach("joined again", c.rejoined)
		now := leader().node.Members()
		require.Len(t, now.Voters, 3)
		for _, v := range now.Voters {
			require.NotContains(t, now.Gone, v)
		}
		third := c.replicas[id-1]
		require.NotContains(t, []uint64{first, second}, third.cfg.member.ID)
		var removed *RemovedError
		require.ErrorAs(t, third.Report().Suspect, &removed)
		require.Equal(t, second, removed.Member)
		require.Equal(t, op.OK, c.append("b").Code)
	}
}

// A member that was down while another one rejoined gets the change of membership
// together with the commit that covers it. After a crash of the process it knows
// the members by itself.
func TestMissedChangeIsNotForgotten(t *testing.T) {
	c := newClusterOf(t, 5, func(cfg *Config) { cfg.Policy = allReplicated })
	c.elect()
	c.append("a")
	down, lost := c.leader()%5+1, (c.leader()+1)%5+1
	c.crash(down, false)
	c.crash(lost, true)
	require.NoError(t, c.boot(lost))
	c.reach("rejoined", func() bool { return !c.replicas[lost-1].View().Joining })
	require.NoError(t, c.boot(down))
	c.reach("caught up", c.rejoined)
	want := c.replicas[down-1].node.Members()
	require.NotEmpty(t, want.Gone)

	c.crash(down, false)
	require.NoError(t, c.boot(down))
	for c.replicas[down-1].hasWork() {
		c.step(down, Input{Work: true})
	}
	require.Equal(t, want, c.replicas[down-1].node.Members())
}
