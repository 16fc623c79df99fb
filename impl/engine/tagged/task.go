package tagged

import (
	"fmt"

	"purgelab/impl/defect"
	"purgelab/impl/engine"
	"purgelab/impl/observe"
	"purgelab/impl/purge"
	"purgelab/impl/segment"
	"purgelab/model/op"
)

// Task is work of several durable steps. Other calls may come between them.
type Task struct {
	e    *Engine
	next func(*Task) (done bool, did observe.Action, err error)

	cp       checkpoint    // to be written
	mark     segment.Mark  // of it
	syncFrom op.Offset     // of a checkpoint: segments that begin below are synced
	marker   engine.Marker // of a purge
}

// Step takes the next step. did names it if it is one that others can see. After
// an error everything is as before, and Step may be called again; if a sync has
// failed it will fail until the engine is opened anew, because a repeated sync
// may lie.
func (t *Task) Step() (done bool, did observe.Action, err error) { return t.next(t) }

// Checkpoint begins to make the state as of now durable, with extra, which must
// not change. Ops may be applied between its steps, and are not part of it. A
// checkpoint that is under way is given up.
func (e *Engine) Checkpoint(extra []byte) engine.Task {
	f := &e.facts
	t := &Task{e: e, next: (*Task).syncSegments}
	t.cp = checkpoint{
		Generation: f.Generation, Settled: f.Settled, Boundary: f.Boundary, Applied: f.Applied,
		Start: f.Start, End: f.End, Timestamp: f.LastTimestamp, Bookmarks: e.marks.Capture(), Extra: extra,
	}
	t.mark = e.segs.Mark()
	if e.o.Defects.Has(defect.CheckpointBeforeSync) {
		t.next = (*Task).syncBookmarks
	}
	e.task = t
	return t
}

// given up: another checkpoint was begun, or the generation has changed.
func (t *Task) abandoned() bool { return t.e.task != t }

func (t *Task) syncSegments() (bool, observe.Action, error) {
	if t.abandoned() {
		return true, "", nil
	}
	next, done, err := t.e.segs.SyncNext(t.syncFrom, t.cp.End)
	if err != nil {
		return false, "", fmt.Errorf("engine: checkpoint of op %d: %w", t.cp.Applied, err)
	}
	t.syncFrom = next
	if !done {
		return false, "", nil
	}
	return t.syncBookmarks()
}

func (t *Task) syncBookmarks() (bool, observe.Action, error) {
	if t.abandoned() {
		return true, "", nil
	}
	t.next = (*Task).syncBookmarks
	if t.e.marks.Synced(t.cp.Bookmarks) {
		return t.syncNames()
	}
	if err := t.e.marks.Sync(t.cp.Bookmarks); err != nil {
		return false, "", fmt.Errorf("engine: checkpoint of op %d: %w", t.cp.Applied, err)
	}
	t.next = (*Task).syncNames
	return false, "", nil
}

func (t *Task) syncNames() (bool, observe.Action, error) {
	e := t.e
	if t.abandoned() {
		return true, "", nil
	}
	t.next = (*Task).syncNames
	if !e.segs.NewNames() && !e.marks.NewNames() {
		return t.record()
	}
	if err := e.o.FS.SyncDir("checkpoint.names", e.folder()); err != nil {
		return false, "", fmt.Errorf("engine: checkpoint of op %d: %w", t.cp.Applied, err)
	}
	e.segs.Named()
	e.marks.Named()
	t.next = (*Task).record
	return false, "", nil
}

func (t *Task) record() (bool, observe.Action, error) {
	e := t.e
	if t.abandoned() {
		return true, "", nil
	}
	t.next = (*Task).record
	if err := writeCheckpoint(e.o.FS, "checkpoint.record", e.o.Dir, e.o.Identity, &t.cp); err != nil {
		return false, "", fmt.Errorf("engine: checkpoint of op %d: %w", t.cp.Applied, err)
	}
	e.cp, e.mark, e.task, e.unclaimed = t.cp, t.mark, nil, true
	return true, "Checkpoint", nil
}

// Purge begins the purge of op n, which starts generation g: every op below n is
// materialized. extra goes into the checkpoint of the new generation and must
// not change. Its steps are PurgeBegin, PurgeSwitch and PurgeComplete; the last
// one applies n.
func (e *Engine) Purge(n op.Number, g op.Generation, extra []byte) engine.Task {
	f := &e.facts
	if n != f.Applied+1 && n != f.Applied {
		panic(fmt.Sprintf("engine: purge at op %d after op %d", n, f.Applied))
	}
	t := &Task{e: e, next: (*Task).begin}
	t.marker = engine.Marker{State: purge.Begun, Generation: g, Before: f.Generation, Incarnation: f.Incarnation, Boundary: n}
	if e.o.Defects.Has(defect.LocalBoundary) {
		t.marker.Boundary = max(n, e.o.HighestOp())
	}
	t.cp = checkpoint{
		Generation: g, Settled: max(f.Settled, g), Boundary: t.marker.Boundary, Applied: n,
		Timestamp: f.LastTimestamp, Extra: extra,
	}
	t.cp.Bookmarks.Number = 1
	return t
}

func (t *Task) begin() (bool, observe.Action, error) {
	e := t.e
	if err := e.writeMarker(t.marker); err != nil {
		return false, "", fmt.Errorf("engine: purge at op %d: %w", t.cp.Applied, err)
	}
	pending := t.marker
	e.facts.Pending = &pending
	e.facts.Front = max(e.facts.Front, pending.Boundary)
	t.next = (*Task).change
	if e.o.Defects.Has(defect.CompleteEarly) {
		t.next = (*Task).completeEarly
	}
	return false, "PurgeBegin", nil
}

// change is PurgeSwitch: the new folder, empty but for its checkpoint.
func (t *Task) change() (bool, observe.Action, error) {
	e := t.e
	if err := purge.MakeFolder(e.o.FS, e.o.Dir, t.cp.Generation); err != nil {
		return false, "", fmt.Errorf("engine: purge at op %d: %w", t.cp.Applied, err)
	}
	if err := writeCheckpoint(e.o.FS, "purge.switch.checkpoint", e.o.Dir, e.o.Identity, &t.cp); err != nil {
		return false, "", fmt.Errorf("engine: purge at op %d: %w", t.cp.Applied, err)
	}
	t.next = (*Task).complete
	return false, "PurgeSwitch", nil
}

func (t *Task) complete() (bool, observe.Action, error) {
	e := t.e
	m := t.marker
	m.State = purge.Complete
	// First what may fail without a trace; the marker is the point of no return.
	segs, marks, _, _, err := openGeneration(e.o, &t.cp)
	if err != nil {
		return false, "", fmt.Errorf("engine: purge at op %d: %w", t.cp.Applied, err)
	}
	if err := e.writeMarker(m); err != nil {
		segs.Close()
		marks.Close()
		if e.o.Defects.Has(defect.CompletionStartedOver) {
			t.next = (*Task).change
		}
		return false, "", fmt.Errorf("engine: purge at op %d: %w", t.cp.Applied, err)
	}
	e.Close()
	e.segs, e.marks = segs, marks
	applied := max(t.cp.Applied, e.facts.Applied)
	e.use(&t.cp)
	e.mark = segs.Mark()
	e.facts.Applied = applied
	e.facts.Front = max(applied, m.Boundary)
	e.task, e.unclaimed = nil, true
	return true, "PurgeComplete", nil
}

// writeMarker makes a marker durable.
func (e *Engine) writeMarker(m engine.Marker) error {
	if e.o.Defects.Has(defect.MarkerNoDirSync) {
		return purge.WriteLoose(e.o.FS, e.o.Dir, e.o.Identity, m)
	}
	return purge.Write(e.o.FS, e.o.Dir, e.o.Identity, m)
}
