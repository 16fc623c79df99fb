package flat

import (
	"encoding/binary"
	"fmt"

	"purgelab/impl/corrupt"
	"purgelab/impl/defect"
	"purgelab/impl/engine"
	"purgelab/impl/record"
	"purgelab/impl/vfs"
	"purgelab/model/op"
)

// The three records (package record), little endian.
//
// checkpoint:
//
//	+0   applied    u64
//	+8   start      i64
//	+16  end        i64
//	+24  timestamp  i64   of the last message ever appended
//	+32  marks      u32   bookmarks that are durable as of applied
//	+36  previous   u32   generation before the floor
//	+40  its start  i64
//	+48  its end    i64
//	+56  resetting  u32   generation whose reset was begun; 0: none
//	+60  old        u32   bookmarks of the generation before
//	+64  floor      u64   of the generation before
//	+72  old × { kind u32, id u32, op u64, offset i64 }
//	     extra            the caller's
//
// purge.reset:
//
//	+0   generation   u32
//	+4   incarnation  u32   of the floor
//	+8   floor        u64
//
// purge.gen:
//
//	+0   generation   u32
type checkpoint struct {
	applied    op.Number
	start, end op.Offset
	timestamp  op.Timestamp
	marks      uint32
	previous   engine.Era
	resetting  op.Generation
	extra      []byte
}

type reset struct {
	generation op.Generation
	floor      op.Number
}

const (
	checkpointBytes = 72
	oldBytes        = 24
	resetBytes      = 16
	genBytes        = 4
)

func (o *Options) checkpointFile() string { return o.Dir + "/checkpoint" }
func (o *Options) resetFile() string      { return o.Dir + "/purge.reset" }
func (o *Options) genFile() string        { return o.Dir + "/purge.gen" }

// read returns nil if there is no record, and refuses one shorter than size.
func (o *Options) read(file string, size int) ([]byte, error) {
	b, a, err := record.Read(o.FS, file, o.Identity)
	if a == record.Damaged && o.Defects.Has(defect.DamagedRecordAbsent) {
		return nil, nil
	}
	if a == record.Absent || err != nil {
		return nil, err
	}
	if len(b) < size {
		return nil, &corrupt.Error{File: file, What: "record bytes", Want: fmt.Sprintf("at least %d", size), Got: len(b)}
	}
	return b, nil
}

func (c *checkpoint) encode() []byte {
	b := make([]byte, 0, checkpointBytes+len(c.extra))
	b = binary.LittleEndian.AppendUint64(b, uint64(c.applied))
	b = binary.LittleEndian.AppendUint64(b, uint64(c.start))
	b = binary.LittleEndian.AppendUint64(b, uint64(c.end))
	b = binary.LittleEndian.AppendUint64(b, uint64(c.timestamp))
	b = binary.LittleEndian.AppendUint32(b, c.marks)
	b = binary.LittleEndian.AppendUint32(b, uint32(c.previous.Generation))
	b = binary.LittleEndian.AppendUint64(b, uint64(c.previous.Start))
	b = binary.LittleEndian.AppendUint64(b, uint64(c.previous.End))
	b = binary.LittleEndian.AppendUint32(b, uint32(c.resetting))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(c.previous.Bookmarks)))
	b = binary.LittleEndian.AppendUint64(b, uint64(c.previous.Boundary))
	for _, m := range c.previous.Bookmarks {
		b = binary.LittleEndian.AppendUint32(b, uint32(m.Key.Kind))
		b = binary.LittleEndian.AppendUint32(b, m.Key.ID)
		b = binary.LittleEndian.AppendUint64(b, uint64(m.Op))
		b = binary.LittleEndian.AppendUint64(b, uint64(m.Position.Offset))
	}
	return append(b, c.extra...)
}

func readCheckpoint(o *Options) (checkpoint, error) {
	b, err := o.read(o.checkpointFile(), checkpointBytes)
	if b == nil {
		return checkpoint{applied: engine.Bootstrap}, err
	}
	old := int(binary.LittleEndian.Uint32(b[60:]))
	if have := (len(b) - checkpointBytes) / oldBytes; old > have {
		return checkpoint{}, &corrupt.Error{File: o.checkpointFile(), Offset: 60, What: "bookmarks of the generation before", Want: fmt.Sprintf("at most %d", have), Got: old}
	}
	c := checkpoint{
		applied: op.Number(binary.LittleEndian.Uint64(b)),
		start:   op.Offset(binary.LittleEndian.Uint64(b[8:])), end: op.Offset(binary.LittleEndian.Uint64(b[16:])),
		timestamp: op.Timestamp(binary.LittleEndian.Uint64(b[24:])),
		marks:     binary.LittleEndian.Uint32(b[32:]),
		previous: engine.Era{
			Generation: op.Generation(binary.LittleEndian.Uint32(b[36:])),
			Start:      op.Offset(binary.LittleEndian.Uint64(b[40:])), End: op.Offset(binary.LittleEndian.Uint64(b[48:])),
			Boundary: op.Number(binary.LittleEndian.Uint64(b[64:])),
		},
		resetting: op.Generation(binary.LittleEndian.Uint32(b[56:])),
		extra:     b[checkpointBytes+old*oldBytes:],
	}
	for i := range old {
		m := b[checkpointBytes+i*oldBytes:]
		c.previous.Bookmarks = append(c.previous.Bookmarks, engine.BookmarkEntry{
			Key: op.Key{Kind: op.ConsumerKind(binary.LittleEndian.Uint32(m)), ID: binary.LittleEndian.Uint32(m[4:])},
			Op:  op.Number(binary.LittleEndian.Uint64(m[8:])),
			Position: op.Position{
				Incarnation: o.Identity.Incarnation, Generation: c.previous.Generation, Offset: op.Offset(binary.LittleEndian.Uint64(m[16:])),
			},
		})
	}
	return c, nil
}

func writeCheckpoint(o *Options, c *checkpoint, frontier bool) error {
	if frontier {
		return o.write("purge.frontier", o.checkpointFile(), c.encode())
	}
	return o.write("checkpoint.record", o.checkpointFile(), c.encode())
}

func readReset(o *Options) (reset, error) {
	b, err := o.read(o.resetFile(), resetBytes)
	if b == nil {
		return reset{}, err
	}
	if i := op.Incarnation(binary.LittleEndian.Uint32(b[4:])); i != o.Identity.Incarnation {
		return reset{}, &corrupt.Error{File: o.resetFile(), Offset: 4, What: "incarnation of the floor", Want: o.Identity.Incarnation, Got: i}
	}
	return reset{generation: op.Generation(binary.LittleEndian.Uint32(b)), floor: op.Number(binary.LittleEndian.Uint64(b[8:]))}, nil
}

func (r reset) encode(i op.Incarnation) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(r.generation))
	b = binary.LittleEndian.AppendUint32(b, uint32(i))
	return binary.LittleEndian.AppendUint64(b, uint64(r.floor))
}

func writeReset(o *Options, r reset) error {
	return o.write("purge.reset", o.resetFile(), r.encode(o.Identity.Incarnation))
}

func readGen(o *Options) (op.Generation, error) {
	b, err := o.read(o.genFile(), genBytes)
	if b == nil {
		return 0, err
	}
	return op.Generation(binary.LittleEndian.Uint32(b)), nil
}

func encodeGen(g op.Generation) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(g)) }

func writeGen(o *Options, g op.Generation) error {
	return o.write("purge.gen", o.genFile(), encodeGen(g))
}

func (o *Options) write(label vfs.Label, file string, value []byte) error {
	return record.Write(o.FS, label, file, o.Identity, value)
}

// DropFloor makes the floor that purge.reset holds, if there is one, that of no op.
// The engine must not be open.
func DropFloor(o Options) error {
	r, err := readReset(&o)
	if err != nil || r.floor == 0 {
		return err
	}
	r.floor = 0
	return writeReset(&o, r)
}

// PurgedTo is the generation that purge.reset holds, 0 without one.
func PurgedTo(o Options) (op.Generation, error) {
	r, err := readReset(&o)
	return r.generation, err
}
