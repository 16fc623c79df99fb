// Package bookmark stores the bookmarks of one generation: a log of what was
// set and removed, and the table that it adds up to.
//
// It keeps true:
//   - The table is as of the last op applied. What the disk holds of later ops,
//     found when the log was opened, counts when replay comes to it.
//   - Store and Delete are idempotent by op number. A delete leaves a tombstone
//     with its op, so that replay knows it was there.
//   - Nothing is durable before Sync and the sync of the directory, which a
//     checkpoint does. The checkpoint names the file and how long it is; that
//     much must be there whole, or Open refuses. Above it the journal is the
//     source, and what is torn is cut off and reported.
//   - A log that has grown long is rewritten into a file of the next number, the
//     table as of the checkpoint first, then what came later. The checkpoint
//     record, which names the new number, is what makes it the log.
//
// A file bookmarks-<number>.log, little endian:
//
//	+0   magic       u32   "PLK1"
//	+4   identity    20    cluster, partition, replica, incarnation
//	+24  generation  u32
//	+28  number      u32
//	+32  crc32c      u32   of bytes 0..31
//	+36  frames of 44 bytes:
//
//	+0   crc32c      u32   of the rest, begun with bytes 4..31 of the file
//	+4   flags       u8    1: a tombstone; 2: of the table that begins the file
//	+5   kind        u8    of the owner
//	+6   zero        u16
//	+8   id          u32   of the owner
//	+12  sequence    u32   of the frame in the file, from 1
//	+16  op          u64
//	+24  incarnation u32
//	+28  generation  u32
//	+32  offset      i64   the last message processed
//	+40  zero        u32
package bookmark

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"

	"purgelab/impl/corrupt"
	"purgelab/impl/defect"
	"purgelab/impl/framed"
	"purgelab/impl/record"
	"purgelab/impl/vfs"
	"purgelab/model/op"
)

const (
	fileMagic  = 0x314b4c50 // "PLK1"
	fileHeader = 36
	frameSize  = 44

	tombstone = 1
	table     = 2
)

// ErrFailed means that a sync failed; the log must be opened anew.
var ErrFailed = fmt.Errorf("bookmark: stopped after a failed step: %w", vfs.ErrUnsure)

// Entry is one bookmark and the op that set it.
type Entry struct {
	Key      op.Key
	Position op.Position
	Op       op.Number
}

// Options of Open. Number and Length are those of the checkpoint: the file, and
// how much of it is durable; 1 and 0 before the first one.
type Options struct {
	FS         vfs.FS
	Dir        string
	Identity   record.Identity
	Generation op.Generation
	Number     uint32
	Length     int64
	Applied    op.Number
	// Slack is how many dead frames, beyond as many as live, the log may hold
	// before it is rewritten; 0 means DefaultSlack.
	Slack   int
	Defects defect.Set
}

// frame is one line of the log.
type frame struct {
	Entry
	flags byte
}

// Log is the bookmarks of one generation. It is not safe for concurrent use.
type Log struct {
	o     Options
	sum   uint32
	table []Entry // by key

	h       vfs.File // nil until the first frame
	number  uint32
	size    int64
	dirty   bool
	newName bool
	failed  error

	ahead  []frame // found at Open above the checkpoint, not yet passed
	lastOp op.Number

	// rewriting: frames since the capture, to follow the table in the new file.
	rewriting bool
	since     []frame
	buf       []byte
}

// LastOp is the highest op above the checkpoint that has a frame, 0 if none.
func (l *Log) LastOp() op.Number { return l.lastOp }

// Get looks a bookmark up.
func (l *Log) Get(k op.Key) (op.Position, bool) {
	if i, ok := l.find(k); ok {
		return l.table[i].Position, true
	}
	return op.Position{}, false
}

// All returns the bookmarks by key. The slice is the caller's.
func (l *Log) All() []Entry { return slices.Clone(l.table) }

// NewNames tells whether the directory must be synced; Named says it was.
func (l *Log) NewNames() bool { return l.newName }

// Named notes that the directory was synced.
func (l *Log) Named() { l.newName = false }

// Store sets a bookmark by op n.
func (l *Log) Store(n op.Number, k op.Key, p op.Position) error {
	if err := l.write(frame{Entry: Entry{Key: k, Position: p, Op: n}}); err != nil {
		return err
	}
	l.set(Entry{Key: k, Position: p, Op: n})
	return nil
}

// Delete removes a bookmark by op n.
func (l *Log) Delete(n op.Number, k op.Key) error {
	if err := l.write(frame{Entry: Entry{Key: k, Op: n}, flags: tombstone}); err != nil {
		return err
	}
	l.unset(k)
	return nil
}

// Passed checks, once op n is applied, that the disk holds no frame of an op up
// to n which the log has not.
func (l *Log) Passed(n op.Number) error {
	if len(l.ahead) > 0 && l.ahead[0].Op <= n {
		return &corrupt.Error{File: l.name(l.number), What: "op of a bookmark", Want: fmt.Sprintf("above %d, which stored nothing", n), Got: l.ahead[0].Op}
	}
	return nil
}

// write appends a frame, unless the disk already holds it.
func (l *Log) write(f frame) error {
	if l.failed != nil {
		return l.failed
	}
	if len(l.ahead) > 0 {
		if l.ahead[0] != f {
			return &corrupt.Error{File: l.name(l.number), What: fmt.Sprintf("bookmark of op %d", f.Op), Want: f, Got: l.ahead[0]}
		}
		l.ahead = l.ahead[1:]
		l.keep(f)
		return nil
	}
	if l.h == nil {
		h, err := l.o.FS.Create("bookmark.create", l.name(l.number))
		if err != nil {
			return fmt.Errorf("bookmark: op %d: %w", f.Op, err)
		}
		l.newName = true
		l.buf = l.header(l.buf[:0], l.number)
		l.buf = l.encode(l.buf, f, 1)
		if _, err := h.WriteAt("bookmark.create.write", l.buf, 0); err != nil {
			h.Close()
			return fmt.Errorf("bookmark: op %d: %w", f.Op, err)
		}
		l.h, l.size = h, int64(len(l.buf))
	} else {
		l.buf = l.encode(l.buf[:0], f, l.frames()+1)
		if _, err := l.h.WriteAt("bookmark.append.write", l.buf, l.size); err != nil {
			return fmt.Errorf("bookmark: op %d: %w", f.Op, err)
		}
		l.size += frameSize
	}
	l.dirty, l.lastOp = true, f.Op
	l.keep(f)
	return nil
}

// keep remembers a frame for a rewrite under way.
func (l *Log) keep(f frame) {
	if l.rewriting {
		l.since = append(l.since, f)
	}
}

// frames is how many the file holds.
func (l *Log) frames() uint32 { return uint32((l.size - fileHeader) / frameSize) }

func (l *Log) find(k op.Key) (int, bool) {
	return slices.BinarySearchFunc(l.table, k, func(e Entry, k op.Key) int {
		switch {
		case e.Key == k:
			return 0
		case e.Key.Less(k):
			return -1
		}
		return 1
	})
}

func (l *Log) set(e Entry) {
	if i, ok := l.find(e.Key); ok {
		l.table[i] = e
	} else {
		l.table = slices.Insert(l.table, i, e)
	}
}

func (l *Log) unset(k op.Key) {
	if i, ok := l.find(k); ok {
		l.table = slices.Delete(l.table, i, i+1)
	}
}

// Close lets the file go; it syncs nothing.
func (l *Log) Close() {
	if l.h != nil {
		l.h.Close()
		l.h = nil
	}
}

func (l *Log) name(number uint32) string {
	return fmt.Sprintf("%s/bookmarks-%08d.log", l.o.Dir, number)
}

func (l *Log) header(b []byte, number uint32) []byte {
	at := len(b)
	b = binary.LittleEndian.AppendUint32(b, fileMagic)
	b = l.o.Identity.Append(b)
	b = binary.LittleEndian.AppendUint32(b, uint32(l.o.Generation))
	b = binary.LittleEndian.AppendUint32(b, number)
	return framed.SealHeader(b, at)
}

// frameSum is where the checksum of a frame begins: with what the header says.
func (l *Log) frameSum(number uint32) uint32 {
	return framed.Sum(l.header(nil, number)[4:32])
}

func (l *Log) encode(b []byte, f frame, seq uint32) []byte {
	at := len(b)
	b = append(b, 0, 0, 0, 0, f.flags, byte(f.Key.Kind), 0, 0)
	b = binary.LittleEndian.AppendUint32(b, f.Key.ID)
	b = binary.LittleEndian.AppendUint32(b, seq)
	b = binary.LittleEndian.AppendUint64(b, uint64(f.Op))
	b = binary.LittleEndian.AppendUint32(b, uint32(f.Position.Incarnation))
	b = binary.LittleEndian.AppendUint32(b, uint32(f.Position.Generation))
	b = binary.LittleEndian.AppendUint64(b, uint64(f.Position.Offset))
	b = append(b, 0, 0, 0, 0)
	binary.LittleEndian.PutUint32(b[at:], crc32.Update(l.sum, framed.Castagnoli, b[at+4:]))
	return b
}

// decode reads the frame at b[0:], frame seq of the file.
func (l *Log) decode(at int64, b []byte, seq uint32) (frame, error) {
	bad := func(off int64, what string, want, got any) (frame, error) {
		return frame{}, &corrupt.Error{File: l.name(l.number), Offset: at + off, What: what, Want: want, Got: got}
	}
	if len(b) < frameSize {
		return bad(0, "bookmark frame bytes", frameSize, len(b))
	}
	stored := binary.LittleEndian.Uint32(b)
	if crc := crc32.Update(l.sum, framed.Castagnoli, b[4:frameSize]); crc != stored {
		return bad(0, "bookmark frame checksum", crc, stored)
	}
	if got := binary.LittleEndian.Uint32(b[12:]); got != seq {
		return bad(12, "bookmark frame sequence", seq, got)
	}
	return frame{
		flags: b[4],
		Entry: Entry{
			Key: op.Key{Kind: op.ConsumerKind(b[5]), ID: binary.LittleEndian.Uint32(b[8:])},
			Op:  op.Number(binary.LittleEndian.Uint64(b[16:])),
			Position: op.Position{
				Incarnation: op.Incarnation(binary.LittleEndian.Uint32(b[24:])),
				Generation:  op.Generation(binary.LittleEndian.Uint32(b[28:])),
				Offset:      op.Offset(binary.LittleEndian.Uint64(b[32:])),
			},
		},
	}, nil
}
