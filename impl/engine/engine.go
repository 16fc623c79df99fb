// Package engine is what a replica materializes into: the messages and the
// bookmarks of one partition, laid out by generation.
//
//	<dir>/marker                      which generation is the present one
//	<dir>/gen-<G>/checkpoint          facts as of an applied op
//	<dir>/gen-<G>/seg-<base>.log      messages (package segment)
//	<dir>/gen-<G>/bookmarks-<n>.log   bookmarks (package bookmark)
//
// It keeps true:
//   - Facts, Read, FirstAt and Bookmark show the state as of Applied, whatever
//     later ops the disk already holds. Front is the highest of those; a replica
//     serves only when Applied has reached it.
//   - Apply writes without a sync, and is idempotent by op number: what the disk
//     holds is compared, not written again. The journal is the source; after a
//     boot it is replayed above the checkpoint.
//   - A checkpoint record is written only after everything that it covers is
//     durable. What it covers must be there whole at boot, or Open refuses.
//   - Start and end are stored facts, never derived from the records that happen
//     to remain.
//   - A purge shows the old generation up to its last step and the new, empty
//     one from then on; ops at or below its boundary are never materialized
//     into the new one.
//   - A step that fails leaves state and facts as they were, and can be taken
//     again.
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
package engine

import (
	"fmt"

	"purgelab/impl/bookmark"
	"purgelab/impl/corrupt"
	"purgelab/impl/defect"
	"purgelab/impl/purge"
	"purgelab/impl/record"
	"purgelab/impl/segment"
	"purgelab/impl/vfs"
	"purgelab/model/op"
)

// Bootstrap is the op that begins the log; nothing is materialized by it.
const Bootstrap op.Number = 1

// Options of Open.
type Options struct {
	FS       vfs.FS
	Dir      string // of the partition
	Identity record.Identity
	// SegmentBytes is the size of a segment file, IndexEvery the distance of
	// points in its index; 0 means the defaults of package segment.
	SegmentBytes, IndexEvery int
	// BookmarkSlack is how many dead frames a bookmark log may hold before it is
	// rewritten; 0 means the default of package bookmark.
	BookmarkSlack int
	Defects       defect.Set
	// HighestOp is the last op of the journal; only a defect asks for it.
	HighestOp func() op.Number
}

// Marker is the durable fact of a purge.
type Marker = purge.Marker

// BookmarkEntry is one bookmark and the op that set it.
type BookmarkEntry = bookmark.Entry

// Facts are what the engine knows of the partition as of Applied.
type Facts struct {
	Incarnation op.Incarnation
	Generation  op.Generation
	Boundary    op.Number // of the purge that began Generation; 0 for generation 0
	// Pending is a purge begun and not complete, nil if there is none.
	Pending       *Marker
	Applied       op.Number
	Front         op.Number // highest op that the disk gives evidence of
	Start, End    op.Offset
	LastTimestamp op.Timestamp // of the last message appended, in any generation
	Settled       op.Generation
}

// EffectKind says what an op does to the state.
type EffectKind uint8

const (
	// None: the op only takes its number.
	None EffectKind = iota
	// Append stores Payloads at the end, with Timestamp.
	Append
	// Store sets the bookmark of Key to Position.
	Store
	// Delete removes the bookmark of Key.
	Delete
	// Advance moves the start up to Start.
	Advance
	// Settle notes that purge Settled came to nothing.
	Settle
)

// Effect is the change that an op makes, already validated.
type Effect struct {
	Kind      EffectKind
	Payloads  []op.Payload
	Timestamp op.Timestamp
	Key       op.Key
	Position  op.Position
	Start     op.Offset
	Settled   op.Generation
}

// RangeError is a read outside of the partition.
type RangeError struct{ From, Start, End op.Offset }

func (e *RangeError) Error() string {
	return fmt.Sprintf("engine: read offset %d: want %d to %d", e.From, e.Start, e.End)
}

// Engine is not safe for concurrent use.
type Engine struct {
	o     Options
	facts Facts
	cp    checkpoint // the last durable one
	skip  op.Number  // ops up to here are never materialized into this generation

	segs  *segment.Log
	marks *bookmark.Log

	task      *Task // checkpoint under way
	unclaimed bool  // Reclaim may find something
	reclaimed op.Generation
}

// Facts as of Applied.
func (e *Engine) Facts() Facts { return e.facts }

// Extra is what the caller gave to the checkpoint that Open found, or to the
// last durable one since.
func (e *Engine) Extra() []byte { return e.cp.Extra }

// Bookmark looks a bookmark up.
func (e *Engine) Bookmark(k op.Key) (op.Position, bool) { return e.marks.Get(k) }

// Bookmarks lists all bookmarks by key.
func (e *Engine) Bookmarks() []BookmarkEntry { return e.marks.All() }

// Read returns at most max records from an offset on, from disk. An offset
// outside of start and end is a *RangeError, whatever the disk still holds.
func (e *Engine) Read(from op.Offset, max int) ([]op.Record, error) {
	if from < e.facts.Start || from > e.facts.End {
		return nil, &RangeError{From: from, Start: e.facts.Start, End: e.facts.End}
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
	Want Marker
	Got  op.Number
}

func (e *MarkerMismatchError) Error() string {
	return fmt.Sprintf("engine: marker %v is not finished: want the purge at op %d, got op %d", e.Want, e.Want.Boundary, e.Got)
}

// Apply materializes op n, which must be the one after Applied. After an error
// nothing has changed.
func (e *Engine) Apply(n op.Number, eff Effect) error {
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
	case Append:
		err = e.segs.Append(n, f.End, eff.Timestamp, eff.Payloads)
	case Store:
		err = e.marks.Store(n, eff.Key, eff.Position)
	case Delete:
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
	switch eff.Kind {
	case Append:
		f.End += op.Offset(len(eff.Payloads))
		f.LastTimestamp = eff.Timestamp
	case Advance:
		if eff.Start < f.Start || eff.Start > f.End {
			panic(fmt.Sprintf("engine: advance to %d outside of %d to %d", eff.Start, f.Start, f.End))
		}
		f.Start = eff.Start
	case Settle:
		f.Settled = max(f.Settled, eff.Settled)
	}
	f.Applied = n
	f.Front = max(f.Front, n)
	return nil
}

// Reclaim removes one thing that no state needs: a file or the folder of a
// generation that is not the present one, a segment below the checkpointed
// start, a bookmark log that was rewritten. more tells whether to call again;
// folder that a generation is gone with this call, Reclaimed says which.
// A crash at any point, and an unlink that comes back, change nothing visible.
func (e *Engine) Reclaim() (more, folder bool, err error) {
	if !e.unclaimed {
		return false, false, nil
	}
	if e.facts.Pending == nil {
		gens, err := purge.Folders(e.o.FS, e.o.Dir)
		if err != nil {
			return true, false, err
		}
		for _, g := range gens {
			if g == e.facts.Generation {
				continue
			}
			gone, err := purge.RemoveSome(e.o.FS, e.o.Dir, g)
			if gone {
				e.reclaimed = g
			}
			return true, gone, err
		}
	}
	if did, err := e.segs.Reclaim(e.cp.Start); did || err != nil {
		return true, false, err
	}
	if did, err := e.marks.Reclaim(e.cp.Bookmarks.Number); did || err != nil {
		return true, false, err
	}
	e.unclaimed = e.facts.Pending != nil
	return false, false, nil
}

// Reclaimed is the generation whose folder Reclaim removed last.
func (e *Engine) Reclaimed() op.Generation { return e.reclaimed }

// Close lets all files go; it syncs nothing.
func (e *Engine) Close() {
	e.segs.Close()
	e.marks.Close()
}

func (e *Engine) folder() string { return purge.Folder(e.o.Dir, e.facts.Generation) }

func mismatch(file, what string, want, got any) error {
	return &corrupt.Error{File: file, What: what, Want: want, Got: got}
}
