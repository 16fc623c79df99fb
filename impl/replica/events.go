package replica

import (
	"errors"

	"purgelab/impl/engine"
	"purgelab/impl/observe"
	"purgelab/impl/raftlog"
	"purgelab/impl/record"
	"purgelab/model/op"
)

// This file holds what a replica tells of itself besides its ops and the durable
// steps of its purges.

// booted reports what the boot found, and the steps of a purge that it finished.
func (r *Replica) booted() {
	if r.cfg.Sink == nil {
		return
	}
	f, found := r.eng.Facts(), r.rep.Engine
	e := observe.Event{Action: "Boot", Kind: found.Marker.State.String(), Op: f.Boundary, Count: len(r.eng.Bookmarks()), Front: f.Front}
	if f.Pending != nil {
		e.Op = f.Pending.Boundary
	}
	if _, moved := homeNumber(r.cfg.member.Home); moved {
		e.Key = r.cfg.member.Home
	}
	switch r.cfg.Design {
	case Advance:
		e.Offset = found.Segments.Lowest
	case ResetRecord:
		e.Last, e.Resetting = r.jr.Last(), f.Resetting
	}
	r.emit(e)
	for _, did := range found.Did {
		r.emit(observe.Event{Action: did, Op: f.Boundary})
	}
}

// journaled reports what came into the journal, where it matters to a purge: in
// the design reset-record its end is the floor.
func (r *Replica) journaled(entries []raftlog.Entry) {
	if r.cfg.Design == ResetRecord && len(entries) > 0 {
		r.emit(observe.Event{Action: "Journal", Op: entries[0].Op, Last: r.jr.Last()})
	}
}

// failed reports a step of a purge of the design reset-record that will be taken
// again.
func (r *Replica) failed(err error) {
	switch {
	case !retryable(err):
	case errors.Is(err, record.ErrNotSynced):
		r.emit(observe.Event{Action: "RecordNotSynced", Generation: r.purge.cmd.Request.Intent})
	case errors.Is(err, engine.ErrNotSynced):
		r.emit(observe.Event{Action: "SyncFails"})
	default:
		r.emit(observe.Event{Action: "StepFails"})
	}
}

// retried reports that a purge whose messages are reset is taken up again.
func (r *Replica) retried() {
	if f := r.eng.Facts(); f.Pending != nil && f.Generation == r.purge.cmd.Request.Intent {
		r.emit(observe.Event{Action: "RetryPurge"})
	}
}

// asked tells what a request asks for, before any replica decided its effect.
func asked(q *op.Request) observe.Event {
	ev := observe.Event{Kind: "other", Asks: q.Kind}
	switch q.Kind {
	case op.Append:
		ev.Kind, ev.Count = "append", len(q.Payloads)
	case op.StoreBookmark:
		ev.Kind, ev.Key, ev.Offset = "store", q.Key.String(), q.At.Offset
	case op.DeleteBookmark:
		ev.Kind, ev.Key = "delete", q.Key.String()
	case op.DeleteRecords:
		ev.Kind, ev.Offset = "advance", q.At.Offset
	case op.Purge:
		if ev.Kind, ev.Generation = "purge", q.Intent; q.Intent == 0 {
			ev.Kind, ev.Offset = "advance", -1 // a deletion of all records
		}
	}
	return ev
}
