package sim

import "fmt"

// Unsettled tells of an intent that a leader does not carry out although nothing
// keeps it from doing so: it has materialized all that is committed. Empty if there
// is none.
func (c *Cluster) Unsettled() string {
	meta := c.MetaLeader()
	if meta == 0 {
		return ""
	}
	plane := c.machines[meta].meta.member.State()
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
