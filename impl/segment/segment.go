// Package segment stores the messages of one generation: a log of batches, cut
// into files that are named for the offset of their first message.
//
// It keeps true:
//   - Batches are dense: each begins at the offset where the one before ended,
//     with a higher op number and no lower timestamp.
//   - Append is idempotent by op number: a batch that the disk already holds,
//     found when the log was opened, is compared and not written again.
//   - Nothing is durable before Sync and the sync of the directory, which a
//     checkpoint does. What the checkpoint says is durable, up to its end, must
//     be there whole. Above that the journal is the source, so what is torn there
//     is cut off and reported.
//   - Open reads the files that a checkpoint does not cover, and the last one. The
//     others it takes on trust, and opens only the first of them: its number shows
//     whether one between is missing.
//   - No message is answered that was not checked: the first use of such a file reads
//     what the header of the next one says of it, as it was when it was whole, and the
//     first read of a message in it all of it. Check goes through all of them, a part a
//     call. What is damaged is refused by Open, Check or the read, whichever meets it
//     first.
//   - Reads come from disk, checked, through a sparse index: one point every
//     IndexEvery bytes, of the files that were read. Nothing else of the log is in
//     memory.
//
// A file seg-<base offset>.log, little endian:
//
//	+0   magic       u32   "PLS3"
//	+4   identity    20    cluster, partition, replica, incarnation
//	+24  generation  u32
//	+28  base        i64   offset of the first message
//	+36  before      8     base of the file before this one, i64
//	+44  size        5     of that file
//	+49  number      3     of this file: one more than that of the file before, modulo
//	                       2^24
//	+52  before      20    of the file before: crc32c u32 of its batches as they travel,
//	                       op u64 and timestamp i64 of its last batch; all of it is zero
//	                       if there was none
//	+72  crc32c      u32   of bytes 0..71
//	+76  batches
//
// A batch is the messages of one op:
//
//	+0   magic       u32   "PLBT"
//	+4   length      u32   of what follows the header
//	+8   crc32c      u32   of bytes 0..7 and 12.. to the end, begun with the
//	                       checksum of identity and generation
//	+12  count       u32   of messages
//	+16  op          u64
//	+24  base        i64   offset of the first
//	+32  timestamp   i64   of all
//	+40  count ×     length u32, payload
//
// A file speaks of the one before, and not of itself, so that it takes no write and
// no sync of its own to close one, and no crash can come between.
//
// A start that moved up leaves batches below it in place; files wholly below it
// are reclaimed. To another replica nothing travels that lies below it. The layout is Kafka's in spirit: base offset in the name,
// batches, sparse index; the index is rebuilt, not stored.
package segment

import (
	"errors"
	"fmt"
	"sort"

	"purgelab/impl/corrupt"
	"purgelab/impl/defect"
	"purgelab/impl/record"
	"purgelab/impl/vfs"
	"purgelab/model/op"
)

// Defaults of Options.
const (
	DefaultSegmentBytes = 1 << 20
	DefaultIndexEvery   = 1024
)

// ErrFailed means that a step failed in a way that leaves the file unknown.
var ErrFailed = fmt.Errorf("segment: stopped after a failed step: %w", vfs.ErrUnsure)

// Options of Open.
type Options struct {
	FS         vfs.FS
	Dir        string
	Identity   record.Identity
	Generation op.Generation
	// SegmentBytes is the size at which a new file is begun, IndexEvery the
	// distance of points in the index; 0 means the defaults.
	SegmentBytes, IndexEvery int

	// What the checkpoint says: messages from Start to End-1 are durable here,
	// and End is where the first op above Applied stores.
	Start, End op.Offset
	Applied    op.Number
	Timestamp  op.Timestamp // of the last message below End
	Defects    defect.Set
}

// point says that a batch beginning at offset lies at byte at; sum is the checksum of
// the batches before it, as they travel.
type point struct {
	offset op.Offset
	ts     op.Timestamp
	at     int64
	sum    uint32
}

// file is one segment.
type file struct {
	name      string
	base, end op.Offset
	number    uint32
	trusted   bool         // what follows is not known, but h if it is not nil
	ts        op.Timestamp // of the last batch
	op        op.Number    // of the last batch
	h         vfs.File     // nil: not open
	size      int64
	index     []point // empty: not read yet
	sum       uint32  // of the batches as they travel, see piece.go
	dirty     bool    // has bytes that were not synced
}

// ahead is a batch found at Open above the checkpoint.
type ahead struct {
	op   op.Number
	file string
	at   int64
	end  op.Offset
	crc  uint32
}

// Log is the messages of one generation. It is not safe for concurrent use.
type Log struct {
	o     Options
	owner owner
	sum   uint32

	files   []*file     // readable, by base; the last is written to
	below   []op.Offset // bases of files wholly below the start when opened
	unread  []*file     // taken on trust by Open and not checked since, by base
	check   *checking   // of the first of them; nil if it was not begun
	ahead   []ahead     // not yet passed by replay, by op
	end     op.Offset
	needed  op.Offset // of Open
	found   Mark      // of the checkpoint that Open was given
	lastOp  op.Number
	ts      op.Timestamp
	newName bool // a name in the directory may not be durable
	failed  error
	buf     []byte
}

// LastOp is the highest op that has a batch on the disk, 0 if there is none
// above the checkpoint.
func (l *Log) LastOp() op.Number { return l.lastOp }

// NewNames tells whether the directory must be synced; Named says it was.
func (l *Log) NewNames() bool { return l.newName }

// Named notes that the directory was synced.
func (l *Log) Named() { l.newName = false }

// Append stores the batch of op n at base, which is the end of the log as of
// n. After an error the log is as before.
func (l *Log) Append(n op.Number, base op.Offset, ts op.Timestamp, payloads []op.Payload) error {
	if l.failed != nil {
		return l.failed
	}
	l.buf = appendBatch(l.buf[:0], l.sum, n, base, ts, payloads)
	if n <= l.lastOp {
		return l.match(n)
	}
	if base != l.end || ts < l.ts || len(payloads) == 0 {
		return fmt.Errorf("segment: append op %d: %d messages at offset %d, time %d, to a log that ends at %d, time %d", n, len(payloads), base, ts, l.end, l.ts)
	}
	var f *file
	if k := len(l.files); k > 0 {
		f = l.files[k-1]
	}
	if f == nil || f.size > fileHeader && f.size+int64(len(l.buf)) > int64(l.o.SegmentBytes) {
		return l.begin(n, base, ts, payloads)
	}
	if _, err := f.h.WriteAt("segment.append.write", l.buf, f.size); err != nil {
		err = fmt.Errorf("segment: append op %d: %w", n, err)
		// Nothing may stay behind the last batch once a later file exists.
		if e := f.h.Truncate("segment.append.undo", f.size); e != nil {
			l.failed = fmt.Errorf("%w: %w", ErrFailed, err)
		}
		return err
	}
	l.stored(f, n, ts, len(payloads), l.buf)
	return nil
}

// begin stores a batch in a new file.
func (l *Log) begin(n op.Number, base op.Offset, ts op.Timestamp, payloads []op.Payload) error {
	f := &file{name: l.name(base), base: base, end: base, size: fileHeader}
	h, err := l.o.FS.Create("segment.roll.create", f.name)
	if err != nil {
		return fmt.Errorf("segment: begin %s: %w", f.name, err)
	}
	l.newName = true
	var before summary
	if k := len(l.files); k > 0 {
		before = l.files[k-1].summary()
	}
	f.number = before.next()
	l.buf = appendFileHeader(l.buf[:0], l.owner, base, before)
	l.buf = appendBatch(l.buf, l.sum, n, base, ts, payloads)
	if _, err := h.WriteAt("segment.roll.write", l.buf, 0); err != nil {
		h.Close()
		return fmt.Errorf("segment: begin %s: %w", f.name, err)
	}
	f.h = h
	l.files = append(l.files, f)
	l.stored(f, n, ts, len(payloads), l.buf[fileHeader:])
	return nil
}

// stored takes note of a batch of count messages at the end of f.
func (l *Log) stored(f *file, n op.Number, ts op.Timestamp, count int, b []byte) {
	f.note(f.end, ts, l.o.IndexEvery)
	f.size += int64(len(b))
	f.sum = addSum(f.sum, b)
	f.end += op.Offset(count)
	f.ts, f.op = ts, n
	f.dirty = true
	l.end, l.ts, l.lastOp = f.end, ts, n
}

func (f *file) summary() summary {
	return summary{base: f.base, number: f.number, size: f.size, sum: f.sum, op: f.op, ts: f.ts}
}

// note adds a point for the batch that begins at the end of f, if it is due.
func (f *file) note(offset op.Offset, ts op.Timestamp, every int) {
	if k := len(f.index); k == 0 || f.size-f.index[k-1].at >= int64(every) {
		f.index = append(f.index, point{offset: offset, ts: ts, at: f.size, sum: f.sum})
	}
}

// match compares the batch in l.buf with the one that the disk holds for op n.
func (l *Log) match(n op.Number) error {
	if len(l.ahead) == 0 {
		return fmt.Errorf("segment: append op %d again, the log holds op %d", n, l.lastOp)
	}
	a := l.ahead[0]
	if a.op != n {
		return &corrupt.Error{File: a.file, Offset: a.at + 16, What: "op of a batch", Want: n, Got: a.op}
	}
	if crc := leUint32(l.buf[8:]); crc != a.crc {
		return &corrupt.Error{File: a.file, Offset: a.at + 8, What: fmt.Sprintf("checksum of the batch of op %d", n), Want: crc, Got: a.crc}
	}
	l.ahead = l.ahead[1:]
	return nil
}

// Passed checks, once op n is applied, that the disk holds no batch of an op up
// to n which the log has not: they would never be compared.
func (l *Log) Passed(n op.Number) error {
	if len(l.ahead) > 0 && l.ahead[0].op <= n {
		a := l.ahead[0]
		return &corrupt.Error{File: a.file, Offset: a.at + 16, What: "op of a batch", Want: fmt.Sprintf("above %d, which stored nothing", n), Got: a.op}
	}
	return nil
}

// SyncNext syncs the first file with unsynced bytes whose base is at least from
// and below end, and returns the from of the next call; done when there is none.
func (l *Log) SyncNext(from, end op.Offset) (next op.Offset, done bool, err error) {
	if l.failed != nil {
		return from, false, l.failed
	}
	for _, f := range l.files {
		if f.dirty && f.base >= from && f.base < end {
			if err := f.h.Sync("segment.sync"); err != nil {
				l.failed = fmt.Errorf("%w: sync %s: %w", ErrFailed, f.name, err)
				return from, false, l.failed
			}
			f.dirty = false
			return f.base + 1, false, nil
		}
	}
	return end, true, nil
}

// Reclaim removes one file wholly below start, which must be checkpointed;
// false when there is none. The last file stays.
func (l *Log) Reclaim(start op.Offset) (bool, error) {
	if len(l.below) > 0 {
		if err := l.remove(l.name(l.below[0])); err != nil {
			return false, err
		}
		l.below = l.below[1:]
		return true, nil
	}
	if len(l.files) < 2 || l.files[0].end > start {
		return false, nil
	}
	if err := l.remove(l.files[0].name); err != nil {
		return false, err
	}
	l.files[0].close()
	l.files = append([]*file(nil), l.files[1:]...)
	return true, nil
}

// remove unlinks a file. One that is gone is fine: an unlink that failed before
// may have had its effect.
func (l *Log) remove(name string) error {
	if err := l.o.FS.Remove("segment.reclaim", name); err != nil && !errors.Is(err, vfs.ErrNotExist) {
		return fmt.Errorf("segment: reclaim: %w", err)
	}
	return nil
}

// Lowest is the base of the first file that is there, or where the first one will
// begin.
func (l *Log) Lowest() op.Offset {
	switch {
	case len(l.below) > 0:
		return l.below[0]
	case len(l.files) > 0:
		return l.files[0].base
	}
	return l.end
}

// Reclaimable tells whether Reclaim would remove something.
func (l *Log) Reclaimable(start op.Offset) bool {
	return len(l.below) > 0 || len(l.files) > 1 && l.files[0].end <= start
}

// Close lets the files go; it syncs nothing.
func (l *Log) Close() {
	for _, f := range l.files {
		f.close()
	}
	l.files = nil
	l.endCheck()
}

func (l *Log) name(base op.Offset) string { return fmt.Sprintf("%s/seg-%020d.log", l.o.Dir, base) }

// search finds the file that holds an offset, -1 if none does.
func (l *Log) search(o op.Offset) int {
	return sort.Search(len(l.files), func(i int) bool { return l.files[i].base > o }) - 1
}
