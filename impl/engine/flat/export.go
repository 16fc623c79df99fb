package flat

import (
	"fmt"
	"slices"

	"purgelab/impl/engine"
	"purgelab/impl/segment"
	"purgelab/model/op"
)

// export is a checkpoint that is held: its files are not reclaimed. A purge removes
// them all the same, and then it is gone.
type export struct {
	e     *Engine
	point engine.Point
	files *segment.Reader
	gone  bool
}

// Export implements engine.Engine. While a purge is under way there is nothing that
// another replica could begin with. If ops up to the floor are still to come, the era
// before goes along, since they are executed in it. A bookmark that outlived its era, or
// lies at or above the end, stays behind.
func (e *Engine) Export() (engine.Export, error) {
	cp, f := &e.cp, &e.facts
	pieces, known := e.segs.Pieces(cp.start, e.mark)
	switch {
	case e.wiping || f.Resetting > 0 || f.Pending != nil:
		return nil, fmt.Errorf("%w: a purge is under way after generation %d", engine.ErrNoPoint, f.Settled)
	case cp.applied <= engine.Bootstrap:
		return nil, fmt.Errorf("%w: the last checkpoint is of op %d", engine.ErrNoPoint, cp.applied)
	case !known && cp.start < cp.end:
		return nil, fmt.Errorf("%w: the checkpoint of op %d lies before op %d on the disk", engine.ErrNoPoint, cp.applied, f.Front)
	}
	x := &export{e: e, files: segment.NewReader(e.o.segmentOptions(*cp)), point: engine.Point{
		Incarnation: f.Incarnation, Generation: f.Generation, Settled: f.Generation, Boundary: f.Boundary,
		Applied: cp.applied, Start: cp.start, End: cp.end, Timestamp: cp.timestamp, Extra: slices.Clone(cp.extra), Pieces: pieces,
	}}
	if cp.applied < f.Boundary {
		x.point.Previous = cp.previous
	}
	for _, m := range e.marks.list {
		if v := latest(m.disk, cp.applied); v.set && v.op > f.Boundary && v.at.Offset < cp.end {
			x.point.Bookmarks = append(x.point.Bookmarks, engine.BookmarkEntry{Key: m.key, Position: v.at, Op: v.op})
		}
	}
	e.held = append(e.held, x)
	return x, nil
}

// Point implements engine.Export.
func (x *export) Point() *engine.Point { return &x.point }

// Read implements engine.Export.
func (x *export) Read(piece int, at int64, max int) ([]byte, error) {
	if x.gone {
		return nil, fmt.Errorf("%w: generation %d as of op %d", engine.ErrGone, x.point.Generation, x.point.Applied)
	}
	if piece < 0 || piece >= len(x.point.Pieces) {
		return nil, fmt.Errorf("flat: export: piece %d: want one of %d", piece, len(x.point.Pieces))
	}
	return x.files.Read(x.point.Pieces[piece], at, max)
}

// Release implements engine.Export.
func (x *export) Release() {
	x.files.Close()
	x.e.held = slices.DeleteFunc(x.e.held, func(y *export) bool { return y == x })
	x.e.unclaimed = true
}

// wipes notes that messages are being removed.
func (e *Engine) wipes() {
	e.wiping = true
	for _, x := range e.held {
		x.gone = true
	}
}

// reclaimable is the offset below which no message is needed.
func (e *Engine) reclaimable() op.Offset {
	start := e.cp.start
	for _, x := range e.held {
		if !x.gone {
			start = min(start, x.point.Start)
		}
	}
	return start
}
