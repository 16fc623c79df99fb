package consensus

import (
	"slices"

	"go.etcd.io/raft/v3/raftpb"

	"purgelab/impl/defect"
)

// A member that lost its memory must not run at all. This file is what defects let
// it do.

// mute drops what a member with Forgot does not say in spite of a defect: one only
// votes, another one only acknowledges.
func (n *Node) mute(ms []*raftpb.Message) []*raftpb.Message {
	if !n.forgot {
		return ms
	}
	return slices.DeleteFunc(slices.Clone(ms), func(m *raftpb.Message) bool {
		switch m.GetType() {
		case raftpb.MsgAppResp:
			return n.defects.Has(defect.SuspectVotes)
		case raftpb.MsgVoteResp, raftpb.MsgPreVoteResp:
			return n.defects.Has(defect.SuspectAcks)
		}
		return false
	})
}

// carriedOver tells whether entries come, at least at first, from terms before the
// present one.
func (n *Node) carriedOver(es []*raftpb.Entry) bool {
	return len(es) > 0 && es[0].GetTerm() < n.term
}
