package minimize

import (
	"context"
	"slices"

	"purgelab/impl/sim"
	"purgelab/linearizability/workload"
	"purgelab/model/op"
)

// parts in the order in which they are tried: operations first, since they are most of
// what a run costs.
var parts = []part[*aCase]{
	{func(c *aCase) int { return len(c.steps) }, withoutSteps},
	{func(c *aCase) int { return len(c.plan.Faults) }, withoutFaults},
	{func(c *aCase) int { return len(c.clients()) }, withoutClients},
}

func withoutSteps(c *aCase, from, to int) *aCase {
	if from == 0 && to == len(c.steps) {
		return nil // a run has at least one
	}
	return c.with(slices.Delete(slices.Clone(c.steps), from, to))
}

func withoutFaults(c *aCase, from, to int) *aCase {
	plan := c.plan
	plan.Faults = slices.Delete(slices.Clone(plan.Faults), from, to)
	return c.breaking(plan)
}

func withoutClients(c *aCase, from, to int) *aCase {
	gone := c.clients()[from:to]
	if len(gone) == len(c.clients()) {
		return nil
	}
	return c.with(slices.DeleteFunc(slices.Clone(c.steps), func(s workload.Step) bool { return slices.Contains(gone, s.Client) }))
}

// leaveOut leaves out what it can.
func (m *runs) leaveOut(ctx context.Context) {
	m.alone(ctx, withoutNetwork)
	m.alone(ctx, withoutEras)
	for _, p := range parts {
		m.chunks(ctx, p)
	}
	m.each(ctx, func(c *aCase) int { return len(c.steps) }, withoutAndLower)
	m.each(ctx, pairs, withoutAndMove)
	m.each(ctx, func(c *aCase) int { return len(c.clients()) - 1 }, byOneClient)
}

func withoutNetwork(c *aCase) *aCase {
	if c.plan.Network == (sim.Network{}) {
		return nil
	}
	plan := c.plan
	plan.Network = sim.Network{}
	return c.breaking(plan)
}

// withoutAndLower leaves out a purge or an append, and lowers the positions that come
// later by what it would have brought: else they would be of another era, or beyond the
// end.
func withoutAndLower(c *aCase, i int) *aCase {
	gone := c.steps[i]
	if k := gone.Request.Kind; gone.Recreate || k != op.Purge && k != op.Append {
		return nil
	}
	lower := func(p op.Position) op.Position {
		if gone.Request.Kind == op.Purge && p.Generation > 0 {
			p.Generation--
		}
		if n := op.Offset(len(gone.Request.Payloads)); p.Offset >= n {
			p.Offset -= n
		}
		return p
	}
	steps := slices.Delete(slices.Clone(c.steps), i, i+1)
	changed := false
	for k := i; k < len(steps); k++ {
		r := *steps[k].Request
		if r.Partition != gone.Request.Partition {
			continue
		}
		r.At = lower(r.At)
		if r.Expected != nil {
			p := lower(*r.Expected)
			r.Expected = &p
		}
		if r.At != steps[k].Request.At || r.Expected != nil && *r.Expected != *steps[k].Request.Expected {
			steps[k].Request, changed = &r, true
		}
	}
	if !changed || len(steps) == 0 {
		return nil
	}
	return c.with(steps)
}

// withoutEras leaves out all purges, and takes all positions for ones of the first
// generation.
func withoutEras(c *aCase) *aCase {
	var steps []workload.Step
	changed := false
	for _, s := range c.steps {
		if s.Request.Kind == op.Purge {
			changed = true
			continue
		}
		r := *s.Request
		r.At.Generation = 0
		if r.Expected != nil {
			p := *r.Expected
			p.Generation = 0
			r.Expected = &p
		}
		s.Request = &r
		steps = append(steps, s)
	}
	if !changed || len(steps) == 0 {
		return nil
	}
	return c.with(steps)
}

// few faults are so many that pairs of them are tried.
const few = 6

func pairs(c *aCase) int {
	if n := len(c.plan.Faults); n <= few {
		return n * n
	}
	return 0
}

// withoutAndMove leaves out one fault and lets another one strike at its time.
func withoutAndMove(c *aCase, i int) *aCase {
	n := len(c.plan.Faults)
	gone, moved := i/n, i%n
	if gone == moved {
		return nil
	}
	plan := c.plan
	plan.Faults = slices.Clone(plan.Faults)
	plan.Faults[moved].At = plan.Faults[gone].At
	plan.Faults = slices.Delete(plan.Faults, gone, gone+1)
	return c.breaking(plan)
}

// byOneClient lets the first client do what another one does.
func byOneClient(c *aCase, i int) *aCase {
	steps := slices.Clone(c.steps)
	for k := range steps {
		if steps[k].Client == i+1 {
			steps[k].Client = 0
		}
	}
	return c.with(steps)
}
