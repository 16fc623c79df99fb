package faults

import (
	"purgelab/impl/sim"
)

// Injection carries out a plan on a cluster and counts what took effect: a
// partition that dropped a message, a storm that touched one, a crash that hit a
// running machine.
type Injection struct {
	c       *sim.Cluster
	plan    *Plan
	effect  map[Kind]int
	notify  func()
	base    sim.DiskSpeed
	open    []*repair
	stopped bool
}

// repair ends one fault.
type repair struct {
	mend func()
	done bool
}

// Inject schedules a plan. notify, if not nil, is called whenever something was
// broken or mended.
func Inject(c *sim.Cluster, p *Plan, notify func()) *Injection {
	in := &Injection{c: c, plan: p, effect: map[Kind]int{}, notify: notify, base: c.DiskSpeed()}
	c.SetNetwork(p.Network)
	for i := range p.Faults {
		f := &p.Faults[i]
		c.After(f.At*sim.Millisecond, func() { in.begin(f) })
	}
	return in
}

// Effects counts the faults of a kind that took effect.
func (in *Injection) Effects(k Kind) int { return in.effect[k] }

// Stop ends the plan and everything it broke.
func (in *Injection) Stop() {
	in.stopped = true
	for _, r := range in.open {
		r.run()
	}
	in.c.Heal()
}

func (in *Injection) took(k Kind) { in.effect[k]++ }

func (in *Injection) changed() {
	if in.notify != nil {
		in.notify()
	}
}

func (r *repair) run() bool {
	if r.done {
		return false
	}
	r.done = true
	r.mend()
	return true
}

// later mends a fault when its time is over, unless Stop has done so.
func (in *Injection) later(f *Fault, mend func()) {
	r := &repair{mend: mend}
	in.open = append(in.open, r)
	in.c.After(f.For*sim.Millisecond, func() {
		if r.run() {
			in.changed()
		}
	})
}

// replicas resolves 0 to the leader, or to replica 1 while there is none.
func (in *Injection) replicas(f *Fault) []int {
	out := make([]int, 0, len(f.Replicas))
	for _, id := range f.Replicas {
		if id == 0 {
			id = max(1, in.c.Leader(in.c.Latest(0)))
		}
		out = append(out, id)
	}
	return out
}

func (in *Injection) begin(f *Fault) {
	if in.stopped {
		return
	}
	ids := in.replicas(f)
	down := f.For * sim.Millisecond
	switch f.Kind {
	case Partition:
		in.cut(f, in.between(ids, f.OneWay))
	case Isolate:
		var links [][2]int
		for _, id := range ids {
			if f.OneWay != "out" {
				links = append(links, [2]int{0, id})
			}
			if f.OneWay != "in" {
				links = append(links, [2]int{id, 0})
			}
		}
		in.cut(f, links)
	case Storm:
		in.storm(f)
	case SlowDisk:
		slow := in.base
		slow.Slow = 0.3
		in.c.SetDiskSpeed(slow)
		before := in.c.Effects.SlowSyncs
		in.later(f, func() {
			in.c.SetDiskSpeed(in.base)
			if in.c.Effects.SlowSyncs > before {
				in.took(SlowDisk)
			}
		})
	case ProcessCrash, PowerLoss:
		if in.c.Crash(ids, f.Kind == PowerLoss, down) > 0 {
			in.took(f.Kind)
		}
		in.later(f, func() {})
	case SpoilTransfer:
		in.spoilTransfers(f)
	case DropProposals:
		in.later(f, in.c.DropProposals(ids[0], in.once(DropProposals)))
	case ReplaceDisk, ForeignDisk, ReplacePlane, RotPlane:
		in.forget(f, ids[0])
	case LoseBase:
		in.loseBase(f)
	case DiskFault:
		in.breakDisks(f, ids)
	case Rot, Misdirect, FlipRead:
		in.spoil(f, ids[0])
	case Lie:
		in.lie(f, ids[0])
	case CrashAt:
		in.aim(f, ids)
	case CrashAmid:
		in.c.CrashAmidTopic(ids[0], f.Power, down, f.Within*sim.Millisecond, func() { in.took(CrashAmid); in.changed() })
	}
	in.changed()
}

// aim waits for a disk call and takes the machine down that makes it, and the
// others with it.
func (in *Injection) aim(f *Fault, ids []int) {
	down := f.For * sim.Millisecond
	hit := false
	a := sim.Aim{Label: f.Label, Nth: f.Call, After: f.After, Power: f.Power, Down: down}
	others := func() {
		if !in.stopped {
			in.c.Crash(ids[1:], f.Power, down)
		}
	}
	a.Hit = func() {
		hit = true
		in.took(CrashAt)
		in.c.After(0, others)
		in.changed()
	}
	if f.Again > 0 {
		a.Again = &sim.Aim{Nth: f.Again, After: f.After, Power: f.Power, Down: down, Hit: func() { in.took(CrashAt) }}
	}
	drop := in.c.AimAt(ids[0], a)
	if f.Within == 0 {
		return
	}
	in.c.After(f.Within*sim.Millisecond, func() {
		if hit || in.stopped {
			return
		}
		drop()
		a.Label, a.Nth = "", 1
		in.c.AimAt(ids[0], a)
	})
}

// between lists the ordered links between ids and all other replicas.
func (in *Injection) between(ids []int, oneWay string) [][2]int {
	inside := map[int]bool{}
	for _, id := range ids {
		inside[id] = true
	}
	var links [][2]int
	for a := 1; a <= in.c.Options().Replicas; a++ {
		for b := 1; b <= in.c.Options().Replicas; b++ {
			if inside[a] && !inside[b] && oneWay != "in" || !inside[a] && inside[b] && oneWay != "out" {
				links = append(links, [2]int{a, b})
			}
		}
	}
	return links
}

// cut cuts links for the time of a fault; it took effect if one of them then
// dropped a message.
func (in *Injection) cut(f *Fault, links [][2]int) {
	count := func() (n uint64) {
		for _, l := range links {
			n += in.c.Dropped(l[0], l[1])
		}
		return n
	}
	before := count()
	for _, l := range links {
		in.c.Cut(l[0], l[1])
	}
	in.later(f, func() {
		for _, l := range links {
			in.c.Mend(l[0], l[1])
		}
		if count() > before {
			in.took(f.Kind)
		}
	})
}

func (in *Injection) storm(f *Fault) {
	before := in.c.Effects
	in.c.SetNetwork(*f.Network)
	in.later(f, func() {
		in.c.SetNetwork(in.plan.Network)
		e := in.c.Effects
		if e.Lost > before.Lost || e.Duplicated > before.Duplicated || e.Slowed > before.Slowed {
			in.took(Storm)
		}
	})
}

// Plan that is carried out.
func (in *Injection) Plan() *Plan { return in.plan }
