package workload

import "purgelab/model/op"

// sampleStore sets a bookmark somewhere: forward, back, or where it must not be.
func sampleStore(w *Workload, p *partition) *op.Request {
	return &op.Request{Kind: op.StoreBookmark, Partition: p.id, Key: w.key(), At: w.position(p), Bare: w.o.Bare}
}

func sampleDeleteBookmark(w *Workload, p *partition) *op.Request {
	return &op.Request{Kind: op.DeleteBookmark, Partition: p.id, Key: w.key()}
}

func sampleGetBookmark(w *Workload, p *partition) *op.Request {
	return &op.Request{Kind: op.GetBookmark, Partition: p.id, Key: w.key()}
}
