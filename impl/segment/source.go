package segment

import (
	"fmt"
	"hash/crc32"

	"purgelab/impl/framed"
	"purgelab/model/op"
)

// What lies below the start does not travel. The piece of the file in which the start
// lies begins at the start, as if the file had begun there:
//
//	file    header │ batch │ batch  a b c │ batch │ batch
//	                         start ───┘
//	piece   header │ batch    c │ batch │ batch
//
// A batch that the start lies in is made anew, of the messages that are left of it, with
// its op and its time. The checksum of the piece is worked out from that of the file, so
// what comes after the start need not be read for it: of a file that was read since the
// boot no more than what lies between two points of the index.

// Source is a piece, and where it lies in a file.
type Source struct {
	Piece
	file op.Offset // base of the file
	cut  int64     // where in the file the batch lies that is made anew, if one is
	head int64     // how long what is made of it is; 0: none is
	rest int64     // where in the file the batches lie that travel as they are
}

// source of a piece that is the file, or its beginning.
func (p Piece) source() Source { return Source{Piece: p, file: p.Base, rest: fileHeader} }

// Travelling are the pieces of sources.
func Travelling(sources []Source) (out []Piece) {
	for i := range sources {
		out = append(out, sources[i].Piece)
	}
	return out
}

// Pieces are those that hold the messages from start up to a mark; false if that is
// not known.
func (l *Log) Pieces(start op.Offset, m Mark) ([]Source, bool, error) {
	if !m.known || start >= m.last.End {
		return nil, m.known, nil
	}
	var out []Source
	for _, f := range l.files {
		if f.base != m.last.Base && f.end <= start {
			continue
		}
		if err := l.learn(f); err != nil {
			return nil, true, fmt.Errorf("segment: piece from offset %d: %w", f.base, err)
		}
		p := f.piece()
		if f.base == m.last.Base {
			p = m.last
		}
		s, err := p.source(), error(nil)
		if f.base < start {
			if s, err = l.above(f, p, start); err != nil {
				return nil, true, fmt.Errorf("segment: piece from offset %d: %w", start, err)
			}
		}
		if out = append(out, s); f.base == m.last.Base {
			return out, true, nil
		}
	}
	panic(fmt.Sprintf("segment: no file begins at %d, where that of the checkpoint did", m.last.Base))
}

// above makes p, which is f or its beginning, begin at start.
func (l *Log) above(f *file, p Piece, start op.Offset) (Source, error) {
	if err := l.indexed(f); err != nil {
		return Source{}, err
	}
	s := Source{Piece: p, file: f.base}
	s.Base = start
	from := f.before(start)
	at, sum := from.at, from.sum // of what lies before the batch, then before the rest
	var head []byte
	err := l.scan(f, from, func(b *batch) bool {
		if b.base < start {
			if b.end() > start {
				s.cut, head = at, b.from(start)
			}
			sum = addSum(sum, b.bytes)
			at += b.size
		}
		return b.end() < start
	})
	s.head, s.rest = int64(len(head)), at
	s.Size = fileHeader + s.head + p.Size - at
	s.Sum = crc32.Update(0, framed.Castagnoli, head)
	s.Sum = joined(s.Sum, suffix(sum, p.Sum, p.Size-at), p.Size-at)
	return s, err
}

// from is what is left of a batch from an offset in it on, as it travels.
func (b *batch) from(start op.Offset) []byte {
	var left []op.Payload
	for _, r := range b.records(nil, int(start-b.base), b.count) {
		left = append(left, r.Payload)
	}
	x := appendBatch(nil, 0, b.op, start, b.ts, left)
	copy(x[8:], noSum[:])
	return x
}

// Sent is a message on its way.
type Sent struct {
	Op      op.Number // that stored it
	Offset  op.Offset
	Payload op.Payload
}

// Messages are those of a chunk, for whoever watches what travels.
func Messages(chunk []byte) (out []Sent, err error) {
	for at := int64(0); at < int64(len(chunk)); {
		b, err := travelling("chunk", at, chunk[at:])
		if err != nil {
			return nil, err
		}
		for i, r := range b.records(nil, 0, b.count) {
			out = append(out, Sent{Op: b.op, Offset: b.base + op.Offset(i), Payload: r.Payload})
		}
		at += b.size
	}
	return out, nil
}

// joined is the checksum of bytes a, and n bytes b after them, from theirs. A CRC is
// linear: see crc32_combine of zlib.
func joined(a, b uint32, n int64) uint32 { return times(power(n), a) ^ b }

// suffix is the checksum of the last n bytes, from that of those before and of all.
func suffix(before, all uint32, n int64) uint32 { return times(power(n), before) ^ all }

// times multiplies two polynomials over GF(2), modulo that of CRC-32C. The highest bit
// is the coefficient of 1.
func times(a, b uint32) (p uint32) {
	for bit := uint32(1) << 31; bit > 0; bit >>= 1 {
		if a&bit != 0 {
			p ^= b
		}
		odd := b & 1
		b >>= 1
		if odd != 0 {
			b ^= crc32.Castagnoli
		}
	}
	return p
}

// power is x to the power of 8 n: what n bytes more do to a checksum.
func power(n int64) uint32 {
	p, x := uint32(1)<<31, uint32(1)<<23
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			p = times(p, x)
		}
		x = times(x, x)
	}
	return p
}
