package contract

import (
	"context"
	"fmt"
	"html"
	"slices"

	"github.com/anishathalye/porcupine"
)

// machine is a contract as a sequential machine: what an answer makes of a state,
// and what an operation of unknown outcome may make of it. States never change.
type machine interface {
	// begin are the states in which a history may begin.
	begin() []state
	// answer executes x; the text says why its answer is wrong, empty if it is right.
	answer(s state, x *item) (state, string)
	// effects are the states to which the unknown x may lead, if it takes effect.
	effects(s state, x *item) []state
	// joins is told when an unknown x is called: the state that remembers what
	// matters of that instant.
	joins(s state, x *item) state
	// matters tells whether the unknown u right before x may be anything else than
	// u right after x, or never.
	matters(u, x *item) bool
}

type state interface {
	hash() uint64
	equal(state) bool
	size() int64 // bytes, about
	String() string
}

// config is one possible state, with the unknown operations that did not take
// effect in it yet.
type config struct {
	state   state
	pending []int32 // sorted, never modified in place
}

// configs are all that are possible after the answers so far. As in package
// model, an unknown operation waits here until an answer needs it.
type configs struct {
	list []config
	hash uint64
}

const (
	// maxConfigs bounds how many possibilities are kept of a moment, maxTried how
	// many are looked at for one answer. A search that meets a bound proves nothing.
	maxConfigs = 512
	maxTried   = 4096
	maxSteps   = 3_000_000
	maxBytes   = 2 << 30
)

// search looks for an order of the items that the machine allows.
type search struct {
	machine
	items    []*item // unknown ones first found by their number
	unknowns []*item
	ctx      context.Context
	steps    int64
	bytes    int64
	over     string // why it must end; empty: it need not
}

func (s *search) model(ctx context.Context) porcupine.Model {
	s.ctx, s.steps, s.bytes, s.over = ctx, 0, 0, ""
	return porcupine.Model{
		Init: func() interface{} { return s.start() },
		StepContext: func(ctx context.Context, from, input, _ interface{}) (bool, interface{}) {
			if ctx.Err() != nil {
				return false, nil
			}
			next := s.step(from.(*configs), input.(*item))
			return next != nil, next
		},
		Equal:                     func(a, b interface{}) bool { return a.(*configs).equal(b.(*configs)) },
		Hash:                      func(c interface{}) uint64 { return c.(*configs).hash },
		DescribeOperation:         func(input, _ interface{}) string { return input.(*item).String() },
		DescribeState:             func(c interface{}) string { return html.EscapeString(c.(*configs).String()) },
		DescribeOperationMetadata: func(m interface{}) string { return fmt.Sprintf("line %d", m) },
	}
}

func (s *search) start() *configs {
	var out []config
	for _, b := range s.begin() {
		out = append(out, config{state: b})
	}
	return gather(out)
}

// operations are the items as porcupine takes them: an unknown one is the instant
// of its call, at which it joins what is pending.
func (s *search) operations() []porcupine.Operation {
	out := make([]porcupine.Operation, len(s.items))
	for i, x := range s.items {
		end := x.end
		if x.unknown >= 0 {
			end = x.call
		}
		out[i] = porcupine.Operation{ClientId: x.client, Input: x, Call: x.call, Return: end, Metadata: x.op.Line}
	}
	return out
}

func (s *search) exhausted() bool {
	s.steps++
	switch {
	case s.over != "":
	case s.ctx.Err() != nil:
		s.over = s.ctx.Err().Error()
	case s.steps > maxSteps:
		s.over = fmt.Sprintf("no verdict after %d steps of the model", maxSteps)
	case s.bytes > maxBytes:
		s.over = fmt.Sprintf("no verdict within %d MiB", maxBytes>>20)
	}
	return s.over != ""
}

// step executes one item on every configuration; nil: on none it fits.
func (s *search) step(from *configs, x *item) *configs {
	var out []config
	for _, c := range from.list {
		if s.exhausted() {
			return nil
		}
		if x.unknown >= 0 {
			out = append(out, config{s.joins(c.state, x), insert(c.pending, int32(x.unknown))})
			continue
		}
		e := expansion{s: s, x: x}
		e.explore(c, nil, -1)
		out = append(out, e.out...)
	}
	if len(out) == 0 {
		return nil
	}
	next := gather(out)
	if len(next.list) > maxConfigs {
		s.over = fmt.Sprintf("more than %d possible states", maxConfigs)
		return nil
	}
	for i := range next.list {
		s.bytes += next.list[i].state.size() + 64
	}
	s.bytes += int64(len(s.items) / 8)
	return next
}

// expansion finds what x can lead to from one configuration.
type expansion struct {
	s    *search
	x    *item
	out  []config
	seen []config
}

// explore tries x, then every pending operation that matters first. From is the
// configuration in which the unknown operation u last took effect; nil: none did.
func (e *expansion) explore(c config, from *config, u int32) {
	s := e.s
	if slices.ContainsFunc(e.seen, c.same) || s.exhausted() {
		return
	}
	if e.seen = append(e.seen, c); len(e.seen) > maxTried {
		s.over = fmt.Sprintf("more than %d states to look at for one answer", maxTried)
		return
	}
	if next, why := s.answer(c.state, e.x); why == "" && !(from != nil && e.couldWait(from.state, u, next)) {
		e.out = append(e.out, config{next, c.pending})
	}
	for _, u := range s.relevant(c.pending, e.x) {
		for _, after := range s.effects(c.state, s.unknowns[u]) {
			if !after.equal(c.state) {
				e.explore(config{after, remove(c.pending, u)}, &c, u)
			}
		}
	}
}

// couldWait tells whether u may as well take effect after x.
func (e *expansion) couldWait(from state, u int32, next state) bool {
	without, why := e.s.answer(from, e.x)
	if why != "" {
		return false
	}
	return without.equal(next) || slices.ContainsFunc(e.s.effects(without, e.s.unknowns[u]), next.equal)
}

// relevant are the pending operations that matter to x, to one that matters to
// it, and so on.
func (s *search) relevant(pending []int32, x *item) []int32 {
	var out []int32
	todo := []*item{x}
	for len(todo) > 0 {
		y := todo[0]
		todo = todo[1:]
		for _, u := range pending {
			if !slices.Contains(out, u) && s.matters(s.unknowns[u], y) {
				out = append(out, u)
				todo = append(todo, s.unknowns[u])
			}
		}
	}
	slices.Sort(out)
	return out
}

// gather drops configurations that another one can do everything of.
func gather(list []config) *configs {
	var out []config
next:
	for i, c := range list {
		for j, d := range list {
			if i == j || len(c.pending) > len(d.pending) || len(c.pending) == len(d.pending) && i < j {
				continue
			}
			if subset(c.pending, d.pending) && c.state.equal(d.state) {
				continue next
			}
		}
		out = append(out, c)
	}
	var h uint64
	for _, c := range out {
		k := c.state.hash()
		for _, u := range c.pending {
			k = mix(k, uint64(u))
		}
		h ^= k
	}
	return &configs{out, h}
}

func (c config) same(d config) bool {
	return slices.Equal(c.pending, d.pending) && c.state.equal(d.state)
}

func (c *configs) equal(d *configs) bool {
	if c.hash != d.hash || len(c.list) != len(d.list) {
		return false
	}
	for _, x := range c.list {
		if !slices.ContainsFunc(d.list, x.same) {
			return false
		}
	}
	return true
}

func (c *configs) String() string {
	if len(c.list) == 1 {
		return c.list[0].state.String()
	}
	return fmt.Sprintf("%s, or %d more", c.list[0].state, len(c.list)-1)
}

func insert(list []int32, u int32) []int32 {
	i, _ := slices.BinarySearch(list, u)
	return slices.Insert(slices.Clone(list), i, u)
}

func remove(list []int32, u int32) []int32 {
	i, _ := slices.BinarySearch(list, u)
	return slices.Delete(slices.Clone(list), i, i+1)
}

// subset tells whether every element of sorted a is in sorted b.
func subset(a, b []int32) bool {
	for _, x := range a {
		if _, ok := slices.BinarySearch(b, x); !ok {
			return false
		}
	}
	return true
}

// mix folds v into h; the constants are those of splitmix64.
func mix(h, v uint64) uint64 {
	h = (h ^ v) + 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}
