package minimize

import (
	"context"
	"fmt"
	"slices"

	"purgelab/impl/sim"
	"purgelab/impl/vfs/faultfs"
	"purgelab/linearizability/faults"
	"purgelab/linearizability/workload"
	"purgelab/model/op"
)

// simplify makes plainer what cannot be left out.
func (m *runs) simplify(ctx context.Context) {
	m.alone(ctx, named)
	for _, change := range stepChanges {
		m.each(ctx, func(c *aCase) int { return len(c.steps) }, func(c *aCase, i int) *aCase { return changedStep(c, i, change) })
	}
	for _, change := range faultChanges {
		m.each(ctx, func(c *aCase) int { return len(c.plan.Faults) }, func(c *aCase, i int) *aCase { return changedFault(c, i, change) })
	}
	for _, change := range caseChanges {
		m.alone(ctx, change)
	}
}

// named gives all messages short names.
func named(c *aCase) *aCase {
	steps := slices.Clone(c.steps)
	n := 0
	for i := range steps {
		r := *steps[i].Request
		if r.Kind != op.Append {
			continue
		}
		r.Payloads = slices.Clone(r.Payloads)
		for k := range r.Payloads {
			r.Payloads[k] = name(n)
			n++
		}
		steps[i].Request = &r
	}
	d := c.with(steps)
	if d.key() == c.key() {
		return nil
	}
	return d
}

// name is a, b, …, z, a1, b1, …
func name(n int) op.Payload {
	s := string(rune('a' + n%26))
	if n >= 26 {
		s += fmt.Sprint(n / 26)
	}
	return op.Payload(s)
}

// stepChanges make a step plainer; false: it is so already.
var stepChanges = []func(s *workload.Step, r *op.Request) bool{
	func(_ *workload.Step, r *op.Request) bool { return shorten(r, 1) },
	func(_ *workload.Step, r *op.Request) bool { return shorten(r, len(r.Payloads)/2) },
	func(_ *workload.Step, r *op.Request) bool { return shorten(r, len(r.Payloads)-1) },
	func(s *workload.Step, _ *op.Request) bool { was := s.NoAck; s.NoAck = false; return was },
	func(s *workload.Step, _ *op.Request) bool { was := s.Patience; s.Patience = 0; return was != 0 },
	func(s *workload.Step, _ *op.Request) bool { was := s.Topic; s.Topic = false; return was },
	func(s *workload.Step, _ *op.Request) bool { was := s.Accepted; s.Accepted = false; return was },
	func(_ *workload.Step, r *op.Request) bool { was := r.Expected; r.Expected = nil; return was != nil },
	func(_ *workload.Step, r *op.Request) bool { return plainer(r, op.Poll, false) },
	func(_ *workload.Step, r *op.Request) bool { return plainer(r, op.Poll, r.AutoCommit) },
	func(_ *workload.Step, r *op.Request) bool { return plainer(r, op.ListOffsets, false) },
}

// plainer turns a read of one kind into that of all from the start, or of the end.
func plainer(r *op.Request, kind op.Kind, commits bool) bool {
	was := *r
	switch {
	case r.Kind != kind:
		return false
	case kind == op.ListOffsets:
		*r = op.Request{Kind: kind, Partition: was.Partition, Which: op.LatestOffset}
		return was.Which == op.OffsetForTimestamp
	case commits:
		*r = op.Request{Kind: kind, Partition: was.Partition, Strategy: op.Next, Key: was.Key, AutoCommit: true, Max: 100}
		return was.Strategy != op.Next || was.Max != 100
	}
	*r = op.Request{Kind: kind, Partition: was.Partition, Strategy: op.First, Max: 100}
	return was.Strategy != op.First || was.Max != 100 || was.AutoCommit
}

// shorten leaves the first n messages of an append.
func shorten(r *op.Request, n int) bool {
	if n < 1 || n >= len(r.Payloads) {
		return false
	}
	r.Payloads = r.Payloads[:n]
	return true
}

func changedStep(c *aCase, i int, change func(*workload.Step, *op.Request) bool) *aCase {
	steps := slices.Clone(c.steps)
	r := *steps[i].Request
	if !change(&steps[i], &r) {
		return nil
	}
	steps[i].Request = &r
	return c.with(steps)
}

// faultChanges make a fault plainer; false: it is so already.
var faultChanges = []func(f *faults.Fault) bool{
	func(f *faults.Fault) bool { was := f.Again; f.Again = 0; return was != 0 },
	func(f *faults.Fault) bool { was := f.Call; f.Call = min(was, 1); return was > 1 },
	func(f *faults.Fault) bool { was := f.Call; f.Call = was / 2; return was > 2 },
	ruled(func(r *faultfs.Rule) { r.Nth = 1 }),
	ruled(func(r *faultfs.Rule) { r.Times = 1 }),
	func(f *faults.Fault) bool { was := f.Within; f.Within = 0; return was != 0 && f.Kind == faults.CrashAt },
	func(f *faults.Fault) bool {
		if len(f.Replicas) < 2 {
			return false
		}
		f.Replicas = f.Replicas[:1]
		return true
	},
	calmer(func(n *sim.Network) *float64 { return &n.Loss }),
	calmer(func(n *sim.Network) *float64 { return &n.Duplicate }),
	calmer(func(n *sim.Network) *float64 { return &n.Slow }),
}

// ruled changes the rule of a fault of a disk.
func ruled(change func(*faultfs.Rule)) func(*faults.Fault) bool {
	return func(f *faults.Fault) bool {
		r, err := faultfs.Parse(f.Rule)
		if f.Rule == "" || err != nil {
			return false
		}
		was := r.String()
		change(&r)
		f.Rule = r.String()
		return f.Rule != was
	}
}

// calmer takes one trouble from a storm.
func calmer(of func(*sim.Network) *float64) func(*faults.Fault) bool {
	return func(f *faults.Fault) bool {
		if f.Network == nil || *of(f.Network) == 0 {
			return false
		}
		n := *f.Network
		*of(&n) = 0
		f.Network = &n
		return true
	}
}

func changedFault(c *aCase, i int, change func(*faults.Fault) bool) *aCase {
	plan := c.plan
	plan.Faults = slices.Clone(plan.Faults)
	if !change(&plan.Faults[i]) {
		return nil
	}
	return c.breaking(plan)
}

// caseChanges make the cluster smaller.
var caseChanges = []func(*aCase) *aCase{
	func(c *aCase) *aCase { return withReplicas(c, 1) },
	func(c *aCase) *aCase { return withReplicas(c, 3) },
	func(c *aCase) *aCase {
		if c.of.CompactOps < 8 {
			return nil
		}
		d := *c
		d.of.CompactOps /= 2
		return &d
	},
	func(c *aCase) *aCase {
		n := (&workload.Script{Steps: c.steps}).Partitions()
		if n >= c.of.Partitions {
			return nil
		}
		d := *c
		d.of.Partitions = n
		return &d
	},
}

// withReplicas is the case with fewer replicas, if its faults are about those.
func withReplicas(c *aCase, n int) *aCase {
	if n >= c.of.Replicas {
		return nil
	}
	for _, f := range c.plan.Faults {
		if len(f.Replicas) > n || slices.ContainsFunc(f.Replicas, func(id int) bool { return id > n }) {
			return nil
		}
	}
	d := *c
	d.of.Replicas = n
	s := d.settings()
	if s.Complete() != nil {
		return nil // the faults are not for so few
	}
	return &d
}
