package sim

import (
	"purgelab/impl/meta"
	"purgelab/impl/replica"
	"purgelab/model/op"
)

// losing is a base to be lost; until then nobody is hit.
type losing struct {
	down int64
	hit  func()
}

// LoseBase takes, until stop is called, the disk of its partitions from a machine whose
// log a new incarnation goes on from, while nobody else has a copy of it: see
// ReplaceDisk. It strikes once, when the last machine has heard of the incarnation, and
// only where the others show enough that no operator is needed; hit is called then.
func (c *Cluster) LoseBase(down int64, hit func()) (stop func()) {
	l := &losing{down, hit}
	c.losing = l
	return func() {
		if c.losing == l {
			c.losing = nil
		}
	}
}

// loseBase strikes, now that a machine runs the next incarnation of a partition.
func (c *Cluster) loseBase() {
	if c.losing == nil || c.baseHolder() == nil {
		return
	}
	c.After(0, func() {
		if l := c.losing; l != nil {
			if m := c.baseHolder(); m != nil {
				c.losing = nil
				c.loseDisk(m, l.down)
				l.hit()
			}
		}
	})
}

// baseHolder is a machine whose disk may be lost.
func (c *Cluster) baseHolder() *machine {
	plane := c.Plane()
	if plane == nil || c.o.Replicas == 1 {
		return nil
	}
	for _, h := range c.Live() {
		p := plane.Partition(c.shards[h].partition)
		if p.Incarnation == p.First || p.Sealed || p.Source.Machine == 0 {
			continue
		}
		m := &c.machines[p.Source.Machine]
		if m.up && !m.left && c.mayLoseDisk(m) && c.alone(m, h, p) && c.othersShow(m, plane) {
			return m
		}
	}
	return nil
}

// alone tells whether a machine runs the present incarnation of a shard, and all others
// still copy what it goes on from.
func (c *Cluster) alone(m *machine, h int, p *meta.Partition) bool {
	for id := 1; id <= c.o.Replicas; id++ {
		s := &c.machines[id].members[h]
		if s.member == nil || s.incarnation != p.Incarnation || id != m.id && !s.member.View().Copying {
			return false
		}
	}
	return true
}

// othersShow tells whether all machines but one have a memory of all partitions: then
// they go on without that one.
func (c *Cluster) othersShow(m *machine, plane *meta.State) bool {
	for id := 1; id <= c.o.Replicas; id++ {
		x := &c.machines[id]
		if id == m.id {
			continue
		}
		if !x.up || !x.meta.knows() {
			return false
		}
		for _, h := range c.Live() {
			s, p := &x.members[h], plane.Partition(c.shards[h].partition)
			if s.member == nil || s.incarnation != p.Incarnation {
				return false
			}
			v := s.member.View()
			if v.Joining || v.Sealed || v.Copying && !c.shows(x, h, p) {
				return false
			}
		}
	}
	return true
}

// shows tells whether a machine that copies a base has a memory of its own from before.
func (c *Cluster) shows(m *machine, h int, p *meta.Partition) bool {
	at, d := c.ran(m, h), m.disk.Clone()
	s, err := replica.LastWord(replica.Config{
		ID: m.id, Partition: at.partition, Incarnation: at.incarnation, Cluster: 1, Design: c.o.Design, Policy: c.o.Policy,
		FS: d.FS(), Dir: at.dir(), Base: c.base(p), SegmentBytes: c.o.SegmentBytes, JournalBytes: c.o.JournalBytes,
	})
	return err == nil && s.Evidence.Intact && !s.Copied
}

// mayLoseDisk: no more than a minority lose what they have.
func (c *Cluster) mayLoseDisk(m *machine) bool {
	others := 0
	for i := range c.machines {
		if c.machines[i].doubtful() && i != m.id {
			others++
		}
	}
	return m.foreign == nil && !m.doubtful() && others < max(1, (c.o.Replicas-1)/2)
}

// loseDisk takes a machine down and empties the disk of its partitions.
func (c *Cluster) loseDisk(m *machine, down int64) {
	c.down(m, true)
	c.emptyDisk(m, ofPartitions)
	c.syncRoot(m)
	m.rotten, m.of = true, op.Partition(0)
	c.Effects.Replaced++
	c.schedule(down, event{kind: evRestart, who: uint16(m.id), epoch: m.epoch})
}
