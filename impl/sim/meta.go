package sim

import (
	"fmt"

	"purgelab/impl/consensus"
	"purgelab/impl/meta"
	"purgelab/impl/replica"
	"purgelab/model/op"
)

// The metadata plane: a replica of it on every machine, in the directory meta,
// one raft group over the same network and disks as everything else. A client
// asks its leader for the intent of a purge; each machine tells its replicas of
// partitions what its own replica of the plane knows, which may lag behind.

const (
	metaDir = "meta"
	// allPartitions are in one topic.
	topic meta.Topic = 0
	// gapEvery leaves out one generation in eight.
	gapEvery = 8
)

// metaSlot is the replica of the metadata plane on a machine.
type metaSlot struct {
	member  *meta.Machine // nil: down, or refused
	working bool
	boots   int
	damaged error // why it stopped
	joining bool  // it lost its memory, and is no voter yet
}

// askParcel is a command on its way to the plane, grantParcel its answer.
type askParcel struct {
	token uint64
	req   *meta.Request
}

type grantParcel struct {
	token  uint64
	reply  meta.Reply
	leader int
}

// metaConfig is that of the plane's replica of a machine.
func (c *Cluster) metaConfig(m *machine) meta.Config {
	cfg := meta.Config{
		ID: m.id, Members: c.everybody(), Cluster: 1, FS: m.fs(), Dir: metaDir, Damaged: m.meta.damaged,
		Sessions: c.o.Sessions, GapEvery: gapEvery, HeartbeatTicks: 10, ElectionTicks: 40, JournalBytes: c.o.JournalBytes,
		Rand: Split(c.o.Seed, fmt.Sprintf("meta-%d-%d", m.id, m.meta.boots)), Defects: c.o.Defects,
	}
	for p := 0; p < c.o.Partitions; p++ {
		cfg.Initial = append(cfg.Initial, meta.Placement{Topic: topic, Partition: op.Partition(p)})
	}
	return cfg
}

// bootMeta opens the plane's replica of a machine; false if the machine went
// down over it.
func (c *Cluster) bootMeta(m *machine) bool {
	s := &m.meta
	s.boots++
	member, err := openMeta(c.metaConfig(m))
	s.damaged = nil
	if err != nil {
		c.stopped(m, metaSlotNumber, err)
		return m.up
	}
	s.member = member
	c.openedMeta(m)
	return true
}

func openMeta(cfg meta.Config) (m *meta.Machine, err error) {
	defer caught(&err)
	return meta.Open(cfg)
}

// stepMeta gives one input to the plane's replica of a machine and spreads what
// comes out.
func (c *Cluster) stepMeta(id int, in meta.Input) {
	m := &c.machines[id]
	s := &m.meta
	if s.member == nil {
		return
	}
	c.Steps++
	out, err := stepMetaSafely(s.member, in)
	if err != nil {
		c.stopped(m, metaSlotNumber, err)
		return
	}
	for _, x := range out.Messages {
		first, second := c.net.route(x.From, x.To, true, &c.Effects)
		if first != lostInTransit {
			c.schedule(first, event{kind: evMetaMessage, slot: c.metaMessages.put(x)})
		}
		if second != lostInTransit {
			c.schedule(second, event{kind: evMetaMessage, slot: c.metaMessages.put(x)})
		}
	}
	for i := range out.Answers {
		a := &out.Answers[i]
		if a.Reply.Code == op.OK && len(a.Reply.Results) > 1 {
			c.topics = append(c.topics, a.Reply.Results)
		}
		if c.o.Watch != nil {
			c.o.Watch.Planned(c.now/Millisecond, a.Token, &a.Reply, s.member.State())
		}
		if d, _ := c.net.route(id, 0, false, &c.Effects); d != lostInTransit {
			c.schedule(d, event{kind: evGrant, who: uint16(a.Token % uint64(c.o.Clients)), slot: c.grants.put(grantParcel{a.Token, a.Reply, a.Leader})})
		}
	}
	if out.Work && !s.working {
		s.working = true
		c.schedule(c.diskDelay(true), event{kind: evMetaWork, who: uint16(id), epoch: m.epoch})
	}
	if c.joinedMeta(m) || out.Changed {
		if c.place(m); m.up {
			c.tell(m)
		}
	}
}

func stepMetaSafely(m *meta.Machine, in meta.Input) (out meta.Output, err error) {
	defer caught(&err)
	return m.Step(in)
}

func (c *Cluster) metaWork(id int, epoch uint32) {
	m := &c.machines[id]
	if !m.up || m.epoch != epoch {
		return
	}
	m.meta.working = false
	c.stepMeta(id, meta.Input{Work: true})
}

func (c *Cluster) deliverMeta(slot int32) {
	x := c.metaMessages.take(slot)
	if !c.machines[x.To].up {
		c.Effects.ToDead++
		return
	}
	c.stepMeta(x.To, meta.Input{Message: &x})
}

// tell passes to the replicas of a machine the intents that its replica of the
// plane knows, each once in the life of both.
func (c *Cluster) tell(m *machine) {
	if !m.meta.knows() {
		return
	}
	state := m.meta.member.State()
	for partition, h := range m.current {
		if h == nobody {
			continue
		}
		s := &m.members[h]
		known := state.Partition(op.Partition(partition))
		if c.seal(m, h, known); !m.up {
			return
		}
		if s.member == nil || c.latestOf(int(known.Serial)) != h || s.told >= len(known.Intents) {
			continue
		}
		list := make([]replica.Intent, 0, len(known.Intents)-s.told)
		for _, in := range known.Intents[s.told:] {
			list = append(list, replica.Intent{Generation: in.Generation, Previous: in.Previous, Expected: in.Expected})
		}
		s.told = len(known.Intents)
		if c.step(m.id, h, replica.Input{Intents: list}); !m.up {
			return
		}
	}
}

// ask sends the command for the intent of a client's purge once more, or that
// for a session, which it needs first.
func (c *Cluster) ask(cl *client) {
	if cl.metaSession == 0 {
		// A registration cannot be repeated; an older one that was executed after
		// all left a session that nobody uses.
		c.newToken(cl)
		cl.asked = &meta.Request{Kind: meta.Register}
	} else if cl.asked == nil {
		c.newToken(cl)
		cl.metaSequence++
		r, at := cl.call.Request, c.shards[cl.call.Request.Partition]
		cl.asked = &meta.Request{
			Kind: meta.PurgePartition, Topic: topic, Partition: at.partition, Incarnation: c.believes(cl, r.Partition),
			Session: cl.metaSession, Sequence: cl.metaSequence, Expected: r.Expected,
		}
		switch {
		case cl.siblings != nil:
			cl.asked.Kind, cl.asked.Incarnation = meta.PurgeTopic, 0
			for _, call := range append(cl.siblings, cl.call) {
				at := c.shards[call.Request.Partition]
				cl.asked.Believed = append(cl.asked.Believed, meta.Belief{Partition: at.partition, Incarnation: c.believes(cl, call.Request.Partition)})
			}
		case cl.order.Renew != NoRenewal:
			cl.asked.Kind = cl.renewal()
			if cl.asked.Kind == meta.CreatePartition {
				cl.asked.Incarnation = 0
			}
		}
		for _, call := range append(cl.siblings, cl.call) {
			call.MetaSession, call.MetaSequence = cl.metaSession, cl.metaSequence
		}
	}
	if cl.metaLeader == 0 {
		cl.metaLeader = 1 + cl.rand.IntN(c.o.Replicas)
	}
	cl.state = asking
	cl.sent++
	numbered := cl.asked.Kind != meta.Register
	first, second := c.net.route(0, cl.metaLeader, numbered, &c.Effects)
	for _, d := range [2]int64{first, second} {
		if d == lostInTransit {
			continue
		}
		if numbered {
			cl.copies++
		}
		c.asking++
		c.schedule(d, event{kind: evAsk, who: uint16(cl.metaLeader), slot: c.asks.put(askParcel{cl.token, cl.asked})})
	}
	c.startTimer(cl)
}

// deliverAsk gives a command to a replica of the plane.
func (c *Cluster) deliverAsk(to int, slot int32) {
	q := c.asks.take(slot)
	c.asking--
	if !c.machines[to].up {
		c.Effects.ToDead++
		return
	}
	c.stepMeta(to, meta.Input{Call: &meta.Call{Token: q.token, Request: q.req}})
}

// deliverGrant goes on with a purge whose intent is committed, or asks again.
func (c *Cluster) deliverGrant(id int, slot int32) {
	g := c.grants.take(slot)
	cl := &c.clients[id]
	if g.token != cl.token || cl.asked == nil {
		return // of an older command
	}
	if g.reply.Code.Retriable() {
		if cl.asked.Kind != meta.Register {
			cl.copies--
		}
		if cl.state != asking {
			return // another copy was refused before
		}
		pause := retryPause
		if g.reply.Code == op.NotLeader {
			if c.otherMeta(cl, g.leader); g.leader == 0 {
				pause = electionPause
			}
		}
		cl.state = pausing
		c.schedule(pause+cl.rand.Int64N(pause), event{kind: evWake, who: uint16(id), epoch: cl.epoch})
		return
	}
	registered := cl.asked.Kind == meta.Register
	cl.asked = nil
	cl.epoch++ // a pause that was going on is over
	if registered {
		cl.metaSession, cl.metaSequence = g.reply.Session, 0
		cl.sent = 0
		c.attempt(cl)
		return
	}
	if g.reply.Code != op.OK {
		// The session went, perhaps after an earlier copy was executed.
		cl.metaSession = 0
		if cl.order.Renew != NoRenewal {
			c.attempt(cl) // it names the incarnation, so a repeat does no harm
			return
		}
		o := NoEffect
		if cl.sent > 1 {
			o = Unknown
		}
		c.finish(cl, cl.call, o, op.Reply{})
		return
	}
	if cl.order.Renew != NoRenewal {
		c.renewed(cl, g.reply.Results[0])
		return
	}
	for _, s := range cl.siblings {
		c.accept(cl, s, g.reply.Results)
	}
	siblings := cl.siblings
	cl.siblings = nil
	accepted := c.resultOf(g.reply.Results, cl.call.Request.Partition)
	switch {
	case accepted.Code != op.OK: // no such partition, or not any more
		if !c.learns(cl, cl.call.Request.Partition, accepted.Incarnation) {
			c.moved(cl.call.Request.Partition, accepted.Incarnation)
		}
		c.finish(cl, cl.call, NoEffect, op.Reply{})
	case cl.order.Accepted || siblings != nil:
		cl.call.Request.Intent = accepted.Generation
		c.finish(cl, cl.call, Accepted, promise(accepted))
	default:
		cl.call.Request.Intent = accepted.Generation
		cl.sent, cl.copies = 0, 0
		c.attempt(cl)
	}
}

// invokeSiblings begins a call for every partition but the one that the order
// names: to the judge each is an operation of a process of its own.
func (c *Cluster) invokeSiblings(cl *client) {
	cl.siblings = []*Call{}
	for _, p := range c.known() {
		if c.shards[p].partition == c.shards[cl.call.Request.Partition].partition {
			continue
		}
		s := &Call{
			Client: cl.id, Process: c.processes, Sibling: true, Asked: c.trace.committed[p],
			Request: &op.Request{Kind: op.Purge, Partition: op.Partition(p)},
		}
		c.processes++
		c.named(cl, s.Request)
		cl.siblings = append(cl.siblings, s)
		c.script.Invoked(c.now, s)
	}
}

// accept ends one partition's part of the purge of a topic.
func (c *Cluster) accept(cl *client, call *Call, results []meta.Result) {
	r := c.resultOf(results, call.Request.Partition)
	if r.Code != op.OK {
		c.learns(cl, call.Request.Partition, r.Incarnation)
		c.script.Returned(c.now, call, NoEffect, op.Reply{})
		return
	}
	call.Request.Intent = r.Generation
	c.script.Returned(c.now, call, Accepted, promise(r))
}

// promise is what a purge will be answered when it takes effect.
func promise(r meta.Result) op.Reply {
	return op.Reply{Position: op.Position{Incarnation: r.Incarnation, Generation: r.Generation}}
}

// resultOf finds what a command did to a shard: nothing, if its partition was
// created again meanwhile.
func (c *Cluster) resultOf(list []meta.Result, shard op.Partition) meta.Result {
	at := c.shards[shard]
	for _, r := range list {
		of := r.Incarnation == at.incarnation || c.lines[shard].first > 0 && c.lines[shard].first <= r.Incarnation && r.Incarnation < at.incarnation
		if r.Partition == at.partition && (r.Code != op.OK || of) {
			return r
		}
	}
	return meta.Result{Partition: at.partition, Code: op.UnknownPartition}
}

// otherMeta chooses the next machine to ask: the hinted one, or any other.
func (c *Cluster) otherMeta(cl *client, hint int) {
	switch {
	case hint != 0 && hint != cl.metaLeader:
		cl.metaLeader = hint
	case c.o.Replicas > 1:
		n := 1 + cl.rand.IntN(c.o.Replicas-1)
		if n >= cl.metaLeader {
			n++
		}
		cl.metaLeader = n
	}
}

// MetaLeader is the machine whose replica of the metadata plane leads with the
// highest term, 0 if none does.
func (c *Cluster) MetaLeader() int {
	leader, term := 0, uint64(0)
	for id := 1; id <= c.o.Replicas; id++ {
		if m := c.machines[id].meta.member; m != nil {
			if v := m.View(); v.Role == consensus.Leader && v.Term > term {
				leader, term = id, v.Term
			}
		}
	}
	return leader
}

// Granted tells, once the cluster is at rest, which intent a purge got that was
// given up before its client knew; 0: none, and it never will get one.
func (c *Cluster) Granted(call *Call) op.Generation {
	leader := c.MetaLeader()
	if leader == 0 || call.MetaSession == 0 {
		return 0
	}
	reply, ok := c.machines[leader].meta.member.State().Outcome(call.MetaSession, call.MetaSequence)
	if !ok {
		return 0
	}
	return c.resultOf(reply.Results, call.Request.Partition).Generation
}

// metaAtRest tells whether every replica of the plane is up to date and no
// command is on its way.
func (c *Cluster) metaAtRest() (bool, string) {
	if c.asking > 0 {
		return false, "a command for the metadata plane is on its way"
	}
	leader := c.MetaLeader()
	if leader == 0 {
		return false, "the metadata plane has no leader"
	}
	lead := c.machines[leader].meta.member.View()
	for id := 1; id <= c.o.Replicas; id++ {
		if c.machines[id].left {
			continue
		}
		if !c.machines[id].meta.knows() {
			return false, fmt.Sprintf("replica %d of the metadata plane has not joined again", id)
		}
		if v := c.machines[id].meta.member.View(); v.Applied != v.Last || v.Last != lead.Last || v.Pending {
			return false, fmt.Sprintf("replica %d of the metadata plane: applied %d, journal ends at %d, leader %d ends at %d", id, v.Applied, v.Last, leader, lead.Last)
		}
	}
	return true, ""
}
