package check

import (
	"fmt"
	"math/rand/v2"

	"purgelab/linearizability/history"
	"purgelab/model"
	"purgelab/model/op"
)

// shape of a generated history.
type shape struct {
	semantics model.Semantics
	clients   int
	ops       int
	unknown   float64 // share of operations whose client gives up
	sessions  bool
	keys      uint32
	dense     bool // more of what is rare, for short histories
	repeats   bool // clients ask again, and go on with a session after an unknown outcome
	bug       bug  // what goes wrong, once, half way
	rest      int  // after so many requests nobody asks until all are answered; 0: never
	// begins is how many new incarnations there are at most, and loses what they
	// may lack.
	begins int
	loses  op.Losses
}

// generate runs clients against the model, one request at a time, each at one
// instant between its call and its return. What it records is linearizable by
// construction. It returns the recorder and the state at the end.
func generate(seed uint64, s shape) (*history.Recorder, *model.State) {
	rec, end, _ := generateWith(seed, s)
	return rec, end
}

// generateWith also tells whether the bug had an occasion.
func generateWith(seed uint64, s shape) (*history.Recorder, *model.State, bool) {
	g := &generator{shape: s, r: rand.New(rand.NewPCG(seed, 1)), state: model.Init(), rec: &history.Recorder{}}
	g.clients = make([]client, s.clients)
	g.log = []*model.State{g.state}
	for ; g.invoked < s.ops || g.busy(); g.now++ {
		if g.begins > 0 && g.r.IntN(4*s.ops/s.begins+1) == 0 {
			g.begin()
		}
		c := g.r.IntN(len(g.clients))
		switch x := &g.clients[c]; {
		case x.req == nil && g.invoked < s.ops && !g.rests():
			x.req = g.named(x, g.request(x))
			g.rec.Invoke(c, g.now, x.req)
			g.invoked++
		case x.req == nil:
		case x.reply == nil:
			if g.r.Float64() < s.unknown/2 {
				g.giveUp(c)
				if g.r.IntN(2) == 0 {
					g.late = append(g.late, x.req)
				}
				g.forget(x)
				continue
			}
			x.reply = g.execute(x.req)
			if x.req.Kind == op.Poll && x.req.AutoCommit && x.reply.Count > 0 {
				x.readable = g.era()
			}
		default:
			if g.r.Float64() < s.unknown/2 {
				g.giveUp(c)
				g.forget(x)
				continue
			}
			if x.reply.Code == op.OK && x.req.Kind == op.Poll && x.req.AutoCommit && x.reply.Count > 0 && !g.readable(x) {
				gone := *x.reply
				gone.Code, gone.Records = op.Gone, nil
				x.reply = &gone
			}
			g.rec.Answer(c, g.now, x.reply)
			if x.req.Kind == op.Register {
				x.session = x.reply.Session
			}
			x.req, x.reply = nil, nil
		}
		if len(g.late) > 0 && g.r.IntN(40) == 0 {
			i := g.r.IntN(len(g.late))
			g.execute(g.late[i])
			g.late = append(g.late[:i], g.late[i+1:]...)
		}
	}
	g.readAll()
	return g.rec, g.state, g.fired
}

// readAll ends a history with reads that show everything.
func (g *generator) readAll() {
	all := []*op.Request{
		{Kind: op.Poll, Strategy: op.First, Max: 1 << 20},
		{Kind: op.ListOffsets, Which: op.EarliestOffset},
		{Kind: op.ListOffsets, Which: op.LatestOffset},
	}
	for id := range g.keys {
		all = append(all, &op.Request{Kind: op.GetBookmark, Key: op.Key{Kind: op.Consumer, ID: id}}, &op.Request{Kind: op.GetBookmark, Key: op.Key{Kind: op.Group, ID: id}})
	}
	for _, r := range all {
		if g.shape.begins > 0 {
			r.Incarnation = g.state.Incarnation()
		}
		g.rec.Invoke(0, g.now, r)
		g.rec.Answer(0, g.now, g.execute(r))
	}
}

type generator struct {
	shape
	r       *rand.Rand
	state   *model.State
	rec     *history.Recorder
	clients []client
	late    []*op.Request
	now     int64
	payload int
	intent  op.Generation
	invoked int
	old     *model.State // the state before the latest purge
	twin    *model.State // the state without a delete-records; see movedBackStart
	fired   bool
	log     []*model.State // from which a new incarnation may go on
	purges  []*op.Request
}

type client struct {
	req      *op.Request
	reply    *op.Reply
	readable op.Generation
	session  op.Session
	sequence op.Sequence
	last     *op.Request // numbered
	belief   op.Incarnation
}

func (g *generator) busy() bool {
	for i := range g.clients {
		if g.clients[i].req != nil {
			return true
		}
	}
	return false
}

func (g *generator) rests() bool { return g.rest > 0 && g.invoked%g.rest == 0 && g.busy() }

func (g *generator) era() op.Generation { return g.state.Generation() }

func (g *generator) readable(x *client) bool {
	return x.readable == g.era() && x.reply.Position.Offset >= g.state.Start()
}

func (g *generator) giveUp(c int) { g.rec.Unknown(c, g.now, 0, "no answer") }

func (g *generator) forget(x *client) {
	if g.repeats && g.r.IntN(2) == 0 {
		x.req, x.reply = nil, nil
		return
	}
	*x = client{}
}

func (g *generator) execute(r *op.Request) *op.Reply {
	c := model.Choice{Timestamp: op.Timestamp(g.now / 3)}
	before := g.state
	next, reply := g.semantics.Step(g.state, r, c)
	g.state = next
	g.remember(before, r)
	if before.Generation() != next.Generation() {
		g.old = before
	}
	if g.twin != nil {
		g.twin, _ = g.semantics.Step(g.twin, r, c)
	}
	g.goWrong(r, before, reply)
	return &reply
}

func (g *generator) request(x *client) *op.Request {
	if g.sessions && x.session == 0 {
		return &op.Request{Kind: op.Register}
	}
	if g.repeats && x.last != nil && g.r.IntN(4) == 0 {
		return x.last
	}
	r := g.draw()
	if g.sessions && r.Mutates() && r.Kind != op.Purge {
		x.sequence += op.Sequence(1 + g.r.IntN(2))
		r.Session, r.Sequence = x.session, x.sequence
		if x.last == nil || g.r.IntN(3) > 0 { // else an older one may be asked again
			x.last = r
		}
	}
	return r
}

func (g *generator) draw() *op.Request {
	s := g.state
	key := op.Key{Kind: op.ConsumerKind(g.r.IntN(2)), ID: g.r.Uint32N(g.keys)}
	at := op.Position{Incarnation: s.Incarnation() - op.Incarnation(g.r.IntN(int(min(2, s.Incarnation())))), Generation: s.Generation(), Offset: op.Offset(g.r.IntN(int(s.End()) + 2))}
	bare := g.r.IntN(6) == 0
	n := g.r.IntN(100)
	if g.dense && g.r.IntN(4) == 0 {
		n = 70 + g.r.IntN(30)
	}
	if g.fired { // nothing that hides what went wrong
		n = []int{0, 40, 75, 85}[g.r.IntN(4)]
	}
	switch {
	case n < 34:
		r := &op.Request{Kind: op.Append}
		for i := g.r.IntN(3); i >= 0; i-- {
			r.Payloads = append(r.Payloads, op.Payload(fmt.Sprintf("m%d", g.payload)))
			g.payload++
		}
		return r
	case n < 60:
		return &op.Request{Kind: op.Poll, Key: key, Strategy: op.Strategy(g.r.IntN(5)) * op.Strategy(g.r.IntN(2)), At: at, Bare: bare,
			Max: 1 + g.r.Uint32N(5), AutoCommit: g.r.IntN(2) == 0 && !g.fired, Reset: op.Reset(g.r.IntN(5) / 2), Timestamp: op.Timestamp(g.r.Int64N(g.now/3 + 1))}
	case n < 70:
		return &op.Request{Kind: op.StoreBookmark, Key: key, At: at, Bare: bare}
	case n < 74:
		return &op.Request{Kind: op.DeleteBookmark, Key: key}
	case n < 82:
		return &op.Request{Kind: op.GetBookmark, Key: key}
	case n < 92:
		return &op.Request{Kind: op.ListOffsets, Which: op.Which(g.r.IntN(3)), Timestamp: op.Timestamp(g.r.Int64N(g.now/3 + 1))}
	case n < 97:
		if g.r.IntN(3) == 0 {
			at.Offset = -1
		}
		r := &op.Request{Kind: op.DeleteRecords, At: at, Bare: bare}
		r.Expected = g.expected()
		return r
	}
	g.intent += op.Generation(1 + g.r.IntN(2))
	return &op.Request{Kind: op.Purge, Intent: g.intent, Expected: g.expected()}
}

func (g *generator) expected() *op.Position {
	if g.r.IntN(5) > 0 {
		return nil
	}
	return &op.Position{Incarnation: g.state.Incarnation(), Generation: g.state.Generation(), Offset: g.state.End() - op.Offset(g.r.IntN(2))}
}
