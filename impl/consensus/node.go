package consensus

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"

	"purgelab/impl/defect"
	"purgelab/impl/raftlog"
	"purgelab/model/op"
)

// Why a call had no effect.
var (
	// ErrNotLeader: this member does not lead, so the proposal or the read was
	// dropped. It has no effect, ever.
	ErrNotLeader = errors.New("consensus: not the leader")
	// ErrDropped: too much is uncommitted. The proposal has no effect, ever.
	ErrDropped = errors.New("consensus: proposal dropped")
	// ErrRefused: a message that the network may not bring. Nothing changed.
	ErrRefused = errors.New("consensus: message refused")
)

// Role of a member.
type Role uint8

// Roles. A pre-candidate asks whether it could win before it raises its term.
const (
	Follower Role = iota
	PreCandidate
	Candidate
	Leader
)

var roleNames = [...]string{"follower", "pre-candidate", "candidate", "leader"}

func (r Role) String() string { return roleNames[r] }

// Status is what a member knows of itself.
type Status struct {
	Role   Role
	Leader uint64 // 0: unknown
	Term   uint64
	Commit op.Number // as of the last batch
	// OwnTermEntry is the first entry of Term while this member leads, 0 until
	// that entry was in a batch. Nothing is known to be the newest before it is
	// applied.
	OwnTermEntry op.Number
}

// Node is one member of a raft group. After a panic in any of its methods it
// must be discarded; see Recovered.
type Node struct {
	id      uint64
	members Membership
	raw     *raft.RawNode
	log     *storage

	rand                *rand.Rand
	heartbeat, election int // ticks
	defects             defect.Set
	persisted           func(*raftlog.Entry) bool // nil: all are

	// What raft says of itself, exact after every method. Asking raft allocates,
	// so it is asked only when a call may have changed the answer.
	role       Role
	leader     uint64
	term, vote uint64

	ownTerm op.Number // Status.OwnTermEntry
	beat    int       // ticks of a leader since raft was ticked; < heartbeat
	elapsed int       // ticks since timeout was drawn; stands still in a leader
	timeout int       // in [election, 2*election)

	offer  Offer       // see Offered
	offers []sentOffer // of this leader, not over yet

	abstains bool   // see Abstain
	drops    func() // see DropProposals
	forgot   bool   // by a defect it runs all the same
	carried  bool   // by a defect the batch that is out is acknowledged early

	dirty bool // raft may have something for Ready; asking it allocates
	ready bool // it has, and dirty
	out   bool // a batch is out and waits for Advance

	hard    raftlog.State   // raft's, as of the last batch
	saved   raftlog.State   // the one last handed out; its Commit may lag behind
	front   raftlog.State   // Batch.State of the batch that is out
	entries []raftlog.Entry // of the batch that is out; reused
	changes []raftlog.Entry // of membership, in the batch that is out
}

// Status of this member.
func (n *Node) Status() Status {
	return Status{Role: n.role, Leader: n.leader, Term: n.term, Commit: n.hard.Commit, OwnTermEntry: n.ownTerm}
}

// Tick lets one tick of time pass.
func (n *Node) Tick() {
	if n.role == Leader {
		if n.beat++; n.beat == n.heartbeat {
			n.beat = 0
			n.raw.Tick()
			n.ageOffers()
			n.changed()
		}
		return
	}
	n.elapsed++
	switch {
	case n.elapsed >= n.timeout && !n.abstains && !(n.forgot && n.defects.Has(defect.SuspectAcks)):
		n.redraw()
		_ = n.raw.Campaign() // its error is always nil; what it cannot do it skips silently
		n.changed()
	case n.elapsed == n.election && n.role == Follower && n.leader != raft.None:
		_ = n.raw.ForgetLeader()
		n.changed()
	}
}

// Step takes a message that another member sent to this one. It must be decoded
// afresh for each delivery: parts of it are kept. An error says that the
// message was refused; nothing has changed and the caller goes on.
func (n *Node) Step(m *raftpb.Message) error {
	from, term := m.GetFrom(), m.GetTerm()
	if !crossesNetwork(m.GetType()) || m.GetTo() != n.id || from == n.id || from == 0 || term == 0 || !n.mayBe(m) {
		return fmt.Errorf("%w: %v of term %d from %d to %d at %d", ErrRefused, m.GetType(), term, from, m.GetTo(), n.id)
	}
	if n.acksNothing(m) {
		return nil
	}
	if m.GetType() == raftpb.MsgSnap {
		if forRaft, err := n.takeOffer(m); !forRaft {
			return err
		}
	}
	votedFor := n.vote
	if n.term != term {
		votedFor = raft.None // a vote of another term
	}
	steady := n.steady(m)
	if err := n.raw.Step(m); err != nil {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	n.dirty = true
	if !steady {
		n.changed()
	}
	switch m.GetType() {
	case raftpb.MsgApp, raftpb.MsgHeartbeat, raftpb.MsgSnap:
		if n.leader == from && n.term == term {
			n.redraw()
		}
	case raftpb.MsgVote:
		if n.vote == from && n.term == term && votedFor != from {
			n.redraw()
		}
	}
	return nil
}

// mayBe tells whether the sender of a message may be a member. One that leads, or
// wants to, may be a member that this one has not heard of: its log may end before
// the change that made it one. Answers come from members only.
func (n *Node) mayBe(m *raftpb.Message) bool {
	switch m.GetType() {
	case raftpb.MsgApp, raftpb.MsgSnap, raftpb.MsgHeartbeat, raftpb.MsgVote, raftpb.MsgPreVote:
		return !slices.Contains(n.members.Gone, m.GetFrom())
	}
	return n.members.Has(m.GetFrom())
}

// crossesNetwork tells whether a member without forwarding may get such a message
// from another one.
func crossesNetwork(t raftpb.MessageType) bool {
	switch t {
	case raftpb.MsgApp, raftpb.MsgAppResp, raftpb.MsgSnap, raftpb.MsgHeartbeat, raftpb.MsgHeartbeatResp,
		raftpb.MsgVote, raftpb.MsgVoteResp, raftpb.MsgPreVote, raftpb.MsgPreVoteResp:
		return true
	}
	return false
}

// acksNothing tells an acknowledgement of op 0, which no log here holds. A member
// sends one to make the leader of an older term step down, and that has happened
// if this member leads the newer one. Raft would then take it as an answer to its
// probe and go on from op 1, which only a snapshot could deliver: for as long as
// it leads, the other member would get nothing.
func (n *Node) acksNothing(m *raftpb.Message) bool {
	return m.GetType() == raftpb.MsgAppResp && m.GetTerm() == n.term && m.GetIndex() == 0
}

// steady tells that a message cannot change role, leader, term or vote: the
// traffic of a settled term, and what is older.
func (n *Node) steady(m *raftpb.Message) bool {
	term := m.GetTerm()
	if term != n.term {
		return term < n.term
	}
	switch m.GetType() {
	case raftpb.MsgApp, raftpb.MsgHeartbeat:
		return n.role == Follower && n.leader == m.GetFrom()
	case raftpb.MsgAppResp, raftpb.MsgHeartbeatResp:
		return true
	}
	return false
}

// Propose asks for entries to be appended to the log, all or none. An error is
// definite: they never take effect. Without one the outcome is known when they
// are committed, or never. The data is copied; none may be empty.
func (n *Node) Propose(data ...[]byte) error {
	if n.role != Leader {
		return ErrNotLeader
	}
	if n.drops != nil {
		n.drops()
		return ErrDropped
	}
	es := make([]*raftpb.Entry, len(data))
	for i, d := range data {
		if len(d) == 0 {
			panic("consensus: an empty proposal looks like raft's own entry")
		}
		es[i] = &raftpb.Entry{Data: d}
	}
	n.dirty = true
	err := n.raw.Step(&raftpb.Message{Type: raftpb.MsgProp.Enum(), From: &n.id, Entries: es})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDropped, err)
	}
	return nil
}

// DropProposals makes this member answer ErrDropped to every proposal, as if too much
// were uncommitted, and call dropped for each, until it is called with nil.
func (n *Node) DropProposals(dropped func()) { n.drops = dropped }

// ReadIndex asks which op a linearizable read that begins now must wait for;
// the answer is a Read of a later batch. It may never come: the leadership may
// end first. So the caller keeps a timer and asks again, with a new ctx, or
// gives up.
//
// A ctx is never used twice, restarts included, so that an answer cannot be
// taken for that of another read: let its high half be a number of this boot,
// counted or drawn, and its low half count. (This version of raft sends no ctx
// over the network; the caller need not rely on that.)
func (n *Node) ReadIndex(ctx uint64) error {
	if n.role != Leader {
		return ErrNotLeader
	}
	n.dirty = true
	n.raw.ReadIndex(binary.BigEndian.AppendUint64(nil, ctx))
	return nil
}

// changed notes that raft may have something to hand out and may have changed
// its role.
func (n *Node) changed() {
	n.dirty = true
	n.refresh()
}

// refresh asks raft what it is.
func (n *Node) refresh() {
	s := n.raw.BasicStatus()
	role, term := roles[s.RaftState], s.GetTerm()
	if role != Leader || term != n.term || n.role != Leader {
		n.ownTerm, n.beat, n.offers = 0, 0, n.offers[:0]
	}
	n.role, n.leader, n.term, n.vote = role, s.Lead, term, s.GetVote()
}

var roles = [...]Role{
	raft.StateFollower:     Follower,
	raft.StateCandidate:    Candidate,
	raft.StateLeader:       Leader,
	raft.StatePreCandidate: PreCandidate,
}

// redraw starts the election timer anew.
func (n *Node) redraw() {
	n.elapsed = 0
	n.timeout = n.election + n.rand.IntN(n.election)
}
