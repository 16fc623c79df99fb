package consensus

import (
	"encoding/binary"
	"fmt"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"

	"purgelab/impl/defect"
	"purgelab/impl/raftlog"
	"purgelab/model/op"
)

// Batch is what a member wants done. The package comment says in which order.
// State, Entries and After may be reused after Advance; the other slices are the
// caller's, and no Data is ever changed.
type Batch struct {
	// State to write, nil: nothing new that must be durable. It goes in front of
	// Entries, so that what a power loss leaves of the two never holds an entry
	// of a later term than its own. Its Commit is a hint that may lag behind.
	State *raftlog.State
	// Entries to write, consecutive; the first replaces what the log holds from
	// its op on.
	Entries []raftlog.Entry
	// After is a state to write after Entries, nil: none. It comes only with Entries,
	// if a change of membership among them is committed: its Commit covers that.
	After *raftlog.State
	// MustSync: what was written, and all before it, must be durable before Late
	// leaves and before Advance. Without it Late may leave once it is written.
	MustSync bool
	// Early messages depend on nothing durable, Late ones do: acknowledgements
	// and votes.
	Early, Late []*raftpb.Message
	// Committed entries in op order, without gaps from batch to batch.
	Committed []raftlog.Entry
	// Reads that were answered.
	Reads []Read
}

// Read is an answer to ReadIndex: the read sees everything that was
// acknowledged before it began, once Index is applied.
type Read struct {
	Ctx   uint64
	Index op.Number
}

// HasReady tells whether Ready has work to do. It may turn out to be none that
// concerns the caller.
func (n *Node) HasReady() bool {
	if n.out || !n.dirty {
		return false
	}
	if !n.ready {
		n.ready = n.raw.HasReady()
		n.dirty = n.ready
	}
	return n.ready
}

// Ready hands out a batch, or tells that there is nothing to do. Each batch is
// followed by Advance before the next.
func (n *Node) Ready() (Batch, bool) {
	if n.out {
		panic("consensus: Ready before the last batch was advanced")
	}
	for n.HasReady() {
		n.out, n.ready = true, false
		if b, some := n.batch(n.raw.Ready()); some {
			return b, true
		}
		n.Advance() // only its role or its commit index changed, or its own pre-vote waits
	}
	return Batch{}, false
}

// batch is raft's Ready in our terms; some: it asks for anything.
func (n *Node) batch(rd raft.Ready) (b Batch, some bool) {
	if !raft.IsEmptySnap(rd.Snapshot) {
		panic(fmt.Sprintf("consensus: raft restores a snapshot of op %d", rd.Snapshot.GetMetadata().GetIndex()))
	}
	if !raft.IsEmptyHardState(rd.HardState) {
		hs := rd.HardState
		n.hard = raftlog.State{Term: hs.GetTerm(), Vote: hs.GetVote(), Commit: op.Number(hs.GetCommit())}
	}
	if len(rd.CommittedEntries) > 0 {
		b.Committed = appendEntries(make([]raftlog.Entry, 0, len(rd.CommittedEntries)), rd.CommittedEntries)
		n.noteChanges(b.Committed)
	}
	promises := n.hard.Term != n.saved.Term || n.hard.Vote != n.saved.Vote || len(n.changes) > 0
	b.State, b.After = n.save(rd.Entries)
	if len(rd.Entries) > 0 {
		n.log.extend(rd.Entries)
		n.entries = appendEntries(n.entries[:0], rd.Entries)
		b.Entries = n.entries
		n.noteOwnTerm(b.Entries)
	}
	b.MustSync = b.State != nil && promises || b.After != nil || n.anyPersisted(b.Entries)
	n.noteOffers(rd.Messages)
	n.carried = n.defects.Has(defect.AckCarried) && n.carriedOver(rd.Entries)
	if b.Early, b.Late = n.split(n.mute(rd.Messages)); n.silent() {
		b.Early = nil
	}
	for _, r := range rd.ReadStates {
		// raft answers a group of one with the commit index that it knows, which
		// after a restart may lie below what was acknowledged before it.
		b.Reads = append(b.Reads, Read{
			Ctx:   binary.BigEndian.Uint64(r.RequestCtx),
			Index: max(op.Number(r.Index), n.ownTerm),
		})
	}
	return b, b.State != nil || len(b.Entries) > 0 || len(rd.Messages) > 0 || len(b.Committed) > 0 || len(b.Reads) > 0
}

// Advance tells that the batch was written, sent and, where it asked for it,
// synced. Committed entries need not be materialized yet, but changes of
// membership among them take effect now, and are told.
func (n *Node) Advance() []Changed {
	if !n.out {
		panic("consensus: Advance without a batch")
	}
	n.out = false
	changed := n.applyChanges()
	n.raw.Advance(raft.Ready{}) // the argument is unused
	if n.role == PreCandidate || n.role == Candidate {
		n.refresh() // its own vote counts now
	}
	if changed != nil {
		n.changed() // it may have been removed
	}
	return changed
}

// anyPersisted tells whether one of the entries must be synced before it is
// acknowledged. That one syncs all before it: what is carried over from an older
// term comes in a batch like any other.
func (n *Node) anyPersisted(es []raftlog.Entry) bool {
	if n.persisted == nil {
		return len(es) > 0
	}
	for i := range es {
		if es[i].Type == raftlog.ConfChange || n.persisted(&es[i]) {
			return true
		}
	}
	return false
}

// save gives the states to write before entries and after them. There is none
// if term and vote stand and there are no entries: a commit index alone is a hint,
// not worth a write, unless it covers a change of membership.
//
// A power loss may leave any beginning of what was written and not synced. Lest
// a commit index without its entries survive and the member look suspect, the
// one written in front of them stays below them. One that must cover a change of
// membership among them is written after them.
func (n *Node) save(es []*raftpb.Entry) (before, after *raftlog.State) {
	if n.hard == n.saved || len(es) == 0 && n.hard.Term == n.saved.Term && n.hard.Vote == n.saved.Vote && len(n.changes) == 0 {
		return nil, nil
	}
	next := n.hard
	if len(es) > 0 {
		next.Commit = max(n.saved.Commit, min(next.Commit, op.Number(es[0].GetIndex()-1)))
	}
	if n.front = next; next != n.saved {
		before = &n.front
	}
	if k := len(n.changes); k > 0 && n.changes[k-1].Op > next.Commit {
		next, after = n.hard, &n.hard
	}
	n.saved = next
	return before, after
}

// noteOwnTerm finds the entry that a new leader begins its term with.
func (n *Node) noteOwnTerm(es []raftlog.Entry) {
	if n.role != Leader || n.ownTerm != 0 {
		return
	}
	for i := range es {
		if es[i].Term == n.term {
			n.ownTerm = es[i].Op
			return
		}
	}
}

// split parts the messages that may leave before the sync from those that
// depend on it, keeping their order.
func (n *Node) split(ms []*raftpb.Message) (early, late []*raftpb.Message) {
	// raft lists the late ones last, so nothing is copied unless a defect is on.
	k := 0
	for k < len(ms) && !n.late(ms[k].GetType()) {
		k++
	}
	for i := k; i < len(ms); i++ {
		if !n.late(ms[i].GetType()) {
			return n.partition(ms)
		}
	}
	return ms[:k:k], ms[k:]
}

func (n *Node) partition(ms []*raftpb.Message) (early, late []*raftpb.Message) {
	for _, m := range ms {
		if n.late(m.GetType()) {
			late = append(late, m)
		} else {
			early = append(early, m)
		}
	}
	return early, late
}

// late tells the messages that promise something durable.
func (n *Node) late(t raftpb.MessageType) bool {
	switch t {
	case raftpb.MsgAppResp:
		return !n.defects.Has(defect.AckBeforeSync) && !n.carried
	case raftpb.MsgVoteResp, raftpb.MsgPreVoteResp:
		return !n.defects.Has(defect.VoteBeforeSync)
	}
	return false
}
