package consensus

import (
	"fmt"
	"slices"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"purgelab/model/op"
)

// A leader that has dropped what another member needs next sends a snapshot. Here
// that is an offer and no more: it holds no state, and raft must not restore it. The
// caller of the member that gets it fetches the state in its own way, and starts the
// member again from a log that goes on above it. Until then the leader sends that
// member nothing but heartbeats; a timer here sees to it that this ends.
//
//	leader                                member
//	  ── snapshot (op, term) ───────────►  Offered: the caller fetches
//	  ◄─ the caller's own messages ─────►  Fetching, for each of them
//	                                       New, from what it has fetched
//	  ◄─ the caller tells of it ─────────
//	  Fetched: the leader asks what it has, and goes on from there
//	  or, nothing heard for offerTimeouts: it offers anew

// offerTimeouts is how many election timeouts an offer stands while nothing is heard
// of it.
const offerTimeouts = 4

// Offer is what a leader says it can give to this member: all up to an op.
type Offer struct {
	From uint64
	Op   op.Number
	Term uint64 // of Op
}

// sentOffer is one that this leader waits for.
type sentOffer struct {
	to   uint64
	left int // ticks of raft
}

// Offered is the offer that came last, once; false if there is none.
func (n *Node) Offered() (Offer, bool) {
	o := n.offer
	n.offer = Offer{}
	return o, o.From != 0
}

// Fetching tells that a member works on an offer of this leader.
func (n *Node) Fetching(id uint64) {
	for i := range n.offers {
		if n.offers[i].to == id {
			n.offers[i].left = n.offerTicks()
		}
	}
}

// Fetched tells that a member has what it was offered, or, without ok, that it gave
// up.
func (n *Node) Fetched(id uint64, ok bool) {
	if n.role != Leader {
		return
	}
	n.offers = slices.DeleteFunc(n.offers, func(o sentOffer) bool { return o.to == id })
	status := raft.SnapshotFinish
	if !ok {
		status = raft.SnapshotFailure
	}
	n.raw.ReportSnapshot(id, status) // it has no effect if raft waits for nothing
	n.dirty = true
}

// offerTicks: raft is ticked once per heartbeat interval.
func (n *Node) offerTicks() int { return offerTimeouts * n.election / n.heartbeat }

// noteOffers remembers to whom the messages of a batch offer something.
func (n *Node) noteOffers(ms []*raftpb.Message) {
	for _, m := range ms {
		if m.GetType() == raftpb.MsgSnap {
			n.offers = append(n.offers, sentOffer{m.GetTo(), n.offerTicks()})
		}
	}
}

// ageOffers gives offers up of which nothing is heard.
func (n *Node) ageOffers() {
	for i := 0; i < len(n.offers); {
		if n.offers[i].left--; n.offers[i].left > 0 {
			i++
			continue
		}
		n.Fetched(n.offers[i].to, false)
	}
}

// takeOffer takes a snapshot message. raft gets it if it would not restore it: then
// this member has what is offered, and raft's answer says so. Otherwise it is kept for
// the caller if it comes from the leader that this member follows; any other one will
// be repeated, or was meant for before.
func (n *Node) takeOffer(m *raftpb.Message) (forRaft bool, err error) {
	meta := m.GetSnapshot().GetMetadata()
	o := Offer{From: m.GetFrom(), Op: op.Number(meta.GetIndex()), Term: meta.GetTerm()}
	if o.Op == 0 || o.Term == 0 || !named(meta.GetConfState(), n.id) {
		return false, fmt.Errorf("%w: an offer of op %d, term %d, to the voters %v: want an op, and member %d", ErrRefused, o.Op, o.Term, meta.GetConfState().GetVoters(), n.id)
	}
	if n.holds(o) {
		return true, nil
	}
	if n.role == Follower && n.leader == o.From && n.term == m.GetTerm() {
		n.offer = o
	}
	return false, nil
}

// holds tells whether the log has what is offered. Something that is committed, and
// whatever is offered is, does not go away again.
func (n *Node) holds(o Offer) bool {
	if o.Op <= n.hard.Commit {
		return true
	}
	term, err := n.log.Term(uint64(o.Op))
	return err == nil && term == o.Term
}

func named(c *raftpb.ConfState, id uint64) bool {
	return slices.Contains(c.GetVoters(), id) || slices.Contains(c.GetLearners(), id) || slices.Contains(c.GetVotersOutgoing(), id)
}

// Snapshot is what a member is offered that needs more than the log has: the op
// before its first one. The membership is not that as of then but the present one,
// which names whoever gets it; nobody restores it.
func (s *storage) Snapshot() (*raftpb.Snapshot, error) {
	base := s.log.First() - 1
	if base <= 1 {
		return nil, raft.ErrSnapshotTemporarilyUnavailable
	}
	term, err := s.log.Term(base)
	if err != nil {
		return nil, s.failed(err, "term of op %d", base)
	}
	return &raftpb.Snapshot{Metadata: &raftpb.SnapshotMetadata{
		ConfState: s.conf, Index: proto.Uint64(uint64(base)), Term: proto.Uint64(term),
	}}, nil
}
