package sim

import (
	"math/rand/v2"

	"purgelab/impl/meta"
	"purgelab/impl/replica"
	"purgelab/model/op"
)

// Script decides what clients ask for and is told what came of it.
type Script interface {
	// Next gives a client's next operation; ok false ends its work for good.
	// The simulator fills in Session, Sequence and Intent.
	Next(client int, at int64) (o Order, ok bool)
	// Invoked is called before anything of the call leaves the client.
	Invoked(at int64, call *Call)
	// Returned is called once for each call invoked. reply is zero unless the
	// outcome is Answered.
	Returned(at int64, call *Call, o Outcome, reply op.Reply)
}

// Order is what a client is to do next.
type Order struct {
	Request *op.Request
	// Think is how many microseconds it waits first.
	Think int64
	// Patience is after how many microseconds it gives up; 0 means never.
	Patience int64
	// Accepted: a purge ends when its intent is committed, and not only when it is
	// applied. Topic: it is one of every partition, each a call of its own, and
	// ends so too.
	Accepted, Topic bool
	// Renew: instead of the request, create its partition again.
	Renew Renewal
	// NoAck: the request is sent once, unnumbered, and its answer is not awaited
	// (ack=none), so the call ends at once with an unknown outcome.
	NoAck bool
}

// Renewal is a way to create a partition again.
type Renewal uint8

const (
	NoRenewal     Renewal = iota
	Recreate              // in one command
	DeleteAndMake         // in two, with nothing in between
)

// Mover is a Script that wants to know when a partition was created again. To
// histories the new one is a partition of its own, with a number of its own; the
// old one answers nothing any more.
type Mover interface {
	// Moved is called when a client learns it, so more than once.
	Moved(from, to op.Partition, incarnation op.Incarnation)
}

// Call is one operation of one process, as a history records it.
type Call struct {
	Client  int
	Process int
	Request *op.Request
	// Asked is the highest op known to be committed when the call began.
	Asked op.Number
	// MetaSession and MetaSequence name the command by which a purge asked the
	// metadata plane for its intent; zero if it did not come to that.
	MetaSession  op.Session
	MetaSequence op.Sequence
	// Sibling: a part of a purge of a topic that another call stands for.
	Sibling bool
}

// Outcome is what a client knows at the end of a call.
type Outcome uint8

const (
	// Answered: the reply says what happened.
	Answered Outcome = iota
	// NoEffect: every copy of the request was refused, or it changes nothing that
	// can be seen (a registration whose answer was lost opened a session that
	// nobody uses).
	NoEffect
	// Unknown: it may have taken effect, or may later, or never will.
	Unknown
	// Accepted: the intent of a purge is committed, so it takes effect once, at any
	// later time; the reply is what it will be answered then, unless it expects a
	// position and does not find it.
	Accepted
)

// Times of a client, in microseconds.
const (
	answerWait    = 80 * Millisecond // until it sends the request again
	answerWaitMax = 120 * Millisecond
	retryPause    = 2 * Millisecond  // after a refusal
	electionPause = 20 * Millisecond // when nobody knows a leader
)

// client runs one operation at a time: it registers a session with a partition
// before its first mutation there, repeats a request with the same session and
// sequence until it is answered or patience ends, and after an unknown outcome
// goes on as a new process with new sessions.
type client struct {
	id       int
	process  int
	sessions []op.Session     // per partition; 0 none
	sequence []op.Sequence    // per partition; last one used
	leader   []int            // per partition; where to ask first
	believed []op.Incarnation // per partition; the one that it means, 0: that of the beginning

	metaLeader   int // where to ask the metadata plane first
	metaSession  op.Session
	metaSequence op.Sequence
	asked        *meta.Request // command that waits for the plane's answer
	siblings     []*Call       // of call, if it purges a topic
	deleted      bool          // a renewal in two commands is half done

	rand *rand.Rand

	state    clientState
	epoch    uint32 // of the call; stale events are dropped
	order    Order
	call     *Call
	register *Call // a registration that the order needs first
	token    uint64
	began    int64
	copies   int // sent, not answered
	sent     int // in all
	wait     uint32
}

type clientState uint8

const (
	thinking clientState = iota
	asking               // the metadata plane for an intent
	waiting              // for an answer
	pausing              // before sending again
	finished
)

// requestParcel is a request on its way to a machine.
type requestParcel struct {
	token uint64
	req   *op.Request
}

// answerParcel is an answer on its way to a client.
type answerParcel struct {
	token  uint64
	reply  op.Reply
	leader int
}

func (c *Cluster) initClients() {
	c.clients = make([]client, c.o.Clients)
	for i := range c.clients {
		cl := &c.clients[i]
		cl.id, cl.process = i, i
		cl.rand = Split(c.o.Seed, "client-"+string(rune('A'+i)))
		cl.leader = make([]int, len(c.shards))
		cl.sessions = make([]op.Session, len(c.shards))
		cl.believed = make([]op.Incarnation, len(c.shards))
		cl.sequence = make([]op.Sequence, len(c.shards))
		c.next(cl)
	}
}

// next asks the script for the client's next operation.
func (c *Cluster) next(cl *client) {
	o, ok := c.script.Next(cl.id, c.now)
	cl.epoch++
	cl.call, cl.register, cl.asked, cl.siblings = nil, nil, nil, nil
	if !ok {
		cl.state = finished
		return
	}
	cl.order = o
	cl.state = thinking
	c.schedule(1+o.Think, event{kind: evWake, who: uint16(cl.id), epoch: cl.epoch})
}

// wake begins a call, or sends again after a pause.
func (c *Cluster) wake(id int, epoch uint32) {
	cl := &c.clients[id]
	if cl.epoch != epoch {
		return
	}
	switch cl.state {
	case thinking:
		c.begin(cl)
	case pausing:
		c.attempt(cl)
	}
}

func (c *Cluster) begin(cl *client) {
	r := cl.order.Request
	p := r.Partition
	if c.over(int(p)) {
		c.next(cl)
		return
	}
	if cl.order.Renew != NoRenewal {
		c.renew(cl)
		return
	}
	if cl.order.NoAck {
		c.fire(cl)
		return
	}
	if c.numbered(r) && cl.sessions[p] == 0 {
		cl.register = &Call{Client: cl.id, Process: cl.process, Request: &op.Request{Kind: op.Register, Partition: p}}
		c.invoke(cl, cl.register)
		return
	}
	if c.numbered(r) {
		cl.sequence[p]++
		r.Session, r.Sequence = cl.sessions[p], cl.sequence[p]
	}
	cl.call = &Call{Client: cl.id, Process: cl.process, Request: r}
	if c.byIntent(r) && cl.order.Topic {
		r.Expected = nil
		c.invokeSiblings(cl)
	}
	c.invoke(cl, cl.call)
}

// numbered tells whether a request carries a session and a sequence. A purge by
// intent does not: the intent makes it repeatable.
func (c *Cluster) numbered(r *op.Request) bool {
	return r.Mutates() && r.Kind != op.Register && !c.byIntent(r)
}

// byIntent: the metadata plane is asked first, for a generation.
func (c *Cluster) byIntent(r *op.Request) bool {
	return r.Kind == op.Purge && c.o.Design.Intents()
}

func (c *Cluster) invoke(cl *client, call *Call) {
	c.named(cl, call.Request)
	call.Asked = c.trace.committed[call.Request.Partition]
	cl.began, cl.sent, cl.copies = c.now, 0, 0
	cl.epoch++
	c.newToken(cl)
	c.script.Invoked(c.now, call)
	c.attempt(cl)
}

// newToken names the current call in requests and answers.
func (c *Cluster) newToken(cl *client) {
	cl.token = (cl.token/uint64(c.o.Clients)+1)*uint64(c.o.Clients) + uint64(cl.id)
}

func (cl *client) current() *Call {
	if cl.register != nil {
		return cl.register
	}
	return cl.call
}

// attempt sends the current request once, or asks for the intent of a purge that
// has none yet.
func (c *Cluster) attempt(cl *client) {
	call := cl.current()
	r := call.Request
	if c.expired(cl) {
		c.giveUp(cl)
		return
	}
	if cl.sent > 0 {
		c.Effects.Repeated++
		if r.Kind == op.Purge {
			c.Effects.PurgesAgain++
		}
	}
	if cl.order.Renew != NoRenewal || c.byIntent(r) && r.Intent == 0 {
		c.ask(cl)
		return
	}
	another := cl.copies > 0 // that was not refused
	if r.Kind == op.Register && cl.sent > 0 {
		// A registration cannot be repeated: an older one that was executed
		// after all left a session that nobody uses.
		c.newToken(cl)
		cl.copies = 0
	}
	to := cl.leader[r.Partition]
	if to == 0 {
		to = 1 + cl.rand.IntN(c.o.Replicas)
	}
	cl.leader[r.Partition] = to
	cl.state = waiting
	cl.sent++
	cl.copies++
	first, second := c.net.route(0, to, r.Kind != op.Register, &c.Effects)
	if first != lostInTransit {
		c.schedule(first, event{kind: evRequest, who: uint16(to), slot: c.requests.put(requestParcel{cl.token, r})})
	}
	if s, ok := c.script.(Repeats); ok && r.Incarnation != 0 && (another || second != lostInTransit) {
		s.Again(call)
	}
	if second != lostInTransit {
		cl.copies++
		if r.Kind == op.Purge {
			c.Effects.PurgesAgain++
		}
		c.schedule(second, event{kind: evRequest, who: uint16(to), slot: c.requests.put(requestParcel{cl.token, r})})
	}
	c.startTimer(cl)
}

func (c *Cluster) startTimer(cl *client) {
	cl.wait++
	d := answerWait + cl.rand.Int64N(answerWaitMax-answerWait)
	if p := cl.order.Patience; p > 0 && !c.patient {
		d = min(d, max(1, cl.began+p-c.now))
	}
	c.schedule(d, event{kind: evTimeout, who: uint16(cl.id), epoch: cl.wait})
}

func (c *Cluster) expired(cl *client) bool {
	return cl.order.Patience > 0 && !c.patient && c.now >= cl.began+cl.order.Patience
}

// timeout tries another replica, or gives up.
func (c *Cluster) timeout(id int, wait uint32) {
	cl := &c.clients[id]
	if cl.wait != wait || cl.state != waiting && cl.state != asking {
		return
	}
	if cl.state == asking {
		c.otherMeta(cl, 0)
	} else {
		c.elsewhere(cl, cl.current().Request.Partition, 0)
	}
	c.attempt(cl)
}

// elsewhere chooses the next replica to ask: the hinted one, or any other.
func (c *Cluster) elsewhere(cl *client, p op.Partition, hint int) {
	last := cl.leader[p]
	switch {
	case hint != 0 && hint != last:
		cl.leader[p] = hint
	case c.o.Replicas > 1:
		n := 1 + cl.rand.IntN(c.o.Replicas-1)
		if n >= last {
			n++
		}
		cl.leader[p] = n
	}
}

// deliverRequest gives a request to a replica; a dead machine does not answer.
func (c *Cluster) deliverRequest(to int, slot int32) {
	q := c.requests.take(slot)
	if !c.machines[to].up {
		c.Effects.ToDead++
		return
	}
	c.serves(&c.machines[to], q)
}

// answer takes an answer from a replica and sends it to its client.
func (c *Cluster) answer(from, p int, m Member, a *replica.Answer) {
	id := int(a.Token % uint64(c.o.Clients))
	cl := &c.clients[id]
	if a.Op > 0 && a.Reply.Code == op.OK && c.forgetful() {
		c.lines[p].acked = append(c.lines[p].acked, a.Op)
	}
	if c.o.Watch != nil && cl.token == a.Token {
		call := cl.current()
		// A namesake, or a later incarnation, answers only what it is not.
		if call != nil && int(call.Request.Partition) == p && (call.Request.Incarnation == 0 || call.Request.Incarnation == c.machines[from].members[p].incarnation) {
			c.o.Watch.Answered(c.now/Millisecond, from, call.Request, &a.Reply, m.View().Facts.Applied, call.Asked)
		}
	}
	first, _ := c.net.route(from, 0, false, &c.Effects)
	if first != lostInTransit {
		c.schedule(first, event{kind: evAnswer, who: uint16(id), slot: c.answers.put(answerParcel{a.Token, a.Reply, a.Leader})})
	}
}

// deliverAnswer ends a call, or sends it on to another replica.
func (c *Cluster) deliverAnswer(id int, slot int32) {
	a := c.answers.take(slot)
	cl := &c.clients[id]
	call := cl.current()
	if call == nil || a.token != cl.token {
		return // of an older call
	}
	cl.copies--
	r := call.Request
	if a.reply.Code.Retriable() {
		if cl.state != waiting {
			return // another copy was refused before
		}
		pause := retryPause
		if a.reply.Code == op.NotLeader {
			c.elsewhere(cl, r.Partition, a.leader)
			if a.leader == 0 {
				pause = electionPause
			}
		}
		cl.state = pausing
		c.schedule(pause+cl.rand.Int64N(pause), event{kind: evWake, who: uint16(id), epoch: cl.epoch})
		return
	}
	if c.movedAway(r, &a.reply) {
		c.abandon(cl, call, &a.reply)
		return
	}
	lostSession := a.reply.Code == op.SessionExpired || a.reply.Code == op.StaleSequence
	if lostSession && cl.sent > 1 {
		// An earlier copy may have been executed before the session went.
		c.finish(cl, call, Unknown, op.Reply{})
		return
	}
	if lostSession {
		cl.sessions[r.Partition] = 0
	}
	if cl.register != nil {
		cl.sessions[r.Partition], cl.sequence[r.Partition] = a.reply.Session, 0
		cl.register = nil
		c.script.Returned(c.now, call, Answered, a.reply)
		c.begin(cl)
		return
	}
	c.finish(cl, call, Answered, a.reply)
}

// GiveUp ends every call on a partition that nobody will ever answer.
func (c *Cluster) GiveUp(p int) {
	for i := range c.clients {
		cl := &c.clients[i]
		switch cl.state {
		case asking, waiting, pausing:
			if call := cl.current(); call != nil && int(call.Request.Partition) == p {
				c.giveUp(cl)
			}
		}
	}
}

// giveUp ends a call whose time is over. Its outcome is known only if it cannot
// have changed anything: a read, or a mutation of which every copy was refused.
// A purge that asked the metadata plane and got no answer may have its intent.
func (c *Cluster) giveUp(cl *client) {
	call := cl.current()
	r := call.Request
	if r.Kind == op.Purge && r.Intent != 0 {
		cl.copies = 1 // the intent is committed: the reconciler goes on
	}
	if !r.Mutates() || cl.copies == 0 || r.Kind == op.Register {
		c.finish(cl, call, NoEffect, op.Reply{})
		return
	}
	c.finish(cl, call, Unknown, op.Reply{})
}

func (c *Cluster) finish(cl *client, call *Call, o Outcome, reply op.Reply) {
	for _, s := range cl.siblings {
		c.script.Returned(c.now, s, o, op.Reply{})
	}
	if o == Unknown {
		cl.process = c.processes
		c.processes++
	}
	if o == Unknown && !cl.order.NoAck {
		c.Effects.GaveUp++
		for p := range cl.sessions {
			cl.sessions[p], cl.sequence[p] = 0, 0
		}
		cl.metaSession = 0
	}
	c.script.Returned(c.now, call, o, reply)
	c.next(cl)
}

// BePatient makes every client wait for its answer however long it takes, from
// now on.
func (c *Cluster) BePatient() { c.patient = true }
