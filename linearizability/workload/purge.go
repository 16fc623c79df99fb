package workload

import "purgelab/model/op"

// samplePurge begins a new era, if it may; one in four says where it expects
// the log to stand. The generation comes from the metadata plane.
func samplePurge(w *Workload, p *partition) *op.Request {
	r := &op.Request{Kind: op.Purge, Partition: p.id}
	if !w.unconditional && w.rand.IntN(4) == 0 {
		r.Expected = w.expected(p)
	}
	return r
}

// learnPurge keeps positions of the era that has ended: they are the ones worth
// using again.
func learnPurge(w *Workload, p *partition, reply *op.Reply) {
	if reply.Code != op.OK {
		return
	}
	last := p.era
	last.Offset = max(0, p.end-1)
	w.keep(p, last)
	p.see(reply.Position, reply.Position.Offset, reply.Position.Offset)
}

// Quiet lists what is read of every partition when all has come to rest: all
// messages from the start, the bounds, and every bookmark. The read of messages
// may have to be repeated from where it ended.
func (w *Workload) Quiet() []*op.Request {
	var out []*op.Request
	for i := range w.partitions {
		id := w.partitions[i].id
		out = append(out,
			&op.Request{Kind: op.ListOffsets, Partition: id, Which: op.EarliestOffset},
			&op.Request{Kind: op.ListOffsets, Partition: id, Which: op.LatestOffset},
			&op.Request{Kind: op.Poll, Partition: id, Strategy: op.First, Max: 1 << 20})
		for k := 1; k <= consumers; k++ {
			out = append(out, &op.Request{Kind: op.GetBookmark, Partition: id, Key: op.Key{Kind: op.Consumer, ID: uint32(k)}})
		}
		for k := 1; k <= groups; k++ {
			out = append(out, &op.Request{Kind: op.GetBookmark, Partition: id, Key: op.Key{Kind: op.Group, ID: uint32(k)}})
		}
	}
	return out
}
