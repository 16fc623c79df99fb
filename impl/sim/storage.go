package sim

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"purgelab/impl/corrupt"
	"purgelab/impl/journal"
	"purgelab/impl/record"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/faultfs"
	"purgelab/model/op"
)

// storage is what is wrong with the disk of a machine.
type storage struct {
	rules  *faultfs.Set // nil: disks do not fail in this run
	rotten bool
	of     op.Partition // whose bytes rotted
	gone   bool         // its replica has stopped for good
}

func (c *Cluster) initStorage(m *machine) {
	if c.o.DiskFaults {
		m.rules = faultfs.NewSet()
	}
}

// fs is the disk as the programs of the machine see it.
func (m *machine) fs() vfs.FS {
	if m.rules == nil {
		return m.disk.FS()
	}
	return m.rules.Wrap(m.disk.FS())
}

// BreakDisk makes calls of a machine's disk fail until MendDisk; hit, if not nil,
// is called for each that does. Options.DiskFaults must be set.
func (c *Cluster) BreakDisk(id int, r faultfs.Rule, hit func()) {
	m := &c.machines[id]
	m.rules.Hit = func(*faultfs.Error) {
		c.Effects.DiskFaults++
		if hit != nil {
			hit()
		}
	}
	m.rules.Add(r)
}

// MendDisk ends all rules of a machine's disk.
func (c *Cluster) MendDisk(id int) {
	if s := c.machines[id].rules; s != nil {
		s.Clear()
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
	return m.rotten && p == m.of && errors.Is(err, corrupt.ErrCorrupt)
}

// Rot changes one byte of what a machine's replica of a partition has synced, at
// a place whose loss the disk itself can prove: an entry of the journal that a
// later frame shows to have been synced, or the marker or the checkpoint, which
// are whole or not there. It never is the term or the vote, and it strikes no
// more than a minority of machines, or a single one. It tells what it changed;
// empty if there is nothing that it may.
func (c *Cluster) Rot(id, p int, r *rand.Rand) string {
	m := &c.machines[id]
	others := 0
	for i := range c.machines {
		if c.machines[i].rotten && i != id {
			others++
		}
	}
	if m.rotten && m.of != op.Partition(p) || others >= max(1, (c.o.Replicas-1)/2) {
		return ""
	}
	who := record.Identity{Cluster: 1, Partition: op.Partition(p), Replica: uint32(id), Incarnation: 1}
	// Its own handles: those of the machine may be dead.
	fs := m.disk.Clone().FS()
	spans, err := journal.Proved(fs, dirOf(p)+"/journal", who)
	if err != nil {
		return ""
	}
	// Records that are not needed may rot too; nobody will notice.
	records := []string{"marker"}
	if names, err := fs.List(dirOf(p)); err == nil {
		for _, n := range names {
			records = append(records, n+"checkpoint")
		}
	}
	for _, name := range records {
		file := dirOf(p) + "/" + name
		if b, answer, _ := record.Read(fs, file, who); answer == record.Value {
			spans = append(spans, journal.Span{File: file, From: 0, To: int64(len(b))})
		}
	}
	if len(spans) == 0 {
		return ""
	}
	s := spans[r.IntN(len(spans))]
	at := s.From + r.Int64N(s.To-s.From)
	if err := m.disk.Rot(s.File, at, 1<<r.IntN(8)); err != nil {
		return ""
	}
	m.rotten, m.of = true, op.Partition(p)
	c.Effects.Rotten++
	return fmt.Sprintf("%s byte %d", s.File, at)
}
