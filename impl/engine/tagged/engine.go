// Package tagged is the engine (package engine) that lays messages and bookmarks
// out by generation.
//
//	<dir>/marker                      which generation is the present one
//	<dir>/gen-<G>/checkpoint          facts as of an applied op
//	<dir>/gen-<G>/seg-<base>.log      messages (package segment)
//	<dir>/gen-<G>/bookmarks-<n>.log   bookmarks (package bookmark)
//
// Beyond what every engine does it keeps true:
//   - A checkpoint record is written only after everything that it covers is
//     durable.
//   - A purge at op n, the one after Applied, shows the old generation up to its
//     last step and the new, empty one from then on; ops at or below its boundary
//     are never materialized into the new one.
//
// Boot order: marker; checkpoint of the generation that it names; segments and
// bookmarks; then the caller replays ops above Applied, finishes the purge that
// Pending names when it comes to it, and serves at Front.
//
// The checkpoint is a record (package record) of this value, little endian:
//
//	+0   generation  u32
//	+4   settled     u32   highest purge settled
//	+8   boundary    u64   op of the purge that began the generation
//	+16  applied     u64
//	+24  start       i64
//	+32  end         i64
//	+40  timestamp   i64   of the last message ever appended
//	+48  number      u32   of the bookmark log
//	+52  zero        u32
//	+56  length      i64   of the bookmark log that is durable
//	+64  extra             the caller's
package tagged

import (
	"fmt"

	"purgelab/impl/bookmark"
	"purgelab/impl/corrupt"
	"purgelab/impl/defect"
	"purgelab/impl/engine"
	"purgelab/impl/purge"
	"purgelab/impl/segment"
	"purgelab/model/op"
)

// Engine is not safe for concurrent use.
type Engine struct {
	o     engine.Options
	facts engine.Facts
	cp    checkpoint // the last durable one
	skip  op.Number  // ops up to here are never materialized into this generation

	segs  *segment.Log
	marks *bookmark.Log

	task      *Task // checkpoint under way
	unclaimed bool  // Reclaim may find something
	opened    engine.Facts

	mark segment.Mark // of cp
}

// Facts as of Applied.
func (e *Engine) Facts() engine.Facts {
	if e.o.Defects.Has(defect.EarliestFromRecords) {
		return earliestStored(e)
	}
	return e.facts
}

// Extra is what the caller gave to the checkpoint that Open found, or to the
// last durable one since.
func (e *Engine) Extra() []byte { return e.cp.Extra }

// Bookmark looks a bookmark up.
func (e *Engine) Bookmark(k op.Key) (op.Position, bool) { return e.marks.Get(k) }

// Bookmarks lists all bookmarks by key.
func (e *Engine) Bookmarks() []engine.BookmarkEntry { return e.marks.All() }

// Read returns at most max records from an offset on, from disk. An offset
// outside of start and end is a *RangeError, whatever the disk still holds.
func (e *Engine) Read(from op.Offset, max int) ([]op.Record, error) {
	if err := e.facts.Check(from); err != nil {
		return nil, err
	}
	return e.segs.Read(from, e.facts.End, max)
}

// FirstAt finds the first record with a timestamp of at least ts.
func (e *Engine) FirstAt(ts op.Timestamp) (op.Offset, op.Timestamp, bool, error) {
	return e.segs.FirstAt(ts, e.facts.Start, e.facts.End)
}

// MarkerMismatchError means that ops were committed past the boundary of a
// purge that had begun, and the op at the boundary was not that purge.
type MarkerMismatchError struct {
	Want engine.Marker
	Got  op.Number
}

func (e *MarkerMismatchError) Error() string {
	return fmt.Sprintf("engine: marker %v is not finished: want the purge at op %d, got op %d", e.Want, e.Want.Boundary, e.Got)
}

// Apply materializes op n, which must be the one after Applied. After an error
// nothing has changed.
func (e *Engine) Apply(n op.Number, eff engine.Effect) error {
	f := &e.facts
	if n != f.Applied+1 {
		panic(fmt.Sprintf("engine: apply op %d after op %d", n, f.Applied))
	}
	if f.Pending != nil && n > f.Pending.Boundary {
		return &MarkerMismatchError{Want: *f.Pending, Got: n}
	}
	if n <= e.skip {
		f.Applied = n
		return nil
	}
	var err error
	switch eff.Kind {
	case engine.Append:
		err = e.segs.Append(n, f.End, eff.Timestamp, eff.Payloads)
	case engine.Store:
		err = e.marks.Store(n, eff.Key, eff.Position)
	case engine.Delete:
		err = e.marks.Delete(n, eff.Key)
	}
	if err == nil {
		err = e.segs.Passed(n)
	}
	if err == nil {
		err = e.marks.Passed(n)
	}
	if err != nil {
		return fmt.Errorf("engine: apply op %d: %w", n, err)
	}
	f.Take(n, eff)
	if eff.Kind == engine.Advance {
		deleteWrongly(e)
	}
	return nil
}

// Reclaim removes a file or the folder of a generation that is not the present
// one, a segment below the checkpointed start, or a bookmark log that was
// rewritten.
func (e *Engine) Reclaim() (engine.Reclaimed, error) {
	if !e.unclaimed || leavesLeftovers(e) {
		return engine.Reclaimed{}, nil
	}
	more := engine.Reclaimed{More: true}
	if e.facts.Pending == nil && !keepsOlder(e) {
		gens, err := purge.Folders(e.o.FS, e.o.Dir)
		if err != nil {
			return more, err
		}
		for _, g := range gens {
			if g == e.facts.Generation {
				continue
			}
			more.Generation = g
			more.Folder, err = purge.RemoveSome(e.o.FS, e.o.Dir, g)
			return more, err
		}
	}
	if did, err := e.segs.Reclaim(e.cp.Start); did || err != nil {
		more.Generation, more.Segment, more.Lowest = e.facts.Generation, did, e.segs.Lowest()
		return more, err
	}
	if did, err := e.marks.Reclaim(e.cp.Bookmarks.Number); did || err != nil {
		return more, err
	}
	e.unclaimed = e.facts.Pending != nil
	return engine.Reclaimed{}, nil
}

// Check reads some of the messages that Open took on trust.
func (e *Engine) Check() (more bool, err error) { return e.segs.Check() }

// Close lets all files go; it syncs nothing.
func (e *Engine) Close() {
	e.segs.Close()
	e.marks.Close()
}

func (e *Engine) folder() string { return purge.Folder(e.o.Dir, e.facts.Generation) }

func mismatch(file, what string, want, got any) error {
	return &corrupt.Error{File: file, What: what, Want: want, Got: got}
}
