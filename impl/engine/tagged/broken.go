package tagged

import (
	"purgelab/impl/engine"
	"purgelab/model/op"
)

// This file holds what defects do to a deletion of records.

// earliestStored makes the start that of the first batch that is stored.
func earliestStored(e *Engine) engine.Facts {
	f := e.facts
	if base, _, ok := e.segs.BatchAt(f.Start); ok {
		f.Start = base
	}
	return f
}

// deleteWholeBatch moves a start that lies inside a batch to its end.
func deleteWholeBatch(e *Engine) {
	f := &e.facts
	if base, end, ok := e.segs.BatchAt(f.Start); ok && base < f.Start {
		f.Start = min(end, f.End)
	}
}

// moveBookmarks sets every bookmark to the last message, and ends op n.
func moveBookmarks(e *Engine, n op.Number) error {
	f := &e.facts
	for _, b := range e.marks.All() {
		b.Position.Offset = f.End - 1
		e.marks.Overwrite(b.Key, b.Position)
	}
	f.Applied, f.Front = n, max(f.Front, n)
	return nil
}
