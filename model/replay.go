package model

import (
	"fmt"

	"purgelab/model/op"
)

// Placed is an operation in an order. It is small, since an order has as many as the
// history.
type Placed struct {
	// Open is what the contract left open when an operation of unknown outcome took
	// effect: of an append its timestamp, of a purge its generation. Of a cut it is how
	// many places are kept.
	Open  int64
	Index int32 // in the history
	As    As
}

// As tells what a place in an order holds.
type As uint8

const (
	// Itself is the operation, with its answer.
	Itself As = iota
	// Again is another copy of its request, which took effect and of which nobody got
	// the answer.
	Again
	// Cut belongs to a new incarnation: the partition is what it was after the first
	// places of the order. Then comes what else is in the log of the replica from which
	// the incarnation begins, then the new incarnation itself.
	Cut
)

// choice is what was open.
func (x *Placed) choice() Choice {
	return Choice{Timestamp: op.Timestamp(x.Open), Generation: op.Generation(x.Open)}
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
	p := NewProof(sem, ops)
	if p.begins != nil {
		p.begins.only(order)
	}
	for _, x := range order {
		if err := p.Place(x); err != nil {
			return err
		}
	}
	return p.Complete()
}

// Proof is an order that is replayed place by place.
type Proof struct {
	sem           Semantics
	ops           []Operation
	state         *State
	table         table
	removals      removals
	bare, untimed bool
	places        int
	latest        int64 // call of those placed so far
	placed        []bool
	begins        *begins // nil: there are no new incarnations
}

// NewProof begins with the partition as it was created.
func NewProof(sem Semantics, ops []Operation) *Proof {
	first, later := born(ops)
	p := &Proof{sem: sem, ops: ops, state: create(first), table: tableOf(sem, ops), removals: removalsOf(ops), placed: make([]bool, len(ops))}
	p.bare, p.untimed = withheld(ops)
	p.state = p.table.opened(p.state)
	p.state.alone = !later
	if later {
		p.begins = newBegins(ops)
		p.begins.keep(p, nil)
	}
	return p
}

// Places counts them.
func (p *Proof) Places() int { return p.places }

// Place adds a place. After an error, which is an *OrderError, the proof is of no use.
func (p *Proof) Place(x Placed) error {
	if x.Index < 0 || int(x.Index) >= len(p.ops) {
		return &OrderError{p.places, 0, fmt.Sprintf("index: want 0 to %d, got %d", len(p.ops)-1, x.Index)}
	}
	o := &p.ops[x.Index]
	reason := ""
	switch {
	case x.As != Itself && p.begins == nil:
		reason = "there is no new incarnation, so nothing takes effect twice"
	case x.As == Cut:
		reason = p.cut(o, x.Open)
	case x.As == Again:
		reason = p.again(x.Index)
	default:
		reason = p.itself(x.Index)
	}
	if reason == "" && x.As != Cut {
		p.latest = max(p.latest, o.Call)
		before := p.state
		if reason = p.step(o, x); reason == "" && p.begins != nil {
			p.begins.placed(p, x, before)
		}
	}
	if reason != "" {
		return &OrderError{p.places, o.Line, reason}
	}
	p.places++
	if p.begins != nil {
		p.begins.keep(p, o)
	}
	return nil
}

// itself tells why an operation may not be placed; empty: it may.
func (p *Proof) itself(i int32) string {
	o := &p.ops[i]
	switch {
	case p.placed[i]:
		return "it is in the order twice"
	case o.Reply == nil && o.Request.Kind == op.NewIncarnation:
		return "nobody knows with what this incarnation began"
	case o.Reply != nil && o.Return < p.latest:
		return fmt.Sprintf("it returned at %d, before one that precedes it was called, at %d", o.Return, p.latest)
	case p.begins != nil && p.begins.filling != nil && p.begins.filling != o && o.Reply != nil:
		return "it has an answer, and follows a cut"
	}
	p.placed[i] = true
	if p.begins != nil && p.begins.filling == o {
		return p.begins.disagrees(p.state, o)
	}
	return ""
}

// Complete tells whether all that must be in the order is there.
func (p *Proof) Complete() error {
	for i := range p.ops {
		if !p.placed[i] && p.answer(&p.ops[i]) != nil {
			return &OrderError{p.places, p.ops[i].Line, "it is not in the order"}
		}
	}
	return nil
}

// answer is what an operation must be answered in any order; nil: nobody knows. In a
// history with new incarnations a promise may be kept, be lost, and be kept again.
func (p *Proof) answer(o *Operation) *op.Reply {
	if o.Reply == nil && p.begins == nil {
		return o.Promise
	}
	return o.Reply
}

// step executes one operation; the reason is empty if its answer is right.
func (p *Proof) step(o *Operation, x Placed) (reason string) {
	r, got, c := o.Request, p.answer(o), x.choice()
	if x.As == Again {
		got = nil
	}
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
