package invariant

import (
	"purgelab/model/op"
)

// answers is what clients of one partition were told.
type answers struct {
	// at holds the payload known at each position, by generation.
	at []known
	// also are payloads that clients were told at positions at which they were told
	// another one before.
	also map[op.Position][]op.Payload
	// where each payload was first seen.
	where map[op.Payload]op.Position
	// floor, per client: bounds that were answered before its call began.
	floor []floor
	now   floor
	// last number of each session, and per client: its call repeats a request.
	last    map[op.Session]op.Sequence
	repeats []bool
	// stored is the position of the last store that was acknowledged.
	stored op.Position
}

type known struct {
	gen      op.Generation
	payloads []op.Payload // by offset; empty: unknown
}

func newAnswers(clients int) answers {
	return answers{where: map[op.Payload]op.Position{}, also: map[op.Position][]op.Payload{}, floor: make([]floor, clients), last: map[op.Session]op.Sequence{}, repeats: make([]bool, clients)}
}

func (a *answers) gen(g op.Generation) *known {
	for i := len(a.at) - 1; i >= 0; i-- {
		if a.at[i].gen == g {
			return &a.at[i]
		}
	}
	a.at = append(a.at, known{gen: g})
	return &a.at[len(a.at)-1]
}

// end is one more than the highest known offset of a generation.
func (a *answers) end(g op.Generation) op.Offset { return op.Offset(len(a.gen(g).payloads)) }

// seen: a position holds one payload for ever, and a payload has one position.
func (c *Checker) seen(p *part, replica int, at op.Position, payload op.Payload) {
	k := p.clients.gen(at.Generation)
	for op.Offset(len(k.payloads)) <= at.Offset {
		k.payloads = append(k.payloads, "")
	}
	old := k.payloads[at.Offset]
	if old == payload {
		return
	}
	if old != "" {
		if replica == 0 && !c.quiet {
			p.clients.also[at] = append(p.clients.also[at], payload)
		}
		c.report(p, replica, "OffsetUnique", "%s holds %.20s, and held %.20s", at, payload, old)
		return
	}
	k.payloads[at.Offset] = payload
	first, again := p.clients.where[payload]
	switch {
	case !again:
		p.clients.where[payload] = at
	case first.Generation < at.Generation:
		c.report(p, replica, "NoResurrectedMessage", "%.20s of %s is visible at %s", payload, first, at)
	case first.Generation > at.Generation && c.resets != nil:
		c.report(p, replica, "NoResurrectedMessage", "%.20s of %s is visible at %s", payload, at, first)
	default:
		c.report(p, replica, "SessionOnce", "%.20s is stored at %s and at %s", payload, first, at)
	}
}

// Invoked notes what was known when a call began.
func (c *Checker) Invoked(client int, r *op.Request) {
	a := &c.parts[r.Partition].clients
	a.floor[client] = a.now
	if a.repeats[client] = r.Session != 0 && r.Sequence <= a.last[r.Session]; r.Session != 0 {
		a.last[r.Session] = max(a.last[r.Session], r.Sequence)
	}
}

// Answered checks a read that a replica answers: it has applied all that was
// committed when the call began (asked). Mutations are answered when applied.
func (c *Checker) Answered(at int64, id int, r *op.Request, reply *op.Reply, applied, asked op.Number) {
	c.now = at
	c.progress(c.parts[r.Partition], id, r, reply, applied, asked)
	if r.Mutates() || reply.Code.Retriable() || applied >= asked {
		return
	}
	p := c.parts[r.Partition]
	name := "NoHiddenFresh"
	if reply.Code == op.OK && (r.Kind == op.Poll && reply.Count == 0 || r.Kind != op.Poll && !reply.Found) {
		name = "NoPhantomEmpty"
	}
	c.report(p, id, name, "answers a %s from op %d, op %d was committed when it was asked", r.Kind, applied, asked)
}

// Returned checks an answer that a client got.
func (c *Checker) Returned(at int64, client int, r *op.Request, reply *op.Reply) {
	p := c.parts[r.Partition]
	c.now = at
	if r.Kind == op.Purge && r.Expected == nil && r.Intent != 0 && reply.Code == op.Mismatch {
		c.report(p, 0, "PurgeEventuallyApplied", "the purge of intent %d, which expects nothing, was settled without one: %v", r.Intent, reply.Position)
	}
	in := r.Incarnation
	if reply.Code == op.StaleIncarnation {
		in = reply.Position.Incarnation
	}
	if in != 0 && p.incarnation != 0 && in != p.incarnation {
		return // an answer of an incarnation that is over may say what is lost
	}
	if b, ok := boundsIn(r, reply); ok {
		c.bounds(p, client, b)
	}
	if reply.Code != op.OK {
		return
	}
	switch r.Kind {
	case op.Append:
		where := reply.Position
		for _, payload := range r.Payloads {
			c.seen(p, 0, where, payload)
			where.Offset++
		}
	case op.StoreBookmark:
		if !r.Bare {
			p.clients.stored = r.At
		}
	case op.Poll:
		where := reply.Position
		for i := range reply.Records {
			c.seen(p, 0, where, reply.Records[i].Payload)
			where.Offset++
		}
	}
}
