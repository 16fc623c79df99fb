package segment

import (
	"fmt"

	"purgelab/impl/corrupt"
	"purgelab/impl/defect"
	"purgelab/model/op"
)

// checkBytes is how much one Check reads, if no batch is longer.
const checkBytes = 64 << 10

// checking is a file that is being checked, and what was read of it.
type checking struct {
	read *Reader
	held bool // the file was open before
	file
}

// Check reads a part of the files that Open did not read, in order, each once; more
// tells whether anything is left.
func (l *Log) Check() (more bool, err error) {
	if len(l.unread) == 0 || l.o.Defects.Has(defect.ChecksumIgnored) {
		return false, nil
	}
	f := l.unread[0]
	if len(l.files) > 0 && f.base >= l.files[0].base { // else it is reclaimed
		if l.check == nil {
			l.check = &checking{read: NewReader(l.o), held: f.h != nil, file: file{size: fileHeader, end: f.base}}
		}
		err := l.learn(f)
		whole := false
		if err == nil {
			whole, err = l.check.part(f, l.o.IndexEvery)
		}
		if err != nil {
			l.endCheck()
			return true, fmt.Errorf("segment: check: %w", err)
		}
		if !whole {
			return true, nil
		}
		if !l.check.held {
			f.close()
		}
	}
	l.endCheck()
	l.unread = l.unread[1:]
	return len(l.unread) > 0, nil
}

// part reads on, as if the file was to travel. What is whole has an index then.
func (c *checking) part(f *file, every int) (whole bool, err error) {
	b, err := c.read.read(f.piece().source(), c.size, checkBytes)
	if err != nil {
		return false, err
	}
	for len(b) > 0 {
		x, err := travelling(f.name, c.size, b)
		if err != nil {
			return false, err
		}
		if x.base != c.end {
			return false, &corrupt.Error{File: f.name, Offset: c.size + 24, What: "batch base", Want: c.end, Got: x.base}
		}
		c.take(&x, b, every)
		b = b[x.size:]
	}
	if c.size < f.size {
		return false, nil
	}
	if err := f.is(c.end, c.sum); err != nil {
		return false, err
	}
	f.index = c.index
	return true, nil
}

// is checks what the file after f says of f against what was read.
func (f *file) is(end op.Offset, sum uint32) error {
	if end != f.end {
		return &corrupt.Error{File: f.name, Offset: f.size, What: "end of the messages", Want: f.end, Got: end}
	}
	if sum != f.sum {
		return &corrupt.Error{File: f.name, What: "checksum of the file", Want: f.sum, Got: sum}
	}
	return nil
}

func (l *Log) endCheck() {
	if l.check != nil {
		l.check.read.Close()
		l.check = nil
	}
}
