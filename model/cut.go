package model

import (
	"cmp"
	"context"
	"slices"

	"github.com/anishathalye/porcupine"
)

// What may lie between two cuts, for all its orders to be tried: so many operations, and
// so many steps of the model.
const (
	partOperations = 1_000
	partSteps      = 20_000
)

// Cut shortens the search. At a quiescent cut no answered operation is open: what
// follows depends on what came before by the states in which that may have left the
// partition, unknown outcomes that may take effect yet among them, and by nothing else.
// From one cut to the next Cut tries all orders, and carries all of these states on; if
// it kept those of one order, a right history could be found wrong. It leaves in
// Operations what porcupine has to judge: the last part, or the first that has too many
// orders and all after it, or, and then it returns true, a part that has no order, so
// that the history has none.
func (p *Problem) Cut(ctx context.Context) (refuted bool) {
	p.carried = p.begin()
	rest := slices.Clone(p.Operations)
	slices.SortStableFunc(rest, func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
	for n := quiescent(rest); n < len(rest); n = quiescent(rest) {
		p.reset(ctx)
		next, all := p.orders(rest[:n])
		p.walked += p.steps
		if !all || p.limits.Steps > 0 && p.walked > p.limits.Steps {
			break
		}
		if next == nil {
			p.Operations = rest[:n]
			return true
		}
		p.carried, rest = next, rest[n:]
	}
	p.Operations = rest
	return false
}

// quiescent is how many operations there are up to the next cut. ops are in the order of
// their calls.
func quiescent(ops []porcupine.Operation) int {
	until := int64(0)
	for n := range ops {
		if n > 0 && ops[n].Call > until {
			return n
		}
		if n == 0 || ops[n].Return > until {
			until = ops[n].Return
		}
	}
	return len(ops)
}

// stage is that some operations of a part took effect, in whatever order: set is all that
// the partition may be after that.
type stage struct {
	done string // a byte for each operation of the part: 1, if it did
	set  *configurations
}

// orders tries all orders of a part, stage by stage: the states after all of it, nil if
// it has no order. It reports false if there are too many operations, orders or states.
func (p *Problem) orders(part []porcupine.Operation) (*configurations, bool) {
	if len(part) > partOperations {
		return nil, false
	}
	stages := []stage{{string(make([]byte, len(part))), p.carried}}
	for range part {
		var next []stage
		known := map[string]int{} // index in next
		p.bytes = 0               // the stages before are forgotten
		for _, s := range stages {
			for _, i := range s.ready(part) {
				set := p.step(s.set, part[i].Input.(*item))
				if p.exhausted() || p.steps > partSteps || p.truncated != "" {
					return nil, false
				}
				if set == nil {
					continue
				}
				done := []byte(s.done)
				done[i] = 1
				k, again := known[string(done)]
				if !again {
					known[string(done)] = len(next)
					next = append(next, stage{string(done), set})
					continue
				}
				next[k].set = merge(append(slices.Clip(next[k].set.list), set.list...))
				if len(next[k].set.list) > maxConfigurations {
					return nil, false
				}
			}
		}
		if len(next) == 0 {
			return nil, true
		}
		stages = next
	}
	return stages[0].set, true
}

// ready lists the operations of a part that may be next: those that were called before
// any other one that is left returned.
func (s *stage) ready(part []porcupine.Operation) []int {
	var out []int
	first := int64(forever)
	for i := range part {
		if s.done[i] == 1 {
			continue
		}
		if part[i].Call > first {
			break
		}
		out, first = append(out, i), min(first, part[i].Return)
	}
	return slices.DeleteFunc(out, func(i int) bool { return part[i].Call > first })
}
