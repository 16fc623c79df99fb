package workload

import "purgelab/model/op"

// samplePoll reads by any strategy; half of the polls by next raise their
// bookmark, and a few of the others do too.
func samplePoll(w *Workload, p *partition) *op.Request {
	r := &op.Request{Kind: op.Poll, Partition: p.id, Max: uint32(1 + w.rand.IntN(8)), Key: w.key()}
	if w.rand.IntN(5) == 0 {
		r.Max = 100
	}
	switch n := w.rand.IntN(20); {
	case n < 9:
		r.Strategy = op.Next
		r.Reset = op.Reset(w.rand.IntN(3))
		r.AutoCommit = w.rand.IntN(2) == 0
	case n < 12:
		r.Strategy = op.AtOffset
		r.At, r.Bare = w.position(p), w.o.Bare
	case n < 16:
		r.Strategy = op.First
	case n < 18:
		r.Strategy = op.Last
	default:
		r.Strategy = op.AtTimestamp
		r.Timestamp = w.timestamp(p)
	}
	if r.Strategy != op.Next && w.rand.IntN(8) == 0 {
		r.AutoCommit = true
	}
	return r
}

// timestamp draws one that was seen, or one beside it.
func (w *Workload) timestamp(p *partition) op.Timestamp {
	if len(p.times) == 0 || w.rand.IntN(8) == 0 {
		return op.Timestamp(w.rand.IntN(1000))
	}
	return p.times[w.rand.IntN(len(p.times))] + op.Timestamp(w.rand.IntN(3)-1)
}

func learnPoll(w *Workload, p *partition, r *op.Request, reply *op.Reply) {
	if reply.Code != op.OK {
		return
	}
	start := op.Offset(0)
	if r.Strategy == op.First {
		start = reply.Position.Offset
	}
	p.see(reply.Position, start, reply.Position.Offset+op.Offset(reply.Count))
	if reply.Count > 0 {
		last := reply.Position
		last.Offset += op.Offset(reply.Count) - 1
		w.keep(p, last)
	}
}
