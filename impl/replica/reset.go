package replica

import (
	"errors"

	"purgelab/impl/defect"
	"purgelab/impl/engine"
	"purgelab/impl/observe"
	"purgelab/impl/raftlog"
	"purgelab/model/op"
)

// This file is the design reset-record. No op of the log says when a purge
// happens: each replica purges when it learns the intent, and takes the highest op
// of its own journal, committed or not, for the floor. Ops at or below the floor
// are filtered: they count as executed in the era before, which is gone, so they
// change nothing that can be seen and their clients are answered as if the purge
// had come right after them.
//
// While the bookmarks are cleaned up appends go on. A leader holds changes of
// bookmarks outside the log, in order, until the cleanup is over, and refuses
// polls with auto-commit and unnumbered changes; a change that is in the log already waits there, and
// what comes after it waits too.
//
// A purge that fails is done again from its beginning; the engine knows what need
// not be done twice. The answer "applied" is the leader's own completion.

// beginReset starts the purge of the highest intent, on every replica.
func (r *Replica) beginReset() {
	if r.purge != nil || len(r.intents) == 0 {
		return
	}
	g := r.intents[len(r.intents)-1].Generation
	r.purge = &purgeInFlight{cmd: &command{Request: op.Request{Kind: op.Purge, Partition: r.cfg.Partition, Intent: g}}}
}

// cleaning tells whether messages are reset and bookmarks are not cleaned up.
func (r *Replica) cleaning() bool {
	return r.cfg.Design == ResetRecord && r.purge != nil && r.eng.Facts().Pending != nil
}

// mayCheckpoint tells whether a checkpoint is due.
func (r *Replica) mayCheckpoint() bool {
	return r.since >= r.cfg.CheckpointOps && r.mayEndInLog() && r.covers()
}

// covers tells whether a checkpoint could hold what is materialized. Under reset-record
// none is begun while a purge is under way: a cleanup that waits after a failure comes
// first. Nor before replay has come to what the disk shows: the file of a bookmark that is
// ahead need not hold the version as of an earlier op any more.
func (r *Replica) covers() bool {
	return r.cfg.Design != ResetRecord || r.purge == nil && r.applied >= r.eng.Facts().Front
}

// cleanOrApply takes a step of the cleanup or materializes what may be, by turns.
// A step that failed waits on its own: what goes on goes on.
func (r *Replica) cleanOrApply() error {
	r.cleanTurn = !r.cleanTurn
	if ops := r.applied < r.committed && !r.blocked; ops && (r.cleanTurn || r.cleanLater > 0) {
		return r.again(&r.pause, r.applySome())
	}
	if r.cleanLater > 0 {
		return nil
	}
	r.out.Synced = true
	return r.again(&r.cleanLater, r.purgeStep())
}

// refusesDuringReset tells which mutations are not held while a purge is under way:
// polls with auto-commit, and changes of bookmarks that nobody waits for, which
// are unnumbered.
func (r *Replica) refusesDuringReset(req *op.Request) bool {
	if r.cfg.Design != ResetRecord || r.purge == nil {
		return false
	}
	switch req.Kind {
	case op.Poll:
		return req.AutoCommit && !r.cfg.Defects.Has(defect.CommitDuringCleanup)
	case op.StoreBookmark, op.DeleteBookmark:
		return req.Session == 0
	}
	return false
}

// errHeld: the op is a change of a bookmark and a cleanup is pending.
var errHeld = errors.New("held until the cleanup is over")

// heldInLog tells whether a committed op must wait for the cleanup.
func (r *Replica) heldInLog(n op.Number, req *op.Request) bool {
	return r.cleaning() && n > r.eng.Facts().Boundary &&
		(req.Kind == op.StoreBookmark || req.Kind == op.DeleteBookmark || req.Kind == op.Poll && !r.cfg.Defects.Has(defect.CommitDuringCleanup))
}

// filtered tells whether an op is at or below the floor.
func (r *Replica) filtered(n op.Number) bool {
	return r.cfg.Design == ResetRecord && n <= r.eng.Facts().Boundary
}

// applyFiltered executes an op in the era before the floor.
func (r *Replica) applyFiltered(e *raftlog.Entry, c *command, s *session) error {
	reply, eff, err := mutate(oldEra{r.eng.Facts()}, &c.Request, c.Time)
	forgotten := errors.Is(err, errForgotten)
	if err != nil && !forgotten {
		return err
	}
	if err := r.eng.Apply(e.Op, eff); err != nil {
		return err
	}
	r.applied = e.Op
	r.since++
	ev := observe.Event{Action: "Filtered", Op: e.Op, Kind: "other"}
	switch eff.Kind {
	case engine.Append:
		ev.Kind, ev.Count = "append", len(eff.Payloads)
	case engine.Store:
		ev.Kind, ev.Key, ev.Offset = "store", eff.Key.String(), eff.Position.Offset
	case engine.Delete:
		ev.Kind, ev.Key = "delete", eff.Key.String()
	case engine.Advance:
		ev.Kind, ev.Offset = "advance", eff.Start
	}
	r.emit(ev)
	r.checkServing()
	if forgotten {
		r.settle(c, op.Reply{Code: op.Transient}) // it changed nothing, and is not remembered
		return nil
	}
	if s != nil {
		s.Sequence, s.Reply, s.Used = c.Request.Sequence, reply, e.Op
	}
	r.finish(c, reply)
	return nil
}

// oldEra is the state before the floor: bounds and bookmarks, which every
// checkpoint keeps until the floor is passed, so that each replay answers alike.
type oldEra struct{ facts engine.Facts }

var errForgotten = errors.New("a time of the era before the floor")

// Facts of the era before the floor.
func (o oldEra) Facts() engine.Facts {
	f := o.facts
	f.Generation, f.Start, f.End = f.Previous.Generation, f.Previous.Start, f.Previous.End
	return f
}

// Bookmark of the era before the floor.
func (o oldEra) Bookmark(k op.Key) (op.Position, bool) {
	for _, b := range o.facts.Previous.Bookmarks {
		if b.Key == k {
			return b.Position, true
		}
	}
	return op.Position{}, false
}

// FirstAt would need the messages.
func (o oldEra) FirstAt(op.Timestamp) (op.Offset, op.Timestamp, bool, error) {
	if p := o.facts.Previous; p.Start < p.End {
		return 0, 0, false, errForgotten
	}
	return 0, 0, false, nil
}
