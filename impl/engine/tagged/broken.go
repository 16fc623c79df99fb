package tagged

import (
	"fmt"
	"slices"
	"strings"

	"purgelab/impl/bookmark"
	"purgelab/impl/defect"
	"purgelab/impl/engine"
	"purgelab/impl/observe"
	"purgelab/impl/purge"
	"purgelab/model/op"
)

// This file holds what defects do to a deletion of records, to what it leaves on the
// disk, to a purge, and to a partition that is created again.

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

// loadNamesakes puts the bookmarks of older incarnations, whose folders are named
// <dir>-i<number>, <dir> the first one's, into a partition that holds nothing yet.
func loadNamesakes(o engine.Options, applied op.Number, into *bookmark.Log) {
	first, _, _ := strings.Cut(o.Dir, "-i")
	for i := o.Identity.Incarnation - 1; i > 0 && applied == engine.Bootstrap; i-- {
		old := o
		if old.Identity.Incarnation, old.Dir = i, first; i > 1 {
			old.Dir = fmt.Sprintf("%s-i%d", first, i)
		}
		m, err := purge.Read(old.FS, old.Dir, old.Identity)
		if err != nil {
			continue
		}
		g := m.Before
		if m.State == purge.Complete {
			g = m.Generation
		}
		cp, _, err := readCheckpoint(old.FS, old.Dir, old.Identity, g)
		if err != nil {
			continue
		}
		cp.Generation, cp.Bookmarks.Number = g, max(1, cp.Bookmarks.Number)
		if marks, _, err := bookmark.Open(bookmarkOptions(old, &cp)); err == nil {
			into.Adopt(marks, 0)
			marks.Close()
		}
	}
}

// withOlder adds to bookmarks by key those of older generations whose folders are
// still there, as if they were of this one.
func withOlder(e *Engine, marks []engine.BookmarkEntry) ([]engine.BookmarkEntry, error) {
	gens, err := purge.Folders(e.o.FS, e.o.Dir)
	for _, g := range gens {
		if g >= e.cp.Generation {
			break
		}
		cp, _, err := readCheckpoint(e.o.FS, e.o.Dir, e.o.Identity, g)
		if err != nil {
			return nil, err
		}
		cp.Generation = g
		old, err := bookmark.Table(bookmarkOptions(e.o, &cp))
		if err != nil {
			return nil, err
		}
		for _, b := range old {
			i := slices.IndexFunc(marks, func(x engine.BookmarkEntry) bool { return !x.Key.Less(b.Key) })
			if i < 0 {
				i = len(marks)
			}
			if b.Position.Offset < e.cp.End && (i == len(marks) || marks[i].Key != b.Key) {
				b.Position.Generation, b.Op = e.cp.Generation, e.cp.Applied
				marks = slices.Insert(marks, i, b)
			}
		}
	}
	return marks, err
}

// completeEarly says that a purge is complete, and then makes what that names.
func (t *Task) completeEarly() (bool, observe.Action, error) {
	m := t.marker
	m.State = purge.Complete
	if err := t.e.writeMarker(m); err != nil {
		return false, "", fmt.Errorf("engine: purge at op %d: %w", t.cp.Applied, err)
	}
	if _, _, err := t.change(); err != nil {
		return false, "", err
	}
	return t.complete()
}

// keepsOlder: what is left of older generations is removed late, which is legal, so that
// there is some when a state is exported with it.
func keepsOlder(e *Engine) bool {
	return e.o.Defects.Has(defect.OldGenerationBookmarksTransferred)
}

// leavesLeftovers: what a boot finds of older generations, or below the start, stays
// while the partition begins where it began then.
func leavesLeftovers(e *Engine) bool {
	return e.o.Defects.Has(defect.ReclaimNotResumed) && e.facts.Generation == e.opened.Generation && e.facts.Start == e.opened.Start
}
