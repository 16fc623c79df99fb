package replica

import (
	"slices"

	"purgelab/impl/defect"
	"purgelab/impl/observe"
	"purgelab/model/op"
)

// This file is the hold of admission, an option: while a purge that this leader
// proposed is outstanding, appends and changes of bookmarks wait outside the log.
// They would come after the purge anyway, and be lost with it if it is dropped;
// but a purge may take long, and they would pile up behind it.

// outstanding: a purge that this leader proposed, or one that it materializes, is
// not over.
func (r *Replica) outstanding() bool { return r.proposed != 0 || r.purge != nil }

// holds tells whether a request must wait for the outstanding purge.
func (r *Replica) holds(req *op.Request) bool {
	if r.cfg.Design == ResetRecord && r.purge != nil && (req.Kind == op.StoreBookmark || req.Kind == op.DeleteBookmark) {
		return true // until its bookmarks are cleaned up
	}
	if !r.cfg.Hold || !r.outstanding() {
		return false
	}
	switch req.Kind {
	case op.Append, op.StoreBookmark, op.DeleteBookmark, op.Poll:
		return true
	}
	return false
}

// hold keeps a request outside the log.
func (r *Replica) hold(q Request) {
	r.held = append(r.held, q)
	r.let("Hold", q)
}

// let reports that a change of a bookmark is held, or is not any more.
func (r *Replica) let(did observe.Action, q Request) {
	if r.cfg.Design == ResetRecord {
		e := asked(q.Op)
		e.Action = did
		r.emit(e)
	}
}

// release proposes what was held, in order, once no purge is outstanding, and
// before the next one is proposed: nobody waits for more than one.
func (r *Replica) release() {
	if len(r.held) == 0 || r.outstanding() {
		return
	}
	if r.cfg.Defects.Has(defect.HeldReordered) {
		slices.Reverse(r.held)
	}
	for _, q := range r.held {
		if r.cfg.Defects.Has(defect.HeldDropped) {
			break
		}
		r.let("Release", q)
		r.admit(q)
	}
	r.held = r.held[:0]
}

// refuseHeld answers what was held when a leadership ends: it was not proposed.
func (r *Replica) refuseHeld() {
	for _, q := range r.held {
		r.let("Refuse", q)
		r.answer(q.Token, op.Reply{Code: op.NotLeader})
	}
	r.held = nil
}

// admit proposes a mutation for a client, who waits for what comes of it.
func (r *Replica) admit(q Request) {
	n, err := r.propose(q.Op)
	if err != nil {
		r.answer(q.Token, op.Reply{Code: op.Transient})
		return
	}
	r.waiting[n] = q.Token
}
