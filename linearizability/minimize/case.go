package minimize

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/cespare/xxhash/v2"

	"purgelab/impl/sim"
	"purgelab/linearizability/faults"
	"purgelab/linearizability/run"
	"purgelab/linearizability/workload"
)

// aCase is a run as data: all that it depends on. It is never changed; what is left of it
// is another one.
type aCase struct {
	of    run.Settings
	plan  faults.Plan
	steps []workload.Step
}

// caseOf is what a run did. Steps come in the order of their times.
func caseOf(r *run.Result) *aCase {
	c := &aCase{of: r.Settings, plan: *r.Plan, steps: slices.Clone(r.Workload.Steps)}
	c.plan.Shows = nil
	c.of.Plan, c.of.Script = nil, nil
	c.of.Faults, c.of.Workload = "", ""
	slices.SortStableFunc(c.steps, func(a, b workload.Step) int { return int(a.At - b.At) })
	return c
}

// settings of the run.
func (c *aCase) settings() run.Settings {
	s := c.of
	plan, script := c.plan, workload.Script{Steps: c.steps}
	s.Plan, s.Script, s.NoTrace = &plan, &script, true
	s.Recreate = script.Recreations()
	return s
}

// size is how much there is to look at.
func (c *aCase) size() (ops, faults int) { return len(c.steps), c.faults() }

// faults counts them; a network that is bad all the time is one.
func (c *aCase) faults() int {
	n := len(c.plan.Faults)
	if c.plan.Network != (sim.Network{}) {
		n++
	}
	return n
}

// clients lists who asks for anything, sorted.
func (c *aCase) clients() []int {
	var out []int
	for i := range c.steps {
		if !slices.Contains(out, c.steps[i].Client) {
			out = append(out, c.steps[i].Client)
		}
	}
	slices.Sort(out)
	return out
}

// with is the case with other steps, whose clients get the lowest numbers.
func (c *aCase) with(steps []workload.Step) *aCase {
	d := *c
	d.steps = steps
	number := d.clients()
	d.steps = slices.Clone(steps)
	for i := range d.steps {
		d.steps[i].Client = slices.Index(number, d.steps[i].Client)
	}
	return &d
}

// breaking is the case with other faults.
func (c *aCase) breaking(plan faults.Plan) *aCase {
	d := *c
	d.plan = plan
	return &d
}

// seeded is the case under another seed.
func (c *aCase) seeded(seed uint64) *aCase {
	d := *c
	d.of.Seed = seed
	return &d
}

// key names a case: equal ones have equal keys.
func (c *aCase) key() string {
	var b bytes.Buffer
	settings, err := json.Marshal(c.of)
	if err == nil {
		b.Write(settings)
		err = c.plan.Write(&b)
	}
	if err == nil {
		err = (&workload.Script{Steps: c.steps}).Write(&b)
	}
	if err != nil {
		panic(err) // all of it was read or made by this program
	}
	return fmt.Sprintf("%016x", xxhash.Sum64(b.Bytes()))
}
