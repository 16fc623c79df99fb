package segment

import (
	"encoding/binary"
	"fmt"
	"io"
	"sort"

	"purgelab/impl/corrupt"
	"purgelab/impl/defect"
	"purgelab/impl/framed"
	"purgelab/model/op"
)

func leUint32(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }

// readAhead is the least that one read of a scan asks for.
const readAhead = 2048

// Read returns records from an offset up to limit, at most max.
func (l *Log) Read(from, limit op.Offset, max int) ([]op.Record, error) {
	if int64(max) > int64(limit-from) {
		max = int(limit - from)
	}
	if max <= 0 {
		return nil, nil
	}
	out := make([]op.Record, 0, min(max, 1024))
	for i := l.search(from); i >= 0 && i < len(l.files) && len(out) < max; i++ {
		f := l.files[i]
		err := l.indexed(f)
		if err != nil {
			return nil, fmt.Errorf("segment: read offset %d: %w", from, err)
		}
		err = l.scan(f, f.before(from+op.Offset(len(out))), func(b *batch) bool {
			next := from + op.Offset(len(out))
			if b.end() > next {
				out = b.records(out, int(next-b.base), max)
			}
			return len(out) < max
		})
		if err != nil {
			return nil, fmt.Errorf("segment: read offset %d: %w", from, err)
		}
	}
	if len(out) < max {
		return nil, fmt.Errorf("segment: read offset %d: want %d records, got %d", from, max, len(out))
	}
	return out, nil
}

// FirstAt finds the first record with a timestamp of at least ts, among those
// from start up to limit.
func (l *Log) FirstAt(ts op.Timestamp, start, limit op.Offset) (op.Offset, op.Timestamp, bool, error) {
	for i := max(l.search(start), 0); i < len(l.files); i++ {
		f := l.files[i]
		if f.base >= limit {
			break
		}
		if f.end <= start {
			continue
		}
		err := l.learn(f)
		if err == nil && f.ts < ts {
			continue
		}
		if err == nil {
			err = l.indexed(f)
		}
		if err != nil {
			return 0, 0, false, fmt.Errorf("segment: find time %d: %w", ts, err)
		}
		var at op.Offset
		var got op.Timestamp
		found := false
		err = l.scan(f, f.beforeTime(ts), func(b *batch) bool {
			if b.base >= limit {
				return false
			}
			if b.ts >= ts && b.end() > start {
				at, got, found = max(b.base, start), b.ts, true
			}
			return !found
		})
		if err != nil || found {
			return at, got, found, err
		}
	}
	return 0, 0, false, nil
}

// BatchAt returns the bounds of the stored batch that holds an offset; false if
// there is none.
func (l *Log) BatchAt(o op.Offset) (base, end op.Offset, ok bool) {
	i := l.search(o)
	if i < 0 || o >= l.files[i].end {
		return 0, 0, false
	}
	err := l.indexed(l.files[i])
	if err != nil {
		return 0, 0, false
	}
	err = l.scan(l.files[i], l.files[i].before(o), func(b *batch) bool {
		base, end, ok = b.base, b.end(), b.end() > o
		return !ok
	})
	return base, end, ok && err == nil
}

// before is where a scan for an offset begins; the file holds it.
func (f *file) before(o op.Offset) point {
	i := sort.Search(len(f.index), func(i int) bool { return f.index[i].offset > o })
	return f.index[i-1]
}

// beforeTime is where a scan for a timestamp begins: at the last point whose batch
// is older, since points may leave out batches of equal time.
func (f *file) beforeTime(ts op.Timestamp) point {
	i := sort.Search(len(f.index), func(i int) bool { return f.index[i].ts >= ts })
	return f.index[max(i-1, 0)]
}

// decode reads the batch at b[0:]; at is its place in file, for errors.
func (l *Log) decode(file string, at int64, b []byte) (batch, error) {
	if l.o.Defects.Has(defect.ChecksumIgnored) {
		b = sealed(b, l.sum)
	}
	return decodeBatch(file, at, b, l.sum)
}

// sealed is the batch at the beginning of b with the checksum that it should have.
func sealed(b []byte, sum uint32) []byte {
	if len(b) < batchHeader || int64(leUint32(b[4:])) > int64(len(b)-batchHeader) {
		return b
	}
	c := append([]byte(nil), b[:batchHeader+leUint32(b[4:])]...)
	framed.Seal(c, batchHeader, batchMagic, sum)
	return c
}

// scan reads and checks batches of a file from a point on, until yield is false
// or the file ends. The batch, and the payloads in it, are valid during the call.
func (l *Log) scan(f *file, from point, yield func(*batch) bool) error {
	if err := l.hold(f); err != nil {
		return err
	}
	at, next := from.at, from.offset
	var b batch
	var buf []byte // of the file from byte at on
	for at < f.size {
		need := batchHeader
		if len(buf) >= batchHeader {
			need += int(min(int64(leUint32(buf[4:])), f.size-at-batchHeader))
		}
		if len(buf) < need && int64(len(buf)) < f.size-at {
			more := make([]byte, min(int64(max(need, readAhead)), f.size-at))
			have := copy(more, buf)
			n, err := f.h.ReadAt(more[have:], at+int64(have))
			switch {
			case n == len(more)-have:
			case err == io.EOF:
				return &corrupt.Error{File: f.name, Offset: at + int64(have), What: "bytes of the file", Want: f.size, Got: at + int64(have+n)}
			default:
				return fmt.Errorf("%s: %w", f.name, err)
			}
			buf = more
			continue
		}
		var err error
		if b, err = l.decode(f.name, at, buf); err != nil {
			return err
		}
		if b.base != next {
			return &corrupt.Error{File: f.name, Offset: at + 24, What: "batch base", Want: next, Got: b.base}
		}
		next = b.end()
		if !yield(&b) {
			return nil
		}
		at += b.size
		buf = buf[b.size:]
	}
	return nil
}
