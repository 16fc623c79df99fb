package tagged

import (
	"fmt"
	"slices"

	"purgelab/impl/bookmark"
	"purgelab/impl/defect"
	"purgelab/impl/engine"
	"purgelab/impl/segment"
)

// export is a checkpoint.
type export struct {
	e      *Engine
	point  engine.Point
	pieces []segment.Source
	files  *segment.Reader
}

// Export implements engine.Engine.
func (e *Engine) Export() (engine.Export, error) {
	cp := &e.cp
	if cp.Applied <= engine.Bootstrap {
		return nil, fmt.Errorf("%w: the last checkpoint is of op %d", engine.ErrNoPoint, cp.Applied)
	}
	pieces, known, err := e.segs.Pieces(cp.Start, e.mark)
	switch {
	case err != nil:
		return nil, fmt.Errorf("engine: export: %w", err)
	case !known && cp.Start < cp.End:
		return nil, fmt.Errorf("%w: the checkpoint of op %d lies before op %d on the disk", engine.ErrNoPoint, cp.Applied, e.facts.Front)
	case len(pieces) > 0 && cp.Start < e.facts.Start:
		return nil, fmt.Errorf("%w: the start of the checkpoint of op %d is %d, and now %d", engine.ErrNoPoint, cp.Applied, cp.Start, e.facts.Start)
	}
	marks, err := bookmark.Table(bookmarkOptions(e.o, cp))
	if err != nil {
		return nil, fmt.Errorf("engine: export: %w", err)
	}
	if e.o.Defects.Has(defect.OldGenerationBookmarksTransferred) {
		if marks, err = withOlder(e, marks); err != nil {
			return nil, fmt.Errorf("engine: export: %w", err)
		}
	}
	x := &export{e: e, pieces: pieces, files: segment.NewReader(segmentOptions(e.o, cp)), point: engine.Point{
		Incarnation: e.o.Identity.Incarnation, Generation: cp.Generation, Settled: cp.Settled, Boundary: cp.Boundary,
		Applied: cp.Applied, Start: cp.Start, End: cp.End, Timestamp: cp.Timestamp,
		Extra: slices.Clone(cp.Extra), Bookmarks: marks, Pieces: segment.Travelling(pieces),
	}}
	return x, nil
}

// Point implements engine.Export.
func (x *export) Point() *engine.Point { return &x.point }

// Read implements engine.Export.
func (x *export) Read(piece int, at int64, max int) ([]byte, error) {
	if piece < 0 || piece >= len(x.pieces) {
		return nil, fmt.Errorf("engine: export: piece %d: want one of %d", piece, len(x.pieces))
	}
	start := x.e.facts.Start
	if g := x.e.facts.Generation; g != x.point.Generation {
		return nil, fmt.Errorf("%w: generation %d as of op %d, it is %d now", engine.ErrGone, x.point.Generation, x.point.Applied, g)
	}
	if x.e.o.Defects.Has(defect.DeletedTravels) {
		start = 0
	}
	return x.files.Read(x.pieces[piece], start, at, max)
}

// Release implements engine.Export.
func (x *export) Release() { x.files.Close() }
