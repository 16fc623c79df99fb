package contract

import (
	"cmp"
	"slices"

	"purgelab/linearizability/foreign"
	"purgelab/linearizability/history"
	"purgelab/model/op"
)

// A queue hands messages out in the order in which they came. So of two messages
// of which one was delivered before anybody asked for the other, that one came
// first. The deliveries of a history thus tell much of the order of its appends,
// and a search that keeps to it need not find out late.

// turns are the messages that were delivered, in the order in which a delivery of
// each returned first.
type turns struct {
	rank map[op.Payload]int
	ends []int64 // by rank: that return
	asks map[op.Payload]int64
	// named are those of which the history says more than that they were appended.
	named map[op.Payload]bool
}

// turn is when a message comes to the queue: after all messages of a rank below
// after. Rank is its own; -1: it was never delivered.
type turn struct {
	rank, after int
}

func turnsOf(ops []foreign.Op) turns {
	t := turns{rank: map[op.Payload]int{}, asks: map[op.Payload]int64{}, named: map[op.Payload]bool{}}
	ends := map[op.Payload]int64{}
	var all []op.Payload
	for i := range ops {
		o := &ops[i]
		if o.F != foreign.Poll || o.Outcome != history.Answered {
			continue
		}
		for _, r := range o.Answer.Records {
			p := r.Payload
			t.named[p] = true
			if _, ok := ends[p]; !ok {
				all = append(all, p)
				ends[p], t.asks[p] = o.Return, o.Call
			}
			ends[p], t.asks[p] = min(ends[p], o.Return), min(t.asks[p], o.Call)
		}
	}
	for i := range ops {
		if ops[i].F == foreign.Settle || ops[i].F == foreign.Return {
			for _, p := range ops[i].Ask.Payloads {
				t.named[p] = true
			}
		}
		if ops[i].F == foreign.Return { // it may have been delivered to somebody who told nobody
			for _, p := range ops[i].Ask.Payloads {
				t.asks[p] = 0
			}
		}
	}
	slices.SortFunc(all, func(a, b op.Payload) int { return cmp.Or(cmp.Compare(ends[a], ends[b]), cmp.Compare(a, b)) })
	for i, p := range all {
		t.rank[p] = i
		t.ends = append(t.ends, ends[p])
	}
	return t
}

func (t *turns) turn(p op.Payload) turn {
	rank, ok := t.rank[p]
	if !ok {
		return turn{rank: -1}
	}
	after, _ := slices.BinarySearch(t.ends, t.asks[p])
	return turn{rank, after}
}

// arrived tells which ranks have come: all below least, and the others, sorted.
type arrived struct {
	least int
	other []int // never modified in place
}

// with adds a rank; false: it is not its turn yet.
func (a arrived) with(t turn) (arrived, bool) {
	if t.rank < 0 {
		return a, true
	}
	if a.least < t.after {
		return a, false
	}
	i, _ := slices.BinarySearch(a.other, t.rank)
	a.other = slices.Insert(slices.Clone(a.other), i, t.rank)
	for len(a.other) > 0 && a.other[0] == a.least {
		a.least, a.other = a.least+1, a.other[1:]
	}
	return a, true
}
