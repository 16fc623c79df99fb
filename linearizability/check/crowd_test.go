package check

import (
	"fmt"
	"math/rand/v2"

	"purgelab/linearizability/history"
	"purgelab/model"
	"purgelab/model/op"
)

// crowd is what a long history is made of: clients that ask one thing after the other,
// each at one instant between call and return. One in twenty gets no answer; half of
// those requests take effect, at once or a little later. Every thousandth operation is a
// purge.
type crowd struct {
	r       *rand.Rand
	rec     history.Recorder
	state   *model.State
	clients []asker
	late    []*op.Request
	now     int64
	payload int
	intent  op.Generation
	keys    int
	// plant drops one acknowledged append at half of the history.
	plant bool
	left  int
}

type asker struct {
	req   *op.Request
	reply *op.Reply
}

// crowded records ops operations of clients.
func crowded(seed uint64, clients, ops int, plant bool) []history.Event {
	g := &crowd{r: rand.New(rand.NewPCG(seed, 3)), state: model.Init(), clients: make([]asker, clients), keys: 2 * clients, plant: plant}
	for g.left = ops; g.left > 0 || g.busy(); g.now++ {
		g.event(g.r.IntN(clients), ops)
	}
	return g.rec.Events()
}

func (g *crowd) busy() bool {
	for i := range g.clients {
		if g.clients[i].req != nil {
			return true
		}
	}
	return false
}

func (g *crowd) event(c, ops int) {
	if len(g.late) > 0 && g.r.IntN(10) == 0 {
		g.execute(g.late[0])
		g.late = g.late[1:]
	}
	switch x := &g.clients[c]; {
	case x.req == nil && g.left > 0:
		x.req = g.draw()
		g.rec.Invoke(c, g.now, x.req)
		g.left--
	case x.req == nil:
	case g.r.IntN(40) == 0: // before the effect, or after it
		g.rec.Unknown(c, g.now, 0, "")
		if x.reply == nil && g.r.IntN(2) == 0 {
			g.late = append(g.late, x.req)
		}
		*x = asker{}
	case x.reply == nil:
		before := g.state
		x.reply = g.execute(x.req)
		if g.plant && g.left < ops/2 && x.req.Kind == op.Append {
			g.state, g.plant = before, false
		}
	default:
		g.rec.Answer(c, g.now, x.reply)
		*x = asker{}
	}
}

func (g *crowd) execute(r *op.Request) *op.Reply {
	next, reply := model.Semantics{}.Step(g.state, r, model.Choice{Timestamp: op.Timestamp(g.now / 3)})
	g.state = next
	return &reply
}

func (g *crowd) draw() *op.Request {
	s := g.state
	key := op.Key{Kind: op.Group, ID: g.r.Uint32N(uint32(g.keys))}
	near := s.End() - op.Offset(g.r.IntN(20))
	at := op.Position{Incarnation: 1, Generation: s.Generation(), Offset: max(s.Start(), near)}
	switch n := g.r.IntN(1000); {
	case n < 400:
		r := &op.Request{Kind: op.Append}
		for range 1 + g.r.IntN(3) {
			r.Payloads = append(r.Payloads, op.Payload(fmt.Sprintf("m%d", g.payload)))
			g.payload++
		}
		return r
	case n < 650:
		return &op.Request{Kind: op.Poll, Strategy: op.Next, Key: key, Max: 5, AutoCommit: g.r.IntN(2) == 0}
	case n < 750:
		return &op.Request{Kind: op.Poll, Strategy: op.AtOffset, At: at, Max: 3}
	case n < 800:
		return &op.Request{Kind: op.StoreBookmark, Key: key, At: at}
	case n < 880:
		return &op.Request{Kind: op.GetBookmark, Key: key}
	case n < 990:
		return &op.Request{Kind: op.ListOffsets, Which: op.Which(g.r.IntN(2))}
	case n < 997:
		return &op.Request{Kind: op.DeleteRecords, At: at}
	case n < 999:
		return &op.Request{Kind: op.DeleteBookmark, Key: key}
	}
	g.intent++
	return &op.Request{Kind: op.Purge, Intent: g.intent}
}
