package segment

import (
	"encoding/binary"
	"fmt"

	"purgelab/impl/corrupt"
	"purgelab/impl/framed"
	"purgelab/impl/record"
	"purgelab/model/op"
)

const (
	fileMagic  = 0x33534c50 // "PLS3"
	batchMagic = 0x54424c50 // "PLBT"

	fileHeader  = 76
	batchHeader = 40
)

// owner is what every checksum of a file begins with.
type owner struct {
	id  record.Identity
	gen op.Generation
}

func (o owner) sum() uint32 {
	return framed.Sum(binary.LittleEndian.AppendUint32(o.id.Append(nil), uint32(o.gen)))
}

func (o owner) String() string { return fmt.Sprintf("%v/g%d", o.id, o.gen) }

// summary is what a file says of the one before it, which nothing is written to any
// more. Its messages end where those of the file that says so begin.
type summary struct {
	base   op.Offset
	number uint32       // one less than that of the file that says so
	size   int64        // of the file; 0 if there is none before
	sum    uint32       // of the batches as they travel, see piece.go
	op     op.Number    // of the last batch
	ts     op.Timestamp // of the last batch
}

// A number of a file has so many bits, the size of one before it the others of 64.
const (
	numberBits = 24
	numberMask = 1<<numberBits - 1
	sizeBits   = 64 - numberBits
)

// next is the number of the file after the one that s is of.
func (s *summary) next() uint32 {
	if s.size == 0 {
		return 0
	}
	return (s.number + 1) & numberMask
}

func appendFileHeader(b []byte, o owner, base op.Offset, before summary) []byte {
	at := len(b)
	b = binary.LittleEndian.AppendUint32(b, fileMagic)
	b = o.id.Append(b)
	b = binary.LittleEndian.AppendUint32(b, uint32(o.gen))
	b = binary.LittleEndian.AppendUint64(b, uint64(base))
	b = binary.LittleEndian.AppendUint64(b, uint64(before.base))
	b = binary.LittleEndian.AppendUint64(b, uint64(before.size)|uint64(before.next())<<sizeBits)
	b = binary.LittleEndian.AppendUint32(b, before.sum)
	b = binary.LittleEndian.AppendUint64(b, uint64(before.op))
	b = binary.LittleEndian.AppendUint64(b, uint64(before.ts))
	return framed.SealHeader(b, at)
}

// decodeFileHeader checks the header of the file whose messages begin at base;
// foreign tells damage from an intact header of another file.
func decodeFileHeader(file string, b []byte, want owner, base op.Offset) (before summary, foreign bool, err error) {
	if err := framed.CheckHeader(file, "segment", b, fileHeader, fileMagic); err != nil {
		return before, false, err
	}
	got := owner{record.DecodeIdentity(b[4:]), op.Generation(binary.LittleEndian.Uint32(b[24:]))}
	if got != want {
		return before, true, &corrupt.Error{File: file, Offset: 4, What: "segment owner", Want: want, Got: got}
	}
	if got := op.Offset(binary.LittleEndian.Uint64(b[28:])); got != base {
		return before, true, &corrupt.Error{File: file, Offset: 28, What: "segment base", Want: base, Got: got}
	}
	size := binary.LittleEndian.Uint64(b[44:])
	before = summary{
		base: op.Offset(binary.LittleEndian.Uint64(b[36:])),
		size: int64(size & (1<<sizeBits - 1)),
		sum:  binary.LittleEndian.Uint32(b[52:]),
		op:   op.Number(binary.LittleEndian.Uint64(b[56:])),
		ts:   op.Timestamp(binary.LittleEndian.Uint64(b[64:])),
	}
	if before.size > 0 {
		before.number = uint32(size>>sizeBits-1) & numberMask
	}
	return before, false, nil
}

// batch is the head of a batch; body is the encoded payloads, bytes all of it.
type batch struct {
	op    op.Number
	base  op.Offset
	ts    op.Timestamp
	count int
	crc   uint32
	size  int64 // with its header
	bytes []byte
	body  []byte // of bytes
}

func (b *batch) end() op.Offset { return b.base + op.Offset(b.count) }

func appendBatch(b []byte, sum uint32, n op.Number, base op.Offset, ts op.Timestamp, payloads []op.Payload) []byte {
	at := len(b)
	b = append(b, make([]byte, batchHeader)...)
	for _, p := range payloads {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(p)))
		b = append(b, p...)
	}
	f := b[at:]
	binary.LittleEndian.PutUint32(f[12:], uint32(len(payloads)))
	binary.LittleEndian.PutUint64(f[16:], uint64(n))
	binary.LittleEndian.PutUint64(f[24:], uint64(base))
	binary.LittleEndian.PutUint64(f[32:], uint64(ts))
	framed.Seal(f, batchHeader, batchMagic, sum)
	return b
}

// decodeBatch reads the batch at b[0:]; at is its place in file, for errors.
func decodeBatch(file string, at int64, b []byte, sum uint32) (batch, error) {
	b, err := framed.Check(file, "batch", at, b, batchHeader, batchMagic, sum)
	if err != nil {
		return batch{}, err
	}
	return parseBatch(file, at, b)
}

// parseBatch takes the batch that b is apart, whatever its checksum.
func parseBatch(file string, at int64, b []byte) (batch, error) {
	bad := func(off int64, what string, want, got any) (batch, error) {
		return batch{}, &corrupt.Error{File: file, Offset: at + off, What: what, Want: want, Got: got}
	}
	x := batch{
		count: int(binary.LittleEndian.Uint32(b[12:])),
		op:    op.Number(binary.LittleEndian.Uint64(b[16:])),
		base:  op.Offset(binary.LittleEndian.Uint64(b[24:])),
		ts:    op.Timestamp(binary.LittleEndian.Uint64(b[32:])),
		crc:   binary.LittleEndian.Uint32(b[8:]),
		size:  int64(len(b)),
		bytes: b,
		body:  b[batchHeader:],
	}
	rest := x.body
	for range x.count {
		if len(rest) < 4 {
			return bad(batchHeader, "payload length bytes", 4, len(rest))
		}
		n := int64(binary.LittleEndian.Uint32(rest))
		if int64(len(rest)-4) < n {
			return bad(batchHeader, "payload bytes", n, len(rest)-4)
		}
		rest = rest[4+n:]
	}
	if len(rest) != 0 {
		return bad(batchHeader, "batch bytes after payloads", 0, len(rest))
	}
	return x, nil
}

// records appends the payloads of the batch to out, the first skip left out, up
// to max records in out.
func (b *batch) records(out []op.Record, skip, max int) []op.Record {
	rest := b.body
	for i := 0; i < b.count && len(out) < max; i++ {
		n := binary.LittleEndian.Uint32(rest)
		if i >= skip {
			out = append(out, op.Record{Payload: op.Payload(rest[4 : 4+n]), Timestamp: b.ts})
		}
		rest = rest[4+n:]
	}
	return out
}
