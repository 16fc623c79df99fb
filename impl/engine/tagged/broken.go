package tagged

import (
	"purgelab/impl/defect"
	"purgelab/impl/engine"
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

// deleteWrongly is what follows a deletion that is switched to go wrong.
func deleteWrongly(e *Engine) {
	if e.o.Defects.Has(defect.WholeBatchDeleted) {
		deleteWholeBatch(e)
	}
	if e.o.Defects.Has(defect.DeleteMovesBookmarks) {
		moveBookmarks(e)
	}
}

// deleteWholeBatch moves a start that lies inside a batch to its end.
func deleteWholeBatch(e *Engine) {
	f := &e.facts
	if base, end, ok := e.segs.BatchAt(f.Start); ok && base < f.Start {
		f.Start = min(end, f.End)
	}
}

// moveBookmarks sets every bookmark to the last message.
func moveBookmarks(e *Engine) {
	for _, b := range e.marks.All() {
		b.Position.Offset = e.facts.End - 1
		e.marks.Overwrite(b.Key, b.Position)
	}
}
