package workload

import "purgelab/model/op"

func sampleListOffsets(w *Workload, p *partition) *op.Request {
	r := &op.Request{Kind: op.ListOffsets, Partition: p.id, Which: op.Which(w.rand.IntN(3))}
	if r.Which == op.OffsetForTimestamp {
		r.Timestamp = w.timestamp(p)
	}
	return r
}

func learnListOffsets(p *partition, r *op.Request, reply *op.Reply) {
	if reply.Code != op.OK || !reply.Found {
		return
	}
	switch r.Which {
	case op.EarliestOffset:
		p.see(reply.Position, reply.Position.Offset, reply.Position.Offset)
	case op.LatestOffset:
		p.see(reply.Position, 0, reply.Position.Offset)
	}
}

// sampleDeleteRecords cuts: everything, inside the log (so inside batches),
// nothing, or out of range; sometimes under a condition.
func sampleDeleteRecords(w *Workload, p *partition) *op.Request {
	r := &op.Request{Kind: op.DeleteRecords, Partition: p.id, Bare: w.o.Bare}
	if w.rand.IntN(5) == 0 {
		r.At = p.era
		r.At.Offset = -1
	} else {
		r.At = w.position(p)
		if span := int64(p.end - p.start); span > 1 && w.rand.IntN(2) == 0 {
			r.At = p.era
			r.At.Offset = p.start + op.Offset(w.rand.Int64N(span/2+1)) // leave something
		}
	}
	if w.rand.IntN(6) == 0 {
		r.Expected = w.expected(p)
	}
	return r
}

func learnDeleteRecords(p *partition, reply *op.Reply) {
	if reply.Code == op.OK {
		p.see(reply.Position, reply.Position.Offset, reply.Position.Offset)
	}
}
