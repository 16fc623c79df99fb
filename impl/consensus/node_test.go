package consensus

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/raft/v3/raftpb"

	"purgelab/impl/defect"
	"purgelab/impl/raftlog"
	"purgelab/model/op"
)

func config(id uint64, voters int, log raftlog.Log) Config {
	c := Config{ID: id, Log: log, Rand: rand.New(rand.NewPCG(1, id)), HeartbeatTicks: heartbeatTicks, ElectionTicks: electionTicks}
	for i := range voters {
		c.Members.Voters = append(c.Members.Voters, uint64(i+1))
	}
	return c
}

func start(t *testing.T, c Config) *Node {
	n, err := New(c)
	require.NoError(t, err)
	return n
}

// carryOut carries out one batch, if there is one.
func carryOut(n *Node, log *memLog) (Batch, bool) {
	b, ok := n.Ready()
	if ok {
		log.Append(b.State, b.Entries)
		log.Append(b.After, nil)
		log.Sync()
		n.Advance()
	}
	return b, ok
}

// The moments of campaigns follow from the source of randomness that was handed
// in, and from nothing else: raft's own timer would strike at others.
func TestCampaignsFollowTheSeed(t *testing.T) {
	log := &memLog{}
	n := start(t, config(1, 3, log))
	draws := rand.New(rand.NewPCG(1, 1))
	timeout := func() int { return electionTicks + draws.IntN(electionTicks) }
	next := timeout()
	seen := map[int]bool{}
	for tick := 1; tick < 5000; tick++ {
		n.Tick()
		var asks int
		for b, ok := carryOut(n, log); ok; b, ok = carryOut(n, log) {
			asks += len(b.Early)
		}
		require.Equal(t, tick == next, asks > 0, "tick %d, campaign due at %d", tick, next)
		if tick == next {
			d := timeout()
			seen[d] = true
			next += d
		}
	}
	require.Greater(t, len(seen), electionTicks/2, "timeouts differ")
}

func TestHeartbeats(t *testing.T) {
	g := newGroup(t, 3)
	for tick := 1; tick <= 10*heartbeatTicks; tick++ {
		var beats int
		g.lose = func(m *raftpb.Message) bool {
			if m.GetType() == raftpb.MsgHeartbeat {
				beats++
			}
			return false
		}
		g.nodes[0].Tick()
		g.run()
		require.Equal(t, tick%heartbeatTicks == 0, beats == 2, "tick %d", tick)
		require.False(t, g.nodes[0].HasReady())
	}
	require.NoError(t, g.nodes[0].Propose([]byte("a")))
	require.True(t, g.nodes[0].HasReady())
}

// A new leader may find entries of others in the batch that holds its own.
func TestOwnTermEntryAmongOthers(t *testing.T) {
	n := &Node{role: Leader, term: 3}
	n.noteOwnTerm([]raftlog.Entry{{Op: 7, Term: 2}, {Op: 8, Term: 3}, {Op: 9, Term: 3}})
	require.EqualValues(t, 8, n.ownTerm)
	n.noteOwnTerm([]raftlog.Entry{{Op: 10, Term: 3}})
	require.EqualValues(t, 8, n.ownTerm)
}

// What was just appended is not read back to be committed or sent.
func TestNothingIsReadBackInSteadyFlow(t *testing.T) {
	g := newGroup(t, 3)
	for range 100 {
		require.NoError(t, g.nodes[0].Propose([]byte("a")))
		g.run()
	}
	require.Equal(t, 300, g.applied)
	for _, log := range g.logs {
		require.Zero(t, log.reads)
	}
}

// A leader of a group of one must not answer with the commit index that it saved:
// ops above it were acknowledged before it stopped.
func TestSingleLeaderReadsNothingStale(t *testing.T) {
	log := &memLog{}
	log.Append(&raftlog.State{Term: 2, Vote: 1, Commit: 2}, []raftlog.Entry{
		{Op: 2, Term: 2}, {Op: 3, Term: 2, Data: []byte("a")}, {Op: 4, Term: 2, Data: []byte("acknowledged")},
	})
	log.Sync()
	c := config(1, 1, log)
	c.Applied = 2
	n := start(t, c)
	for n.Status().Role != Leader {
		n.Tick()
		for n.Status().Role != Leader {
			if _, ok := carryOut(n, log); !ok {
				break
			}
		}
	}
	require.Zero(t, n.Status().OwnTermEntry, "its entry was in no batch yet")
	require.NoError(t, n.ReadIndex(7))
	b, ok := carryOut(n, log)
	require.True(t, ok)
	require.Equal(t, []Read{{Ctx: 7, Index: 5}}, b.Reads)
	require.EqualValues(t, 5, n.Status().OwnTermEntry)
	require.EqualValues(t, 2, n.Status().Commit, "and there was a commit index to answer with")
	b, _ = carryOut(n, log)
	require.EqualValues(t, 5, b.Committed[len(b.Committed)-1].Op)
}

func TestWhatWaitsForTheSync(t *testing.T) {
	types := []raftpb.MessageType{raftpb.MsgApp, raftpb.MsgHeartbeat, raftpb.MsgHeartbeatResp, raftpb.MsgVote, raftpb.MsgPreVote,
		raftpb.MsgAppResp, raftpb.MsgVoteResp, raftpb.MsgPreVoteResp, raftpb.MsgApp}
	for _, c := range []struct {
		name    string
		defects defect.Set
		late    []raftpb.MessageType
	}{
		{"sound", 0, []raftpb.MessageType{raftpb.MsgAppResp, raftpb.MsgVoteResp, raftpb.MsgPreVoteResp}},
		{"acknowledge before sync", defect.AckBeforeSync, []raftpb.MessageType{raftpb.MsgVoteResp, raftpb.MsgPreVoteResp}},
		{"vote before sync", defect.VoteBeforeSync, []raftpb.MessageType{raftpb.MsgAppResp}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := &Node{defects: c.defects}
			var ms []*raftpb.Message
			for _, typ := range types {
				ms = append(ms, &raftpb.Message{Type: typ.Enum()})
			}
			early, late := n.split(ms)
			var got []raftpb.MessageType
			for _, m := range late {
				got = append(got, m.GetType())
			}
			require.Equal(t, c.late, got)
			require.Len(t, early, len(types)-len(late))
			require.Equal(t, raftpb.MsgApp, early[len(early)-1].GetType(), "in their order")
		})
	}
}

// What is handed over stays as it was: proposals may come from a buffer that is
// used again, committed entries wait for the caller.
func TestWhoOwnsTheBytes(t *testing.T) {
	g := newGroup(t, 1)
	buffer := []byte("first")
	require.NoError(t, g.nodes[0].Propose(buffer))
	copy(buffer, "xxxxx")
	var committed [][]raftlog.Entry
	for i := range 3 {
		for b, ok := carryOut(g.nodes[0], g.logs[0]); ok; b, ok = carryOut(g.nodes[0], g.logs[0]) {
			committed = append(committed, b.Committed)
		}
		require.NoError(t, g.nodes[0].Propose([]byte{byte('a' + i)}))
	}
	var got []string
	for _, e := range slices.Concat(committed...) {
		got = append(got, string(e.Data))
	}
	require.Equal(t, []string{"first", "a", "b"}, got)
}

func TestRefusedProposalsNeverTakeEffect(t *testing.T) {
	g := newGroup(t, 3)
	leader := g.nodes[0]
	big := make([]byte, 1<<20)
	var err error
	taken := 0
	for ; err == nil && taken < 100; taken++ {
		err = leader.Propose(big) // nothing is delivered, so nothing commits
	}
	require.ErrorIs(t, err, ErrDropped)
	require.Less(t, taken, 10)
	g.run()
	require.Equal(t, 3*(taken-1), g.applied)
	require.NoError(t, leader.Propose(big), "room again")
	require.ErrorIs(t, g.nodes[1].Propose(big), ErrNotLeader)
	require.ErrorIs(t, g.nodes[1].ReadIndex(1), ErrNotLeader)
	require.Panics(t, func() { _ = leader.Propose([]byte("a"), nil) })
}

// A member that missed everything is caught up from the log in bounded pieces,
// and nobody keeps more than the end of the log in memory.
func TestCatchUpInPieces(t *testing.T) {
	const entries, size = 3000, 1000
	g := newGroup(t, 3)
	sent := 0
	g.lose = func(m *raftpb.Message) bool { return m.GetTo() == 3 }
	for range entries {
		require.NoError(t, g.nodes[0].Propose(bytes.Repeat([]byte{'x'}, size)))
		g.run()
	}
	leader := g.nodes[0]
	require.LessOrEqual(t, leader.log.bytes, tailBytes)
	require.LessOrEqual(t, len(leader.log.tail), tailEntries)
	require.LessOrEqual(t, cap(leader.log.tail), 4*tailEntries)

	reads := g.logs[0].reads
	g.lose = func(m *raftpb.Message) bool {
		if bytes := 0; m.GetType() == raftpb.MsgApp {
			for _, e := range m.GetEntries() {
				bytes += len(e.GetData())
			}
			require.LessOrEqual(t, bytes, maxMessageBytes)
			sent += bytes
		}
		return false
	}
	g.applied = 0
	for range 10 * heartbeatTicks {
		leader.Tick()
		g.run()
	}
	require.Equal(t, entries, g.applied)
	require.Equal(t, g.logs[0].entries, g.logs[2].entries)
	require.Less(t, sent, 2*entries*size, "hardly anything is sent twice")
	require.Greater(t, g.logs[0].reads, reads, "old entries come from the log")

	// At boot everything is handed out again, in pieces too.
	n := start(t, config(1, 3, g.logs[0]))
	total := 0
	for b, ok := carryOut(n, g.logs[0]); ok; b, ok = carryOut(n, g.logs[0]) {
		bytes := 0
		for _, e := range b.Committed {
			bytes += len(e.Data)
		}
		require.LessOrEqual(t, bytes, maxCommittedBytes)
		total += len(b.Committed)
	}
	require.GreaterOrEqual(t, total, entries)
}

func TestErrorsOfTheLog(t *testing.T) {
	broken := errors.New("disk on fire")
	_, err := New(config(1, 1, &memLog{err: broken}))
	require.ErrorIs(t, err, broken)

	// raft panics when reading fails; what stops the member names the cause.
	log := &memLog{}
	log.Append(&raftlog.State{Term: 2, Commit: 3}, []raftlog.Entry{{Op: 2, Term: 2}, {Op: 3, Term: 2}})
	n := start(t, config(1, 1, log))
	log.err = broken
	err = stopped(n, func() { n.Ready() })
	require.ErrorIs(t, err, broken)
	require.ErrorContains(t, err, "entries of ops 2 to 3")

	// Another panic is a bug, or a promise that the disk broke: here a leader
	// speaks of ops that this member acknowledged, and does not have.
	n = start(t, config(1, 3, &memLog{}))
	from, term, commit := uint64(2), uint64(5), uint64(9)
	err = stopped(n, func() {
		_ = n.Step(&raftpb.Message{Type: raftpb.MsgHeartbeat.Enum(), From: &from, To: &n.id, Term: &term, Commit: &commit})
	})
	var panicked *ErrPanic
	require.ErrorAs(t, err, &panicked)
	require.ErrorContains(t, err, "tocommit(9) is out of range")
	require.Contains(t, string(panicked.Stack), "commitTo")
}

func stopped(n *Node, f func()) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = n.Recovered(v)
		}
	}()
	f()
	return nil
}

// Settings of raft that the checks in front of it, and a fixed membership, hide.
func TestSettingsUnderneath(t *testing.T) {
	g := newGroup(t, 3)
	require.NotZero(t, g.nodes[1].Status().Leader)
	require.Error(t, g.nodes[1].raw.Propose([]byte("a")), "a follower forwards nothing")

	remove, self := raftpb.ConfChangeRemoveNode, uint64(1)
	g.nodes[0].raw.ApplyConfChange(&raftpb.ConfChange{Type: &remove, NodeId: &self})
	g.nodes[0].refresh()
	require.Equal(t, Follower, g.nodes[0].Status().Role, "a leader that was removed steps down")
}

func TestOrderOfCalls(t *testing.T) {
	g := newGroup(t, 1)
	n := g.nodes[0]
	require.Panics(t, func() { n.Advance() })
	require.NoError(t, n.Propose([]byte("a")))
	_, ok := n.Ready()
	require.True(t, ok)
	require.Panics(t, func() { n.Ready() })
}

func TestConfig(t *testing.T) {
	for name, spoil := range map[string]func(*Config){
		"no id":                     func(c *Config) { c.ID = 0 },
		"no voters":                 func(c *Config) { c.Members = Membership{} },
		"no log":                    func(c *Config) { c.Log = nil },
		"no randomness":             func(c *Config) { c.Rand = nil },
		"no heartbeat":              func(c *Config) { c.HeartbeatTicks = 0 },
		"timeout below 2 intervals": func(c *Config) { c.ElectionTicks = heartbeatTicks },
		"timeout not a multiple":    func(c *Config) { c.ElectionTicks = 6*heartbeatTicks + 1 },
	} {
		c := config(1, 3, &memLog{})
		spoil(&c)
		_, err := New(c)
		require.Error(t, err, name)
	}
}

// A log that lost ops below its first one cannot be applied from before them.
func TestAppliedBelowTheLog(t *testing.T) {
	log := cutLog{&memLog{}}
	log.Append(&raftlog.State{Term: 2, Commit: 4}, []raftlog.Entry{{Op: 2, Term: 2}, {Op: 3, Term: 2}, {Op: 4, Term: 2}})
	c := config(1, 1, log)
	_, err := New(c)
	var suspect *ErrSuspect
	require.ErrorAs(t, err, &suspect)
	require.EqualValues(t, 2, suspect.Want)
	c.Applied = 2
	n := start(t, c)
	b, ok := n.Ready()
	require.True(t, ok)
	require.Equal(t, []op.Number{3, 4}, []op.Number{b.Committed[0].Op, b.Committed[1].Op})
}

// cutLog begins at op 3.
type cutLog struct{ *memLog }

func (cutLog) First() op.Number { return 3 }
