package sim

import (
	"errors"
	"fmt"
	"strings"

	"purgelab/impl/consensus"
	"purgelab/impl/record"
	"purgelab/impl/replica"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
	"purgelab/model/op"
)

// A disk that is not the machine's own: somebody mixed two up. Whatever is on it, the
// replicas of partitions must refuse it, and change nothing there; when their own disk
// is back they go on as after any loss of power.

// Whose says what a foreign disk is of: it was used by a replica that differs from the
// machine's own in this, and in nothing else.
type Whose string

const (
	OfCluster   Whose = "cluster"
	OfPartition Whose = "partition"
	OfReplica   Whose = "replica"
)

// Whoses are all of them.
var Whoses = []Whose{OfCluster, OfPartition, OfReplica}

// ForeignDisk takes a machine down and puts a foreign disk in for that of its
// partitions. mend puts the own one back; nil: the machine is down, has no replica that
// ran, or its disk deceives it, so that it could not tell.
func (c *Cluster) ForeignDisk(id int, whose Whose, down int64) (mend func()) {
	m := &c.machines[id]
	if !m.up || m.foreign != nil || m.doubts > 0 {
		return nil
	}
	var used []int
	for h := range m.members {
		if s := &m.members[h]; s.member != nil && m.current[c.shards[h].partition] == h {
			used = append(used, h)
		}
	}
	if len(used) == 0 {
		return nil
	}
	c.down(m, true)
	m.foreign = m.disk.Clone()
	c.emptyDisk(m, ofPartitions)
	for _, h := range used {
		dir := c.ran(m, h).dir()
		d, err := c.usedBy(m, h, whose, dir)
		if err == nil {
			err = copyTree(d.FS(), m.disk.FS(), dir)
		}
		if err != nil {
			panic(fmt.Sprintf("sim: foreign disk: %v", err)) // nothing breaks it
		}
	}
	c.syncRoot(m)
	c.Effects.Foreign++
	c.schedule(down, event{kind: evRestart, who: uint16(id), epoch: m.epoch})
	return func() { c.ownDisk(m, down) }
}

// ownDisk takes a machine down, if it is not, and puts its own disk back.
func (c *Cluster) ownDisk(m *machine, down int64) {
	if m.up {
		c.down(m, true)
		c.schedule(down, event{kind: evRestart, who: uint16(m.id), epoch: m.epoch})
	}
	c.emptyDisk(m, ofPartitions)
	own := m.foreign.FS()
	names, err := own.List(".")
	for _, name := range names {
		if err == nil && ofPartitions(name) {
			err = copyTree(own, m.disk.FS(), strings.TrimSuffix(name, "/"))
		}
	}
	if err != nil {
		panic(fmt.Sprintf("sim: own disk: %v", err)) // both are in memory
	}
	c.syncRoot(m)
	m.foreign = nil
}

// usedBy makes a disk on which another replica ran, alone, until it led.
func (c *Cluster) usedBy(m *machine, h int, whose Whose, dir string) (*crashfs.Disk, error) {
	at := c.ran(m, h)
	cfg := replica.Config{
		ID: m.id, Partition: at.partition, Incarnation: at.incarnation, Cluster: 1, Design: c.o.Design, Policy: c.o.Policy,
		Dir: dir, BootID: 1, HeartbeatTicks: 1, ElectionTicks: 2, CheckpointOps: c.o.CheckpointOps, Sessions: c.o.Sessions,
		SegmentBytes: c.o.SegmentBytes, JournalBytes: c.o.JournalBytes, Rand: Split(c.o.Seed, "foreign"),
	}
	switch whose {
	case OfCluster:
		cfg.Cluster++
	case OfPartition:
		cfg.Partition += op.Partition(c.o.Partitions)
	case OfReplica:
		cfg.ID++ // of the last one: a replica that there is not
	}
	cfg.Members = []int{cfg.ID}
	d := crashfs.New()
	cfg.FS = d.FS()
	if err := cfg.FS.Mkdir("sim.foreign.mkdir", dir); err != nil {
		return nil, err
	}
	if err := replica.Format(cfg); err != nil {
		return nil, err
	}
	r, err := replica.Open(cfg)
	for in := (replica.Input{Tick: true}); err == nil; {
		if v := r.View(); v.Role == consensus.Leader && v.Facts.Applied > op.Number(1) {
			return d, r.Stop()
		}
		var out replica.Output
		if out, err = r.Step(in); out.Work {
			in = replica.Input{Work: true}
		} else {
			in = replica.Input{Tick: true}
		}
	}
	return nil, err
}

// copyTree copies a folder with everything in it, durably.
func copyTree(from, to vfs.FS, dir string) error {
	names, err := from.List(dir)
	if err != nil {
		return err
	}
	if err := to.Mkdir("sim.copy.mkdir", dir); err != nil {
		return err
	}
	for _, name := range names {
		path := dir + "/" + name
		if sub, ok := strings.CutSuffix(path, "/"); ok {
			err = copyTree(from, to, sub)
		} else {
			err = copyFile(from, to, path)
		}
		if err != nil {
			return err
		}
	}
	return to.SyncDir("sim.copy.dirsync", dir)
}

func copyFile(from, to vfs.FS, path string) error {
	f, err := from.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	n, err := f.Size()
	if err != nil {
		return err
	}
	b := make([]byte, n)
	if n > 0 {
		if _, err := f.ReadAt(b, 0); err != nil {
			return err
		}
	}
	g, err := to.Create("sim.copy.create", path)
	if err != nil {
		return err
	}
	defer g.Close()
	if _, err := g.WriteAt("sim.copy.write", b, 0); err != nil {
		return err
	}
	return g.Sync("sim.copy.sync")
}

// refusedForeign tells whether a replica refuses a foreign disk, as it must.
func (c *Cluster) refusedForeign(m *machine, h int, err error) bool {
	var foreign *record.ForeignError
	if m.foreign == nil || h == metaSlotNumber || !errors.As(err, &foreign) {
		return false
	}
	m.members[h].member = nil
	c.Effects.ForeignRefused++
	return true
}

// tookForeign ends a run in which a replica runs on a foreign disk.
func (c *Cluster) tookForeign(m *machine, h int) {
	m.members[h].member = nil
	c.Refusals = append(c.Refusals, Refusal{
		At: c.now / Millisecond, Replica: m.id, Partition: op.Partition(h), Err: errors.New("it runs on the disk of another replica, which it should refuse"),
	})
}
