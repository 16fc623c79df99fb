package replica

import (
	"purgelab/impl/consensus"
	"purgelab/impl/engine"
	"purgelab/model/op"
)

// View is what may be read from a replica without changing it: for the named
// invariants, the report, and whoever waits for a group to come to rest.
type View struct {
	ID      int
	Member  uint64 // the member of the group that this replica is
	Joining bool   // and it is not a voter yet
	Home    string // of its files; another one after an install
	// Sealed: it has stopped for good. Copying: it has no base yet. Then the rest is
	// empty. Base is the last op of the incarnations before this one, 1 if there is
	// none; ops are counted along the line of all of them.
	Incarnation     op.Incarnation
	Sealed, Copying bool
	Base            op.Number
	Role            consensus.Role
	Term            uint64
	Committed       op.Number
	Last            op.Number // end of the journal
	Serving         bool
	Purging         bool
	Facts           engine.Facts
	// Offers is the op as of which it offers a state, the lowest one if there are several;
	// 0: it offers none.
	Offers op.Number
	// Kept: of one that joins, the last op that the disk shows of the member that it was
	// before; 0: none.
	Kept op.Number
	// Agreeing: there is work of consensus to be done. Syncing: the next of it is a sync.
	Agreeing, Syncing bool
	// Idle: nothing is left to do until the next input, or after a pause.
	Idle bool
}

// View reads the replica.
func (r *Replica) View() View {
	if r.sealed || r.copy != nil {
		return View{ID: r.cfg.ID, Member: r.cfg.member.ID, Incarnation: r.cfg.Incarnation, Joining: r.joining, Sealed: r.sealed, Copying: r.copy != nil}
	}
	st := r.node.Status()
	var offers op.Number
	if r.sender != nil {
		offers, _ = r.sender.Lowest()
	}
	return View{
		ID: r.cfg.ID, Member: r.cfg.member.ID, Home: r.cfg.member.Home, Incarnation: r.cfg.Incarnation, Base: r.line.baseLast(), Joining: r.joining, Kept: r.kept(),
		Role: st.Role, Term: st.Term, Committed: st.Commit + r.line.shift, Last: r.lastOp(),
		Agreeing: r.hasConsensusWork(), Syncing: r.stage == written && r.batch.MustSync, Serving: r.serving, Purging: r.purge != nil, Facts: r.eng.Facts(), Offers: offers, Idle: !r.hasWork() && r.pause == 0 && r.later == 0 && r.cleanLater == 0,
	}
}

// kept is the last op of what is kept of the member before.
func (r *Replica) kept() op.Number {
	if e := r.cfg.member.Evidence; r.joining && e.Intact {
		return e.Last + r.line.shift
	}
	return 0
}

// Bookmarks of the current era, sorted by key.
func (r *Replica) Bookmarks() []engine.BookmarkEntry {
	if r.eng == nil {
		return nil
	}
	return r.eng.Bookmarks()
}

// Records reads materialized records, for comparison with other replicas.
func (r *Replica) Records(from op.Offset, max int) ([]op.Record, error) {
	if r.eng == nil {
		return nil, nil
	}
	return r.eng.Read(from, max)
}
