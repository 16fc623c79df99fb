package sim

import "fmt"

// AtRest tells whether nothing is left to do: every machine is up that was not left
// down, every replica
// has materialized all that is committed and serves, all agree on where they
// are, and every intent is settled everywhere. If not, it says what is missing.
func (c *Cluster) AtRest() (bool, string) {
	if len(c.Refusals) > 0 {
		return false, c.Refusals[0].String()
	}
	for id := 1; id <= c.o.Replicas; id++ {
		if m := &c.machines[id]; !m.up && !m.left {
			return false, fmt.Sprintf("machine %d is down", id)
		}
	}
	if ok, why := c.metaAtRest(); !ok {
		return false, why
	}
	plane := c.Plane()
	for _, p := range c.Live() {
		if c.Lost(p) {
			continue
		}
		for id := 1; id <= c.o.Replicas; id++ {
			if m := &c.machines[id]; !m.left && m.current[c.shards[p].partition] != p {
				return false, fmt.Sprintf("machine %d does not run partition %d", id, p)
			}
		}
		leader := c.Leader(p)
		if leader == 0 {
			return false, fmt.Sprintf("partition %d has no leader", p)
		}
		lead := c.machines[leader].members[p].member.View()
		intended := plane.Partition(c.shards[p].partition).Highest()
		for id := 1; id <= c.o.Replicas; id++ {
			if c.Missing(id, p) || c.machines[id].left {
				continue
			}
			v := c.machines[id].members[p].member.View()
			f := v.Facts
			switch {
			case v.Sealed || v.Copying || v.Incarnation != 0 && v.Incarnation != plane.Partition(c.shards[p].partition).Incarnation:
				return false, fmt.Sprintf("replica %d of partition %d is not in incarnation %d yet", id, p, plane.Partition(c.shards[p].partition).Incarnation)
			case v.Joining:
				return false, fmt.Sprintf("replica %d of partition %d has not joined again", id, p)
			case !v.Serving:
				return false, fmt.Sprintf("replica %d of partition %d does not serve: applied %d, front %d", id, p, f.Applied, f.Front)
			case f.Applied != v.Committed || v.Committed != lead.Committed || v.Committed != v.Last:
				return false, fmt.Sprintf("replica %d of partition %d: applied %d, committed %d, journal ends at %d, leader %d committed %d", id, p, f.Applied, v.Committed, v.Last, leader, lead.Committed)
			case c.o.Design.Agrees() && (f.Generation != lead.Facts.Generation || f.Start != lead.Facts.Start || f.End != lead.Facts.End):
				return false, fmt.Sprintf("replica %d of partition %d is at g%d %d..%d, leader %d at g%d %d..%d", id, p, f.Generation, f.Start, f.End, leader, lead.Facts.Generation, lead.Facts.Start, lead.Facts.End)
			case f.Settled < intended:
				return false, fmt.Sprintf("replica %d of partition %d settled intent %d, not %d", id, p, f.Settled, intended)
			}
		}
	}
	return true, ""
}

// LeaveDown takes machines down for good, a minority: those that stay are a quorum with
// all its memory. It does nothing, and says so, where a replica is missing already.
func (c *Cluster) LeaveDown(ids []int) bool {
	for id := 1; id <= c.o.Replicas; id++ {
		if c.machines[id].gone {
			return false
		}
	}
	for _, id := range ids {
		m := &c.machines[id]
		m.left = true
		c.down(m, false)
	}
	return true
}

// Member gives a replica for reading, nil if it is down.
func (c *Cluster) Member(id, p int) Member { return c.machines[id].members[p].member }

// Committed is the highest op of a partition that some replica knew to be
// committed.
func (c *Cluster) Committed(p int) uint64 { return uint64(c.trace.committed[p]) }

// Resume lets clients that were finished ask the script again.
func (c *Cluster) Resume() {
	for i := range c.clients {
		if c.clients[i].state == finished {
			c.next(&c.clients[i])
		}
	}
}

// Idle tells whether every client has finished.
func (c *Cluster) Idle() bool {
	for i := range c.clients {
		if c.clients[i].state != finished {
			return false
		}
	}
	return true
}
