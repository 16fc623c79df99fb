package faults

import (
	"math/rand/v2"
	"slices"

	"purgelab/impl/sim"
)

// Memory is machines that lose the disk of their partitions or of the metadata plane,
// or find it damaged, or find one that is not theirs, among crashes. A replica without
// its memory must join again, so the class is for designs in which it can.
const Memory Class = "memory"

// loss stands for the kinds of lost memory.
const loss Kind = "loss"

// losses are those kinds, of which a plane of one replica meets none.
var losses = []Kind{ReplaceDisk, ReplaceDisk, ForeignDisk, ReplacePlane, RotPlane}

// Forgets tells whether a kind takes the memory of one machine, or puts that of
// another one in its place.
func (k Kind) Forgets() bool { return slices.Contains(losses, k) }

// drawLoss draws one of them.
func drawLoss(n int, at int64, r *rand.Rand) Fault {
	f := Fault{At: at, For: 20 + r.Int64N(400), Kind: losses[r.IntN(len(losses))], Replicas: some(n, 1, r)}
	switch f.Kind {
	case ForeignDisk:
		f.Whose = sim.Whoses[r.IntN(len(sim.Whoses))]
	case RotPlane:
		f.Draw, f.Live = r.Uint64N(1<<30), r.IntN(2) == 0
	}
	return f
}

// LoseMemory adds to what a class draws over a span, in half of the plans of those
// that break everything or disks, or what they drew, that a machine or two lose their memory. It has a
// generator of its own, so that the rest of a plan is as it was before.
func (p *Plan) LoseMemory(class Class, n int, span int64, r *rand.Rand) {
	if class != All && class != Storage && class != Swarm || r.IntN(2) == 0 {
		return
	}
	for range 1 + r.IntN(3) {
		p.Faults = append(p.Faults, drawLoss(n, begin+r.Int64N(max(1, span-begin)), r))
	}
}

// LoseBases adds to what a class draws over a span, in a third of the plans of those that
// break everything or disks, or memory, that the machine loses its disk from which a new
// incarnation goes on. It has a generator of its own, too.
func (p *Plan) LoseBases(class Class, span int64, r *rand.Rand) {
	if class != All && class != Storage && class != Memory || r.IntN(3) > 0 {
		return
	}
	p.Faults = append(p.Faults, Fault{At: begin, For: max(1, span-begin), Kind: LoseBase})
}

// loseBase carries one out.
func (in *Injection) loseBase(f *Fault) {
	stop := in.c.LoseBase(lostBaseDown, in.once(LoseBase))
	in.later(f, stop)
}

// lostBaseDown is how long the machine stays down that lost it.
const lostBaseDown = 60 * sim.Millisecond

// Losing lists the kinds of fault of a plan after which a partition goes on only if a
// replica can join again.
func (p *Plan) Losing() []Kind {
	return slices.DeleteFunc(p.Kinds(), func(k Kind) bool { return k != ReplaceDisk })
}

// Keeping leaves those out of a plan.
func (p *Plan) Keeping() *Plan {
	kept := *p
	kept.Faults = slices.DeleteFunc(slices.Clone(p.Faults), func(f Fault) bool { return f.Kind == ReplaceDisk })
	return &kept
}

// forget carries out a fault of memory.
func (in *Injection) forget(f *Fault, id int) {
	down := f.For * sim.Millisecond
	switch f.Kind {
	case ReplaceDisk:
		if in.c.ReplaceDisk(id, down) {
			in.took(f.Kind)
		}
	case ReplacePlane:
		if in.c.ReplacePlaneDisk(id, down) {
			in.took(f.Kind)
		}
	case ForeignDisk:
		if mend := in.c.ForeignDisk(id, f.Whose, down/4); mend != nil {
			in.took(f.Kind)
			in.later(f, mend)
			return
		}
	case RotPlane:
		if in.c.RotPlane(id, rand.New(rand.NewPCG(f.Draw, 0))) != "" {
			in.took(f.Kind)
			if !f.Live {
				in.c.Crash([]int{id}, false, down)
			}
		}
	}
	in.later(f, func() {})
}
