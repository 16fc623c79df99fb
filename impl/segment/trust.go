package segment

import (
	"fmt"
	"io"

	"purgelab/impl/corrupt"
	"purgelab/impl/defect"
	"purgelab/model/op"
)

// trust takes the files of bases in that end below the checkpoint, and gives those that
// are left: what comes after them, and the last of them, where the checkpoint ends. The
// files that are there must be all that were: their numbers have no gap.
func (l *Log) trust(bases []op.Offset, r *Report) (left []op.Offset, err error) {
	k := 0
	for k+1 < len(bases) && bases[k+1] < l.needed {
		k++
	}
	if k == 0 {
		return bases, nil
	}
	first, err := l.header(bases[0])
	if err != nil {
		return nil, err
	}
	first.close()
	last, err := l.header(bases[k])
	if err != nil {
		return nil, err
	}
	last.close()
	for _, d := range []*header{first, last} {
		if d.damage != nil {
			return nil, d.damage
		}
	}
	if want := (first.f.number + uint32(k)) & numberMask; last.f.number != want {
		return nil, &corrupt.Error{File: last.f.name, Offset: 49, What: fmt.Sprintf("number of the file, %d after number %d", k, first.f.number), Want: want, Got: last.f.number}
	}
	for i, base := range bases[:k] {
		l.files = append(l.files, &file{name: l.name(base), base: base, end: bases[i+1], trusted: true})
	}
	l.unread, r.Unread = append(l.unread, l.files...), k
	return bases[k:], nil
}

// learn asks the disk for what is to be known of a file before its messages are: how long
// it is, and what the file after it says of it, which was written when it was whole. Where
// they disagree the file itself is read.
func (l *Log) learn(f *file) error {
	if !f.trusted {
		return nil
	}
	if err := l.hold(f); err != nil {
		return err
	}
	size, err := f.h.Size()
	if err != nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	later, err := l.header(f.end)
	if err != nil {
		return err
	}
	later.close()
	if later.damage != nil {
		return later.damage
	}
	if x := &later.before; x.base == f.base && x.size == size && size > fileHeader && x.op <= l.o.Applied && x.ts <= l.o.Timestamp {
		f.number, f.size, f.sum, f.op, f.ts = x.number, x.size, x.sum, x.op, x.ts
	} else {
		g, err := l.read(f, size)
		if err != nil {
			return err
		}
		if g.end != f.end {
			return &corrupt.Error{File: f.name, Offset: size, What: "end of the messages", Want: f.end, Got: g.end}
		}
		f.number, f.size, f.sum, f.op, f.ts, f.index = x.number, g.size, g.sum, g.op, g.ts, g.index
	}
	f.trusted = false
	return nil
}

// hold opens a file that is not open.
func (l *Log) hold(f *file) (err error) {
	if f.h != nil {
		return nil
	}
	if f.h, err = l.o.FS.Open(f.name); err != nil {
		f.h = nil
		return fmt.Errorf("open %s: %w", f.name, err)
	}
	return nil
}

// indexed gives a file that Open did not read its index. It is read whole for that,
// once.
func (l *Log) indexed(f *file) error {
	err := l.learn(f)
	if err != nil || len(f.index) > 0 {
		return err
	}
	g, err := l.whole(f)
	if err == nil {
		f.index = g.index
	}
	return err
}

// whole reads a file that is not written to any more, and checks that it is what the
// one after it says.
func (l *Log) whole(f *file) (*file, error) {
	if err := l.hold(f); err != nil {
		return nil, err
	}
	g, err := l.read(f, f.size)
	if err != nil {
		return nil, err
	}
	if l.o.Defects.Has(defect.ChecksumIgnored) {
		g.sum = f.sum
	}
	if err := f.is(g.end, g.sum); err != nil {
		return nil, err
	}
	return g, nil
}

// read reads the first bytes of a file, up to the end of a batch.
func (l *Log) read(f *file, size int64) (*file, error) {
	b, err := readFull(f.h, size)
	if err == io.EOF {
		got, err := f.h.Size()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		return nil, &corrupt.Error{File: f.name, Offset: got, What: "bytes of the file", Want: size, Got: got}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	if _, _, err := decodeFileHeader(f.name, b, l.owner, f.base); err != nil {
		return nil, err
	}
	g := &file{name: f.name, base: f.base, end: f.base, size: fileHeader}
	for g.size < size {
		x, err := l.decode(g.name, g.size, b[g.size:])
		if err == nil {
			err = l.fits(g, &x)
		}
		if err != nil {
			return nil, err
		}
		g.take(&x, b[g.size:], l.o.IndexEvery)
	}
	return g, nil
}
