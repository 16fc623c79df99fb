package history

import (
	"fmt"

	"purgelab/model/op"
)

// Recorder collects the events of a run in the order in which they happen. It
// gives every event its own time: the clock's milliseconds times 1000, or one
// more than the event before if that is later. It is not safe for concurrent
// use; a simulator has one thread.
type Recorder struct {
	events []Event
	last   int64
	open   map[int]open
}

type open struct {
	kind      op.Kind
	partition op.Partition
	again     bool
}

// Invoke records that a process asks. The request must not change afterwards.
// A process that already waits for an answer panics: the caller is broken.
func (r *Recorder) Invoke(process int, now int64, req *op.Request) {
	if o, busy := r.open[process]; busy {
		panic(fmt.Sprintf("history: process %d invokes %s while its %s has no end", process, req.Kind, o.kind))
	}
	if r.open == nil {
		r.open = map[int]open{}
	}
	r.open[process] = open{kind: req.Kind, partition: req.Partition}
	r.add(now, Event{Process: process, Type: Invoke, Kind: req.Kind, Partition: req.Partition, Request: req})
}

// Again records that the process sent another copy of its request.
func (r *Recorder) Again(process int) {
	if o, ok := r.open[process]; ok {
		o.again = true
		r.open[process] = o
	}
}

// Answer records a reply. One that only promises that nothing happened
// (Transient, NotLeader, …) becomes a fail, every other an ok: use it only if
// no earlier attempt of the same request can have taken effect.
func (r *Recorder) Answer(process int, now int64, reply *op.Reply) {
	e := Event{Process: process, Type: OK, Reply: reply}
	if !Judged(reply.Code) {
		e.Type = Fail
	}
	r.end(now, e)
}

// Accept records that the intent of a purge is committed, and what the purge will
// be answered when it takes effect, at any later time.
func (r *Recorder) Accept(process int, now int64, reply *op.Reply) {
	r.end(now, Event{Process: process, Type: OK, Reply: reply, Accepted: true, Intent: reply.Position.Generation})
}

// Fail records that the request had no effect and never will.
func (r *Recorder) Fail(process int, now int64, note string) {
	r.end(now, Event{Process: process, Type: Fail, Note: note})
}

// Unknown records that the client gave up: nobody knows the outcome. intent is
// that of a purge, if the client learned it; else 0.
func (r *Recorder) Unknown(process int, now int64, intent op.Generation, note string) {
	r.end(now, Event{Process: process, Type: Info, Intent: intent, Note: note})
}

// Last is the place of the event recorded last among Events.
func (r *Recorder) Last() int { return len(r.events) - 1 }

// Settle adds what became known only when everything was over about a purge that
// was given up at the event of that place: the intent that it had got; or, with
// 0, that it never got one and so had no effect.
func (r *Recorder) Settle(place int, intent op.Generation) {
	e := &r.events[place]
	if e.Type != Info || e.Kind != op.Purge {
		panic(fmt.Sprintf("history: event %d is the %s of a %s, not the info of a purge", place, e.Type, e.Kind))
	}
	if e.Intent = intent; intent == 0 {
		e.Type = Fail
	}
}

// Events returns what was recorded; the recorder keeps appending to it.
func (r *Recorder) Events() []Event { return r.events }

// Ops pairs the events recorded so far.
func (r *Recorder) Ops() ([]Op, error) { return Pair("history", r.events) }

func (r *Recorder) end(now int64, e Event) {
	o, ok := r.open[e.Process]
	if !ok {
		panic(fmt.Sprintf("history: process %d ends what it did not invoke", e.Process))
	}
	delete(r.open, e.Process)
	e.Kind, e.Partition, e.Again = o.kind, o.partition, o.again
	r.add(now, e)
}

func (r *Recorder) add(now int64, e Event) {
	r.last = max(r.last+1, now*1000)
	e.Time = r.last
	r.events = append(r.events, e)
}
