// Package journal is a replica's durable log of consensus: entries and the
// state of its promises. It is the source of everything that the replica holds.
//
// It keeps true:
//   - What Append wrote and Sync returned for is there after any crash.
//   - One Append is atomic: after a crash all of it is there or none of it, so
//     a state never outlives, nor precedes, the entries written with it.
//   - Damage to what is known to have been synced refuses to open. Damage above
//     that is a torn tail: it is cut off, durably, and reported.
//   - Nothing is overwritten in place: an entry at an op that was there before
//     drops the old one and everything after it when the log is read.
//
// Files are <dir>/00000001.log and so on. A file is synced before the next one
// is made, so everything in a file that has a successor is known to be synced. Where
// a log begins that was compacted says the record <dir>/start; see compact.go.
//
// A file, little endian:
//
//	+0   magic       u32   "PLJ1"
//	+4   identity    20    cluster, partition, replica, incarnation
//	+24  number      u32   of the file, from 1
//	+28  first       u64   sequence number of its first frame
//	+36  crc32c      u32   of bytes 0..35
//	+40  frames
//
// A frame is what one Append wrote:
//
//	+0   magic       u32
//	+4   length      u32   of the body
//	+8   crc32c      u32   of bytes 0..7 and 12.. to the end, begun with the
//	                       checksum of the identity
//	+12  incarnation u32
//	+16  sequence    u64   from 1, dense, across files
//	+24  synced      u64   the last frame that was synced when this was written
//	+32  op          u64   of the first entry; 0 without entries
//	+40  body:
//	     flags       u8    1: a state follows
//	     term, vote, commit   3 × u64, if so
//	     count       u32
//	     count ×     term u64, type u8, length u32, data
//
// After the last frame of the last file there may be room for more: zeros.
//
// A damaged frame s is corruption if any later intact frame says synced >= s,
// or if its file has a successor; otherwise it is the torn tail. Open ends with
// an empty frame whose synced number covers everything found, so that damage
// done later to what an earlier boot wrote is told from a torn tail.
//
// The layout owes to hashicorp/raft-wal, the synced number to TigerBeetle's
// rule that only an unacknowledged suffix may be repaired.
package journal

import (
	"errors"
	"fmt"

	"purgelab/impl/corrupt"
	"purgelab/impl/defect"
	"purgelab/impl/raftlog"
	"purgelab/impl/record"
	"purgelab/impl/vfs"
	"purgelab/model/op"
)

// ErrCorrupt matches every refusal because of damage.
var ErrCorrupt = corrupt.ErrCorrupt

// ErrFailed means that a sync failed before. The journal must be opened anew:
// a repeated sync may lie.
var ErrFailed = errors.New("journal: stopped after a failed sync")

// Bootstrap is the op that begins the log; it has no entry.
const Bootstrap op.Number = 1

// DefaultFileBytes is the size at which a file is full.
const DefaultFileBytes = 4 << 20

// Options of Open.
type Options struct {
	FS       vfs.FS
	Dir      string
	Identity record.Identity
	// FileBytes is the size at which a new file is begun; 0 means
	// DefaultFileBytes. A single larger frame is still written whole.
	FileBytes int
	// Room makes a file FileBytes long when it is begun, so that a sync of a frame
	// has no new length to record: on many file systems that is half of its time.
	// The room is cut off when the next file is begun.
	Room    bool
	Defects defect.Set
}

// ref is where an entry lies.
type ref struct {
	term  uint64
	at    uint32 // of its frame in the file
	file  uint32 // number
	inner uint32 // which entry of the frame
}

// Journal implements raftlog.Log. It is not safe for concurrent use.
type Journal struct {
	o   Options
	sum uint32

	state    raftlog.State
	base     op.Number // before the first entry
	baseTerm uint64
	index    []ref // of the entries base+1, ...; the only memory per entry

	files []begun  // those of the log, up to the one being written
	below []uint32 // files before them, to be removed

	// tail holds the newest entries, up to the last; older ones are read from
	// disk.
	tail      []raftlog.Entry
	tailBytes int

	number    uint32   // of the file being written, or of the one before the first
	file      vfs.File // nil before the first
	size      int64    // of it, up to the last whole frame
	room      bool     // zeros follow, up to the end of the file
	seq       uint64   // of the last frame
	syncedSeq uint64
	syncedOp  op.Number // what is durable of the log as it is now

	old       vfs.File // an older file, open for reading
	oldNumber uint32

	proved bool // the last frame found by Open says that all before it is synced
	failed error
	buf    []byte
}

var _ raftlog.Log = (*Journal)(nil)

// First implements raftlog.Log.
func (j *Journal) First() op.Number { return j.base + 1 }

// Last implements raftlog.Log.
func (j *Journal) Last() op.Number { return j.base + op.Number(len(j.index)) }

// Synced is the highest op up to which the log, as it is now, is durable.
func (j *Journal) Synced() op.Number { return j.syncedOp }

// State implements raftlog.Log. An empty journal has term 1 and commit 1, those
// of the bootstrap.
func (j *Journal) State() raftlog.State { return j.state }

// Term implements raftlog.Log.
func (j *Journal) Term(n op.Number) (uint64, error) {
	if n == j.base {
		return j.baseTerm, nil
	}
	if n < j.base || n > j.Last() {
		return 0, fmt.Errorf("journal: term of op %d: have %d to %d", n, j.base, j.Last())
	}
	return j.index[n-j.base-1].term, nil
}

// Append writes a state, unless it is nil, and entries, in one write, and does
// not sync. Entries are consecutive; the first is at most Last()+1, and drops
// what was at its op and after it. After an error the journal is as before.
// Data of the entries are kept for a while and must not change. When a file is
// full Append syncs it and begins another.
func (j *Journal) Append(state *raftlog.State, entries []raftlog.Entry) error {
	if j.failed != nil {
		return j.failed
	}
	if state == nil && len(entries) == 0 {
		return nil
	}
	for i := range entries {
		if e := &entries[i]; i == 0 && (e.Op < j.First() || e.Op > j.Last()+1) {
			return fmt.Errorf("journal: append op %d: want %d to %d", e.Op, j.First(), j.Last()+1)
		} else if i > 0 && e.Op != entries[0].Op+op.Number(i) {
			return fmt.Errorf("journal: append op %d: want %d", e.Op, entries[0].Op+op.Number(i))
		}
	}
	j.buf = appendFrame(j.buf[:0], j.sum, j.o.Identity.Incarnation, j.seq+1, j.syncedSeq, state, entries)
	if j.file == nil || j.size > fileHeader && j.size+int64(len(j.buf)) > int64(j.o.FileBytes) {
		if err := j.roll(); err != nil {
			j.failed = fmt.Errorf("%w: %w", ErrFailed, err)
			return err
		}
		// The frame says what is synced, and rolling has just changed that.
		j.buf = appendFrame(j.buf[:0], j.sum, j.o.Identity.Incarnation, j.seq+1, j.syncedSeq, state, entries)
	}
	if _, err := j.file.WriteAt("journal.append.write", j.buf, j.size); err != nil {
		err = fmt.Errorf("journal: append: %w", err)
		// A part of the frame must not stay before a later file.
		if e := j.file.Truncate("journal.append.undo", j.size); e != nil {
			j.failed = fmt.Errorf("%w: %w", ErrFailed, err)
		}
		j.room = false
		return err
	}
	at := j.size
	j.size += int64(len(j.buf))
	j.seq++
	if state != nil {
		j.state = *state
	}
	for i := range entries {
		e := &entries[i]
		j.add(e.Op, ref{term: e.Term, at: uint32(at), file: j.number, inner: uint32(i)})
		j.cache(*e)
	}
	return nil
}

// add puts an entry into the index and drops what was at its op and after it.
func (j *Journal) add(n op.Number, r ref) {
	if n <= j.syncedOp {
		j.syncedOp = n - 1
	}
	j.index = append(j.index[:n-j.base-1], r)
}

// Sync makes everything appended durable. After an error the journal answers
// ErrFailed until it is opened anew.
func (j *Journal) Sync() error {
	if j.failed != nil {
		return j.failed
	}
	if j.syncedSeq == j.seq {
		return nil
	}
	return j.sync("journal.sync")
}

// BeginSync gives a call that does what Sync does, for a caller that makes it
// beside reads of the journal. EndSync takes its result in; nothing is appended
// between the two.
func (j *Journal) BeginSync() func() error {
	f := j.file
	return func() error { return f.Sync("journal.sync") }
}

// EndSync takes the result of the call that BeginSync gave, and returns what Sync
// would have.
func (j *Journal) EndSync(err error) error { return j.noteSync(err) }

func (j *Journal) sync(label vfs.Label) error {
	err := j.file.Sync(label)
	if err != nil && j.o.Defects.Has(defect.SyncRetried) {
		err = j.file.Sync(label)
	}
	return j.noteSync(err)
}

func (j *Journal) noteSync(err error) error {
	if err != nil {
		j.failed = fmt.Errorf("%w: %w", ErrFailed, err)
		return fmt.Errorf("journal: sync: %w", err)
	}
	j.syncedSeq = j.seq
	j.syncedOp = j.Last()
	return nil
}

// roll syncs the file being written and begins the next one, whose header and
// name are durable before the first frame.
func (j *Journal) roll() error {
	if j.file != nil {
		if j.room {
			if err := j.file.Truncate("journal.roll.trim", j.size); err != nil {
				return fmt.Errorf("journal: trim %s: %w", j.name(j.number), err)
			}
		}
		if err := j.sync("journal.roll.sync-old"); err != nil {
			return err
		}
	}
	name := j.name(j.number + 1)
	f, err := j.o.FS.Create("journal.roll.create", name)
	if err != nil {
		return fmt.Errorf("journal: begin %s: %w", name, err)
	}
	header := encodeFileHeader(j.o.Identity, j.number+1, j.seq+1)
	if _, err := f.WriteAt("journal.roll.write", header, 0); err != nil {
		return fmt.Errorf("journal: begin %s: %w", name, err)
	}
	if j.o.Room {
		if err := f.Truncate("journal.roll.room", max(fileHeader, int64(j.o.FileBytes))); err != nil {
			return fmt.Errorf("journal: begin %s: %w", name, err)
		}
	}
	if err := f.Sync("journal.roll.sync"); err != nil {
		return fmt.Errorf("journal: begin %s: %w", name, err)
	}
	if !j.o.Defects.Has(defect.JournalRollNoDirSync) {
		if err := j.o.FS.SyncDir("journal.roll.dirsync", j.o.Dir); err != nil {
			return fmt.Errorf("journal: begin %s: %w", name, err)
		}
	}
	if j.file != nil {
		j.file.Close()
	}
	j.noteFile(j.number + 1)
	j.file, j.number, j.size, j.room = f, j.number+1, fileHeader, j.o.Room
	return nil
}

// noteFile remembers that a file begins, and how long the one before it is.
func (j *Journal) noteFile(number uint32) {
	if n := len(j.files); n > 0 {
		j.files[n-1].bytes = j.size
	}
	j.files = append(j.files, begun{start: start{number: number, seq: j.seq, last: j.Last(), state: j.state}})
}

// Close lets the open files go. It syncs nothing.
func (j *Journal) Close() error {
	var err error
	if j.old != nil {
		err = j.old.Close()
	}
	if j.file != nil {
		err = errors.Join(err, j.file.Close())
	}
	return err
}

func (j *Journal) name(number uint32) string { return fmt.Sprintf("%s/%08d.log", j.o.Dir, number) }
