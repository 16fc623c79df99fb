package consensus

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"purgelab/impl/raftlog"
	"purgelab/model/op"
)

// fetch is an offer that a member works on.
type fetch struct {
	Offer
	by, boot uint64
	at       int // when it has everything
}

// drop lets the log of a member go that it has kept otherwise, but for a few ops.
func (c *cluster) drop(m *member) {
	n := m.kept - min(m.kept, op.Number(c.rand.IntN(5)))
	if !c.chance(15) || n < m.log.First() || n > m.log.synced.base()+op.Number(len(m.log.synced.entries)) {
		return
	}
	c.compacted++
	m.log.compact(n)
	m.log.synced.compact(n)
}

// fetch ends what has been fetched: the member starts again from what the other one
// kept, unless that is no more than it has.
func (c *cluster) fetch() {
	c.fetches = slices.DeleteFunc(c.fetches, func(f fetch) bool {
		m, from := c.members[f.by%10-1], c.members[f.From%10-1]
		if m.node == nil || m.id != f.by || m.boots != f.boot || from.id != f.From || from.node == nil || c.fault(200) {
			return true
		}
		if c.now < f.at {
			if c.chance(3) {
				from.node.Fetching(m.id)
			}
			return false
		}
		if m.batch != nil {
			return false
		}
		o := Offer{Op: from.kept}
		if o.Op < from.log.First()-1 {
			return true
		}
		o.Term, _ = from.log.Term(o.Op)
		if m.node.holds(o) {
			return true
		}
		c.fetched++
		is := image{state: m.log.state, begin: o.Op, baseTerm: o.Term}
		is.state.Commit = o.Op
		m.log = &memLog{image: is, synced: is}
		m.kept = o.Op
		m.changes = slices.DeleteFunc(slices.Clone(from.changes), func(ch Changed) bool { return ch.Op > o.Op })
		c.boot(m)
		if m.node != nil && !c.fault(3) {
			from.node.Fetched(m.id, true)
		}
		return true
	})
}

// Members that fall behind what others have kept go on from what they fetch, whatever
// fails, and no acknowledged or committed op is lost, nor any promise.
func TestClustersThatCompact(t *testing.T) {
	var fetched, rejoined, compacted int
	for seed := range uint64(12) {
		for _, o := range []options{{voters: 3}, {voters: 5}, {voters: 3, replicated: true}} {
			o.seed, o.compact = seed, true
			c := newCluster(o)
			require.NoError(t, c.run(4000))
			fetched, rejoined, compacted = fetched+c.fetched, rejoined+c.rejoined, compacted+c.compacted
		}
	}
	t.Logf("%d fetched, %d rejoined, %d compactions", fetched, rejoined, compacted)
	require.Greater(t, fetched, 40)
	require.Positive(t, rejoined)
}

// offering is a message that offers op n of a term to member 2.
func offering(from, term uint64, n op.Number, of uint64, voters ...uint64) *raftpb.Message {
	return &raftpb.Message{Type: raftpb.MsgSnap.Enum(), From: &from, To: proto.Uint64(2), Term: &term, Snapshot: &raftpb.Snapshot{
		Metadata: &raftpb.SnapshotMetadata{Index: proto.Uint64(uint64(n)), Term: &of, ConfState: &raftpb.ConfState{Voters: voters}},
	}}
}

// What a member does with an offer depends on what it has, and on who sends it.
func TestOffers(t *testing.T) {
	log := &memLog{image: image{state: raftlog.State{Term: 3, Commit: 2}, entries: []raftlog.Entry{{Op: 2, Term: 1}, {Op: 3, Term: 2}, {Op: 4, Term: 2}}}}
	n := start(t, config(2, 3, log))
	leads := &raftpb.Message{Type: raftpb.MsgHeartbeat.Enum(), From: proto.Uint64(1), To: proto.Uint64(2), Term: proto.Uint64(3), Commit: proto.Uint64(0)}
	offered := func(m *raftpb.Message) (Offer, []*raftpb.Message) {
		require.NoError(t, n.Step(m))
		var out []*raftpb.Message
		for b, ok := n.Ready(); ok; b, ok = n.Ready() {
			log.Append(b.State, b.Entries)
			log.Append(b.After, nil)
			out = append(out, append(b.Early, b.Late...)...)
			n.Advance()
		}
		o, _ := n.Offered()
		return o, out
	}
	// It follows nobody yet.
	o, out := offered(offering(1, 3, 9, 3, 1, 2, 3))
	require.Zero(t, o)
	require.Empty(t, out)
	_, _ = offered(leads)
	o, out = offered(offering(1, 3, 9, 3, 1, 2, 3))
	require.Equal(t, Offer{From: 1, Op: 9, Term: 3}, o)
	require.Empty(t, out)
	_, ok := n.Offered()
	require.False(t, ok, "once")
	// Another term at an op that it has: it has not what is offered.
	o, _ = offered(offering(1, 3, 4, 3, 1, 2, 3))
	require.Equal(t, Offer{From: 1, Op: 4, Term: 3}, o)
	// What it has, committed here or not, raft answers.
	for _, of := range []op.Number{2, 4} {
		o, out = offered(offering(1, 3, of, []uint64{2: 1, 4: 2}[of], 1, 2, 3))
		require.Zero(t, o)
		require.Len(t, out, 1)
		require.Equal(t, raftpb.MsgAppResp, out[0].GetType())
		require.EqualValues(t, of, out[0].GetIndex())
	}
	require.EqualValues(t, 4, n.Status().Commit)
	require.EqualValues(t, 4, log.Last(), "nothing was restored")
	for _, m := range []*raftpb.Message{
		offering(1, 3, 9, 3, 1, 3), offering(1, 3, 0, 3, 1, 2, 3), offering(1, 3, 9, 0, 1, 2, 3),
	} {
		require.ErrorIs(t, n.Step(m), ErrRefused)
	}
	o, _ = offered(offering(1, 2, 9, 2, 1, 2, 3))
	require.Zero(t, o, "of an older term")
	o, _ = offered(offering(3, 3, 9, 3, 1, 2, 3))
	require.Zero(t, o, "not the leader")
}

// A log that begins above what a member has applied makes it suspect; one that begins
// there does not, and is offered to those who need more.
func TestBeginsAboveTheFirstOp(t *testing.T) {
	log := &memLog{image: image{state: raftlog.State{Term: 3, Commit: 70}, begin: 70, baseTerm: 2}}
	c := config(1, 1, log)
	c.Applied = 69
	_, err := New(c)
	var suspect *ErrSuspect
	require.ErrorAs(t, err, &suspect)
	require.Equal(t, ErrSuspect{What: "the applied op, below the first op stored", Have: 69, Want: 70}, *suspect)

	s := newStorage(log, log.state, Membership{Voters: []uint64{1}, Learners: []uint64{4}})
	snap, err := s.Snapshot()
	require.NoError(t, err)
	m := snap.GetMetadata()
	require.EqualValues(t, []uint64{70, 2, 4}, []uint64{m.GetIndex(), m.GetTerm(), m.GetConfState().GetLearners()[0]})
	_, err = newStorage(&memLog{}, raftlog.State{}, Membership{}).Snapshot()
	require.Equal(t, raft.ErrSnapshotTemporarilyUnavailable, err)
}
