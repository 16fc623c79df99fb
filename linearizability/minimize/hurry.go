package minimize

import (
	"context"
	"slices"

	"purgelab/impl/sim"
	"purgelab/linearizability/workload"
)

// pause is a time between two things that is short enough, in microseconds.
const pause = 50 * sim.Millisecond

// hurry shortens the times in which nothing happens.
func (m *runs) hurry(ctx context.Context) {
	for before := ""; before != m.best.key() && m.going(ctx); {
		before = m.best.key()
		m.each(ctx, func(c *aCase) int { return len(c.times()) }, sooner)
	}
}

// times at which something is asked or breaks, ascending, in microseconds.
func (c *aCase) times() []int64 {
	var out []int64
	for i := range c.steps {
		out = append(out, c.steps[i].At)
	}
	for i := range c.plan.Faults {
		out = append(out, c.plan.Faults[i].At*sim.Millisecond)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// sooner lets whatever happens from the i-th time on happen sooner, by half of the time
// before it.
func sooner(c *aCase, i int) *aCase {
	times := c.times()
	from, last := times[i], int64(0)
	if i > 0 {
		last = times[i-1]
	}
	by := (from - last) / 2 / sim.Millisecond
	if from-last <= pause || by == 0 {
		return nil
	}
	d := *c
	d.steps = slices.Clone(c.steps)
	for k := range d.steps {
		if s := &d.steps[k]; s.At >= from {
			s.At -= by * sim.Millisecond
		}
	}
	d.plan.Faults = slices.Clone(c.plan.Faults)
	for k := range d.plan.Faults {
		if f := &d.plan.Faults[k]; f.At*sim.Millisecond >= from {
			f.At -= by
		}
	}
	slices.SortStableFunc(d.steps, func(a, b workload.Step) int { return int(a.At - b.At) })
	return &d
}
