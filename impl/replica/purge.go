package replica

import (
	"purgelab/impl/defect"
	"purgelab/impl/engine"
	"purgelab/impl/observe"
	"purgelab/impl/raftlog"
	"purgelab/model/op"
)

// purgeInFlight is a purge op that is being materialized: every op below it is,
// none above it may be.
type purgeInFlight struct {
	op   op.Number
	cmd  *command
	task engine.Task
	// deferred: a defect lets later ops pass before the purge begins.
	deferred bool
}

// purgeWaiter is a client that waits until its intent is settled.
type purgeWaiter struct {
	token uint64
	req   *op.Request
}

// applyPurge handles a purge op. One whose generation is settled already changes
// nothing: the same intent may be proposed more than once. One that expects
// another position settles its intent and changes nothing else.
func (r *Replica) applyPurge(e *raftlog.Entry, c *command) error {
	req, f := &c.Request, r.eng.Facts()
	if c.Origin == r.origin && c.Number == r.proposed {
		r.proposed = 0
	}
	if req.Intent <= f.Settled && !r.cfg.Defects.Has(defect.DuplicatePurgeWipes) {
		return r.materialize(e.Op, engine.Effect{}, "PurgeDuplicate")
	}
	if asExpected(f, req) != nil {
		if err := r.materialize(e.Op, engine.Effect{Kind: engine.Settle, Settled: req.Intent}, "PurgeDuplicate"); err != nil {
			return err
		}
		r.answerPurges()
		return nil
	}
	if r.cfg.Defects.Has(defect.SessionsLostAtPurge) {
		r.sessions = newSessions(r.cfg.Sessions)
	}
	r.purge = &purgeInFlight{op: e.Op, cmd: c}
	if r.cfg.Defects.Has(defect.ApplyPastPurge) {
		r.purge.deferred = true
		return r.materialize(e.Op, engine.Effect{}, "")
	}
	return nil
}

// purgeStep takes the next durable step of the purge in flight.
func (r *Replica) purgeStep() error {
	p := r.purge
	if p.task == nil {
		if err := r.syncBeforeSnapshot(p.op); err != nil {
			return err
		}
		if p.deferred {
			p.op = r.applied
		}
		if r.cfg.Design == ResetRecord {
			p.op = r.jr.Last()
			r.retried()
		}
		p.task = r.eng.Purge(p.op, p.cmd.Request.Intent, r.encodeExtra())
	}
	done, did, err := p.task.Step()
	switch {
	case err != nil && r.cfg.Design == ResetRecord:
		p.task = nil // the purge is begun again
		r.failed(err)
		return err
	case err != nil:
		return err
	case done && r.cfg.Design == ResetRecord:
		r.purge, r.reclaim, r.blocked = nil, true, false
	case done:
		r.applied, r.purge, r.since, r.reclaim = p.op, nil, 0, true
		r.snapshot(p.op)
	}
	if did != "" {
		at := p.op
		if f := r.eng.Facts(); r.cfg.Design == ResetRecord && f.Generation == p.cmd.Request.Intent {
			at = f.Boundary // one that is tried again keeps its floor
		}
		r.emit(observe.Event{Action: did, Op: at, Generation: p.cmd.Request.Intent})
	}
	if done {
		r.passLine()
		r.checkServing()
		r.answering = p.op
		r.answerPurges()
		r.answering = 0
	}
	return nil
}

// learnIntents merges what the metadata plane has committed.
func (r *Replica) learnIntents(intents []Intent) {
	for _, in := range intents {
		r.learnIntent(in)
	}
}

func (r *Replica) learnIntent(in Intent) {
	if in.Generation <= r.eng.Facts().Settled {
		return
	}
	i := len(r.intents)
	for i > 0 && r.intents[i-1].Generation > in.Generation {
		i--
	}
	if i > 0 && r.intents[i-1].Generation == in.Generation {
		return
	}
	r.intents = append(r.intents, Intent{})
	copy(r.intents[i+1:], r.intents[i:])
	r.intents[i] = in
}

// reconcile proposes the next unsettled intent if this replica leads and no
// purge of it is outstanding. A proposal that is dropped, or a new leader, only
// means that it is proposed again.
//
// Of intents without an expectation the highest settles them all. One with an
// expectation has an answer of its own: it is proposed by itself, and only when
// the intent before it (Previous) is settled. Otherwise an unconditional intent
// would be lost if a higher one, known first, found its expectation wrong: that
// settles everything at or below it without a purge. The other way round nothing
// is lost: a purge that is applied is what every lower intent asked for.
//
// A new leader does not wait until it has materialized what came before it, so
// it may propose a purge that is in its log already: the second one is a
// duplicate and changes nothing.
func (r *Replica) reconcile() {
	settled := r.eng.Facts().Settled
	for len(r.intents) > 0 && r.intents[0].Generation <= settled {
		r.intents = r.intents[1:]
	}
	if r.cfg.Design == ResetRecord {
		r.beginReset()
		return
	}
	waits := r.proposed != 0 && !r.cfg.Defects.Has(defect.TwoOutstanding)
	if !r.leading || waits || r.purge != nil || len(r.intents) == 0 {
		return
	}
	in := r.intents[0]
	if in.Expected != nil && in.Previous > settled {
		return // the one before it is not known here yet
	}
	for _, next := range r.intents[1:] {
		if in.Expected != nil || next.Expected != nil {
			break
		}
		in = next
	}
	req := &op.Request{Kind: op.Purge, Partition: r.cfg.Partition, Intent: in.Generation, Expected: in.Expected}
	if n, err := r.propose(req); err == nil {
		r.proposed = n
	}
}

// awaitPurge takes a client's purge: its intent is known from now on, unless it
// is the metadata plane's to tell, and the client waits until it is settled.
func (r *Replica) awaitPurge(q Request) {
	if !r.cfg.Plane || q.Op.Expected == nil {
		r.learnIntent(Intent{Generation: q.Op.Intent, Expected: q.Op.Expected})
	}
	r.purges = append(r.purges, purgeWaiter{token: q.Token, req: q.Op})
	r.answerPurges()
}

// answerPurges answers every waiting purge whose intent is settled. One that a
// higher purge skipped is answered with its own number; one that was settled
// without a purge did not find the position that it, or a higher one, expected.
func (r *Replica) answerPurges() {
	f := r.eng.Facts()
	kept := r.purges[:0]
	for _, w := range r.purges {
		if w.req.Intent > f.Settled {
			kept = append(kept, w)
			continue
		}
		reply := op.Reply{Position: op.Position{Incarnation: f.Incarnation, Generation: w.req.Intent}}
		if w.req.Intent > f.Generation {
			reply = bounded(f, op.Mismatch)
		}
		r.answer(w.token, reply)
	}
	r.purges = kept
}

// failPurges forgets the waiting clients of a leadership that ended; the intent
// stays committed, so their outcome is unknown.
func (r *Replica) failPurges() { r.purges = nil }
