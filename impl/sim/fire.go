package sim

import "purgelab/model/op"

// fire sends a request once and forgets it. It is unnumbered, so the network
// must not duplicate it: it would be executed twice.
func (c *Cluster) fire(cl *client) {
	r := cl.order.Request
	c.named(cl, r)
	cl.call = &Call{Client: cl.id, Process: cl.process, Request: r, Asked: c.trace.committed[r.Partition]}
	c.newToken(cl)
	c.script.Invoked(c.now, cl.call)
	to := cl.leader[r.Partition]
	if to == 0 {
		to = 1 + cl.rand.IntN(c.o.Replicas)
	}
	if d, _ := c.net.route(0, to, false, &c.Effects); d != lostInTransit {
		c.schedule(d, event{kind: evRequest, who: uint16(to), slot: c.requests.put(requestParcel{cl.token, r})})
	}
	c.Effects.Unacknowledged++
	c.finish(cl, cl.call, Unknown, op.Reply{})
}
