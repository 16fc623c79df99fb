package model

import (
	"context"
	"fmt"
	"slices"

	"github.com/anishathalye/porcupine"

	"purgelab/model/op"
)

// Problem is the search for a legal order of one partition's history, in the
// shape that porcupine takes: answered operations with their intervals, and
// for each unknown one a point, the instant of its call, at which it joins
// what is pending in the state.
type Problem struct {
	Operations []porcupine.Operation

	sem         Semantics
	facts       *facts
	unknowns    []unknown
	generations []op.Generation // seen, sorted
	initial     *State
	successions []*succession
	filling     *succession // the new incarnation that begins in this step
	world       int         // stands for a client that is none

	// tracked: the session table takes part, for the sessions in keep. It
	// couples everything with everything, so bookmarks are not split off.
	tracked bool
	keep    map[op.Session]bool

	carried *configurations // over the latest cut; nil: there was none
	walked  int64           // steps up to there

	ctx       context.Context
	limits    Limits
	steps     int64
	look      int64  // at how many steps the context is asked next
	bytes     int64  // kept by the search
	over      string // why it must end; empty: it need not
	truncated string
}

// item is the input of one operation of the search.
type item struct {
	op        *Operation
	unknown   int // index of the unknown operation that becomes pending, or -1
	footprint footprint
	key       op.Key // of the bookmark that it reads or changes, if keyed
	keyed     bool
	choice    Choice
	gen       op.Generation // that the answer reveals, if revealed
	revealed  bool
	// incarnation in which the answer was given; 0: the history does not say.
	incarnation op.Incarnation
	shadow      int32 // the operation as one that may happen again; -1: it may not
	// end: in its generation x finds the end there, or does not get its
	// answer; if bounded.
	end     op.Position
	bounded bool
	wrong   string // no state explains this answer
}

// Prepare makes the search for a history of one partition. No two of the
// calls and returns are at the same time.
func Prepare(sem Semantics, ops []Operation, limits Limits) *Problem {
	first, _ := born(ops)
	p := &Problem{sem: sem, facts: newFacts(ops), initial: create(first), limits: limits}
	ops = known(ops)
	ops = p.useSessions(ops)
	for i := range ops {
		p.facts.learn(&ops[i])
		p.world = max(p.world, ops[i].Client+1)
	}
	if !p.facts.bare {
		settled := resolve(ops)
		for i := range ops {
			if ops[i].Reply == nil && settled[i].Reply != nil {
				p.facts.learn(&settled[i])
			}
		}
		ops = settled
	}
	p.succeeds(ops)
	if len(p.successions) == 0 {
		ops = keepPromises(ops)
	}
	for g := range p.facts.seen {
		p.generations = append(p.generations, g)
	}
	slices.Sort(p.generations)
	removals, read := removalsOf(ops), readPayloads(ops)
	for i := range ops {
		if ops[i].Reply == nil {
			p.addUnknown(&ops[i], read)
			continue
		}
		if settledApart(ops, i) || p.survives(&ops[i]) {
			first := ops[i]
			first.Reply = nil
			p.addUnknown(&first, read)
			p.addAnswered(&ops[i], removals).bounded = false
			continue
		}
		p.addAnswered(&ops[i], removals)
	}
	p.addAgain(read)
	return p
}

// known leaves out new incarnations of which the history does not know with what
// they began: nobody saw one of them.
func known(ops []Operation) []Operation {
	return slices.DeleteFunc(slices.Clone(ops), func(o Operation) bool { return o.Request.Kind == op.NewIncarnation && o.Reply == nil })
}

// born is the incarnation with which a history begins: the one before its first
// new one; later: it has new ones. Without any, every position in an answer names it, and every request that was
// answered as one that means it.
func born(ops []Operation) (i op.Incarnation, later bool) {
	i = 1
	for n := range ops {
		if ops[n].Request.Kind == op.NewIncarnation {
			if later = true; ops[n].Reply != nil {
				return ops[n].Reply.Agreed.Incarnation, true
			}
		}
		for _, a := range [2]*op.Reply{ops[n].Reply, ops[n].Promise} {
			if a != nil {
				i = max(i, a.Position.Incarnation)
			}
		}
		if r := ops[n].Reply; r != nil && r.Code != op.StaleIncarnation {
			i = max(i, ops[n].Request.Incarnation)
		}
	}
	return i, later
}

// settledApart tells whether a purge may have been settled at one instant of its
// call and answered at another, in a way that somebody saw. The reconciler may
// have found its expectation wrong, which settles lower intents as mismatched
// too; then a higher purge came, and the caller, who asks only now, is told ok,
// since every intent at or below the generation is. Such a purge is two
// operations: one of unknown outcome, and the answer.
func settledApart(ops []Operation, i int) bool {
	o := &ops[i]
	if o.Request.Kind != op.Purge || o.Request.Expected == nil || o.Request.Intent == 0 || o.Reply.Code != op.OK {
		return false
	}
	for j := range ops {
		low := &ops[j]
		if low.Request.Kind == op.Purge && low.Reply != nil && low.Reply.Code == op.Mismatch && low.Request.Intent < o.Request.Intent &&
			low.Call < o.Return && o.Call < low.Return {
			return true
		}
	}
	return false
}

func (p *Problem) addUnknown(o *Operation, read map[op.Payload]bool) {
	r := o.Request
	if !r.Mutates() || r.Kind == op.NewIncarnation || p.sem.Malformed(r) || r.Kind == op.Register && p.sem.Sessions == 0 {
		return // nobody will ever see that it happened
	}
	p.add(o, &item{unknown: len(p.unknowns)}, o.Call)
	p.unknowns = append(p.unknowns, p.asUnknown(o, read))
}

func (p *Problem) asUnknown(o *Operation, read map[op.Payload]bool) unknown {
	r := *o.Request
	u := unknown{req: &r, line: o.Line, footprint: footprintOf(p.sem, &r), class: classOf(&r, read), incarnation: r.Incarnation}
	u.unread = r.Kind == op.Append && u.class != DescribeRequest(&r) && !p.tracked
	if r.Kind == op.Poll && r.Strategy == op.Next {
		u.own = op.Offset(r.Max)
	}
	u.key, u.keyed = keyOf(&r)
	u.keyed = u.keyed && !p.tracked
	r.Incarnation = 0
	return u
}

// addAgain makes unknown operations of those answered ones that may be somewhere
// else in the log of another replica, from which a new incarnation goes on: what
// was sent more than once, and purges, whose intents are proposed until settled.
func (p *Problem) addAgain(read map[op.Payload]bool) {
	for _, o := range p.Operations {
		x := o.Input.(*item)
		if x.unknown >= 0 || p.next(x.incarnation) == nil || !x.op.Request.Mutates() {
			continue
		}
		if x.op.Again || x.op.Request.Kind == op.Purge {
			x.shadow = int32(len(p.unknowns))
			p.unknowns = append(p.unknowns, p.asUnknown(x.op, read))
		}
	}
}

// survives tells whether a purge may have been carried out in one incarnation and
// answered in a later one.
func (p *Problem) survives(o *Operation) bool {
	return o.Request.Kind == op.Purge && slices.ContainsFunc(p.successions, func(s *succession) bool {
		return s.operation.Call < o.Return && o.Call < s.operation.Return
	})
}

func (p *Problem) addAnswered(o *Operation, removals removals) *item {
	r, a := o.Request, o.Reply
	x := &item{unknown: -1, shadow: -1, footprint: footprintOf(p.sem, r), choice: ChoiceOf(r, a)}
	if hasBounds(a.Code) {
		x.footprint.reads |= resStart | resEnd | resEra
	}
	x.gen, x.revealed = reveals(o)
	x.incarnation = answeredIn(o)
	x.end, x.bounded = endOf(o, x.revealed)
	if old := x.incarnation != 0 && x.incarnation != a.Position.Incarnation; a.Code == op.Gone && !old && !removals.within(o.Call, o.Return) {
		x.wrong = notRemoved
	}
	p.add(o, x, o.Return)
	return x
}

func (p *Problem) add(o *Operation, x *item, end int64) {
	x.op = o
	if i := slices.IndexFunc(p.successions, func(s *succession) bool { return s.bounds == o.Reply }); i >= 0 {
		p.successions[i].item = x
	}
	x.key, x.keyed = keyOf(o.Request)
	x.keyed = x.keyed && !p.tracked
	client := o.Client
	if client < 0 {
		client = p.world
	}
	p.Operations = append(p.Operations, porcupine.Operation{
		ClientId: client, Input: x, Output: o.Reply, Call: o.Call, Return: end, Metadata: o.Line,
	})
}

// endOf tells where the partition ended when the operation took effect, if its
// answer, which reveals the generation, shows that.
func endOf(o *Operation, revealed bool) (op.Position, bool) {
	r, a := o.Request, o.Reply
	switch {
	case r.Kind == op.Purge && a.Code == op.OK && r.Expected != nil && r.Expected.Generation < a.Position.Generation:
		return *r.Expected, true
	case !revealed:
		return op.Position{}, false
	case hasBounds(a.Code) || r.Kind == op.NewIncarnation:
		return at(a.Position, a.End), true
	case a.Code == op.Gone:
		return op.Position{}, false
	}
	switch r.Kind {
	case op.Append:
		return a.Position, true
	case op.Poll:
		return at(a.Position, a.Position.Offset+op.Offset(a.Count)), a.Count < r.Max
	case op.ListOffsets:
		return a.Position, r.Which == op.LatestOffset
	case op.DeleteRecords:
		return a.Position, r.At.Offset == -1
	}
	return op.Position{}, false
}

// answeredIn is the incarnation in which an operation was answered; 0: the answer
// does not show it. A repeat shows an older one.
func answeredIn(o *Operation) op.Incarnation {
	r, a := o.Request, o.Reply
	if r.Kind == op.Purge && a.Code == op.Mismatch {
		return 0 // as in Differs
	}
	positioned := hasBounds(a.Code)
	if a.Code == op.OK || a.Code == op.Gone {
		switch r.Kind {
		case op.NewIncarnation:
			return a.Agreed.Incarnation
		case op.Append, op.Poll, op.DeleteRecords, op.Purge:
			positioned = true
		case op.GetBookmark, op.ListOffsets:
			positioned = a.Found
		}
	}
	if positioned && a.Position.Incarnation != 0 && (r.Session == 0 || r.Kind == op.Purge || a.Code == op.StaleIncarnation) {
		return a.Position.Incarnation
	}
	return r.Incarnation
}

// keyOf tells which bookmark a request reads or changes, if any.
func keyOf(r *op.Request) (op.Key, bool) {
	switch r.Kind {
	case op.StoreBookmark, op.DeleteBookmark, op.GetBookmark:
		return r.Key, true
	case op.Poll:
		return r.Key, r.Strategy == op.Next || r.AutoCommit
	}
	return op.Key{}, false
}

// useSessions takes sessions out of a history in which they cannot matter.
func (p *Problem) useSessions(ops []Operation) []Operation {
	t := tableOf(p.sem, ops)
	p.keep, p.tracked = t.keep, len(t.keep) > 0
	p.initial = t.opened(p.initial)
	out := slices.Clone(ops)
	for i := range out {
		if r := out[i].Request; t.without(r) {
			c := *r
			c.Session, c.Sequence = 0, 0
			out[i].Request = &c
		}
	}
	return out
}

// Interrupted says why a search that found no order proves nothing; empty: it
// does prove that there is none.
func (p *Problem) Interrupted() string {
	switch {
	case p.ctx.Err() != nil:
		return p.ctx.Err().Error()
	case p.over != "":
		return p.over
	case p.exhausted():
		return fmt.Sprintf("no verdict after %d steps of the model", p.limits.Steps)
	}
	return p.truncated
}

// Steps counts the steps of the model so far.
func (p *Problem) Steps() int64 { return p.walked + p.steps }

// Unknowns counts the unknown outcomes that the history itself did not settle.
func (p *Problem) Unknowns() int { return len(p.unknowns) }
