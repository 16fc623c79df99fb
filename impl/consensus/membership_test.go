package consensus

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"purgelab/impl/defect"
	"purgelab/impl/raftlog"
	"purgelab/model/op"
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

// A change of membership comes alone, or in one message with the commit that covers
// it. A member that acted upon it knows it after a power loss, and one that loses
// power before that starts from whatever was left.
func TestChangeIsNotForgotten(t *testing.T) {
	change, err := proto.Marshal(&raftpb.ConfChangeV2{Changes: []*raftpb.ConfChangeSingle{
		{Type: raftpb.ConfChangeAddNode.Enum(), NodeId: proto.Uint64(4)},
		{Type: raftpb.ConfChangeRemoveNode.Enum(), NodeId: proto.Uint64(3)},
	}})
	require.NoError(t, err)
	entry := func(n uint64, typ raftpb.EntryType, data []byte) *raftpb.Entry {
		return &raftpb.Entry{Type: typ.Enum(), Term: proto.Uint64(2), Index: &n, Data: data}
	}
	entries := []*raftpb.Entry{ // a change of two takes a second op, which ends it
		entry(2, raftpb.EntryNormal, nil), entry(3, raftpb.EntryConfChangeV2, change),
		entry(4, raftpb.EntryConfChangeV2, nil), entry(5, raftpb.EntryNormal, []byte("a")),
	}
	for _, persisted := range []func(*raftlog.Entry) bool{nil, func(*raftlog.Entry) bool { return false }} {
		for already := 0; already <= len(entries); already++ { // entries that came before the commit
			log := &memLog{}
			c := config(2, 3, log)
			c.Persisted = persisted
			n := start(t, c)
			app := func(from, to int, commit uint64) {
				m := &raftpb.Message{Type: raftpb.MsgApp.Enum(), From: proto.Uint64(1), To: proto.Uint64(2), Term: proto.Uint64(2), Index: proto.Uint64(uint64(from + 1)), LogTerm: proto.Uint64(2), Entries: entries[from:to], Commit: &commit}
				if from == 0 {
					m.LogTerm = proto.Uint64(1)
				}
				require.NoError(t, n.Step(m))
			}
			app(0, already, 1)
			for _, ok := carryOut(n, log); ok; _, ok = carryOut(n, log) {
			}
			app(already, len(entries), 4)
			b, ok := n.Ready()
			require.True(t, ok)
			log.Append(b.State, b.Entries)
			log.Append(b.After, nil)
			require.True(t, b.MustSync)
			for k := range len(log.pending) + 1 {
				left := &memLog{image: log.synced}
				for _, w := range log.pending[:k] {
					left.append(w)
				}
				start(t, config(2, 3, left))
			}
			log.Sync()
			require.Len(t, n.Advance(), 2)
			require.Equal(t, []uint64{1, 2, 4}, n.Members().Voters)

			again := start(t, config(2, 3, &memLog{image: log.synced}))
			require.EqualValues(t, 4, again.Status().Commit)
			b, ok = again.Ready()
			require.True(t, ok)
			require.Equal(t, op.Number(4), b.Committed[len(b.Committed)-1].Op)
			again.Advance()
			require.Equal(t, n.Members(), again.Members())
		}
	}
}

// A membership that no group can have is refused before raft panics over it.
func TestCheckMembership(t *testing.T) {
	for _, m := range []Membership{
		{Voters: []uint64{1}},
		{Voters: []uint64{3, 1, 2}, Learners: []uint64{0x104}, Gone: []uint64{4}},
		{Voters: []uint64{1, 2, 0x103}, Outgoing: []uint64{1, 2, 3}, AutoLeave: true},
		{Voters: []uint64{1, 2}, Outgoing: []uint64{1, 2, 3}, Next: []uint64{3}},
	} {
		require.NoError(t, m.Check(), "%+v", m)
	}
	for _, m := range []Membership{
		{},
		{Learners: []uint64{1}},
		{Outgoing: []uint64{1, 2, 3}},
		{Voters: []uint64{0, 1, 2}},
		{Voters: []uint64{1, 1, 2}},
		{Voters: []uint64{1, 2}, Learners: []uint64{2}},
		{Voters: []uint64{1, 2}, Next: []uint64{3}},
	} {
		require.Error(t, m.Check(), "%+v", m)
	}
}
