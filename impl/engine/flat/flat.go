// Package flat is the engine (package engine) of a broker that keeps one folder of
// segments and one file per bookmark, and empties them to purge. Its boundary is
// a floor: ops at or below it are never materialized again.
//
//	<dir>/checkpoint                facts as of an applied op
//	<dir>/segments/seg-<base>.log   messages (package segment)
//	<dir>/bookmarks/consumer/<id>   a bookmark (bookmark.go)
//	<dir>/bookmarks/group/<id>
//	<dir>/purge.reset               generation whose messages are reset, its floor
//	<dir>/purge.gen                 generation whose purge is complete
//
// A purge takes these durable steps, in this order:
//
//	ResetFrontier    the checkpoint says that the log is empty
//	UnlinkSegments   one file a step
//	SyncSegments     the folder
//	ResetRecord      purge.reset := (G, floor): from here on the messages are reset
//	UnlinkBookmarks  one file a step
//	SyncBookmarks    one folder a step
//	PurgeComplete    purge.gen := G
//
// Between ResetRecord and PurgeComplete the cleanup is pending: messages may be
// appended, bookmarks may not be set. A purge of the generation that purge.reset
// names does not reset messages again and keeps the floor: only its cleanup is
// done. One of a higher generation resets again. Open finishes a pending cleanup
// before it loads any bookmark.
//
// Nothing here says to which generation a segment or a bookmark belongs, unless
// bookmarks are tagged: then one of another generation is passed over. So
// whatever an unlink leaves behind, or a power loss brings back, counts.
package flat

import (
	"errors"
	"fmt"

	"purgelab/impl/corrupt"
	"purgelab/impl/defect"
	"purgelab/impl/engine"
	"purgelab/impl/observe"
	"purgelab/impl/purge"
	"purgelab/impl/segment"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/durable"
	"purgelab/model/op"
)

// Options are those of every engine, and variants.
type Options struct {
	engine.Options
	// Tagged bookmarks say of which generation they are.
	Tagged bool
	// RetrySync lets a step of a purge be taken again after a failed sync; without
	// it the engine must be opened anew, as it must after one of a checkpoint.
	RetrySync bool
}

// Engine is not safe for concurrent use.
type Engine struct {
	o     Options
	facts engine.Facts
	cp    checkpoint // the last durable one
	segs  *segment.Log
	marks marks

	task      *save // checkpoint under way
	unclaimed bool  // Reclaim may find something

	mark   segment.Mark // of cp
	wiping bool         // messages are being removed, and that is not recorded yet
	wiped  int          // how often they were
}

var _ engine.Engine = (*Engine)(nil)

func (o *Options) segments() string { return o.Dir + "/segments" }

// Open boots the engine of a partition. What is damaged or contradicts itself is
// refused with a typed error.
func Open(o Options) (*Engine, engine.Report, error) {
	var r engine.Report
	fail := func(err error) (*Engine, engine.Report, error) { return nil, r, fmt.Errorf("flat: open: %w", err) }
	if err := engine.RefuseLayout(o.FS, "tagged", purge.File(o.Dir)); err != nil {
		return fail(err)
	}
	for _, d := range []string{o.segments(), o.bookmarks(op.Consumer), o.bookmarks(op.Group)} {
		if err := durable.Mkdir(o.FS, "flat.open", d); err != nil {
			return fail(err)
		}
	}
	cp, err := readCheckpoint(&o)
	if err != nil {
		return fail(err)
	}
	reset, err := readReset(&o)
	if err != nil {
		return fail(err)
	}
	done, err := readGen(&o)
	if err != nil {
		return fail(err)
	}
	if done > reset.generation && !o.Defects.Has(defect.DamagedRecordAbsent) {
		return fail(&corrupt.Error{File: o.genFile(), What: "generation that is complete", Want: fmt.Sprintf("at most %d, which was reset", reset.generation), Got: done})
	}
	// A process crash may have left names that were never synced.
	for _, d := range []string{o.Dir, o.segments(), o.bookmarks(op.Consumer), o.bookmarks(op.Group)} {
		if err := o.FS.SyncDir("flat.open.dirsync", d); err != nil {
			return fail(err)
		}
	}
	e := &Engine{o: o, cp: cp, unclaimed: true}
	f := &e.facts
	*f = engine.Facts{
		Incarnation: o.Identity.Incarnation, Generation: reset.generation, Boundary: reset.floor, Settled: done,
		Applied: cp.applied, Start: cp.start, End: cp.end, LastTimestamp: cp.timestamp, Previous: cp.previous,
	}
	if o.Defects.Has(defect.FloorNotKept) {
		f.Boundary = 0
	}
	if o.Defects.Has(defect.FloorKeptAcrossIncarnations) {
		f.Boundary = max(f.Boundary, namesakeFloor(o))
	}
	if cp.resetting > reset.generation {
		f.Resetting = cp.resetting
	}
	if e.segs, r.Segments, err = e.openSegments(cp); err != nil {
		return fail(err)
	}
	e.mark = e.segs.Found()
	f.Front = max(cp.applied, e.segs.LastOp())
	if reset.generation > done {
		e.pending()
		r.Marker = *f.Pending
		t := e.Purge(o.HighestOp(), reset.generation, cp.extra)
		for done := false; !done; {
			var did observe.Action
			if done, did, err = t.Step(); err != nil {
				return fail(err)
			}
			if did != "" {
				r.Did = append(r.Did, did)
			}
		}
	} else if done > 0 {
		r.Marker = engine.Marker{State: purge.Complete, Generation: done, Incarnation: f.Incarnation, Boundary: reset.floor}
	}
	if err := e.marks.load(&e.o, f, cp.applied, cp.marks); err != nil {
		return fail(err)
	}
	f.Front = max(f.Front, e.marks.lastOp())
	r.Front = f.Front
	return e, r, nil
}

func (e *Engine) openSegments(cp checkpoint) (*segment.Log, segment.Report, error) {
	return segment.Open(e.o.segmentOptions(cp))
}

func (o *Options) segmentOptions(cp checkpoint) segment.Options {
	return segment.Options{
		FS: o.FS, Dir: o.segments(), Identity: o.Identity,
		SegmentBytes: o.SegmentBytes, IndexEvery: o.IndexEvery,
		Start: cp.start, End: cp.end, Applied: cp.applied, Timestamp: cp.timestamp,
	}
}

// pending: messages are reset, bookmarks are not cleaned up.
func (e *Engine) pending() {
	f := &e.facts
	f.Pending = &engine.Marker{State: purge.Begun, Generation: f.Generation, Before: f.Settled, Incarnation: f.Incarnation, Boundary: f.Boundary}
}

// Facts implements engine.Engine.
func (e *Engine) Facts() engine.Facts { return e.facts }

// Extra implements engine.Engine.
func (e *Engine) Extra() []byte { return e.cp.extra }

// Bookmark implements engine.Engine.
func (e *Engine) Bookmark(k op.Key) (op.Position, bool) {
	if m := e.marks.find(k); m != nil && m.now.set {
		return m.now.at, true
	}
	return op.Position{}, false
}

// Bookmarks implements engine.Engine.
func (e *Engine) Bookmarks() []engine.BookmarkEntry {
	var out []engine.BookmarkEntry
	for _, m := range e.marks.list {
		if m.now.set {
			out = append(out, engine.BookmarkEntry{Key: m.key, Position: m.now.at, Op: m.now.op})
		}
	}
	return out
}

// Read implements engine.Engine.
func (e *Engine) Read(from op.Offset, max int) ([]op.Record, error) {
	if err := e.facts.Check(from); err != nil {
		return nil, err
	}
	return e.segs.Read(from, e.facts.End, max)
}

// FirstAt implements engine.Engine.
func (e *Engine) FirstAt(ts op.Timestamp) (op.Offset, op.Timestamp, bool, error) {
	return e.segs.FirstAt(ts, e.facts.Start, e.facts.End)
}

// Apply implements engine.Engine. The effect of an op at or below the floor only
// moves the bounds of the era before.
func (e *Engine) Apply(n op.Number, eff engine.Effect) error {
	f := &e.facts
	if n != f.Applied+1 {
		panic(fmt.Sprintf("flat: apply op %d after op %d", n, f.Applied))
	}
	if n <= f.Boundary {
		switch {
		case eff.Kind == engine.Append:
			f.LastTimestamp = eff.Timestamp
			if n > f.Previous.Boundary { // else of an era before that one
				f.Previous.End += op.Offset(len(eff.Payloads))
			}
		case eff.Kind == engine.Advance && n > f.Previous.Boundary:
			f.Previous.Start = eff.Start
		case eff.Kind == engine.Store && n > f.Previous.Boundary:
			f.Previous.Bookmarks = setOld(f.Previous.Bookmarks, eff.Key, &engine.BookmarkEntry{Key: eff.Key, Position: eff.Position, Op: n})
		case eff.Kind == engine.Delete && n > f.Previous.Boundary:
			f.Previous.Bookmarks = setOld(f.Previous.Bookmarks, eff.Key, nil)
		}
		if n == f.Boundary {
			f.Previous.Bookmarks = nil // nobody asks any more
		}
		f.Applied, f.Front = n, max(f.Front, n)
		return nil
	}
	var err error
	switch eff.Kind {
	case engine.Append:
		err = e.segs.Append(n, f.End, eff.Timestamp, eff.Payloads)
	case engine.Store, engine.Delete:
		if f.Pending != nil && !e.o.Defects.Has(defect.CommitDuringCleanup) {
			panic(fmt.Sprintf("flat: op %d changes a bookmark during a cleanup", n))
		}
		v := version{op: n, set: eff.Kind == engine.Store, at: eff.Position}
		err = e.marks.write(&e.o, eff.Key, v, e.versionsNeeded())
	}
	if err == nil {
		err = e.segs.Passed(n)
	}
	if err != nil {
		return fmt.Errorf("flat: apply op %d: %w", n, err)
	}
	f.Take(n, eff)
	return nil
}

// setOld changes a bookmark of the era before the floor; nil removes it.
func setOld(list []engine.BookmarkEntry, k op.Key, b *engine.BookmarkEntry) []engine.BookmarkEntry {
	kept := make([]engine.BookmarkEntry, 0, len(list)+1)
	for _, x := range list {
		if x.Key.Less(k) {
			kept = append(kept, x)
		}
	}
	if b != nil {
		kept = append(kept, *b)
	}
	for _, x := range list {
		if k.Less(x.Key) {
			kept = append(kept, x)
		}
	}
	return kept
}

// versionsNeeded are the ops as of which a boot may want a bookmark: that of the
// durable checkpoint, and that of the one under way.
func (e *Engine) versionsNeeded() [2]op.Number {
	if e.task != nil {
		return [2]op.Number{e.cp.applied, e.task.cp.applied}
	}
	return [2]op.Number{e.cp.applied, e.cp.applied}
}

// Reclaim implements engine.Engine: a segment below the checkpointed start, or
// the file of a bookmark whose removal is checkpointed.
func (e *Engine) Reclaim() (engine.Reclaimed, error) {
	if !e.unclaimed || e.facts.Pending != nil {
		return engine.Reclaimed{}, nil
	}
	did, err := e.segs.Reclaim(e.cp.start)
	if !did && err == nil {
		did, err = e.marks.reclaim(&e.o, e.cp.applied)
	}
	if !did && err == nil {
		e.unclaimed = false
	}
	return engine.Reclaimed{More: did || err != nil}, err
}

// Check implements engine.Engine.
func (e *Engine) Check() (more bool, err error) { return e.segs.Check() }

// Close implements engine.Engine.
func (e *Engine) Close() {
	e.segs.Close()
	e.marks.close()
}

// resetAlready tells whether the messages of generation g are reset: then a purge
// of it must not touch them again.
func (e *Engine) resetAlready(g op.Generation) bool {
	return e.facts.Generation == g && !e.o.Defects.Has(defect.RetryResetsAgain)
}

// unlinkOne removes one file of a folder; false when it is empty.
func (e *Engine) unlinkOne(label vfs.Label, dir string) (bool, error) {
	names, err := e.o.FS.List(dir)
	if err != nil || len(names) == 0 {
		return false, err
	}
	if err := e.o.FS.Remove(label, dir+"/"+names[0]); err != nil && !errors.Is(err, vfs.ErrNotExist) {
		return false, err
	}
	return true, nil
}
