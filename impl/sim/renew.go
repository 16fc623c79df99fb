package sim

import (
	"purgelab/impl/meta"
	"purgelab/model/op"
)

// A client that creates a partition again asks the metadata plane and no
// partition; it is no operation of a history. All clients learn from answers that
// a partition went: the request names the incarnation that it means.

// renew begins the renewal that a client's order asks for, unless this run has
// had enough of them.
func (c *Cluster) renew(cl *client) {
	if c.renewals == c.o.Recreations {
		c.next(cl)
		return
	}
	c.renewals++
	cl.call = &Call{Client: cl.id, Process: cl.process, Request: &op.Request{Partition: cl.order.Request.Partition}}
	cl.order.Patience = 0
	cl.began, cl.sent, cl.copies = c.now, 0, 0
	cl.epoch++
	c.attempt(cl)
}

// renewal is the command that comes next.
func (cl *client) renewal() meta.Kind {
	switch {
	case cl.order.Renew == Recreate:
		return meta.RecreatePartition
	case cl.deleted:
		return meta.CreatePartition
	}
	return meta.DeletePartition
}

// renewed goes on when a command of a renewal is committed. Another client may
// have been faster; then there is nothing to do.
func (c *Cluster) renewed(cl *client, r meta.Result) {
	if r.Code == op.OK && cl.order.Renew == DeleteAndMake && !cl.deleted {
		cl.deleted = true
		cl.sent, cl.copies = 0, 0
		c.attempt(cl)
		return
	}
	cl.deleted = false
	if r.Code == op.OK {
		c.Effects.Recreated++
		c.shards[r.Serial] = shard{r.Partition, r.Incarnation}
		c.lines[r.Serial].first = r.Incarnation
		c.moved(cl.call.Request.Partition, r.Incarnation)
	}
	c.next(cl)
}

// moved tells the script that a shard has a successor, of that incarnation; 0 is
// none.
func (c *Cluster) moved(from op.Partition, incarnation op.Incarnation) {
	s, ok := c.script.(Mover)
	if !ok || incarnation == 0 {
		return
	}
	for h, at := range c.shards {
		if first := c.lines[h].first; first > 0 && at.partition == c.shards[from].partition && first <= incarnation && incarnation <= at.incarnation && op.Partition(h) != from {
			s.Moved(from, op.Partition(h), incarnation)
		}
	}
}

// movedAway tells an answer that says that the partition is not what the client
// believes: it is another incarnation, or is not there at all. (A stale position
// in a request to the right incarnation is another matter.)
func (c *Cluster) movedAway(r *op.Request, reply *op.Reply) bool {
	means := r.Incarnation
	if means == 0 {
		means = c.shards[r.Partition].incarnation
	}
	return reply.Code == op.UnknownPartition || reply.Code == op.StaleIncarnation && reply.Position.Incarnation != means
}

// abandon ends a call on a partition that is gone. It had no effect, unless
// another copy of it may have reached the partition before. That it goes on in a later
// incarnation is an answer; of one that was created again it is none, since that is
// another partition.
func (c *Cluster) abandon(cl *client, call *Call, reply *op.Reply) {
	c.Effects.Stale++
	o, answer := NoEffect, op.Reply{}
	if i := reply.Position.Incarnation; reply.Code == op.StaleIncarnation {
		if c.learns(cl, call.Request.Partition, i) {
			o, answer = Answered, *reply
		} else {
			c.moved(call.Request.Partition, i)
		}
	}
	if r := call.Request; r.Mutates() && r.Kind != op.Register && (cl.copies > 0 || r.Intent != 0) {
		o, answer = Unknown, op.Reply{}
	}
	c.finish(cl, call, o, answer)
}

// known lists the latest shard of every partition, as far as anybody knows.
func (c *Cluster) known() []int {
	latest := make([]int, c.o.Partitions)
	for h, s := range c.shards {
		if s.incarnation > 0 {
			latest[s.partition] = h
		}
	}
	return latest
}

// Latest is the shard that a partition of the beginning is now, as far as anybody
// knows.
func (c *Cluster) Latest(p int) int { return c.known()[p] }
