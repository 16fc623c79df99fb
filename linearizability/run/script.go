package run

import (
	"purgelab/impl/observe"
	"purgelab/impl/sim"
	"purgelab/linearizability/history"
	"purgelab/linearizability/invariant"
	"purgelab/linearizability/workload"
	"purgelab/model/op"
)

// script gives clients their operations and records what they see.
type script struct {
	work     *workload.Workload
	play     *workload.Player // instead of what work draws; nil: it draws
	keep     bool             // the steps
	steps    []workload.Step
	rec      history.Recorder
	check    *invariant.Checker
	patience []int64 // per client, of its current operation
	quiet    bool
	reads    []*op.Request // left of the quiet phase, or of the probes
	probing  bool          // see serve
	unserved string        // a probe that was refused
	ended    int           // calls that ended
	given    []givenUp
	ending   map[op.Partition][]op.Losses // incarnations that were sealed and have no successor yet
	purges   map[op.Partition][]*sim.Call // invoked
}

// givenUp is a purge whose client did not learn whether it got an intent.
type givenUp struct {
	place int // of its end in the history
	call  *sim.Call
}

// Next implements sim.Script.
func (s *script) Next(client int, at int64) (sim.Order, bool) {
	if s.quiet {
		if client != 0 || len(s.reads) == 0 {
			return sim.Order{}, false
		}
		r := s.reads[0]
		s.reads = s.reads[1:]
		return sim.Order{Request: r}, true
	}
	c, ok := s.choose(client, at)
	if !ok {
		return sim.Order{}, false
	}
	s.patience[client] = c.Patience
	if c.Recreate {
		o := sim.Order{Request: c.Request, Renew: sim.Recreate}
		if c.InTwo {
			o.Renew = sim.DeleteAndMake
		}
		return o, true
	}
	return sim.Order{Request: c.Request, Think: c.Think, Patience: c.Patience, Accepted: c.Accepted, Topic: c.Topic, NoAck: c.NoAck}, true
}

// choose draws the next operation, or takes it from a script.
func (s *script) choose(client int, at int64) (c workload.Choice, ok bool) {
	if s.play != nil {
		c, ok = s.play.Next(client, at, s.work.Now)
	} else {
		c, ok = s.work.Next(client)
	}
	if ok && s.keep {
		s.steps = append(s.steps, s.work.Note(client, at, c))
	}
	return c, ok
}

// Invoked implements sim.Script.
func (s *script) Invoked(at int64, c *sim.Call) {
	if s.probing {
		return
	}
	if c.Request.Kind == op.Purge {
		s.purges[c.Request.Partition] = append(s.purges[c.Request.Partition], c)
	}
	s.check.Invoked(c.Client, c.Request)
	s.rec.Invoke(c.Process, at/sim.Millisecond, c.Request)
}

// Returned implements sim.Script.
func (s *script) Returned(at int64, c *sim.Call, o sim.Outcome, reply op.Reply) {
	if s.probing {
		s.probed(c, o, reply)
		return
	}
	s.ended++
	ms := at / sim.Millisecond
	switch o {
	case sim.Answered:
		s.rec.Answer(c.Process, ms, &reply)
		s.check.Returned(ms, c.Client, c.Request, &reply)
	case sim.Accepted:
		s.rec.Accept(c.Process, ms, &reply)
	case sim.NoEffect:
		s.rec.Fail(c.Process, ms, "no copy of the request was accepted in time")
	case sim.Unknown:
		s.rec.Unknown(c.Process, ms, c.Request.Intent, "gave up")
		if c.MetaSession != 0 && c.Request.Intent == 0 {
			s.given = append(s.given, givenUp{s.rec.Last(), c})
		}
	}
	if s.quiet || c.Request.Kind == op.Register || c.Sibling || o == sim.Accepted && c.Request.Expected != nil {
		return // an accepted purge that expects a position may yet come to nothing
	}
	learned := &reply
	if o == sim.Accepted {
		learned = &op.Reply{Code: op.Transient} // nothing to learn before it takes effect
	}
	s.work.Learn(c.Request, learned, o != sim.Unknown, s.patience[c.Client])
}

// Moved implements sim.Mover.
func (s *script) Moved(from, to op.Partition, incarnation op.Incarnation) {
	s.work.Moved(from, to, incarnation)
}

// Again implements sim.Repeats.
func (s *script) Again(c *sim.Call) {
	if !s.probing {
		s.rec.Again(c.Process)
	}
}

// Ending implements sim.Incarnations. If the one before has not begun anywhere the
// operation waits until it has: nobody saw anything of it.
func (s *script) Ending(at int64, p op.Partition, lose op.Losses) {
	if s.ending == nil {
		s.ending = map[op.Partition][]op.Losses{}
	}
	s.ending[p] = append(s.ending[p], lose)
	if len(s.ending[p]) == 1 {
		s.rec.Invoke(world-int(p), at/sim.Millisecond, &op.Request{Kind: op.NewIncarnation, Partition: p, MayLose: lose})
	}
}

// Began implements sim.Incarnations.
func (s *script) Began(at int64, p op.Partition, reply op.Reply) {
	s.rec.Answer(world-int(p), at/sim.Millisecond, &reply)
	if s.ending[p] = s.ending[p][1:]; len(s.ending[p]) > 0 {
		s.rec.Invoke(world-int(p), at/sim.Millisecond, &op.Request{Kind: op.NewIncarnation, Partition: p, MayLose: s.ending[p][0]})
	}
}

// world is the process of what no client asks for.
const world = -1

// SequenceLost implements sim.Sequences: all machines lost power, and a partition
// whose policy promises nothing then goes on as another one, whose history begins
// with the purge that is left of it. A purge that was not over may yet be carried
// out there.
func (s *script) SequenceLost(at int64, from, to op.Partition, g op.Generation) {
	if g > 0 {
		s.rec.Invoke(world-int(to), at, &op.Request{Kind: op.Purge, Partition: to, Intent: g})
		s.rec.Answer(world-int(to), at, &op.Reply{Position: op.Position{Incarnation: 1, Generation: g}})
	}
	for _, c := range s.purges[from] {
		intent := c.Request.Intent
		if intent != 0 && intent <= g || intent == 0 && c.MetaSession == 0 {
			continue
		}
		s.rec.Invoke(world-int(to), at, &op.Request{Kind: op.Purge, Partition: to, Intent: intent})
		s.rec.Unknown(world-int(to), at, intent, "its partition lost its op numbers")
		if intent == 0 {
			s.given = append(s.given, givenUp{s.rec.Last(), c})
		}
		s.purges[to] = append(s.purges[to], c)
	}
}

// reveal completes the history with the intents that clients gave up waiting for.
// The cluster is at rest, so what has none never gets one.
func (s *script) reveal(c *sim.Cluster) {
	for _, g := range s.given {
		s.rec.Settle(g.place, c.Granted(g.call))
	}
	s.given = nil
}

// beQuiet ends the work and lets one client read everything.
func (s *script) beQuiet() {
	s.check.Quiet()
	s.quiet = true
	s.reads = s.work.Quiet()
}

// tracer passes events to the invariants and keeps them for the trace. Every
// replica reports an op as committed when it comes to it, after each boot again;
// only what differs from the first report is kept.
type tracer struct {
	check  *invariant.Checker
	keep   bool
	events []observe.Event
	first  [][]committed // by partition and op
	in     []int         // by partition: the incarnation that it is in
}

// committed is what all replicas must say of an op.
type committed struct {
	term      uint64
	kind, key string
	offset    op.Offset
	count     int
}

// Observe implements observe.Sink.
func (t *tracer) Observe(e observe.Event) {
	t.check.Observe(e)
	if !t.keep {
		return
	}
	if i := &t.in[e.Partition]; e.Action == "NewIncarnation" && e.Count > *i {
		// What comes now is agreed on anew, whatever had these numbers before.
		of := &t.first[e.Partition]
		*i, *of = e.Count, (*of)[:min(len(*of), int(e.Op)+1)]
	}
	if e.Action == "Commit" {
		of := &t.first[e.Partition]
		for int(e.Op) >= len(*of) {
			*of = append(*of, committed{})
		}
		said := committed{e.Term, e.Kind, e.Key, e.Offset, e.Count}
		if (*of)[e.Op] == said {
			return
		}
		if (*of)[e.Op].term == 0 {
			(*of)[e.Op] = said
		}
	}
	t.events = append(t.events, e)
}
