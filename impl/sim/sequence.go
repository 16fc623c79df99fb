package sim

import (
	"fmt"

	"purgelab/impl/observe"
	"purgelab/impl/replica"
	"purgelab/model/op"
)

// The design reset-record keeps no journal under a policy that does not sync all
// before it acknowledges. When every machine is without power at the same time, op
// numbers of each partition begin anew, in the same directories and under the same
// incarnation; of what was, only the records of purges are left. To clients and
// histories what follows is another partition, a shard of its own, as after a
// re-creation. Nothing that is on its way arrives there: connections do not outlive
// both of their ends.
//
// Such a run must not take the power from fewer machines: the design has no answer
// to that.

// Sequences is a Script or a Watch that wants to know when op numbers of a partition
// begin anew. g is the generation that the records show.
type Sequences interface {
	SequenceLost(at int64, from, to op.Partition, g op.Generation)
}

// volatile tells whether op numbers begin anew when all machines lose power.
func (c *Cluster) volatile() bool {
	return (&replica.Config{Design: c.o.Design, Policy: c.o.Policy}).Volatile()
}

// darken takes the power from a machine that is down already, if it has any.
func (c *Cluster) darken(m *machine) bool {
	if m.up || m.dark {
		return false
	}
	m.losses++
	m.disk.PowerLoss(c.powerRand)
	m.dark = true
	return true
}

// allDark begins all op numbers anew if no machine has power.
func (c *Cluster) allDark() {
	if !c.volatile() {
		return
	}
	for id := 1; id <= c.o.Replicas; id++ {
		if !c.machines[id].dark {
			return
		}
	}
	for _, h := range c.known() {
		c.beginSequence(h)
	}
}

func (c *Cluster) beginSequence(h int) {
	to := c.o.Partitions + c.o.Recreations + c.sequences
	if to >= len(c.shards) {
		panic(fmt.Sprintf("sim: more losses of all power than the %d that were announced", c.o.Losses))
	}
	c.sequences++
	c.Effects.Sequences++
	c.shards[to] = c.shards[h]
	c.after[h] = to
	g := op.Generation(0)
	for id := 1; id <= c.o.Replicas; id++ {
		m := &c.machines[id]
		c.trace.of[id][h].Observe(observe.Event{Action: "BeginSequence"})
		m.members[h].exists = false
		at := c.shards[h]
		n, err := replica.PurgedTo(&replica.Config{
			ID: id, Partition: at.partition, Incarnation: at.incarnation, Cluster: 1, FS: m.disk.FS(), Dir: at.dir(),
		})
		if err == nil { // else it will refuse to boot
			g = max(g, n)
		}
	}
	for _, who := range []any{c.script, c.o.Watch} {
		if s, ok := who.(Sequences); ok {
			s.SequenceLost(c.now/Millisecond, op.Partition(h), op.Partition(to), g)
		}
	}
	if s, ok := c.script.(Mover); ok {
		s.Moved(op.Partition(h), op.Partition(to), c.shards[h].incarnation)
	}
	c.GiveUp(h)
}

// over tells whether op numbers of a shard have begun anew.
func (c *Cluster) over(h int) bool { return c.after[h] != 0 }

// latestOf is the shard whose op numbers are those that a serial number has now.
func (c *Cluster) latestOf(h int) int {
	for c.after[h] != 0 {
		h = c.after[h]
	}
	return h
}
