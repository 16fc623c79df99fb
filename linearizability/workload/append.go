package workload

import "purgelab/model/op"

// sampleAppend makes a batch of one to four messages, now and then a long one.
func sampleAppend(w *Workload, p *partition) *op.Request {
	n := 1 + w.rand.IntN(4)
	if w.rand.IntN(12) == 0 {
		n = 5 + w.rand.IntN(12)
	}
	r := &op.Request{Kind: op.Append, Partition: p.id, Payloads: make([]op.Payload, n)}
	for i := range r.Payloads {
		r.Payloads[i] = w.payload()
	}
	return r
}

func learnAppend(p *partition, r *op.Request, reply *op.Reply) {
	if reply.Code != op.OK {
		return
	}
	p.see(reply.Position, 0, reply.Position.Offset+op.Offset(len(r.Payloads)))
	if p.times = append(p.times, reply.Timestamp); len(p.times) > 16 {
		p.times = p.times[1:]
	}
}
