// Package engine is the seam between a replica and what it materializes into:
// the messages and the bookmarks of one partition. The interface Engine is all
// that a replica knows of it; each layout is a package of its own below this one:
//
//	tagged  laid out by generation: a purge is one record, and what it purged is
//	        removed later
//	flat    one folder of segments and one file per bookmark: a purge empties them
//
// Package enginetest holds the contract that every one of them must keep:
//
//   - Facts, Read, FirstAt and Bookmark show the state as of Applied, whatever
//     later ops the disk already holds. Front is the highest of those; a replica
//     serves only when Applied has reached it.
//   - Apply is idempotent by op number: what the disk holds is compared or
//     passed over, not written again, and replay comes to the same state. The
//     journal is the source; after a boot it is replayed above the checkpoint.
//   - What a durable checkpoint covers is there whole at boot, or it is refused: by
//     Open, or, of messages that Open took on trust, by Check and by every read that
//     meets the damage, whichever comes first. What Open takes hardly depends on how
//     many messages there are.
//   - Start and end are stored facts, never derived from the records that happen
//     to remain: earliest is the start when nothing is stored, latest never goes
//     down within a generation, and a read below the start is refused before
//     anything was reclaimed.
//   - An advance of the start changes a number; removing what lies below it is
//     Reclaim, one thing a call, never anything that a reader or a later append
//     needs, and never before the start is durable.
//   - What is exported is the last durable checkpoint, and imported it opens as the
//     same state. What was purged or deleted, before that or since, cannot be read of
//     an export; all else can.
//   - A step that fails leaves state and facts as they were, and can be taken
//     again.
package engine

import (
	"errors"
	"fmt"

	"purgelab/impl/bookmark"
	"purgelab/impl/defect"
	"purgelab/impl/observe"
	"purgelab/impl/purge"
	"purgelab/impl/record"
	"purgelab/impl/segment"
	"purgelab/impl/vfs"
	"purgelab/model/op"
)

// Bootstrap is the op that begins the log; nothing is materialized by it.
const Bootstrap op.Number = 1

// ErrNotSynced: a step of a purge synced a folder from which files were unlinked,
// and the sync failed.
var ErrNotSynced = errors.New("unlinked, not known to be durable")

// Engine is one partition on one disk. It is not safe for concurrent use.
type Engine interface {
	// Facts as of Applied.
	Facts() Facts
	// Extra is what the caller gave to the checkpoint that Open found, or to the
	// last durable one since.
	Extra() []byte
	// Bookmark looks a bookmark up.
	Bookmark(k op.Key) (op.Position, bool)
	// Bookmarks lists all bookmarks by key.
	Bookmarks() []BookmarkEntry
	// Read returns at most max records from an offset on, from disk. An offset
	// outside of start and end is a *RangeError, whatever the disk still holds.
	Read(from op.Offset, max int) ([]op.Record, error)
	// FirstAt finds the first record with a timestamp of at least ts.
	FirstAt(ts op.Timestamp) (op.Offset, op.Timestamp, bool, error)
	// Apply materializes op n, which must be the one after Applied, without a
	// sync. The effect was validated. After an error nothing has changed.
	Apply(n op.Number, eff Effect) error
	// Checkpoint begins to make the state as of now durable, with extra, which
	// must not change. Ops may be applied between its steps, and are not part of
	// it. A checkpoint that is under way is given up.
	Checkpoint(extra []byte) Task
	// Purge begins generation g, empty. What n is depends on the layout. extra
	// goes into the checkpoint of the new generation and must not change.
	Purge(n op.Number, g op.Generation, extra []byte) Task
	// Reclaim removes one thing that no state needs. A crash at any point, and an
	// unlink that comes back, change nothing visible.
	Reclaim() (Reclaimed, error)
	// Check reads some of the messages that Open took on trust and that were not
	// checked since; more tells whether there are others.
	Check() (more bool, err error)
	// Export is the last durable checkpoint, for a transfer. It is ErrNoPoint if there
	// is none, or none that another replica could begin with, or one with messages that
	// were deleted since.
	Export() (Export, error)
	// Close lets all files go; it syncs nothing.
	Close()
}

// Task is work of several durable steps. Other calls may come between them.
type Task interface {
	// Step takes the next step. did names it if it is one that others can see.
	// After an error everything is as before, and Step may be called again; if a
	// sync has failed it will fail until the engine is opened anew, because a
	// repeated sync may lie.
	Step() (done bool, did observe.Action, err error)
}

// Reclaimed says what Reclaim did.
type Reclaimed struct {
	// More tells whether to call again.
	More bool
	// Folder: all that was left of Generation is gone with this call.
	Folder     bool
	Generation op.Generation
	// Segment: a file of messages below the start is gone; of those that are left
	// Lowest is the first.
	Segment bool
	Lowest  op.Offset
}

// Options of an Open.
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
	// HighestOp is the last op of the journal.
	HighestOp func() op.Number
}

// Report says what an Open found and did.
type Report struct {
	Marker Marker // as found; state None without one
	// Did are the steps that finished a purge before anything was loaded.
	Did       []observe.Action
	Segments  segment.Report
	Bookmarks bookmark.Report
	Front     op.Number
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
	// Previous is the era before the boundary, as ops up to it have left it; only
	// an engine whose boundary lies above Applied has one.
	Previous Era
	// Resetting is a generation whose reset was begun and may have destroyed
	// messages, 0 if there is none: nothing may be served before it is purged.
	Resetting op.Generation
	Settled   op.Generation
}

// Check refuses a read from an offset outside of start and end.
func (f *Facts) Check(from op.Offset) error {
	if from < f.Start || from > f.End {
		return &RangeError{From: from, Start: f.Start, End: f.End}
	}
	return nil
}

// Take makes the facts those as of op n, whose effect is stored.
func (f *Facts) Take(n op.Number, eff Effect) {
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
	f.Applied, f.Front = n, max(f.Front, n)
}

// Era is a generation with its bounds and the boundary that it began with.
type Era struct {
	Generation op.Generation
	Start, End op.Offset
	Boundary   op.Number
	// Bookmarks by key; never changed in place.
	Bookmarks []BookmarkEntry
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
