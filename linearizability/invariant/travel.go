package invariant

import (
	"slices"

	"purgelab/impl/replica"
	"purgelab/impl/segment"
	"purgelab/model/op"
)

// Transfers lists what a run of a design with transfers of state checks besides. Of
// replicas that purge on their own nobody else knows where their start is.
func Transfers(d replica.Design) []string {
	if d == replica.ResetRecord {
		return Installs
	}
	return append(slices.Clone(Installs), "PurgedNeverTravels")
}

// Served looks at the messages of a chunk that a replica sends to another one: none is
// purged, or deleted, in the state that the replica itself has come to.
func (c *Checker) Served(at int64, id int, part op.Partition, chunk []byte) {
	p := c.parts[part]
	last := p.replicas[id].last
	if c.resets != nil || int(last) >= len(p.ops) || p.ops[last].did.kind == "" {
		return
	}
	c.now = at
	sent, err := segment.Messages(chunk)
	if err != nil {
		c.report(p, id, "PurgedNeverTravels", "sends a chunk that cannot be read: %v", err)
		return
	}
	now := p.ops[last].after
	for _, m := range sent {
		switch purged := p.boundary(now.gen); {
		case m.Op <= purged:
			c.report(p, id, "PurgedNeverTravels", "sends the message of op %d after op %d: op %d purged it", m.Op, last, purged)
		case m.Offset < now.start:
			c.report(p, id, "PurgedNeverTravels", "sends message %d after op %d: the start is %d", m.Offset, last, now.start)
		default:
			continue
		}
		return
	}
}
