package flat

import (
	"fmt"

	"purgelab/impl/defect"
	"purgelab/impl/engine"
	"purgelab/impl/observe"
	"purgelab/impl/segment"
	"purgelab/impl/vfs"
	"purgelab/model/op"
)

// save is a checkpoint under way.
type save struct {
	e        *Engine
	o        *Options // fenced
	next     func(*save) (bool, error)
	cp       checkpoint
	mark     segment.Mark // of it
	syncFrom op.Offset
}

// Checkpoint implements engine.Engine.
func (e *Engine) Checkpoint(extra []byte) engine.Task {
	f := &e.facts
	t := &save{e: e, o: e.o.fenced(), next: (*save).segments, cp: checkpoint{
		applied: f.Applied, start: f.Start, end: f.End, timestamp: f.LastTimestamp, previous: f.Previous, resetting: f.Resetting, extra: extra,
	}}
	for _, m := range e.marks.list {
		if m.now.set {
			t.cp.marks++
		}
	}
	t.mark = e.segs.Mark()
	e.task = t
	return t
}

// Step implements engine.Task.
func (t *save) Step() (done bool, did observe.Action, err error) {
	if t.e.task != t {
		return true, "", nil // given up
	}
	if done, err = t.next(t); err != nil {
		return false, "", fmt.Errorf("flat: checkpoint of op %d: %w", t.cp.applied, err)
	}
	if done {
		did = "Checkpoint"
	}
	return done, did, nil
}

func (t *save) segments() (bool, error) {
	next, done, err := t.e.segs.SyncNext(t.syncFrom, t.cp.end)
	if err != nil {
		return false, err
	}
	if t.syncFrom = next; done {
		t.next = (*save).bookmarks
	}
	return false, nil
}

func (t *save) bookmarks() (bool, error) {
	if err := t.e.marks.sync(); err != nil {
		return false, err
	}
	t.next = (*save).names
	return false, nil
}

// names syncs the folders that have new names, one a step.
func (t *save) names() (bool, error) {
	e := t.e
	if e.segs.NewNames() {
		if err := t.o.FS.SyncDir("checkpoint.segments", t.o.segments()); err != nil {
			return false, err
		}
		e.segs.Named()
		return false, nil
	}
	for _, kind := range []op.ConsumerKind{op.Consumer, op.Group} {
		if e.marks.newNames[kind] {
			if err := t.o.FS.SyncDir("checkpoint.bookmarks", t.o.bookmarks(kind)); err != nil {
				return false, err
			}
			e.marks.newNames[kind] = false
			return false, nil
		}
	}
	t.next = (*save).record
	return t.record()
}

func (t *save) record() (bool, error) {
	e := t.e
	if err := writeCheckpoint(t.o, &t.cp, false); err != nil {
		return false, err
	}
	e.cp, e.mark, e.task, e.unclaimed = t.cp, t.mark, nil, true
	return true, nil
}

// wipe is a purge under way.
type wipe struct {
	e     *Engine
	steps []func(*wipe) (bool, observe.Action, error)
	o     *Options // fenced, unless syncs are tried again
	reset reset
	cp    checkpoint
	kind  op.ConsumerKind // whose folder is synced next
}

// Purge implements engine.Engine. n is the floor: no op at or below it counts in
// generation g, however far the replica has come. A generation that is reset
// already keeps the floor that it has.
func (e *Engine) Purge(n op.Number, g op.Generation, extra []byte) engine.Task {
	f := &e.facts
	o := e.o.fenced()
	if o.RetrySync {
		o = &e.o
	}
	t := &wipe{e: e, o: o, reset: reset{g, n}}
	t.cp = checkpoint{
		applied: f.Applied, timestamp: f.LastTimestamp, resetting: g, extra: extra,
		previous: engine.Era{Generation: f.Generation, Start: f.Start, End: f.End, Boundary: f.Boundary, Bookmarks: e.Bookmarks()},
	}
	if f.Resetting > 0 {
		// The reset was begun before a crash: what it destroyed is the era before.
		t.cp.previous = f.Previous
	}
	if !e.resetAlready(g) {
		t.steps = append(t.steps, (*wipe).frontier, (*wipe).unlinkSegments, (*wipe).syncSegments, (*wipe).record)
	}
	if e.o.Defects.Has(defect.CompleteBeforeCleanup) {
		t.steps = append(t.steps, (*wipe).complete, (*wipe).unlinkBookmarks, (*wipe).syncBookmarks)
	} else {
		t.steps = append(t.steps, (*wipe).unlinkBookmarks, (*wipe).syncBookmarks, (*wipe).complete)
	}
	return t
}

// Step implements engine.Task.
func (t *wipe) Step() (done bool, did observe.Action, err error) {
	over, did, err := t.steps[0](t)
	if err != nil {
		return false, "", fmt.Errorf("flat: purge of generation %d: %w", t.reset.generation, err)
	}
	if over {
		t.steps = t.steps[1:]
	}
	return len(t.steps) == 0, did, nil
}

func (t *wipe) frontier() (bool, observe.Action, error) {
	if err := writeCheckpoint(t.o, &t.cp, true); err != nil {
		return false, "", err
	}
	t.e.task = nil
	t.e.wiping = true
	t.e.wiped++
	return true, "ResetFrontier", nil
}

func (t *wipe) unlinkSegments() (bool, observe.Action, error) {
	more, err := t.e.unlinkOne("purge.segment.unlink", t.e.o.segments())
	if more || err != nil {
		return false, "", err
	}
	return true, "UnlinkSegments", nil
}

func (t *wipe) syncSegments() (bool, observe.Action, error) {
	if err := t.o.FS.SyncDir("purge.segment.dirsync", t.e.o.segments()); err != nil {
		return false, "", fmt.Errorf("%w: %w", engine.ErrNotSynced, err)
	}
	return true, "SyncSegments", nil
}

// record is the point of no return: the era changes with it.
func (t *wipe) record() (bool, observe.Action, error) {
	e, f := t.e, &t.e.facts
	if e.o.Defects.Has(defect.AdvancedOnFailure) {
		f.Generation = t.reset.generation
	}
	segs, _, err := e.openSegments(t.cp)
	if err != nil {
		return false, "", err
	}
	if err := writeReset(t.o, t.reset); err != nil {
		segs.Close()
		return false, "", err
	}
	e.segs.Close()
	e.segs, e.cp, e.mark, e.wiping = segs, t.cp, segs.Mark(), false
	e.marks.forget()
	f.Generation, f.Boundary, f.Previous = t.reset.generation, t.reset.floor, t.cp.previous
	f.Start, f.End, f.Resetting = 0, 0, 0
	if f.Applied >= f.Boundary {
		f.Previous.Bookmarks = nil // nobody will ask
	}
	e.pending()
	return true, "ResetRecord", nil
}

// ignores tells whether a defect passes over the failure of a disk.
func (t *wipe) ignores(d defect.Set, err error) bool {
	return err != nil && t.e.o.Defects.Has(d) && vfs.Failed(err)
}

func (t *wipe) unlinkBookmarks() (bool, observe.Action, error) {
	for _, kind := range []op.ConsumerKind{op.Consumer, op.Group} {
		more, err := t.e.unlinkOne("purge.bookmark.unlink", t.e.o.bookmarks(kind))
		if t.ignores(defect.UnlinkFailureIgnored, err) {
			continue
		}
		if more || err != nil {
			return false, "", err
		}
	}
	return true, "UnlinkBookmarks", nil
}

func (t *wipe) syncBookmarks() (bool, observe.Action, error) {
	if !t.e.o.Defects.Has(defect.BookmarkNoDirSync) {
		err := t.o.FS.SyncDir("purge.bookmark.dirsync", t.e.o.bookmarks(t.kind))
		if err != nil && !t.ignores(defect.DirsyncFailureIgnored, err) {
			return false, "", fmt.Errorf("%w: %w", engine.ErrNotSynced, err)
		}
	}
	if t.kind == op.Consumer {
		t.kind = op.Group
		return false, "", nil
	}
	return true, "SyncBookmarks", nil
}

func (t *wipe) complete() (bool, observe.Action, error) {
	e, f := t.e, &t.e.facts
	if err := writeGen(t.o, t.reset.generation); err != nil && !t.ignores(defect.CompletionFailureIgnored, err) {
		return false, "", err
	}
	f.Settled, f.Pending = t.reset.generation, nil
	e.unclaimed = true
	return true, "PurgeComplete", nil
}
