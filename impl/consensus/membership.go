package consensus

import (
	"errors"
	"fmt"
	"slices"

	"go.etcd.io/raft/v3/confchange"
	"go.etcd.io/raft/v3/raftpb"
	"go.etcd.io/raft/v3/tracker"
	"google.golang.org/protobuf/proto"

	"go.etcd.io/raft/v3"

	"purgelab/impl/raftlog"
	"purgelab/model/op"
)

// Membership says who belongs to a group. While one change is on its way to the
// next there are two sets of voters, and what is decided needs a majority of
// both; the group leaves that state by itself.
type Membership struct {
	Voters   []uint64 `cbor:"1,keyasint,omitempty"`
	Learners []uint64 `cbor:"2,keyasint,omitempty"` // get the log, and do not count
	// Outgoing are the voters of before, empty unless a change is half done; Next
	// those that become learners when it is.
	Outgoing  []uint64 `cbor:"3,keyasint,omitempty"`
	Next      []uint64 `cbor:"4,keyasint,omitempty"`
	AutoLeave bool     `cbor:"5,keyasint,omitempty"`
	// Gone were members once and never will be again.
	Gone []uint64 `cbor:"6,keyasint,omitempty"`
}

// Voter tells whether a member counts.
func (m *Membership) Voter(id uint64) bool { return slices.Contains(m.Voters, id) }

// Has tells whether a member gets the log.
func (m *Membership) Has(id uint64) bool {
	return m.Voter(id) || slices.Contains(m.Learners, id) || slices.Contains(m.Outgoing, id)
}

// Joint: a change is half done.
func (m *Membership) Joint() bool { return len(m.Outgoing) > 0 }

func (m *Membership) toRaft() *raftpb.ConfState {
	return &raftpb.ConfState{Voters: m.Voters, Learners: m.Learners, VotersOutgoing: m.Outgoing, LearnersNext: m.Next, AutoLeave: proto.Bool(m.AutoLeave)}
}

func membership(c *raftpb.ConfState) Membership {
	sorted := func(ids []uint64) []uint64 {
		ids = slices.Clone(ids)
		slices.Sort(ids)
		return ids
	}
	return Membership{
		Voters: sorted(c.GetVoters()), Learners: sorted(c.GetLearners()),
		Outgoing: sorted(c.GetVotersOutgoing()), Next: sorted(c.GetLearnersNext()), AutoLeave: c.GetAutoLeave(),
	}
}

// Check refuses what no group can be: one without voters, or with a member twice, in
// roles that exclude each other.
func (m *Membership) Check() error {
	t := tracker.MakeProgressTracker(1, 0)
	cfg, _, err := confchange.Restore(confchange.Changer{Tracker: t, LastIndex: 1}, m.toRaft())
	if err != nil {
		return fmt.Errorf("membership of voters %x: %w", m.Voters, err)
	}
	t.Config = cfg
	is := membership(t.ConfState())
	if len(is.Voters) == 0 {
		return errors.New("membership without voters")
	}
	if err := is.toRaft().Equivalent(m.toRaft()); err != nil {
		return fmt.Errorf("membership of voters %x: %w", m.Voters, err)
	}
	return nil
}

// Change asks for another membership.
type Change struct {
	// Add this member, as a voter or as a learner; a learner is made a voter by
	// being added once more. 0: nobody.
	Add     uint64
	Learner bool
	Remove  []uint64
	// Context goes with it, for whoever applies it.
	Context []byte
}

// Changed is a change of membership that is committed.
type Changed struct {
	Op      op.Number
	Members Membership // from Op on
	Context []byte
}

// Members as of the last batch that was advanced.
func (n *Node) Members() Membership { return n.members }

// ProposeChange asks for another membership. It comes to nothing if a change is
// under way already: then a later op is an empty entry instead. Without an error
// the outcome is known when Advance tells of it, or never.
func (n *Node) ProposeChange(c Change) error {
	if n.role != Leader {
		return ErrNotLeader
	}
	v2 := &raftpb.ConfChangeV2{Context: c.Context}
	if c.Add != 0 {
		t := raftpb.ConfChangeAddNode
		if c.Learner {
			t = raftpb.ConfChangeAddLearnerNode
		}
		v2.Changes = append(v2.Changes, &raftpb.ConfChangeSingle{Type: t.Enum(), NodeId: proto.Uint64(c.Add)})
	}
	for _, id := range c.Remove {
		v2.Changes = append(v2.Changes, &raftpb.ConfChangeSingle{Type: raftpb.ConfChangeRemoveNode.Enum(), NodeId: proto.Uint64(id)})
	}
	n.dirty = true
	if err := n.raw.ProposeConfChange(v2); err != nil {
		return fmt.Errorf("%w: %w", ErrDropped, err)
	}
	return nil
}

// Match is the op up to which the log of a member is known to be this leader's;
// false if this member does not lead, or has not heard from it lately.
func (n *Node) Match(id uint64) (match op.Number, ok bool) {
	if n.role != Leader {
		return 0, false
	}
	n.raw.WithProgress(func(who uint64, _ raft.ProgressType, p tracker.Progress) {
		if who == id {
			match, ok = op.Number(p.Match), p.RecentActive
		}
	})
	return match, ok
}

// noteChanges remembers the changes of membership among committed entries; they
// are carried out when the batch is advanced.
func (n *Node) noteChanges(es []raftlog.Entry) {
	for i := range es {
		if es[i].Type == raftlog.ConfChange {
			n.changes = append(n.changes, es[i])
		}
	}
}

// applyChanges carries out the changes of the batch that is being advanced.
func (n *Node) applyChanges() []Changed {
	if len(n.changes) == 0 {
		return nil
	}
	var out []Changed
	for _, e := range n.changes {
		v2 := &raftpb.ConfChangeV2{}
		if err := proto.Unmarshal(e.Data, v2); err != nil {
			panic(fmt.Sprintf("consensus: change of membership at op %d: %v", e.Op, err))
		}
		gone := slices.Clip(n.members.Gone)
		for _, c := range v2.GetChanges() {
			if c.GetType() == raftpb.ConfChangeRemoveNode {
				gone = append(gone, c.GetNodeId())
			}
		}
		n.members = membership(n.raw.ApplyConfChange(v2))
		n.members.Gone = gone
		n.log.conf = n.members.toRaft()
		out = append(out, Changed{Op: e.Op, Members: n.members, Context: v2.GetContext()})
	}
	n.changes = n.changes[:0]
	return out
}
