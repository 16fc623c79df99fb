package sim

import (
	"errors"
	"slices"

	"purgelab/impl/corrupt"
	"purgelab/impl/meta"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
	"purgelab/impl/vfs/faultfs"
	"purgelab/model/op"
)

// storage is what is wrong with the disk of a machine.
type storage struct {
	rules  *faultfs.Set // nil: disks do not fail in this run
	armed  []armedRule
	rotten bool         // bytes were damaged, or read wrongly
	doubts int          // rules that may do so
	of     op.Partition // whose bytes
	gone   bool         // its replica has stopped for good
	// foreign, if not nil, is the disk of the machine's partitions; another one's is
	// in its place.
	foreign *crashfs.Disk
}

// armedRule is a rule with who wants to know that it broke a call.
type armedRule struct {
	rule faultfs.Rule
	hit  func()
}

func (c *Cluster) initStorage(m *machine) {
	if c.o.DiskFaults {
		m.rules = faultfs.NewSet()
		m.rules.Hit = func(e *faultfs.Error) { c.brokeCall(m, e) }
	}
}

// fs is the disk as the programs of the machine see it.
func (m *machine) fs() vfs.FS {
	if m.rules == nil {
		return m.disk.FS()
	}
	return m.rules.Wrap(m.disk.FS())
}

// BreakDisk makes calls of a machine's disk break by a rule until mend is called,
// or MendDisk; hit, if not nil, is called for each that does. Options.DiskFaults
// must be set.
func (c *Cluster) BreakDisk(id int, r faultfs.Rule, hit func()) (mend func()) {
	m := &c.machines[id]
	m.rules.Add(r)
	m.armed = append(m.armed, armedRule{r, hit})
	return func() {
		m.rules.Drop(r)
		for i := range m.armed {
			if m.armed[i].rule == r {
				m.armed = slices.Delete(m.armed, i, i+1)
				return
			}
		}
	}
}

// brokeCall counts a call that a rule broke.
func (c *Cluster) brokeCall(m *machine, e *faultfs.Error) {
	n := &c.Effects.DiskFaults
	switch a := e.Rule.Action; {
	case a == faultfs.Misdirect:
		n = &c.Effects.Misdirected
	case a == faultfs.DropWrite:
		n = &c.Effects.LostWrites
	case a == faultfs.StaleRead:
		n = &c.Effects.StaleReads
	case a == faultfs.BitFlip && e.Op == "read":
		n = &c.Effects.FlippedReads
	case a == faultfs.BitFlip:
		n = &c.Effects.FlippedWrites
	}
	*n++
	for _, x := range m.armed {
		if x.rule == e.Rule && x.hit != nil {
			x.hit()
		}
	}
}

// MendDisk ends all rules of a machine's disk.
func (c *Cluster) MendDisk(id int) {
	if s := c.machines[id].rules; s != nil {
		s.Clear()
		c.machines[id].armed = nil
	}
}

// diskRestart is how long a machine takes that is restarted over its disk.
const diskRestart = 200 * Millisecond

// restartForDisk takes a machine down whose disk failed so that a replica does
// not know what is durable: the power is taken from it, so that no cache shows
// what the disk has not.
func (c *Cluster) restartForDisk(m *machine, err error) bool {
	if m.rules == nil || !vfs.Failed(err) || errors.Is(err, corrupt.ErrCorrupt) {
		return false
	}
	c.Effects.DiskRestarts++
	c.down(m, true)
	c.schedule(diskRestart/4+c.diskRand.Int64N(diskRestart), event{kind: evRestart, who: uint16(m.id), epoch: m.epoch})
	return true
}

// Missing tells whether a replica stopped for good over a rotten disk.
func (c *Cluster) Missing(id, p int) bool {
	m := &c.machines[id]
	return m.gone && m.of == op.Partition(p)
}

// Unreadable tells whether a replica cannot read all its messages because they were
// damaged. Nobody has asked for them yet, or it would have stopped.
func (c *Cluster) Unreadable(id, p int) bool {
	m := &c.machines[id]
	x := m.members[p].member
	if x == nil || !m.rotten || m.of != op.Partition(p) {
		return false
	}
	f := x.View().Facts
	_, err := x.Records(f.Start, int(f.End-f.Start))
	return errors.Is(err, corrupt.ErrCorrupt)
}

// Lost tells whether so many replicas of a partition stopped for good that the
// others cannot go on.
func (c *Cluster) Lost(p int) bool {
	missing := 0
	for id := 1; id <= c.o.Replicas; id++ {
		if c.Missing(id, p) {
			missing++
		}
	}
	return 2*missing >= c.o.Replicas
}

// explains tells whether a replica is right to stop for good.
func (m *machine) explains(p op.Partition, err error) bool {
	return m.doubtful() && p == m.of && errors.Is(err, corrupt.ErrCorrupt)
}

// doubtful: what is read from the disk may not be what was written.
func (m *machine) doubtful() bool { return m.rotten || m.doubts > 0 }

// mayRot: no more than a minority of machines is rotten, or a single one, and of
// each no more than one partition, on its own disk.
func (c *Cluster) mayRot(m *machine, p int) bool {
	others := 0
	for i := range c.machines {
		if c.machines[i].doubtful() && i != m.id {
			others++
		}
	}
	if op.Partition(p) != meta.OwnPartition && c.settling(p) {
		return false
	}
	return m.foreign == nil && (!m.doubtful() || m.of == op.Partition(p)) && others < max(1, (c.o.Replicas-1)/2)
}
