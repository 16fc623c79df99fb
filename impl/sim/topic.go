package sim

// amidTopic tells whether a machine has finished the purge of one partition of a
// topic and not yet that of another one, which it runs as well.
func (c *Cluster) amidTopic(m *machine) bool {
	for _, purge := range c.topics {
		done, open := false, false
		for _, r := range purge {
			h := m.current[r.Partition]
			if r.Generation == 0 || h == nobody || c.shards[h].incarnation != r.Incarnation || m.members[h].member == nil {
				continue
			}
			if m.members[h].member.View().Facts.Settled >= r.Generation {
				done = true
			} else {
				open = true
			}
		}
		if done && open {
			return true
		}
	}
	return false
}

// CrashAmidTopic takes a machine down as soon as it has finished the purge of one
// partition of a topic and not yet that of another, if that happens within a time.
// hit is called when it does.
func (c *Cluster) CrashAmidTopic(id int, power bool, down, within int64, hit func()) {
	m := &c.machines[id]
	if !m.up {
		return
	}
	epoch := m.epoch
	m.amid = func() {
		hit()
		c.Crash([]int{id}, power, down)
	}
	c.After(within, func() {
		if m.epoch == epoch {
			m.amid = nil
		}
	})
}
