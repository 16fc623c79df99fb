package model

import (
	"fmt"

	"purgelab/model/op"
)

// Placed is an operation in an order: its index in the history, and, if its outcome is
// unknown, what the contract left open when it took effect: of an append its timestamp,
// of a purge its generation. It is small, since an order has as many as the history.
type Placed struct {
	Timestamp  op.Timestamp
	Index      int32
	Generation op.Generation
}

// OrderError says why an order of a history proves nothing.
type OrderError struct {
	At     int // place in the order, from 0; its length, if an operation is lacking
	Line   int // of the operation there, or of the one that is lacking
	Reason string
}

func (e *OrderError) Error() string {
	return fmt.Sprintf("place %d, line %d: %s", e.At, e.Line, e.Reason)
}

// Replay proves that a history of one partition is linearizable: in the given order,
// which respects real time, the model gives every answer of the history. Operations of
// unknown outcome may be left out; of the others none may. A nil error is a proof, an
// *OrderError is none of anything: another order may do. It costs one step of the model
// for an operation, and shares no code with those who look for orders.
func Replay(sem Semantics, ops []Operation, order []Placed) error {
	first, later := born(ops)
	p := &replay{sem: sem, ops: ops, state: create(first), succession: later, table: tableOf(sem, ops), removals: removalsOf(ops), placed: make([]bool, len(ops))}
	p.bare, p.untimed = withheld(ops)
	p.state = p.table.opened(p.state)
	p.state.alone = true
	latest := int64(0) // call of those placed so far
	for at, x := range order {
		if x.Index < 0 || int(x.Index) >= len(ops) {
			return &OrderError{at, 0, fmt.Sprintf("index: want 0 to %d, got %d", len(ops)-1, x.Index)}
		}
		o := &ops[x.Index]
		switch {
		case p.placed[x.Index]:
			return &OrderError{at, o.Line, "it is in the order twice"}
		case o.Reply == nil && o.Request.Kind == op.NewIncarnation:
			return &OrderError{at, o.Line, "nobody knows with what this incarnation began"}
		case o.Reply != nil && o.Return < latest:
			return &OrderError{at, o.Line, fmt.Sprintf("it returned at %d, before one that precedes it was called, at %d", o.Return, latest)}
		}
		latest, p.placed[x.Index] = max(latest, o.Call), true
		if reason := p.step(o, Choice{Timestamp: x.Timestamp, Generation: x.Generation}); reason != "" {
			return &OrderError{at, o.Line, reason}
		}
	}
	for i := range ops {
		if !p.placed[i] && p.answer(&ops[i]) != nil {
			return &OrderError{len(order), ops[i].Line, "it is not in the order"}
		}
	}
	return nil
}

type replay struct {
	sem           Semantics
	ops           []Operation
	state         *State
	table         table
	removals      removals
	bare, untimed bool
	succession    bool
	placed        []bool
}

// answer is what an operation must be answered in any order; nil: nobody knows. In a
// history with new incarnations a promise may be kept, be lost, and be kept again.
func (p *replay) answer(o *Operation) *op.Reply {
	if o.Reply == nil && !p.succession {
		return o.Promise
	}
	return o.Reply
}

// step executes one operation; the reason is empty if its answer is right.
func (p *replay) step(o *Operation, c Choice) (reason string) {
	r, got := o.Request, p.answer(o)
	if p.table.without(r) {
		x := *r
		x.Session, x.Sequence = 0, 0
		r = &x
	}
	if got != nil {
		c = ChoiceOf(r, got)
		if got.Code == op.Gone && !p.removals.within(o.Call, o.Return) {
			return notRemoved
		}
	}
	sessions := p.state.sessions
	var want op.Reply
	p.state, want = p.sem.Step(p.state, r, c)
	if r.Kind == op.Register && p.sem.Sessions == 0 && !p.table.keep[want.Session] {
		p.state.sessions = sessions // this one cannot matter
	}
	if got == nil {
		return ""
	}
	return differs(p.sem, p.bare, p.untimed, r, &want, got)
}
