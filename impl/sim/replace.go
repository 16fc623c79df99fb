package sim

import "strings"

// ReplaceDisk takes a machine down and gives it an empty disk for its partitions;
// that of its system, with the plane's replica and the tombstones, is another one.
// It was not formatted, so the replicas of partitions begin as suspects that have
// nothing to show. It strikes only where every other machine is up and has all its
// memory, and never more than a minority in a run, damage included: what a quorum
// holds is never lost. It tells whether it did.
func (c *Cluster) ReplaceDisk(id int, down int64) bool {
	m := &c.machines[id]
	if !m.up || c.o.Replicas == 1 || !c.mayRot(m, int(m.of)) {
		return false
	}
	for i := 1; i <= c.o.Replicas; i++ {
		x := &c.machines[i]
		if !x.up || !x.meta.knows() {
			return false
		}
		for h := range x.members {
			if s := &x.members[h]; !s.exists || x.current[c.shards[h].partition] != h {
				continue
			} else if s.member == nil {
				return false
			} else if v := s.member.View(); v.Joining || v.Sealed || v.Copying {
				return false
			}
		}
	}
	c.loseDisk(m, down)
	return true
}

// ofPartitions tells the folders on the disk of a machine's partitions.
func ofPartitions(name string) bool { return strings.HasSuffix(name, "/") && name != metaDir+"/" }

// emptyDisk removes what is chosen from the root of the disk of a machine that is
// down. The names are synced by syncRoot.
func (c *Cluster) emptyDisk(m *machine, choose func(name string) bool) {
	fs := m.disk.FS()
	names, err := fs.List(".")
	for _, name := range names {
		if err == nil && choose(name) {
			if dir, ok := strings.CutSuffix(name, "/"); ok {
				err = removeAll(fs, dir)
			} else {
				err = fs.Remove("sim.replace.remove", name)
			}
		}
	}
	if err != nil {
		panic(err) // a disk in memory
	}
}

func (c *Cluster) syncRoot(m *machine) {
	if err := m.disk.FS().SyncDir("sim.replace.dirsync", "."); err != nil {
		panic(err)
	}
}
