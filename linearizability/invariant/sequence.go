package invariant

import "purgelab/model/op"

// Promises says what a policy promises over a loss of power by all machines.
func (c *Checker) Promises(messages, bookmarks bool) { c.promises = [2]bool{messages, bookmarks} }

// Sound says that the disks of this run keep what they have synced.
func (c *Checker) Sound() { c.sound = true }

// SequenceLost implements sim.Sequences: op numbers of a partition began anew, and
// it goes on as another one. What its replicas have done to purge still counts; that
// nothing else is left breaks a promise only if the policy made one.
func (c *Checker) SequenceLost(at int64, from, to op.Partition, g op.Generation) {
	c.now = at
	p, next := c.parts[from], c.parts[to]
	if end := p.clients.end(g); c.promises[0] && end > 0 {
		c.report(p, 0, "AckDurable", "all machines lost power, and with it the messages of generation %d up to offset %d", g, end-1)
	}
	if b := p.clients.stored; c.promises[1] && b.Incarnation != 0 && b.Generation == g {
		c.report(p, 0, "AckDurable", "all machines lost power, and with it the bookmark %s, whose store was acknowledged", b)
	}
	if c.resets == nil {
		return
	}
	for i := range c.resets[from].replicas {
		old := &c.resets[from].replicas[i]
		c.resets[next.id].replicas[i] = resetReplica{
			anew: true, reset: old.reset, synced: max(old.synced, g), cleaned: old.cleaned, done: old.done,
		}
	}
}
