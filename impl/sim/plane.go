package sim

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"purgelab/impl/meta"
)

// Unsettled tells of an intent that a leader does not carry out although nothing
// keeps it from doing so: it has materialized all that is committed. Empty if there
// is none.
func (c *Cluster) Unsettled() string {
	plane := c.Plane()
	if plane == nil {
		return ""
	}
	for _, h := range c.Live() {
		id := c.Leader(h)
		if id == 0 {
			continue
		}
		v, at := c.machines[id].members[h].member.View(), c.shards[h]
		intended := plane.Partition(at.partition).Highest()
		if v.Idle && v.Facts.Applied == v.Committed && v.Facts.Settled < intended {
			return fmt.Sprintf("partition %d: leader %d has nothing to do and settled intent %d, not %d", at.partition, id, v.Facts.Settled, intended)
		}
	}
	return ""
}

// Plane is the state of the metadata plane, as whoever leads it knows it; nil without a
// leader.
func (c *Cluster) Plane() *meta.State {
	leader := c.MetaLeader()
	if leader == 0 {
		return nil
	}
	return c.machines[leader].meta.member.State()
}

// knows tells whether the plane's replica of a machine may say what the machine is to
// run: one that lost its memory may have known more.
func (s *metaSlot) knows() bool { return s.member != nil && !s.joining }

// openedMeta looks at the plane's replica of a machine after a boot. Replicas of
// partitions may have gone on meanwhile: it must be told again how they stand.
func (c *Cluster) openedMeta(m *machine) {
	s := &m.meta
	for h := range m.members {
		m.members[h].stands = nil
	}
	s.joining = s.member.Joining()
	if s.member.Suspect() != nil {
		c.Effects.PlaneSuspects++
	}
	if m.of == meta.OwnPartition {
		m.gone = false
	}
}

// joinedMeta tells whether the plane's replica of a machine just became a voter again.
func (c *Cluster) joinedMeta(m *machine) bool {
	s := &m.meta
	if !s.joining || s.member.Joining() {
		return false
	}
	s.joining = false
	c.Effects.PlaneRejoined++
	return true
}

// reopenMeta starts the plane's replica of a machine again that stopped over damage:
// its member is renounced.
func (c *Cluster) reopenMeta(m *machine, err error) {
	epoch := m.epoch
	c.After(diskRestart, func() {
		if !m.up || m.epoch != epoch || m.meta.member != nil {
			return
		}
		m.meta.damaged = err
		if c.bootMeta(m) && m.up {
			if c.place(m); m.up {
				c.tell(m)
			}
		}
	})
}

// mayLosePlane: of the plane, too, a majority keeps its memory. It has no use for a
// plane of one.
func (c *Cluster) mayLosePlane(m *machine) bool {
	return c.o.Replicas > 1 && c.mayRot(m, int(meta.OwnPartition))
}

// ReplacePlaneDisk takes a machine down and empties the disk of its system: that of
// the plane's replica, and what is noted about partitions that went. Nobody says so:
// the replica finds out. It tells whether it did.
func (c *Cluster) ReplacePlaneDisk(id int, down int64) bool {
	m := &c.machines[id]
	if !m.up || !c.mayLosePlane(m) {
		return false
	}
	c.down(m, true)
	c.emptyDisk(m, func(name string) bool { return name == metaDir+"/" || strings.HasSuffix(name, tombstone) })
	if err := m.disk.FS().Mkdir("sim.replace.mkdir", metaDir); err != nil {
		panic(err) // a disk in memory
	}
	c.syncRoot(m)
	m.rotten, m.of = true, meta.OwnPartition
	c.Effects.PlaneReplaced++
	c.schedule(down, event{kind: evRestart, who: uint16(id), epoch: m.epoch})
	return true
}

// RotPlane damages the journal of a machine's replica of the plane, in bytes that the
// disk itself proves to have kept. It tells what it changed; empty if there is nothing
// that it may.
func (c *Cluster) RotPlane(id int, r *rand.Rand) string {
	m := &c.machines[id]
	if !c.mayLosePlane(m) {
		return ""
	}
	cfg := c.metaConfig(m)
	d := m.disk.Clone()
	d.PowerLossAs(nil)
	cfg.FS = d.FS()
	spans, err := meta.Proved(cfg)
	if err != nil {
		return "" // it is damaged already, or gone
	}
	x, ok := drawPlace(spans, r)
	if !ok || m.disk.Rot(x.file, x.at, 1<<r.IntN(8)) != nil {
		return ""
	}
	m.rotten, m.of = true, meta.OwnPartition
	c.Effects.PlaneRotten++
	return fmt.Sprintf("%s byte %d", x.file, x.at)
}
