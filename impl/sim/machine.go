package sim

import (
	"errors"
	"fmt"
	"runtime"
	"strings"

	"purgelab/impl/consensus"
	"purgelab/impl/meta"
	"purgelab/impl/observe"
	"purgelab/impl/replica"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
	"purgelab/model/op"
)

// DiskSpeed bounds the time of one piece of disk work, in microseconds.
type DiskSpeed struct {
	Work     int64   // at most, without a sync: 80
	MinSync  int64   // 200
	MaxSync  int64   // 2000
	Slow     float64 // chance that a sync takes up to SlowSync
	SlowSync int64   // 40000
}

func (d *DiskSpeed) defaults() {
	if d.Work == 0 {
		d.Work = 80
	}
	if d.MinSync == 0 {
		d.MinSync = 200
	}
	if d.MaxSync == 0 {
		d.MaxSync = 2000
	}
	if d.SlowSync == 0 {
		d.SlowSync = 40 * Millisecond
	}
}

// machine is one computer: a disk, and while it is up one replica of each
// partition.
type machine struct {
	id      int
	disk    *crashfs.Disk
	up      bool
	epoch   uint32 // of the boot; raised when the machine goes down
	dark    bool   // without power
	left    bool   // it is down, and nobody brings it back
	losses  uint64 // of power: what the operating system counts its boots by
	members []slot // by shard
	meta    metaSlot
	current []int            // per partition: the shard that runs, or nobody
	tombs   []op.Incarnation // per partition: the latest that is gone for good
	aim     *Aim             // armed crash, nil if none
	storage                  // what is wrong with the disk
	// recovery is aimed at the next boot.
	recovery *Aim
	amid     func() // armed crash between the purges of a topic, nil if none
	booting  bool
	steps    int
}

// slot is one replica on a machine.
type slot struct {
	member  Member // nil: down, or refused
	working bool   // a work event is on the heap
	boots   int
	told    int // intents that this boot has learned
	exists  bool
	// incarnation that it is of, or was of last; shift from its op numbers to those
	// of its line.
	incarnation     op.Incarnation
	formatted       op.Incarnation // the latest one for which its disk was formatted
	shift           op.Number
	copying, sealed bool
	damaged         error             // why it stopped
	stands          *replica.Standing // as told to the plane's replica in this boot
}

// metaSlotNumber stands for the replica of the metadata plane where partitions
// are counted.
const metaSlotNumber = -1

// Aim is a crash at a disk call.
type Aim struct {
	Label string // prefix of the call's label; empty matches all
	Nth   int    // 1: the first matching call from now on
	After bool   // after its effect instead of before
	Power bool   // a power loss, not a process crash
	Down  int64  // microseconds until the machine starts again
	// Again, if not nil, is armed at the boot that follows.
	Again *Aim
	// Hit, if not nil, is called when the crash happens.
	Hit func()
}

func dirOf(p int) string { return fmt.Sprintf("p%d", p) }

func (c *Cluster) initMachines() error {
	c.machines = make([]machine, c.o.Replicas+1)
	phase := Split(c.o.Seed, "clocks")
	for id := 1; id <= c.o.Replicas; id++ {
		m := &c.machines[id]
		m.id, m.disk = id, crashfs.New()
		c.initStorage(m)
		m.members = make([]slot, len(c.shards))
		fs := m.disk.FS()
		if err := fs.Mkdir("sim.mkdir", metaDir); err != nil {
			return err
		}
		for p := range c.o.Partitions {
			if err := fs.Mkdir("sim.mkdir", dirOf(p)); err != nil {
				return err
			}
		}
		if err := fs.SyncDir("sim.mkdir.dirsync", "."); err != nil {
			return err
		}
		if err := meta.Format(c.metaConfig(m)); err != nil {
			return err
		}
		c.boot(m)
		c.schedule(phase.Int64N(Tick), event{kind: evTick, who: uint16(id), epoch: m.epoch})
	}
	if len(c.Refusals) > 0 {
		return c.Refusals[0].Err
	}
	return nil
}

// boot opens every replica of a machine, that of the metadata plane first. A crash that is aimed at its recovery
// may take it down again.
func (c *Cluster) boot(m *machine) {
	if m.recovery != nil {
		c.arm(m, m.recovery)
		m.recovery = nil
	}
	m.up, m.booting, m.dark = true, true, false
	defer func() { m.booting = false }()
	if !c.bootMeta(m) {
		return
	}
	if err := c.findTombs(m); err != nil {
		c.stopped(m, metaSlotNumber, err)
		return
	}
	if c.place(m); m.up {
		c.tell(m)
	}
}

// stopped handles an error of a replica: its machine crashed under it, as was
// aimed, or it refuses to go on.
func (c *Cluster) stopped(m *machine, p int, err error) {
	if (errors.Is(err, vfs.ErrCrashed) || m.disk.Crashed()) && m.aim != nil {
		a := m.aim
		c.Effects.AtCall++
		if m.booting {
			c.Effects.InRecovery++
		}
		if a.Hit != nil {
			a.Hit()
		}
		c.down(m, a.Power)
		m.recovery = a.Again
		c.schedule(a.Down, event{kind: evRestart, who: uint16(m.id), epoch: m.epoch})
		return
	}
	if c.restartForDisk(m, err) {
		return
	}
	if c.refusedForeign(m, p, err) {
		return
	}
	ran := p != metaSlotNumber && m.members[p].member != nil
	of := meta.OwnPartition
	if p == metaSlotNumber {
		m.meta.member = nil
	} else {
		of = op.Partition(p)
		m.members[p].member = nil
	}
	r := Refusal{At: c.now / Millisecond, Replica: m.id, Partition: of, Err: err}
	if m.explains(of, err) {
		if !m.gone {
			m.gone = true
			c.Stopped = append(c.Stopped, r)
			c.Effects.Stopped++
		}
		if p == metaSlotNumber {
			c.reopenMeta(m, err)
		} else if ran {
			c.reopen(m, p, err)
		}
		return
	}
	c.Refusals = append(c.Refusals, r)
}

// down takes a machine down. Whatever was scheduled for it is stale from now on.
func (c *Cluster) down(m *machine, power bool) {
	if c.amidTopic(m) {
		c.Effects.BetweenPurges++
	}
	m.up = false
	m.epoch++
	m.aim, m.recovery, m.amid = nil, nil, nil
	m.disk.Arm(nil)
	action := observe.Action("ProcessCrash")
	if power {
		action = "PowerLoss"
		m.losses++
		m.dark = true
		c.Effects.PowerLosses++
		// The digest counts unsynced changes, and a power loss leaves none.
		before := m.disk.Digest()
		m.disk.PowerLoss(c.powerRand)
		if m.disk.Digest() != before {
			c.Effects.PowerUnsynced++
		}
	} else {
		c.Effects.ProcessCrashes++
		m.disk.ProcessCrash()
	}
	m.meta.member, m.meta.working = nil, false
	c.crashed(m, action)
	if power {
		c.allDark()
	}
}

func (c *Cluster) restart(id int, epoch uint32) {
	m := &c.machines[id]
	if m.up || m.epoch != epoch {
		return
	}
	c.Effects.Restarts++
	c.boot(m)
	if m.up {
		c.schedule(Tick, event{kind: evTick, who: uint16(id), epoch: m.epoch})
	}
}

func (c *Cluster) tick(id int, epoch uint32) {
	m := &c.machines[id]
	if !m.up || m.epoch != epoch {
		return
	}
	c.schedule(Tick, event{kind: evTick, who: uint16(id), epoch: epoch})
	c.stepMeta(id, meta.Input{Tick: true})
	for p := range m.members {
		c.step(id, p, replica.Input{Tick: true})
		c.standing(m, p)
	}
}

func (c *Cluster) work(id, p int, epoch uint32) {
	m := &c.machines[id]
	if !m.up || m.epoch != epoch {
		return
	}
	m.members[p].working = false
	c.step(id, p, replica.Input{Work: true})
}

// step gives one input to a replica and spreads what comes out.
func (c *Cluster) step(id, p int, in replica.Input) {
	m := &c.machines[id]
	s := &m.members[p]
	if s.member == nil {
		return
	}
	c.Steps++
	in.Now = c.now / Millisecond
	c.trace.changed = false
	join, was := in.Message != nil && in.Message.Join != 0, uint64(0)
	if join {
		was = s.member.View().Member
	}
	out, err := stepSafely(s.member, in)
	if err != nil {
		c.stopped(m, p, err)
		return
	}
	if s.copying || join && s.member.View().Member != was { // as after a boot
		if c.opened(m, p); !m.up {
			return
		}
	}
	for i := range out.Messages {
		c.send(p, out.Messages[i])
	}
	for i := range out.Answers {
		c.answer(id, p, s.member, &out.Answers[i])
	}
	if out.Work && !s.working {
		s.working = true
		c.schedule(c.diskDelay(out.Synced), event{kind: evWork, who: uint16(id), partition: uint16(p), epoch: m.epoch})
	}
	if m.amid != nil && c.amidTopic(m) {
		m.amid()
		return
	}
	if c.o.Watch != nil {
		if m.steps++; c.trace.changed || m.steps%64 == 0 {
			c.o.Watch.Stepped(c.now/Millisecond, id, op.Partition(p), s.member)
		}
	}
}

// PanicError is a panic of a replica: a broken invariant of its own.
type PanicError struct {
	Value any
	Where string // the innermost frames, innermost first
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v at %s", e.Value, e.Where) }

func stepSafely(m Member, in replica.Input) (out replica.Output, err error) {
	defer caught(&err)
	return m.Step(in)
}

func (c *Cluster) open(cfg replica.Config) (m Member, err error) {
	defer caught(&err)
	return c.o.Open(cfg)
}

// caught turns a panic into an error, so that a run reports it with its seed.
func caught(err *error) {
	v := recover()
	if v == nil {
		return
	}
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	var where []string
	for len(where) < 6 {
		f, more := frames.Next()
		if f.Function != "" && !strings.HasPrefix(f.Function, "runtime.") {
			where = append(where, fmt.Sprintf("%s:%d", f.Function[strings.LastIndexByte(f.Function, '/')+1:], f.Line))
		}
		if !more {
			break
		}
	}
	*err = &PanicError{v, strings.Join(where, " < ")}
}

func (c *Cluster) diskDelay(synced bool) int64 {
	d := &c.o.Disk
	if !synced {
		return 1 + c.diskRand.Int64N(d.Work)
	}
	if d.Slow > 0 && c.diskRand.Float64() < d.Slow {
		c.Effects.SlowSyncs++
		return d.MaxSync + c.diskRand.Int64N(d.SlowSync)
	}
	return d.MinSync + c.diskRand.Int64N(d.MaxSync-d.MinSync+1)
}

// SetDiskSpeed changes the speed of all disks from now on.
func (c *Cluster) SetDiskSpeed(d DiskSpeed) {
	d.defaults()
	c.o.Disk = d
}

// DiskSpeed as it is now.
func (c *Cluster) DiskSpeed() DiskSpeed { return c.o.Disk }

// Up tells whether a machine runs.
func (c *Cluster) Up(id int) bool { return c.machines[id].up }

// Crash takes machines down at one instant, by power loss or process crash, and
// starts them again after the given time. Machines that are down already stay
// as they are. It returns how many it took down.
func (c *Cluster) Crash(ids []int, power bool, down int64) int {
	n := 0
	for _, id := range ids {
		m := &c.machines[id]
		if !m.up {
			if power && c.volatile() && c.darken(m) {
				c.allDark()
			}
			continue
		}
		n++
		c.down(m, power)
		c.schedule(down, event{kind: evRestart, who: uint16(id), epoch: m.epoch})
	}
	return n
}

// AimAt arms a crash at a disk call of a machine that is up. An older aim of
// that machine is dropped. What it returns drops this one, unless it has hit.
func (c *Cluster) AimAt(id int, a Aim) (drop func()) {
	m := &c.machines[id]
	if m.up {
		c.arm(m, &a)
	}
	return func() {
		if m.aim == &a {
			m.aim = nil
			m.disk.Arm(nil)
		}
	}
}

func (c *Cluster) arm(m *machine, a *Aim) {
	m.aim = a
	left := a.Nth
	m.disk.Arm(func(label vfs.Label, _ string) crashfs.Action {
		if !strings.HasPrefix(string(label), a.Label) {
			return crashfs.Continue
		}
		if left--; left != 0 {
			return crashfs.Continue
		}
		if a.After {
			return crashfs.CrashAfter
		}
		return crashfs.CrashBefore
	})
}

// Leader is the machine whose replica of a partition leads with the highest
// term, 0 if none does.
func (c *Cluster) Leader(p int) int {
	leader, incarnation, term := 0, op.Incarnation(0), uint64(0)
	for id := 1; id <= c.o.Replicas; id++ {
		if m := c.machines[id].members[p].member; m != nil {
			if v := m.View(); v.Role == consensus.Leader && (v.Incarnation > incarnation || v.Incarnation == incarnation && v.Term > term) {
				leader, incarnation, term = id, v.Incarnation, v.Term
			}
		}
	}
	return leader
}

// Heal ends every fault: links are whole and lose nothing, aims are dropped,
// machines that are down start at once. Later faults are the caller's to hold
// back.
func (c *Cluster) Heal() {
	for i := range c.net.cut {
		c.net.cut[i] = 0
	}
	n := c.net.Network
	n.Loss, n.Duplicate, n.Slow = 0, 0, 0
	c.net.Network = n
	c.spoil.Spoil, c.spoil.late = Spoil{}, nil
	c.o.Disk.Slow = 0
	for id := 1; id <= c.o.Replicas; id++ {
		m := &c.machines[id]
		m.aim, m.recovery = nil, nil
		m.disk.Arm(nil)
		c.MendDisk(id)
		if !m.up {
			c.schedule(0, event{kind: evRestart, who: uint16(id), epoch: m.epoch})
		}
	}
}
