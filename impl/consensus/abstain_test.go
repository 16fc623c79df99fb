package consensus

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/raft/v3/raftpb"
)

// A leader that abstains sends nothing to its followers and
// steps down, though all of them are there; it votes for the next one and never
// campaigns.
func TestAbstain(t *testing.T) {
	g := newGroup(t, 3)
	tick := func() {
		for _, n := range g.nodes {
			n.Tick()
		}
		g.run()
	}
	bad := g.nodes[0]
	bad.Abstain(true)
	for ticks := 0; bad.Status().Role == Leader; ticks++ {
		require.Less(t, ticks, 3*electionTicks)
		for _, n := range g.nodes {
			n.Tick()
		}
		for _, n := range g.nodes[1:] {
			require.Zero(t, n.Status().OwnTermEntry)
		}
		sent := 0
		g.lose = func(m *raftpb.Message) bool {
			if m.GetFrom() == 1 && (m.GetType() == raftpb.MsgHeartbeat || m.GetType() == raftpb.MsgApp) {
				sent++
			}
			return false
		}
		g.run()
		require.Zero(t, sent)
	}
	led := map[int]int{}
	for range 100 * electionTicks {
		tick()
		require.NotEqual(t, Leader, bad.Status().Role)
		require.NotEqual(t, Candidate, bad.Status().Role)
		require.NotEqual(t, PreCandidate, bad.Status().Role)
		for i, n := range g.nodes {
			if n.Status().Role == Leader {
				led[i]++
			}
		}
	}
	require.Greater(t, led[1]+led[2], 90*electionTicks)

	// Without the two others' leader it gives its vote to the one that is left.
	dead := 1
	if g.nodes[2].Status().Role == Leader {
		dead = 2
	}
	g.lose = func(m *raftpb.Message) bool {
		return m.GetFrom() == uint64(dead+1) || m.GetTo() == uint64(dead+1)
	}
	for range 10 * electionTicks {
		tick()
	}
	require.Equal(t, Leader, g.nodes[3-dead].Status().Role)
	require.NotEqual(t, Leader, bad.Status().Role)

	// A group of one has nobody else.
	log := &memLog{}
	one := start(t, config(1, 1, log))
	one.Abstain(true)
	for range 3 * electionTicks {
		one.Tick()
		for _, some := carryOut(one, log); some; _, some = carryOut(one, log) {
		}
	}
	require.Equal(t, Leader, one.Status().Role)
}

// Members that abstain leave a group without a leader until one of them does not.
func TestAbstainingFollowerWaits(t *testing.T) {
	g := newGroup(t, 3)
	g.lose = func(m *raftpb.Message) bool { return m.GetFrom() == 1 || m.GetTo() == 1 }
	for _, n := range g.nodes[1:] {
		n.Abstain(true)
	}
	for range 20 * electionTicks {
		for _, n := range g.nodes {
			n.Tick()
		}
		g.run()
	}
	for _, n := range g.nodes {
		require.NotEqual(t, Leader, n.Status().Role)
	}
	g.nodes[1].Abstain(false)
	for range 3 * electionTicks {
		for _, n := range g.nodes {
			n.Tick()
		}
		g.run()
	}
	require.Equal(t, Leader, g.nodes[1].Status().Role)
}
