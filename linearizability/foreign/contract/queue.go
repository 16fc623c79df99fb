package contract

import (
	"fmt"
	"slices"

	"purgelab/linearizability/foreign"
	"purgelab/model/op"
)

// queueRules are the parameters of a queue.
type queueRules struct {
	short    bool // a poll may return less than there is
	anyOrder bool // what was returned comes back in any order, between the others
}

// queueState is a queue between two operations: a purge takes what is ready, and
// leaves what was delivered and not settled.
type queueState struct {
	returned []op.Payload // comes before ready; none is modified in place
	ready    []op.Payload
	held     []delivered // in the order of their delivery
	arrived  arrived     // follows from what was appended so far
	h        uint64
}

type delivered struct {
	key     string
	payload op.Payload
}

// anyone stands for every message that no delivery, settle or return names: nothing in the
// history tells one from another, so their order makes no difference.
const anyone op.Payload = "?"

type queueMachine struct {
	queueRules
	turns turns
}

func (queueMachine) begin() []state { return []state{(&queueState{}).sealed()} }

// sealed computes the hash of a state that is made.
func (q *queueState) sealed() *queueState {
	h := uint64(1)
	for _, p := range q.returned {
		h = mix(h, hashText(string(p)))
	}
	h = mix(h, 2)
	for _, p := range q.ready {
		h = mix(h, hashText(string(p)))
	}
	h = mix(h, 3)
	for _, d := range q.held {
		h = mix(mix(h, hashText(d.key)), hashText(string(d.payload)))
	}
	q.h = h
	return q
}

func (q *queueState) hash() uint64 { return q.h }

func (q *queueState) equal(other state) bool {
	o := other.(*queueState)
	return q == o || q.h == o.h && slices.Equal(q.returned, o.returned) && slices.Equal(q.ready, o.ready) && slices.Equal(q.held, o.held)
}

func (q *queueState) size() int64 {
	return int64(100 + 16*(len(q.returned)+len(q.ready)) + 32*len(q.held))
}

func (q *queueState) String() string {
	s := fmt.Sprintf("ready %s", some(q.ready))
	if len(q.returned) > 0 {
		s = fmt.Sprintf("returned %s, %s", some(q.returned), s)
	}
	if len(q.held) > 0 {
		var held []op.Payload
		for _, d := range q.held {
			held = append(held, d.payload)
		}
		s += fmt.Sprintf(", delivered and not settled %s", some(held))
	}
	return s
}

func some(list []op.Payload) string {
	if len(list) > 6 {
		return fmt.Sprintf("%v … %d in all", list[:6], len(list))
	}
	return fmt.Sprint(list)
}

// deliver moves one message to a consumer; it says why that one cannot be next.
func (m queueMachine) deliver(q *queueState, key string, p op.Payload, settled bool) (*queueState, string) {
	n := *q
	at := slices.Index(q.returned, p)
	switch {
	case at == 0 || at > 0 && m.anyOrder:
		n.returned = slices.Delete(slices.Clone(q.returned), at, at+1)
	case len(q.ready) > 0 && q.ready[0] == p && (len(q.returned) == 0 || m.anyOrder):
		n.ready = q.ready[1:]
	default:
		return q, fmt.Sprintf("records: want the next of %s, got %s", q, p)
	}
	if !settled {
		n.held = append(slices.Clip(q.held), delivered{key, p})
	}
	return n.sealed(), ""
}

// drop takes a delivered message from a consumer.
func (q *queueState) drop(key string, p op.Payload) (*queueState, bool) {
	at := slices.Index(q.held, delivered{key, p})
	if at < 0 {
		return q, false
	}
	n := *q
	n.held = slices.Delete(slices.Clone(q.held), at, at+1)
	return n.sealed(), true
}

func (m queueMachine) answer(from state, x *item) (state, string) {
	q := from.(*queueState)
	ask := x.op.Ask
	switch x.op.F {
	case foreign.Append:
		n := *q
		for i, t := range x.turns {
			var ok bool
			if n.arrived, ok = n.arrived.with(t); !ok {
				return from, fmt.Sprintf("want a message before %s that was delivered before it", ask.Payloads[i])
			}
		}
		n.ready = slices.Clip(q.ready)
		for _, p := range ask.Payloads {
			if !m.turns.named[p] && !m.turns.named[anyone] {
				p = anyone
			}
			n.ready = append(n.ready, p)
		}
		return n.sealed(), ""
	case foreign.Poll:
		got := x.op.Answer.Records
		for _, r := range got {
			var why string
			if q, why = m.deliver(q, ask.Key, r.Payload, ask.AutoCommit); why != "" {
				return from, why
			}
		}
		if left := len(q.ready) + len(q.returned); left > 0 && len(got) < wanted(x) && !m.short {
			return from, fmt.Sprintf("records: want %d more of %s, got %d %s", min(left, wanted(x)-len(got)), q, len(got), payloadsRead(got))
		}
		return q, ""
	case foreign.Settle, foreign.Return:
		list := ask.Payloads
		for _, p := range list {
			n, ok := q.drop(ask.Key, p)
			if !ok {
				return from, fmt.Sprintf("payloads: want what %s was delivered and did not settle, got %s", ask.Key, p)
			}
			if x.op.F == foreign.Return {
				n.returned = append(slices.Clip(n.returned), p)
				n.sealed()
			}
			q = n
		}
		return q, ""
	}
	for _, p := range q.ready {
		if _, ok := m.turns.rank[p]; ok {
			return from, fmt.Sprintf("want %s to be left, for it was delivered later (or appended after the purge)", p)
		}
	}
	removed := len(q.ready) + len(q.returned)
	return (&queueState{held: q.held, arrived: q.arrived}).sealed(), miscounted(x, removed)
}

func (queueMachine) joins(from state, _ *item) state { return from }

// effects: an unknown poll may have delivered any number of messages to a client
// that never saw them.
func (m queueMachine) effects(from state, x *item) []state {
	q := from.(*queueState)
	if x.op.F != foreign.Poll {
		n, why := m.answer(q, x)
		if why != "" {
			return nil
		}
		return []state{n}
	}
	var out []state
	for edge := []*queueState{q}; len(edge) > 0 && len(out) < maxTried; {
		at := edge[0]
		edge = edge[1:]
		if len(at.held)-len(q.held) == wanted(x) {
			continue
		}
		for _, p := range m.nexts(at) {
			n, _ := m.deliver(at, x.op.Ask.Key, p, false)
			if edge = append(edge, n); x.op.Ask.AutoCommit { // nobody holds it
				c := *n
				c.held = q.held
				n = c.sealed()
			}
			out = append(out, n)
		}
	}
	return out
}

// nexts are the messages that may be delivered next.
func (m queueMachine) nexts(q *queueState) []op.Payload {
	var out []op.Payload
	switch {
	case m.anyOrder:
		out = append(out, q.returned...)
	case len(q.returned) > 0:
		return q.returned[:1]
	}
	if len(q.ready) > 0 {
		out = append(out, q.ready[0])
	}
	return out
}

// matters: an append that nobody was ever delivered shows only in a count. What a
// consumer settled shows when it is returned.
func (queueMachine) matters(u, y *item) bool {
	switch u.op.F {
	case foreign.Append:
		return y.op.F == foreign.Purge && y.op.Answer.Count != nil
	case foreign.Settle:
		return y.op.F == foreign.Settle || y.op.F == foreign.Return
	case foreign.Return:
		return true
	}
	return u.op.F != foreign.Purge || y.op.F != foreign.Settle
}
