package replica

import (
	"errors"
	"fmt"

	"purgelab/impl/defect"
	"purgelab/impl/engine"
	"purgelab/impl/observe"
	"purgelab/impl/raftlog"
	"purgelab/model/op"
)

// applyBatch is how many ops one piece of work materializes at most; applyBytes
// how much of the journal it reads ahead.
const (
	applyBatch = 64
	applyBytes = 1 << 16
)

// entryQueue holds committed entries read back from the journal, next first.
type entryQueue struct{ entries []raftlog.Entry }

// nextEntry is the first op that is committed and not materialized.
func (r *Replica) nextEntry() (*raftlog.Entry, error) {
	q := &r.queue
	for len(q.entries) > 0 && q.entries[0].Op <= r.applied {
		q.entries = q.entries[1:]
	}
	if len(q.entries) == 0 {
		var err error
		if q.entries, err = r.entries(r.applied+1, r.committed+1); err != nil {
			return nil, err
		}
	}
	return &q.entries[0], nil
}

func (r *Replica) applySome() error { return r.applyUpTo(applyBatch) }

// applyUpTo materializes that many committed ops in log order, or until a purge comes
// up, or nothing is left.
func (r *Replica) applyUpTo(count int) error {
	for i := 0; i < count && r.applied < r.committed; i++ {
		e, err := r.nextEntry()
		if err != nil {
			return err
		}
		r.answering = e.Op
		err = r.apply(e)
		r.answering = 0
		if errors.Is(err, errHeld) {
			r.blocked = true
			return nil
		} else if err != nil {
			return fmt.Errorf("apply op %d: %w", e.Op, err)
		}
		if r.purge != nil && !r.purge.deferred && !r.cleaning() {
			return nil
		}
	}
	return nil
}

// apply materializes one op, or begins the purge that it is.
func (r *Replica) apply(e *raftlog.Entry) error {
	r.sayBegun(e.Op)
	if e.Type != raftlog.Normal || len(e.Data) == 0 {
		r.emit(observe.Event{Action: "Commit", Op: e.Op, Term: e.Term, Kind: "other"})
		if err := r.materialize(e.Op, engine.Effect{}, ""); err != nil {
			return err
		}
		r.passMembers(e.Op)
		return nil
	}
	c, err := r.commandOf(e.Op, e.Data)
	if err != nil {
		return err
	}
	if r.cfg.Sink != nil {
		r.emit(commitEvent(e, c))
	}
	req := &c.Request
	if r.heldInLog(e.Op, req) {
		return errHeld
	}
	if req.Kind == op.Register {
		// Nothing is remembered or answered before the op is materialized: a disk
		// that refuses is asked again, and the op must find what it found.
		if err := r.materialize(e.Op, engine.Effect{}, ""); err != nil {
			return err
		}
		r.settle(c, op.Reply{Session: r.sessions.register(e.Op)})
		return nil
	}
	if req.Kind == op.Purge && r.cfg.Design != Advance {
		return r.applyPurge(e, c)
	}
	s := r.sessions.get(req.Session)
	if req.Session != 0 {
		if reply, refused := checkSession(s, req); refused && !r.executesAgain(s, req) {
			if err := r.materialize(e.Op, engine.Effect{}, ""); err != nil {
				return err
			}
			r.finish(c, reply)
			return nil
		}
	}

	if r.filtered(e.Op) {
		return r.applyFiltered(e, c, s)
	}
	reply, eff, err := mutate(r.eng, req, c.Time)
	if err != nil {
		return err
	}
	if r.cfg.Defects.Has(defect.OffsetAtProposal) && req.Kind == op.Append {
		reply.Position.Offset = c.Hint
	}
	if r.cfg.Defects.Has(defect.StaleAutoCommit) && req.Kind == op.Poll && reply.Code == op.OK && c.Hint > 0 {
		eff = engine.Effect{Kind: engine.Store, Key: req.Key, Position: position(r.eng.Facts(), c.Hint-1)}
	}
	if r.cfg.Defects != 0 {
		r.breakRule(c, &reply, &eff)
		if r.belowOldBoundary(e.Op) {
			eff = engine.Effect{}
		}
	}
	if err := r.materialize(e.Op, eff, ""); err != nil {
		return err
	}
	if s != nil {
		s.Sequence, s.Reply, s.Used = req.Sequence, reply, e.Op
	}
	r.finish(c, reply)
	return nil
}

// checkSession answers a request that its session forbids to execute: a repeat
// with the first reply, word for word.
func checkSession(s *session, req *op.Request) (reply op.Reply, refused bool) {
	switch {
	case s == nil:
		reply.Code = op.SessionExpired
	case req.Sequence < s.Sequence:
		reply.Code = op.StaleSequence
	case req.Sequence == s.Sequence:
		return s.Reply, true
	default:
		return op.Reply{}, false
	}
	if req.Kind == op.DeleteRecords {
		reply.Position.Offset = -1
	}
	return reply, true
}

// materialize gives the effect of op n to the engine and reports the step.
func (r *Replica) materialize(n op.Number, eff engine.Effect, action observe.Action) error {
	base := r.eng.Facts().End
	if err := r.eng.Apply(n, eff); err != nil {
		return err
	}
	r.applied = n
	r.since++
	if r.cfg.Sink != nil {
		if action == "" {
			action = "Materialize"
			if r.filtered(n) {
				action = "Filtered"
			}
		}
		ev := observe.Event{Action: action, Op: n, Kind: "other"}
		switch eff.Kind {
		case engine.Append:
			ev.Kind, ev.Offset, ev.Count = "append", base, len(eff.Payloads)
		case engine.Store:
			ev.Kind, ev.Key, ev.Offset = "store", eff.Key.String(), eff.Position.Offset
		case engine.Delete:
			ev.Kind, ev.Key = "delete", eff.Key.String()
		case engine.Advance:
			ev.Kind, ev.Offset = "advance", eff.Start
		case engine.Settle:
			ev.Generation = eff.Settled
		}
		r.emit(ev)
	}
	r.passLine()
	r.checkServing()
	return nil
}

// finish answers a mutation. A poll still has to read its records.
func (r *Replica) finish(c *command, reply op.Reply) {
	if c.Request.Kind == op.Poll && reply.Code == op.OK && reply.Count > 0 {
		if token, ok := r.waiter(c); ok {
			r.reads.add(&read{token: token, req: &c.Request, phase: reading, era: r.eng.Facts().Generation, reply: reply, fixed: true, op: r.answering})
		}
		return
	}
	r.settle(c, reply)
}

// settle answers the client that waits for the proposal, if it waits here.
func (r *Replica) settle(c *command, reply op.Reply) {
	if token, ok := r.waiter(c); ok {
		r.answer(token, reply)
	}
}

func (r *Replica) waiter(c *command) (uint64, bool) {
	if c.Origin != r.origin {
		return 0, false
	}
	token, ok := r.waiting[c.Number]
	delete(r.waiting, c.Number)
	return token, ok
}

// commitEvent tells what an op asks for, before any replica decided its effect.
func commitEvent(e *raftlog.Entry, c *command) observe.Event {
	ev := asked(&c.Request)
	ev.Action, ev.Op, ev.Term = "Commit", e.Op, e.Term
	return ev
}
