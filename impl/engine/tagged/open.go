package tagged

import (
	"fmt"

	"purgelab/impl/bookmark"
	"purgelab/impl/defect"
	"purgelab/impl/engine"
	"purgelab/impl/purge"
	"purgelab/impl/segment"
	"purgelab/impl/vfs/durable"
	"purgelab/model/op"
)

// Open boots the engine of a partition; see the package comment for the order.
// What is damaged or contradicts itself is refused with a typed error.
func Open(o engine.Options) (*Engine, engine.Report, error) {
	var r engine.Report
	if err := engine.RefuseLayout(o.FS, "flat", o.Dir+"/purge.reset", o.Dir+"/purge.gen"); err != nil {
		return nil, r, fmt.Errorf("engine: open: %w", err)
	}
	if err := durable.Mkdir(o.FS, "engine.open", o.Dir); err != nil {
		return nil, r, fmt.Errorf("engine: open: %w", err)
	}
	m, err := purge.Read(o.FS, o.Dir, o.Identity)
	if err != nil {
		return nil, r, fmt.Errorf("engine: open: %w", err)
	}
	r.Marker = m
	// What is read now must not be taken back by a power loss later on: a
	// process crash may have left names that were never synced.
	if err := o.FS.SyncDir("engine.open.dirsync", o.Dir); err != nil {
		return nil, r, fmt.Errorf("engine: open: %w", err)
	}
	var present op.Generation
	switch m.State {
	case purge.Begun:
		present = m.Before
	case purge.Complete:
		present = m.Generation
	}
	cp, err := bootCheckpoint(o, present, m)
	if err != nil {
		return nil, r, fmt.Errorf("engine: open: %w", err)
	}
	replayAll := o.Defects.Has(defect.ReplayBelowBoundary) && m.State == purge.Complete
	if replayAll {
		if cp, err = forget(o, cp); err != nil {
			return nil, r, fmt.Errorf("engine: open: %w", err)
		}
	}
	segs, marks, sr, br, err := openGeneration(o, &cp)
	if err != nil {
		return nil, r, fmt.Errorf("engine: open: %w", err)
	}
	r.Segments, r.Bookmarks = sr, br
	if o.Defects.Has(defect.BookmarkGenerationIgnored) {
		if err := loadOlderBookmarks(o, present, marks); err != nil {
			return nil, r, fmt.Errorf("engine: open: %w", err)
		}
	}
	if o.Defects.Has(defect.NamesakeBookmarks) {
		loadNamesakes(o, cp.Applied, marks)
	}
	e := &Engine{o: o, segs: segs, marks: marks, unclaimed: true}
	e.facts.Incarnation = o.Identity.Incarnation
	e.use(&cp)
	e.mark = segs.Found()
	if replayAll {
		e.skip = 0
	}
	if m.State == purge.Begun {
		e.facts.Pending = &m
	}
	e.facts.Front = max(cp.Applied, segs.LastOp(), marks.LastOp(), m.Boundary)
	e.opened = e.facts
	r.Front = e.facts.Front
	return e, r, nil
}

// bootCheckpoint reads the checkpoint of the present generation and makes sure
// that it stays. Only generation 0 may be without one, from its beginning.
func bootCheckpoint(o engine.Options, g op.Generation, m engine.Marker) (checkpoint, error) {
	folder := purge.Folder(o.Dir, g)
	if g == 0 {
		if err := durable.Mkdir(o.FS, "engine.open", folder); err != nil {
			return checkpoint{}, err
		}
	}
	cp, found, err := readCheckpoint(o.FS, o.Dir, o.Identity, g)
	switch {
	case err != nil:
		return cp, err
	case !found && g == 0:
		cp = checkpoint{Applied: engine.Bootstrap, Bookmarks: bookmark.Capture{Number: 1}}
	case !found:
		return cp, mismatch(checkpointFile(o.Dir, g), "checkpoint of "+m.String(), "a record", "no file")
	case m.State == purge.Complete && cp.Boundary != m.Boundary:
		return cp, mismatch(checkpointFile(o.Dir, g), "boundary of the generation", m.Boundary, cp.Boundary)
	}
	if err := o.FS.SyncDir("engine.open.dirsync", folder); err != nil {
		return cp, err
	}
	return cp, nil
}

// forget is a defect: a complete marker stops nothing, so the generation is
// filled anew from the first op of the journal on.
func forget(o engine.Options, cp checkpoint) (checkpoint, error) {
	if err := purge.MakeFolder(o.FS, o.Dir, cp.Generation); err != nil {
		return cp, err
	}
	cp = checkpoint{
		Generation: cp.Generation, Settled: cp.Settled, Boundary: cp.Boundary, Applied: engine.Bootstrap,
		Bookmarks: bookmark.Capture{Number: 1},
	}
	return cp, writeCheckpoint(o.FS, "engine.open.forget", o.Dir, o.Identity, &cp)
}

// openGeneration opens what a checkpoint speaks of.
func openGeneration(o engine.Options, cp *checkpoint) (*segment.Log, *bookmark.Log, segment.Report, bookmark.Report, error) {
	segs, sr, err := segment.Open(segmentOptions(o, cp))
	if err != nil {
		return nil, nil, sr, bookmark.Report{}, err
	}
	marks, br, err := bookmark.Open(bookmarkOptions(o, cp))
	if err != nil {
		segs.Close()
		return nil, nil, sr, br, err
	}
	return segs, marks, sr, br, nil
}

func segmentOptions(o engine.Options, cp *checkpoint) segment.Options {
	return segment.Options{
		FS: o.FS, Dir: purge.Folder(o.Dir, cp.Generation), Identity: o.Identity, Generation: cp.Generation,
		SegmentBytes: o.SegmentBytes, IndexEvery: o.IndexEvery,
		Start: cp.Start, End: cp.End, Applied: cp.Applied, Timestamp: cp.Timestamp, Defects: o.Defects,
	}
}

func bookmarkOptions(o engine.Options, cp *checkpoint) bookmark.Options {
	return bookmark.Options{
		FS: o.FS, Dir: purge.Folder(o.Dir, cp.Generation), Identity: o.Identity, Generation: cp.Generation,
		Number: cp.Bookmarks.Number, Length: cp.Bookmarks.Length, Applied: cp.Applied, Slack: o.BookmarkSlack,
		Defects: o.Defects,
	}
}

// use makes the facts those of a checkpoint.
func (e *Engine) use(cp *checkpoint) {
	e.cp = *cp
	f := &e.facts
	f.Generation, f.Boundary, f.Settled = cp.Generation, cp.Boundary, cp.Settled
	f.Applied, f.Start, f.End, f.LastTimestamp = cp.Applied, cp.Start, cp.End, cp.Timestamp
	f.Pending = nil
	e.skip = cp.Boundary
}

// loadOlderBookmarks is a defect: bookmarks of older generations whose folders
// are still there appear in this one.
func loadOlderBookmarks(o engine.Options, present op.Generation, into *bookmark.Log) error {
	gens, err := purge.Folders(o.FS, o.Dir)
	if err != nil {
		return err
	}
	for _, g := range gens {
		if g >= present {
			break
		}
		cp, found, err := readCheckpoint(o.FS, o.Dir, o.Identity, g)
		if err != nil {
			return err
		}
		if !found {
			cp = checkpoint{Bookmarks: bookmark.Capture{Number: 1}}
		}
		old, _, err := bookmark.Open(bookmark.Options{
			FS: o.FS, Dir: purge.Folder(o.Dir, g), Identity: o.Identity, Generation: g,
			Number: cp.Bookmarks.Number, Length: cp.Bookmarks.Length, Applied: cp.Applied,
		})
		if err != nil {
			continue // its removal had begun
		}
		into.Adopt(old, present)
		old.Close()
	}
	return nil
}
