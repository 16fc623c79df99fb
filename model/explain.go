package model

import (
	"fmt"
	"strings"

	"github.com/anishathalye/porcupine"

	"purgelab/model/op"
)

// Stuck is where a search could not go on.
type Stuck struct {
	// Order holds the indexes in Problem.Operations of the longest order found.
	Order []int
	// At is the index of the operation that returned first of those that are
	// left: no order of the operations before it explains its answer.
	At int
	// Reason tells what the model wants in its place.
	Reason string
}

// Explain finds the operation that no order explains, given the longest
// partial order of a failed search. It reports false if every operation is in it.
func (p *Problem) Explain(order []int) (Stuck, bool) {
	p.steps, p.look, p.bytes, p.over = 0, 0, 0, "" // the search before met no limit
	done := make([]bool, len(p.Operations))
	set := p.begin()
	for _, i := range order {
		done[i] = true
		if next := p.step(set, p.Operations[i].Input.(*item)); next != nil {
			set = next
		}
	}
	at := -1
	for i := range p.Operations {
		if !done[i] && (at < 0 || p.Operations[i].Return < p.Operations[at].Return) {
			at = i
		}
	}
	if at < 0 {
		return Stuck{}, false
	}
	x := p.Operations[at].Input.(*item)
	var b strings.Builder
	fmt.Fprintf(&b, "line %d, process %d: %s", x.op.Line, x.op.Client, Describe(x.op.Request, x.op.Reply))
	if x.wrong != "" {
		fmt.Fprintf(&b, "; %s", x.wrong)
	} else if x.op.Request.Kind == op.NewIncarnation {
		fmt.Fprintf(&b, "; want one of the states that may be kept, and what follows from it: %s", set.points())
	} else {
		for i, c := range set.list {
			if i == 2 {
				fmt.Fprintf(&b, "; and %d more states", len(set.list)-i)
				break
			}
			s := c.core
			if x.keyed {
				s = c.key(x.key).alts[0].on(s, x.key)
			}
			_, want := p.apply(s, x)
			fmt.Fprintf(&b, "; %s", p.differs(x.op.Request, &want, x.op.Reply))
			fmt.Fprintf(&b, " (in the state %s)", c)
		}
	}
	if n := len(order); n > 0 {
		last := p.Operations[order[n-1]].Input.(*item).op
		fmt.Fprintf(&b, "; %d of %d operations fit before it, the last one line %d: %s",
			n, len(p.Operations), last.Line, Describe(last.Request, last.Reply))
	}
	return Stuck{order, at, b.String()}, true
}

// Until keeps the operations called before an instant: no search went
// beyond the return of the operation at which the longest one was stuck.
func (p *Problem) Until(time int64) []porcupine.Operation {
	var out []porcupine.Operation
	for _, o := range p.Operations {
		if o.Call <= time {
			out = append(out, o)
		}
	}
	return out
}
