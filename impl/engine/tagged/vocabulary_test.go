package tagged

import "purgelab/impl/engine"

// The words of package engine, for tests that are full of them.
type (
	Facts         = engine.Facts
	Effect        = engine.Effect
	Options       = engine.Options
	Report        = engine.Report
	Marker        = engine.Marker
	BookmarkEntry = engine.BookmarkEntry
	RangeError    = engine.RangeError
	Work          = engine.Task
)

const (
	None      = engine.None
	Append    = engine.Append
	Store     = engine.Store
	Delete    = engine.Delete
	Advance   = engine.Advance
	Settle    = engine.Settle
	Bootstrap = engine.Bootstrap
)

func reclaim(e *Engine) (more, folder bool, err error) {
	r, err := e.Reclaim()
	return r.More, r.Folder, err
}
