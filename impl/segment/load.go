package segment

import (
	"errors"
	"fmt"

	"purgelab/impl/corrupt"
	"purgelab/impl/vfs"
	"purgelab/model/op"
)

// header is what is read of a file before more of it.
type header struct {
	f       *file
	size    int64 // of the file on the disk
	before  summary
	foreign bool
	damage  error // corrupt
}

// header opens the file whose messages begin at base. An error is that of the disk.
func (l *Log) header(base op.Offset) (*header, error) {
	d := &header{f: &file{name: l.name(base), base: base, end: base, size: fileHeader}}
	fail := func(err error) (*header, error) {
		d.close()
		return nil, fmt.Errorf("segment: open %s: %w", d.f.name, err)
	}
	var err error
	if d.f.h, err = l.o.FS.Open(d.f.name); err != nil {
		return fail(err)
	}
	if d.size, err = d.f.h.Size(); err != nil {
		return fail(err)
	}
	b, err := readFull(d.f.h, min(d.size, fileHeader))
	if err != nil {
		return fail(err)
	}
	d.before, d.foreign, d.damage = decodeFileHeader(d.f.name, b, l.owner, base)
	d.f.number = d.before.next()
	return d, nil
}

func (d *header) close() { d.f.close() }

// close lets the file go, if it is open.
func (f *file) close() {
	if f.h != nil {
		f.h.Close()
		f.h = nil
	}
}

// readFull returns the first n bytes of a file.
func readFull(h vfs.File, n int64) ([]byte, error) {
	b := make([]byte, n)
	if got, err := h.ReadAt(b, 0); int64(got) < n {
		return nil, err
	}
	return b, nil
}

// load takes in one file. torn is damage that nothing proves to have been durable.
func (l *Log) load(head *header, next *op.Offset, r *Report) (torn *corrupt.Error, err error) {
	f := head.f
	if head.damage != nil {
		head.close()
		if head.foreign || f.base < l.needed {
			return nil, head.damage
		}
		errors.As(head.damage, &torn)
		return torn, nil
	}
	l.files = append(l.files, f)
	b, err := readFull(f.h, head.size)
	if err != nil {
		return nil, fmt.Errorf("segment: open %s: %w", f.name, err)
	}
	for f.size < head.size {
		x, err := l.decode(f.name, f.size, b[f.size:])
		if err == nil {
			err = l.fits(f, &x)
		}
		if err != nil {
			if f.end < l.needed {
				return nil, err
			}
			errors.As(err, &torn)
			if err := l.cut(f, head.size, r); err != nil {
				return nil, err
			}
			break
		}
		if x.base >= l.o.End {
			l.ahead = append(l.ahead, ahead{op: x.op, file: f.name, at: f.size, end: x.end(), crc: x.crc})
			l.lastOp, l.end, l.ts = x.op, x.end(), x.ts
			f.dirty = true
		}
		f.take(&x, b[f.size:], l.o.IndexEvery)
		if f.end == l.o.End {
			l.found = Mark{known: true, last: f.piece()}
		}
		r.Batches++
	}
	*next = f.end
	return torn, nil
}

// take counts batch x, with which b begins, as the next of f.
func (f *file) take(x *batch, b []byte, every int) {
	f.note(f.end, x.ts, every)
	f.sum = addSum(f.sum, b[:x.size])
	f.size += x.size
	f.end, f.ts, f.op = x.end(), x.ts, x.op
}

// fits checks that batch x may follow what was read of f.
func (l *Log) fits(f *file, x *batch) error {
	bad := func(off int64, what string, want, got any) error {
		return &corrupt.Error{File: f.name, Offset: f.size + off, What: what, Want: want, Got: got}
	}
	switch {
	case x.base != f.end:
		return bad(24, "batch base", f.end, x.base)
	case x.count == 0:
		return bad(12, "batch count", "at least 1", x.count)
	case x.base < l.o.End && x.end() > l.o.End:
		return bad(24, "batch end", fmt.Sprintf("at most %d", l.o.End), x.end())
	case x.base < l.o.End && x.op > l.o.Applied:
		return bad(16, "batch op", fmt.Sprintf("at most %d", l.o.Applied), x.op)
	case x.base >= l.o.End && x.op <= max(l.o.Applied, l.lastOp):
		return bad(16, "batch op", fmt.Sprintf("above %d", max(l.o.Applied, l.lastOp)), x.op)
	}
	return nil
}
