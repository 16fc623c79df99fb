package consensus

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/raft/v3/raftpb"

	"purgelab/impl/defect"
	"purgelab/impl/raftlog"
)

// What a batch must sync: term and vote, changes of membership, and entries as the
// caller says; the defect acknowledges what an election carried over before that.
func TestPersisted(t *testing.T) {
	n := &Node{persisted: func(e *raftlog.Entry) bool { return len(e.Data) > 1 }}
	require.False(t, n.anyPersisted([]raftlog.Entry{{Data: []byte("a")}, {}}))
	require.True(t, n.anyPersisted([]raftlog.Entry{{Data: []byte("a")}, {Data: []byte("bb")}}))
	require.True(t, n.anyPersisted([]raftlog.Entry{{Type: raftlog.ConfChange}}))
	n.persisted = nil
	require.True(t, n.anyPersisted([]raftlog.Entry{{}}))
	require.False(t, n.anyPersisted(nil))

	app := []*raftpb.Message{{Type: raftpb.MsgAppResp.Enum()}}
	_, late := n.split(app)
	require.Len(t, late, 1)
	n.carried = true
	_, late = n.split(app)
	require.Empty(t, late)
}

func TestWhatSuspectsSay(t *testing.T) {
	said := func(d defect.Set, forgot bool) []raftpb.MessageType {
		n := &Node{defects: d, forgot: forgot}
		var out []raftpb.MessageType
		for _, m := range n.mute([]*raftpb.Message{{Type: raftpb.MsgAppResp.Enum()}, {Type: raftpb.MsgVoteResp.Enum()}, {Type: raftpb.MsgApp.Enum()}}) {
			out = append(out, m.GetType())
		}
		return out
	}
	all := []raftpb.MessageType{raftpb.MsgAppResp, raftpb.MsgVoteResp, raftpb.MsgApp}
	require.Equal(t, all, said(defect.SuspectVotes, false))
	require.Equal(t, all[1:], said(defect.SuspectVotes, true))
	require.Equal(t, []raftpb.MessageType{raftpb.MsgAppResp, raftpb.MsgApp}, said(defect.SuspectAcks, true))
	require.Equal(t, all, said(defect.CommitClamped, true))
}

func TestMembership(t *testing.T) {
	m := Membership{Voters: []uint64{1, 3}, Outgoing: []uint64{1, 2}, Learners: []uint64{4}}
	require.True(t, m.Joint())
	require.True(t, m.Voter(3))
	require.False(t, m.Voter(2))
	for id, has := range map[uint64]bool{1: true, 2: true, 3: true, 4: true, 5: false} {
		require.Equal(t, has, m.Has(id))
	}
	require.Equal(t, m, func() Membership { x := membership(m.toRaft()); x.Next = nil; return x }())
}
