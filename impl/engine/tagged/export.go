package tagged

import (
	"fmt"
	"slices"

	"purgelab/impl/bookmark"
	"purgelab/impl/defect"
	"purgelab/impl/engine"
	"purgelab/impl/segment"
	"purgelab/model/op"
)

// export is a checkpoint that is held: its files are not reclaimed.
type export struct {
	e     *Engine
	point engine.Point
	files *segment.Reader
}

// Export implements engine.Engine. A purge does not touch what is held, since a
// generation has a folder of its own.
func (e *Engine) Export() (engine.Export, error) {
	cp := &e.cp
	if cp.Applied <= engine.Bootstrap {
		return nil, fmt.Errorf("%w: the last checkpoint is of op %d", engine.ErrNoPoint, cp.Applied)
	}
	pieces, known := e.segs.Pieces(cp.Start, e.mark)
	if !known && cp.Start < cp.End {
		return nil, fmt.Errorf("%w: the checkpoint of op %d lies before op %d on the disk", engine.ErrNoPoint, cp.Applied, e.facts.Front)
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
	x := &export{e: e, files: segment.NewReader(segmentOptions(e.o, cp)), point: engine.Point{
		Incarnation: e.o.Identity.Incarnation, Generation: cp.Generation, Settled: cp.Settled, Boundary: cp.Boundary,
		Applied: cp.Applied, Start: cp.Start, End: cp.End, Timestamp: cp.Timestamp,
		Extra: slices.Clone(cp.Extra), Bookmarks: marks, Pieces: pieces,
	}}
	e.held = append(e.held, x)
	return x, nil
}

// Point implements engine.Export.
func (x *export) Point() *engine.Point { return &x.point }

// Read implements engine.Export.
func (x *export) Read(piece int, at int64, max int) ([]byte, error) {
	if piece < 0 || piece >= len(x.point.Pieces) {
		return nil, fmt.Errorf("engine: export: piece %d: want one of %d", piece, len(x.point.Pieces))
	}
	return x.files.Read(x.point.Pieces[piece], at, max)
}

// Release implements engine.Export.
func (x *export) Release() {
	x.files.Close()
	x.e.held = slices.DeleteFunc(x.e.held, func(y *export) bool { return y == x })
	x.e.unclaimed = true
}

// holds tells whether an export needs the folder of a generation.
func (e *Engine) holds(g op.Generation) bool {
	return slices.ContainsFunc(e.held, func(x *export) bool { return x.point.Generation == g })
}

// reclaimable is the offset below which no message of the present generation is
// needed.
func (e *Engine) reclaimable() op.Offset {
	start := e.cp.Start
	for _, x := range e.held {
		if x.point.Generation == e.facts.Generation {
			start = min(start, x.point.Start)
		}
	}
	return start
}
