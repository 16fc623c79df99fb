package model

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"

	"purgelab/model/op"
)

// Problem is the search for a legal order of one partition's history, in the
// shape that porcupine takes. Answered operations are porcupine's; each
// unknown one becomes a point, the instant of its call, at which it joins the
// pending ones of the state. A state of the search is a set of
// configurations: a partition with what is still pending. Right before an
// answered operation any sequence of pending ones may take effect, as far as
// it makes a difference:
//
//   - an unknown operation that could as well wait until after the answered
//     one waits;
//   - one whose effect the answered operation wipes out never happens;
//   - of two that commute the older goes first.
//
// So a configuration branches only where an answer depends on it, and an
// unknown outcome costs nothing until then. Without that, every unknown
// operation doubles the search, and a history that is wrong gets no verdict.
type Problem struct {
	Operations []porcupine.Operation

	sem         Semantics
	facts       *facts
	unknowns    []unknown
	generations []op.Generation // seen, sorted
	tracked     bool            // the session table takes part
	keep        map[op.Session]bool
	initial     *State

	ctx       context.Context
	steps     int64
	maxSteps  int64
	truncated string
}

// item is the input of one operation of the search.
type item struct {
	op        *Operation
	unknown   int // index of the unknown operation that becomes pending, or -1
	footprint footprint
	choice    Choice
	gen       op.Generation // that the answer reveals, if revealed
	revealed  bool
	wrong     string // no state explains this answer
}

// configuration is one possible partition.
type configuration struct {
	state   *State
	pending []int32 // sorted; never modified in place
}

// configurations is a state of the search.
type configurations struct {
	list []configuration
	hash uint64
}

// maxDepth bounds how many unknown operations may take effect between two
// answered ones, maxConfigurations how many possibilities are kept. A search
// that meets a bound can no longer prove that a history is wrong.
const (
	maxDepth          = 5
	maxConfigurations = 2048
)

// Prepare makes the search for a history of one partition. No two of the
// calls and returns are at the same time. The search gives up after maxSteps
// steps of the model (0: never).
func Prepare(sem Semantics, ops []Operation, maxSteps int64) *Problem {
	p := &Problem{sem: sem, facts: newFacts(), initial: Init(), maxSteps: maxSteps}
	ops = p.useSessions(ops)
	for i := range ops {
		p.facts.learn(&ops[i])
	}
	if !p.facts.bare {
		ops = resolve(ops, p.facts)
		for i := range ops {
			p.facts.learn(&ops[i])
		}
	}
	for g := range p.facts.seen {
		p.generations = append(p.generations, g)
	}
	slices.Sort(p.generations)
	removals, read := removalsOf(ops), readPayloads(ops)
	for i := range ops {
		o := &ops[i]
		it := &item{op: o, unknown: -1, footprint: footprintOf(sem, o.Request)}
		if o.Reply == nil {
			if !o.Request.Mutates() || Malformed(o.Request) || o.Request.Kind == op.Register && sem.Sessions == 0 {
				continue // nobody will ever see that it happened
			}
			it.unknown = len(p.unknowns)
			u := unknown{req: o.Request, line: o.Line, client: o.Client, footprint: it.footprint}
			if o.Request.Kind == op.Poll && o.Request.Strategy == op.Next {
				u.own = op.Offset(o.Request.Max)
			}
			u.unread = o.Request.Kind == op.Append && !slices.ContainsFunc(o.Request.Payloads, func(m op.Payload) bool { return read[m] })
			p.unknowns = append(p.unknowns, u)
		} else {
			it.choice = ChoiceOf(o.Request, o.Reply)
			if hasBounds(o.Reply.Code) {
				it.footprint.reads |= resStart | resEnd | resEra
			}
			it.gen, it.revealed = reveals(o)
			if o.Reply.Code == op.Gone && !removals.within(o.Call, o.Return) {
				it.wrong = "gone, but no purge and no delete-records can have removed the range"
			}
		}
		end := o.Return
		if it.unknown >= 0 {
			end = o.Call
		}
		p.Operations = append(p.Operations, porcupine.Operation{
			ClientId: o.Client, Input: it, Output: o.Reply, Call: o.Call, Return: end, Metadata: o.Line,
		})
	}
	return p
}

// useSessions takes sessions out of a history in which they cannot matter:
// the table is unbounded and every session asks one thing at a time under
// rising numbers, and nothing more after an unknown outcome.
func (p *Problem) useSessions(ops []Operation) []Operation {
	type use struct {
		last  op.Sequence
		until int64
	}
	uses, opened := map[op.Session]use{}, map[op.Session]bool{}
	p.keep = map[op.Session]bool{}
	order := make([]*Operation, 0, len(ops))
	for i := range ops {
		order = append(order, &ops[i])
	}
	slices.SortStableFunc(order, func(a, b *Operation) int { return compare(a.Call, b.Call) })
	for _, o := range order {
		r := o.Request
		if r.Kind == op.Register && o.Reply != nil {
			opened[o.Reply.Session] = true
			uses[o.Reply.Session] = use{0, o.Return}
		}
		if !p.sessionUsed(r) {
			continue
		}
		u := uses[r.Session]
		clean := r.Sequence > u.last && o.Call >= u.until
		if o.Reply == nil {
			u.until = forever
		} else {
			u.until = o.Return
			clean = clean && o.Reply.Code != op.SessionExpired && o.Reply.Code != op.StaleSequence
		}
		u.last = max(u.last, r.Sequence)
		uses[r.Session] = u
		if !clean || p.sem.Sessions > 0 {
			p.keep[r.Session], p.tracked = true, true
		}
	}
	out := slices.Clone(ops)
	var early []op.Session // used but not opened in this history: they were open before
	for i := range out {
		r := out[i].Request
		if !p.sessionUsed(r) {
			continue
		}
		if !opened[r.Session] && p.keep[r.Session] && !slices.Contains(early, r.Session) && out[i].Reply != nil && out[i].Reply.Code != op.SessionExpired {
			early = append(early, r.Session)
		}
		if !p.keep[r.Session] {
			c := *r
			c.Session, c.Sequence = 0, 0
			out[i].Request = &c
		}
	}
	slices.Sort(early)
	if len(early) > 0 && p.sem.Sessions == 0 {
		s := *p.initial
		for _, id := range early {
			s.sessions = append(s.sessions, session{id: id})
		}
		p.initial = &s
	}
	return out
}

func (p *Problem) sessionUsed(r *op.Request) bool {
	return r.Session != 0 && r.Sequence != 0 && r.Mutates() && (r.Kind != op.Purge || p.sem.Numbering == Continue) && r.Kind != op.Register
}

func compare(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// Model is the porcupine model of the problem. The search ends early, with a
// result that means nothing, when the context does; see Interrupted.
func (p *Problem) Model(ctx context.Context) porcupine.Model {
	p.ctx, p.steps, p.truncated = ctx, 0, ""
	return porcupine.Model{
		Init: func() interface{} {
			return &configurations{list: []configuration{{state: p.initial}}}
		},
		StepContext: func(ctx context.Context, state, input, _ interface{}) (bool, interface{}) {
			next := p.step(ctx, state.(*configurations), input.(*item))
			return next != nil, next
		},
		Equal: func(a, b interface{}) bool { return a.(*configurations).equal(b.(*configurations)) },
		Hash:  func(s interface{}) uint64 { return s.(*configurations).hash },
		DescribeOperation: func(input, _ interface{}) string {
			o := input.(*item).op
			return Describe(o.Request, o.Reply)
		},
		DescribeState: func(s interface{}) string { return s.(*configurations).describe() },
		DescribeOperationMetadata: func(m interface{}) string {
			return fmt.Sprintf("line %d", m)
		},
	}
}

// Interrupted says why a search that found no order proves nothing; empty: it
// does prove that there is none.
func (p *Problem) Interrupted() string {
	switch {
	case p.ctx.Err() != nil:
		return p.ctx.Err().Error()
	case p.maxSteps > 0 && p.steps > p.maxSteps:
		return fmt.Sprintf("no verdict after %d steps", p.maxSteps)
	}
	return p.truncated
}

// Steps counts the steps of the model so far.
func (p *Problem) Steps() int64 { return p.steps }

// Unknowns counts the unknown outcomes that the history itself did not settle.
func (p *Problem) Unknowns() int { return len(p.unknowns) }

// step executes one answered operation on every configuration.
func (p *Problem) step(ctx context.Context, set *configurations, x *item) *configurations {
	if ctx.Err() != nil || p.ctx.Err() != nil || p.maxSteps > 0 && p.steps > p.maxSteps {
		return nil
	}
	var out []configuration
	if x.unknown >= 0 {
		p.steps++
		for _, c := range set.list {
			pending := append(slices.Clone(c.pending), int32(x.unknown))
			slices.Sort(pending)
			out = append(out, configuration{c.state, pending})
		}
		return merge(out)
	}
	for _, c := range set.list {
		e := expansion{p: p, x: x, out: out}
		if len(c.pending) > 0 {
			e.relevant = p.relevant(c.pending, x.footprint)
		}
		e.explore(c, nil, -1, 0)
		out = e.out
	}
	if len(out) == 0 {
		return nil
	}
	next := merge(out)
	if len(next.list) > maxConfigurations {
		p.truncated = fmt.Sprintf("more than %d possible states", maxConfigurations)
		next = merge(next.list[:maxConfigurations])
	}
	return next
}

// accept executes x and tells whether the answer is the recorded one.
func (p *Problem) accept(s *State, x *item) (*State, bool) {
	p.steps++
	if x.wrong != "" || x.revealed && x.gen != s.generation && !p.facts.bare && x.op.Request.Kind != op.Purge {
		return nil, false
	}
	n, want := p.apply(s, x)
	return n, p.differs(x.op.Request, &want, x.op.Reply) == ""
}

func (p *Problem) apply(s *State, x *item) (*State, op.Reply) {
	n, want := p.sem.Step(s, x.op.Request, x.choice)
	if x.op.Request.Kind == op.Register && !p.keep[want.Session] {
		m := *s // the session cannot matter: see useSessions
		m.lastSession = n.lastSession
		n = &m
	}
	return n, want
}

// differs compares answers as far as the history is written out.
func (p *Problem) differs(r *op.Request, want, got *op.Reply) string {
	if p.facts.bare || p.facts.untimed {
		w := *want
		if p.facts.bare && got.Position.Incarnation == 0 {
			w.Position = op.Position{Offset: want.Position.Offset}
			if hasBounds(want.Code) || r.Kind == op.Purge && p.sem.Numbering == Restart {
				w.Position = got.Position // nothing to compare
			}
		}
		if p.facts.untimed {
			w.Timestamp = got.Timestamp
			w.Records = slices.Clone(want.Records)
			for i := range w.Records {
				w.Records[i].Timestamp = 0
			}
		}
		return Differs(r, &w, got)
	}
	return Differs(r, want, got)
}

// expansion finds what x can lead to from one configuration.
type expansion struct {
	p        *Problem
	x        *item
	relevant []int32
	out      []configuration
}

// explore tries x on c, then every relevant pending operation first. before
// is the state before the unknown operation last, which led to c; nil at the
// root.
func (e *expansion) explore(c configuration, before *State, last int32, depth int) {
	p := e.p
	if next, ok := p.accept(c.state, e.x); ok && !(before != nil && e.couldWait(before, last, next)) {
		e.out = append(e.out, configuration{next, c.pending})
	}
	for _, u := range e.relevant {
		i, found := slices.BinarySearch(c.pending, u)
		if !found || p.alike(c.pending, i) {
			continue
		}
		for _, s := range p.effects(c.state, &p.unknowns[u]) {
			p.steps++
			if s.Equal(c.state) || e.dead(s) || before != nil && u < last && e.commute(before, u, last, s) {
				continue
			}
			if depth == maxDepth {
				p.truncated = fmt.Sprintf("more than %d unknown operations between two answers", maxDepth)
				return
			}
			rest := slices.Delete(slices.Clone(c.pending), i, i+1)
			e.explore(configuration{s, rest}, c.state, u, depth+1)
		}
	}
}

// dead tells that x can no longer be explained: generations and, within one,
// ends never fall.
func (e *expansion) dead(s *State) bool {
	x := e.x
	if !x.revealed || e.p.facts.bare {
		return false
	}
	if s.generation != x.gen {
		return s.generation > x.gen
	}
	a := x.op.Reply
	switch {
	case hasBounds(a.Code):
		return s.End() > a.End
	case x.op.Request.Kind == op.Append:
		return s.End() > a.Position.Offset
	}
	return false
}

// couldWait tells whether the unknown operation last, applied to before, may
// as well take effect after x, or never.
func (e *expansion) couldWait(before *State, last int32, next *State) bool {
	without, ok := e.p.accept(before, e.x)
	if !ok {
		return false
	}
	if without.Equal(next) {
		return true
	}
	for _, s := range e.p.effects(without, &e.p.unknowns[last]) {
		if s.Equal(next) {
			return true
		}
	}
	return false
}

// commute tells whether u before last leads from before to s too.
func (e *expansion) commute(before *State, u, last int32, s *State) bool {
	for _, a := range e.p.effects(before, &e.p.unknowns[u]) {
		for _, b := range e.p.effects(a, &e.p.unknowns[last]) {
			if b.Equal(s) {
				return true
			}
		}
	}
	return false
}

// merge drops configurations that another one can do everything of: equal
// state, and at least as much pending.
func merge(list []configuration) *configurations {
	out := list[:0:0]
next:
	for i, c := range list {
		for j, d := range list {
			if i == j || len(c.pending) > len(d.pending) || len(c.pending) == len(d.pending) && i < j {
				continue
			}
			if subset(c.pending, d.pending) && c.state.Equal(d.state) {
				continue next
			}
		}
		out = append(out, c)
	}
	var h uint64
	for _, c := range out {
		k := c.state.Hash()
		for _, u := range c.pending {
			k = mix(k, uint64(u))
		}
		h ^= k
	}
	return &configurations{out, h}
}

// subset tells whether every element of sorted a is in sorted b.
func subset(a, b []int32) bool {
	j := 0
	for _, x := range a {
		for j < len(b) && b[j] < x {
			j++
		}
		if j == len(b) || b[j] != x {
			return false
		}
	}
	return true
}

func (s *configurations) equal(o *configurations) bool {
	if s == o {
		return true
	}
	if s.hash != o.hash || len(s.list) != len(o.list) {
		return false
	}
	for _, c := range s.list {
		if !slices.ContainsFunc(o.list, func(d configuration) bool {
			return slices.Equal(c.pending, d.pending) && c.state.Equal(d.state)
		}) {
			return false
		}
	}
	return true
}

func (s *configurations) describe() string {
	var b strings.Builder
	for i, c := range s.list {
		if i > 0 {
			b.WriteString(" or ")
		}
		if i == 3 {
			fmt.Fprintf(&b, "%d more", len(s.list)-i)
			break
		}
		b.WriteString(c.state.String())
		if len(c.pending) > 0 {
			fmt.Fprintf(&b, " (%d pending)", len(c.pending))
		}
	}
	return b.String()
}

// removals are the intervals in which a purge or a delete-records may have
// taken effect.
type removals []*Operation

func removalsOf(ops []Operation) removals {
	var out removals
	for i := range ops {
		o := &ops[i]
		if k := o.Request.Kind; (k == op.Purge || k == op.DeleteRecords) && (o.Reply == nil || o.Reply.Code == op.OK) {
			out = append(out, o)
		}
	}
	return out
}

func (r removals) within(call, ret int64) bool {
	return slices.ContainsFunc(r, func(o *Operation) bool {
		return o.Call < ret && (o.Reply == nil || o.Return > call)
	})
}
