package model

import (
	"context"
	"fmt"
	"html"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"

	"purgelab/model/op"
)

// A state of the search is a set of configurations: all that the partition may
// look like after the answered operations so far, in the order chosen by
// porcupine. Right before an answered operation any sequence of pending
// unknown ones may take effect, as far as it makes a difference:
//
//   - an unknown operation that could as well wait until after the answered
//     one waits;
//   - one whose effect the answered operation wipes out never happens;
//   - of two that commute the older one goes first.
//
// So a configuration branches only where an answer depends on it, and an
// unknown outcome costs nothing until then. As operations of porcupine each
// would double the search, and a history that is wrong would get no verdict.
type configurations struct {
	list []configuration
	hash uint64
}

// configuration is one possible partition. Bookmarks are split off: whether
// an unknown store of one consumer took effect says nothing about another's,
// so possible bookmarks are kept per key, and not multiplied.
type configuration struct {
	core    *State  // without bookmarks, unless sessions are tracked
	pending []int32 // unknown operations on the core; sorted, never modified in place
	keys    []keyed // sorted by key, never modified in place
	trail   *trail  // from what the next incarnation may go on; nil: there is none
}

// maxDepth bounds how many unknown operations may take effect between two
// answered ones, maxConfigurations how many possibilities are kept, maxOutcomes
// how many there may be of one operation before equal ones are merged. A search
// that meets a bound can no longer prove that a history is wrong.
const (
	maxDepth          = 10
	maxConfigurations = 1024
	maxOutcomes       = 8 * maxConfigurations
)

// Model is the porcupine model of the problem. When a context ends or the
// steps are used up it ends early, and says no; see Interrupted.
func (p *Problem) Model(ctx context.Context) porcupine.Model {
	p.reset(ctx)
	return porcupine.Model{
		Init: func() interface{} { return p.begin() },
		StepContext: func(ctx context.Context, state, input, _ interface{}) (bool, interface{}) {
			if ctx.Err() != nil {
				return false, nil
			}
			next := p.step(state.(*configurations), input.(*item))
			return next != nil, next
		},
		Equal: func(a, b interface{}) bool { return a.(*configurations).equal(b.(*configurations)) },
		Hash:  func(s interface{}) uint64 { return s.(*configurations).hash },
		DescribeOperation: func(input, _ interface{}) string {
			o := input.(*item).op
			return Describe(o.Request, o.Reply)
		},
		// The page shows states as HTML, and they hold payloads.
		DescribeState:             func(s interface{}) string { return html.EscapeString(s.(*configurations).String()) },
		DescribeOperationMetadata: func(m interface{}) string { return fmt.Sprintf("line %d", m) },
	}
}

// reset begins to count anew what is limited.
func (p *Problem) reset(ctx context.Context) {
	p.ctx, p.steps, p.look, p.bytes, p.over, p.truncated = ctx, 0, 0, 0, "", ""
}

// begin is the state in which the operations begin.
func (p *Problem) begin() *configurations {
	if p.carried != nil {
		return p.carried
	}
	return &configurations{list: []configuration{p.leave(configuration{core: p.initial}, op.NewIncarnation, -1)}}
}

// step executes one operation on every configuration; nil: on none it fits.
func (p *Problem) step(set *configurations, x *item) *configurations {
	p.steps++
	e := expansion{p: p, x: x}
	for _, c := range set.list {
		if p.exhausted() {
			return nil
		}
		if x.unknown >= 0 {
			e.out = append(e.out, c.add(int32(x.unknown), &p.unknowns[x.unknown]))
			continue
		}
		if x.op.Request.Kind == op.NewIncarnation {
			e.succeed(c)
			continue
		}
		e.relevant = nil
		if len(c.pending) > 0 {
			e.relevant = p.relevantCore(c, x.footprint)
		}
		e.explore(c, nil, -1, 0)
	}
	if len(e.out) == 0 {
		return nil
	}
	next := merge(e.out)
	if len(next.list) > maxConfigurations {
		p.truncated = fmt.Sprintf("more than %d possible states", maxConfigurations)
		next = merge(next.list[:maxConfigurations])
	}
	p.keeps(next)
	return next
}

// add makes an unknown operation pending.
func (c configuration) add(u int32, x *unknown) configuration {
	c.trail = c.trail.add(u, x)
	if !x.keyed {
		c.pending = insert(c.pending, u)
		return c
	}
	k := c.key(x.key)
	alts := slices.Clone(k.alts)
	for i := range alts {
		alts[i].pending = insert(alts[i].pending, u)
	}
	return c.with(keyed{x.key, alts})
}

// expansion finds what x can lead to from one configuration.
type expansion struct {
	p        *Problem
	x        *item
	relevant []int32 // pending operations on the core that matter to x
	out      []configuration
}

// explore tries x on c, then every relevant pending operation first. before
// is the configuration from which the unknown operation last led to c; nil at
// the root.
func (e *expansion) explore(c configuration, before *configuration, last int32, depth int) {
	p := e.p
	if x := e.x; x.incarnation != 0 && x.incarnation != c.core.incarnation {
		return // no unknown operation changes that
	}
	if len(e.out) > maxOutcomes {
		p.truncated = fmt.Sprintf("more than %d outcomes of one answer", maxOutcomes)
		return
	}
	if next, ok := e.try(c); ok && !(before != nil && e.couldWait(before, last, next)) {
		e.out = append(e.out, next)
	}
	for _, u := range e.relevant {
		i, found := slices.BinarySearch(c.pending, u)
		if !found || p.alike(c.pending, i) || e.pointless(&p.unknowns[u], c) {
			continue
		}
		if p.exhausted() {
			return
		}
		for _, s := range p.effects(c.core, &p.unknowns[u], e.now()) {
			p.steps++
			if s.Equal(c.core) || e.dead(s) || before != nil && u < last && e.commute(before.core, u, last, s) {
				continue
			}
			if depth == maxDepth {
				p.truncated = fmt.Sprintf("more than %d unknown operations between two answers", maxDepth)
				return
			}
			e.explore(p.change(c, u, s, e.now()), &c, u, depth+1)
		}
	}
}

// change is c after the pending operation u made its core s.
func (p *Problem) change(c configuration, u int32, s *State, now int64) configuration {
	before := c.core
	c.core, c.pending = s, remove(c.pending, u)
	c = p.move(c, before, p.unknowns[u].footprint, now)
	n := p.next(s.incarnation)
	if n != nil && p.filling == nil && (!n.mayLose(p.unknowns[u].req.Kind) || before.generation != s.generation) {
		c = p.leave(c, p.unknowns[u].req.Kind, -1) // what was before is kept too, or is gone
	}
	return c
}

// move settles the rest of a configuration whose core an operation of
// footprint y has just changed.
func (p *Problem) move(c configuration, before *State, y footprint, now int64) configuration {
	if before.generation != c.core.generation {
		c.pending = p.unspent(c.pending, c.core.generation)
	}
	c.keys = p.pass(c.keys, before, c.core, y, now)
	return c
}

func (e *expansion) now() int64 { return e.x.op.Call }

// try executes x on c, if that gives the recorded answer.
func (e *expansion) try(c configuration) (configuration, bool) {
	p, x := e.p, e.x
	if x.op.Request.Kind == op.NewIncarnation {
		return p.begins(c, x)
	}
	if x.keyed {
		before := c.key(x.key).alts
		alts := p.answerKey(c.core, before, x)
		if len(alts) == 0 {
			return c, false
		}
		c = c.with(keyed{x.key, alts})
		if c.trail != nil && settles(x, before) {
			c = p.leave(c, x.op.Request.Kind, x.shadow)
		}
		return c, true
	}
	before := c.core
	s, ok := p.accept(before, x)
	if !ok {
		return c, false
	}
	c.core = s
	c = p.move(c, before, x.footprint, e.now())
	if c.trail != nil && s != before {
		c = p.leave(c, x.op.Request.Kind, x.shadow)
	}
	return c, true
}

// accept executes x on a state and tells whether the answer is the recorded one.
func (p *Problem) accept(s *State, x *item) (*State, bool) {
	p.steps++
	if x.wrong != "" || x.incarnation != 0 && x.incarnation != s.incarnation || x.revealed && x.gen != s.generation && !p.facts.bare {
		return nil, false
	}
	n, want := p.apply(s, x)
	return n, p.differs(x.op.Request, &want, x.op.Reply) == ""
}

func (p *Problem) apply(s *State, x *item) (*State, op.Reply) {
	n, want := p.sem.Step(s, x.op.Request, x.choice)
	if x.op.Request.Kind == op.Register && p.sem.Sessions == 0 && !p.keep[want.Session] {
		m := *s // the session cannot matter: see useSessions
		m.lastSession = n.lastSession
		n = &m
	}
	return n, want
}

func (p *Problem) differs(r *op.Request, want, got *op.Reply) string {
	return differs(p.sem, p.facts.bare, p.facts.untimed, r, want, got)
}

// dead tells that x can no longer be explained: generations and, within one,
// ends never fall.
func (e *expansion) dead(s *State) bool {
	x := e.x
	if e.p.facts.bare {
		return false
	}
	if x.revealed && s.generation > x.gen {
		return true
	}
	return x.bounded && x.end.Generation == s.generation && s.End() > x.end.Offset
}

// pointless tells that the unknown operation u need not come before x in c: x
// shows a later generation, so a purge comes in between and wipes it out. Only
// a purge that waits for an end may need an append first.
func (e *expansion) pointless(u *unknown, c configuration) bool {
	p, x := e.p, e.x
	if !x.revealed || c.core.generation >= x.gen || u.req.Kind == op.Purge || p.facts.bare || p.tracked {
		return false
	}
	if u.req.Kind != op.Append {
		return true
	}
	end := c.core.position(c.core.End() + op.Offset(len(u.req.Payloads)))
	if x.bounded && x.end.Generation == end.Generation && x.end.Offset >= end.Offset {
		return false // x itself is that purge
	}
	return !slices.ContainsFunc(c.pending, func(v int32) bool {
		w := p.unknowns[v].req.Expected
		return w != nil && p.unknowns[v].req.Kind == op.Purge && w.Generation == end.Generation && w.Offset >= end.Offset
	})
}

// couldWait tells whether the unknown operation last, applied to before, may
// as well take effect after x, or never.
func (e *expansion) couldWait(before *configuration, last int32, next configuration) bool {
	without, ok := e.try(*before)
	if !ok {
		return false
	}
	if without.core.Equal(next.core) && sameKeys(without.keys, next.keys) {
		return true
	}
	for _, s := range e.p.effects(without.core, &e.p.unknowns[last], e.now()) {
		if s.Equal(next.core) && sameKeys(e.p.change(without, last, s, e.now()).keys, next.keys) {
			return true
		}
	}
	return false
}

// commute tells whether u before last leads from a state to s too, or to one
// that differs in the order of messages that nobody ever read.
func (e *expansion) commute(before *State, u, last int32, s *State) bool {
	if e.p.unknowns[u].unread && e.p.unknowns[last].unread && !e.p.facts.stamped(before, s.End()) {
		return true
	}
	for _, a := range e.p.effects(before, &e.p.unknowns[u], e.now()) {
		for _, b := range e.p.effects(a, &e.p.unknowns[last], e.now()) {
			if b.Equal(s) {
				return true
			}
		}
	}
	return false
}

// merge drops configurations that another one can do everything of: equal in
// all, and at least as much pending.
func merge(list []configuration) *configurations {
	out := list[:0:0]
next:
	for i, c := range list {
		for j, d := range list {
			if i == j || len(c.pending) > len(d.pending) || len(c.pending) == len(d.pending) && i < j {
				continue
			}
			if subset(c.pending, d.pending) && c.core.Equal(d.core) && sameKeys(c.keys, d.keys) && c.trail.equal(d.trail) {
				continue next
			}
		}
		out = append(out, c)
	}
	var h uint64
	for i := range out {
		h ^= out[i].mix(0)
	}
	return &configurations{out, h}
}

func (c configuration) same(d configuration) bool {
	return slices.Equal(c.pending, d.pending) && c.core.Equal(d.core) && sameKeys(c.keys, d.keys) && c.trail.equal(d.trail)
}

func (c configuration) mix(h uint64) uint64 {
	h = mixAll(mix(h, c.core.Hash()), c.pending)
	for i := range c.keys {
		h = c.keys[i].mix(h)
	}
	if c.trail != nil {
		h = mix(h, c.trail.hash)
	}
	return h
}

func (s *configurations) equal(o *configurations) bool {
	if s == o {
		return true
	}
	if s.hash != o.hash || len(s.list) != len(o.list) {
		return false
	}
	for _, c := range s.list {
		if !slices.ContainsFunc(o.list, c.same) {
			return false
		}
	}
	return true
}

// String prints the first few configurations.
func (s *configurations) String() string {
	const show = 3
	var b strings.Builder
	for i, c := range s.list {
		if i > 0 {
			b.WriteString(" or ")
		}
		if i == show {
			fmt.Fprintf(&b, "%d more", len(s.list)-i)
			break
		}
		b.WriteString(c.String())
	}
	return b.String()
}

func (c configuration) String() string {
	var b strings.Builder
	b.WriteString(c.core.String())
	for _, k := range c.keys {
		b.WriteString(k.String())
	}
	return b.String()
}
