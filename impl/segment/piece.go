package segment

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"purgelab/impl/corrupt"
	"purgelab/impl/framed"
	"purgelab/impl/vfs"
	"purgelab/model/op"
)

// Messages travel to another replica as pieces, one for each file, of whole
// batches, from the start on (source.go). A checksum on a disk begins with the identity of the replica, so a batch
// travels without one, its field zero: it is checked before it leaves, and sealed
// anew where it arrives. Files and pieces have the same sizes and names, so pieces
// of two replicas that hold the same messages are the same.

// Piece is one file of messages, or the beginning of one.
type Piece struct {
	_         struct{} `cbor:",toarray"`
	Base, End op.Offset
	Size      int64  // with the header of the file, which does not travel
	Sum       uint32 // CRC-32C of the batches as they travel
}

// FirstByte is where the batches of a piece begin.
const FirstByte = fileHeader

// Mark is how far a log had come at a checkpoint.
type Mark struct {
	known bool
	last  Piece // zero if there was no file
}

// Mark of the log as it is now. It is not known while the disk holds batches that
// replay has not come to.
func (l *Log) Mark() Mark {
	m := Mark{known: len(l.ahead) == 0}
	if k := len(l.files); k > 0 {
		m.last = l.files[k-1].piece()
	}
	return m
}

// Found is the mark of the checkpoint that Open was given.
func (l *Log) Found() Mark { return l.found }

func (f *file) piece() Piece { return Piece{Base: f.base, End: f.end, Size: f.size, Sum: f.sum} }

// addSum adds the batch b to the checksum of a piece.
func addSum(sum uint32, b []byte) uint32 {
	sum = crc32.Update(sum, framed.Castagnoli, b[:8])
	sum = crc32.Update(sum, framed.Castagnoli, noSum[:])
	return crc32.Update(sum, framed.Castagnoli, b[12:])
}

var noSum [4]byte

// Reader reads pieces of one generation from its folder, whatever log has it open.
type Reader struct {
	o     Options
	owner owner
	sum   uint32
	name  string
	h     vfs.File
}

// NewReader reads files in o.Dir; of o only what says whose they are counts.
func NewReader(o Options) *Reader {
	own := owner{o.Identity, o.Generation}
	return &Reader{o: o, owner: own, sum: own.sum()}
}

// ErrGone: what is to be read was deleted.
var ErrGone = errors.New("segment: messages are deleted")

// Read returns whole batches of s from byte at on, as they travel: as many as fit
// max bytes, but at least one. The bytes are the caller's. It is ErrGone if one of their
// messages lies below start, which may have moved up since s was made; no file is needed
// then.
func (r *Reader) Read(s Source, start op.Offset, at int64, max int) ([]byte, error) {
	gone := func(o op.Offset) error {
		return fmt.Errorf("%w: read of piece %d from offset %d: the start is %d", ErrGone, s.Base, o, start)
	}
	if s.End <= start {
		return nil, gone(s.Base)
	}
	b, err := r.read(s, at, max)
	if err != nil {
		return nil, err
	}
	if o := op.Offset(binary.LittleEndian.Uint64(b[24:])); o < start {
		return nil, gone(o)
	}
	return b, nil
}

func (r *Reader) read(s Source, at int64, max int) ([]byte, error) {
	rest := fileHeader + s.head
	if at < fileHeader || at >= s.Size || at > fileHeader && at < rest {
		return nil, fmt.Errorf("segment: read of piece %d from byte %d: want %d, or %d to %d", s.Base, at, int64(fileHeader), rest, s.Size-1)
	}
	if err := r.open(s.file); err != nil {
		return nil, err
	}
	if at < rest {
		return r.head(&s)
	}
	return r.batches(s.rest+at-rest, s.rest+s.Size-rest, max)
}

// head makes the batch anew that the start lies in.
func (r *Reader) head(s *Source) ([]byte, error) {
	b, err := r.some(s.cut, s.rest, 0)
	if err != nil {
		return nil, err
	}
	x, err := decodeBatch(r.name, s.cut, b, r.sum)
	if err != nil {
		return nil, err
	}
	if x.base >= s.Base || x.end() <= s.Base || s.cut+x.size != s.rest {
		return nil, &corrupt.Error{File: r.name, Offset: s.cut + 24, What: "batch base", Want: fmt.Sprintf("below %d, in it", s.Base), Got: x.base}
	}
	return x.from(s.Base), nil
}

// some are the bytes of a file from at on, up to end, as many as max but for the first
// batch, of which all are there.
func (r *Reader) some(at, end int64, max int) ([]byte, error) {
	b, err := r.bytes(at, int(min(int64(max), end-at)))
	if err == nil && len(b) < batchHeader {
		b, err = r.bytes(at, int(min(batchHeader, end-at)))
	}
	if err == nil && len(b) >= batchHeader && batchHeader+int64(leUint32(b[4:])) > int64(len(b)) {
		// One batch alone is longer. How long it is may be damage, which decode will say.
		b, err = r.bytes(at, int(min(batchHeader+int64(leUint32(b[4:])), end-at)))
	}
	return b, err
}

// batches are those of a file from byte at on, up to end.
func (r *Reader) batches(at, end int64, max int) ([]byte, error) {
	b, err := r.some(at, end, max)
	if err != nil {
		return nil, err
	}
	n := 0
	for n < len(b) {
		x, err := decodeBatch(r.name, at+int64(n), b[n:], r.sum)
		if err != nil {
			if n > 0 {
				break // the rest of it does not fit; if it is damaged, the next read says so
			}
			return nil, err
		}
		copy(b[n+8:], noSum[:])
		n += int(x.size)
	}
	return b[:n], nil
}

func (r *Reader) open(base op.Offset) error {
	name := (&Log{o: r.o}).name(base)
	if r.h != nil && r.name == name {
		return nil
	}
	r.Close()
	h, err := r.o.FS.Open(name)
	if err != nil {
		return fmt.Errorf("segment: read piece %d: %w", base, err)
	}
	r.h, r.name = h, name
	head, err := r.bytes(0, fileHeader)
	if err == nil {
		_, _, err = decodeFileHeader(name, head, r.owner, base)
	}
	if err != nil {
		r.Close()
	}
	return err
}

func (r *Reader) bytes(at int64, n int) ([]byte, error) {
	b := make([]byte, n)
	if got, err := r.h.ReadAt(b, at); got < n {
		if err == io.EOF {
			return nil, &corrupt.Error{File: r.name, Offset: at, What: "bytes of the piece", Want: n, Got: got}
		}
		return nil, fmt.Errorf("segment: read %s: %w", r.name, err)
	}
	return b, nil
}

// Close lets the file go.
func (r *Reader) Close() {
	if r.h != nil {
		r.h.Close()
		r.h = nil
	}
}

// travelling takes the first batch of b, which comes from another replica, apart.
// file and at are where it will lie, for errors.
func travelling(file string, at int64, b []byte) (batch, error) {
	bad := func(off int64, what string, want, got any) (batch, error) {
		return batch{}, &corrupt.Error{File: file, Offset: at + off, What: what, Want: want, Got: got}
	}
	switch {
	case len(b) < batchHeader:
		return bad(0, "bytes of a batch on its way", batchHeader, len(b))
	case leUint32(b) != batchMagic:
		return bad(0, "magic of a batch on its way", uint32(batchMagic), leUint32(b))
	case leUint32(b[8:]) != 0:
		return bad(8, "checksum of a batch on its way", 0, leUint32(b[8:]))
	}
	if length := int64(binary.LittleEndian.Uint32(b[4:])); length > int64(len(b)-batchHeader) {
		return bad(4, "length of a batch on its way", fmt.Sprintf("at most %d", len(b)-batchHeader), length)
	} else if x, err := parseBatch(file, at, b[:batchHeader+length]); err != nil {
		return batch{}, err
	} else {
		return x, nil
	}
}
