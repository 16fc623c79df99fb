package flat

import (
	"fmt"
	"slices"

	"purgelab/impl/engine"
	"purgelab/impl/segment"
)

// export is a checkpoint. A purge removes its files, and then it is gone.
type export struct {
	e      *Engine
	wiped  int // how often messages were removed before
	point  engine.Point
	pieces []segment.Source
	files  *segment.Reader
}

// Export implements engine.Engine. While a purge is under way there is nothing that
// another replica could begin with. If ops up to the floor are still to come, the era
// before goes along, since they are executed in it. A bookmark that outlived its era, or
// lies at or above the end, stays behind.
func (e *Engine) Export() (engine.Export, error) {
	cp, f := &e.cp, &e.facts
	pieces, known, err := e.segs.Pieces(cp.start, e.mark)
	switch {
	case err != nil:
		return nil, fmt.Errorf("flat: export: %w", err)
	case e.wiping || f.Resetting > 0 || f.Pending != nil:
		return nil, fmt.Errorf("%w: a purge is under way after generation %d", engine.ErrNoPoint, f.Settled)
	case cp.applied <= engine.Bootstrap:
		return nil, fmt.Errorf("%w: the last checkpoint is of op %d", engine.ErrNoPoint, cp.applied)
	case !known && cp.start < cp.end:
		return nil, fmt.Errorf("%w: the checkpoint of op %d lies before op %d on the disk", engine.ErrNoPoint, cp.applied, f.Front)
	case len(pieces) > 0 && cp.start < f.Start:
		return nil, fmt.Errorf("%w: the start of the checkpoint of op %d is %d, and now %d", engine.ErrNoPoint, cp.applied, cp.start, f.Start)
	}
	x := &export{e: e, wiped: e.wiped, pieces: pieces, files: segment.NewReader(e.o.segmentOptions(*cp)), point: engine.Point{
		Incarnation: f.Incarnation, Generation: f.Generation, Settled: f.Generation, Boundary: f.Boundary,
		Applied: cp.applied, Start: cp.start, End: cp.end, Timestamp: cp.timestamp, Extra: slices.Clone(cp.extra), Pieces: segment.Travelling(pieces),
	}}
	if cp.applied < f.Boundary {
		x.point.Previous = cp.previous
	}
	for _, m := range e.marks.list {
		if v := latest(m.disk, cp.applied); v.set && v.op > f.Boundary && v.at.Offset < cp.end {
			x.point.Bookmarks = append(x.point.Bookmarks, engine.BookmarkEntry{Key: m.key, Position: v.at, Op: v.op})
		}
	}
	return x, nil
}

// Point implements engine.Export.
func (x *export) Point() *engine.Point { return &x.point }

// Read implements engine.Export.
func (x *export) Read(piece int, at int64, max int) ([]byte, error) {
	if x.e.wiped != x.wiped {
		return nil, fmt.Errorf("%w: generation %d as of op %d", engine.ErrGone, x.point.Generation, x.point.Applied)
	}
	if piece < 0 || piece >= len(x.pieces) {
		return nil, fmt.Errorf("flat: export: piece %d: want one of %d", piece, len(x.pieces))
	}
	return x.files.Read(x.pieces[piece], x.e.facts.Start, at, max)
}

// Release implements engine.Export.
func (x *export) Release() { x.files.Close() }
