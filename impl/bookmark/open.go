package bookmark

import (
	"encoding/binary"
	"errors"
	"fmt"

	"purgelab/impl/corrupt"
	"purgelab/impl/defect"
	"purgelab/impl/framed"
	"purgelab/impl/record"
	"purgelab/impl/vfs"
	"purgelab/model/op"
)

// Report says what Open found and did.
type Report struct {
	Frames int
	// Torn, if not nil, is why the log was cut above the checkpoint; Cut is how
	// many bytes went.
	Torn *corrupt.Error
	Cut  int64
}

// Open reads the log that the checkpoint names.
func Open(o Options) (*Log, Report, error) {
	if o.Slack == 0 {
		o.Slack = DefaultSlack
	}
	l := &Log{o: o, number: o.Number}
	l.sum = l.frameSum(o.Number)
	var r Report
	name := l.name(o.Number)
	h, b, err := framed.ReadFile(o.FS, name)
	if errors.Is(err, vfs.ErrNotExist) {
		if o.Length > 0 {
			return nil, r, &corrupt.Error{File: name, What: "bookmark log bytes", Want: o.Length, Got: "no file"}
		}
		return l, r, nil
	}
	if err != nil {
		return nil, r, fmt.Errorf("bookmark: open %s: %w", name, err)
	}
	l.newName = true
	if err := l.checkHeader(name, b); err != nil {
		var damage *corrupt.Error
		if o.Length > 0 || !errors.As(err, &damage) || damage.What == foreignOwner {
			return nil, r, err
		}
		// Made, but not durable before a crash. The first frame makes it anew.
		h.Close()
		r.Torn, r.Cut = damage, int64(len(b))
		if err := o.FS.Remove("bookmark.cut.remove", name); err != nil {
			return nil, r, fmt.Errorf("bookmark: open %s: %w", name, err)
		}
		return l, r, nil
	}
	l.h, l.size, l.dirty = h, fileHeader, o.Length == 0
	for l.size < int64(len(b)) {
		f, err := l.decode(l.size, b[l.size:], l.frames()+1)
		if err == nil {
			err = l.fits(f)
		}
		if err != nil {
			if l.size < o.Length {
				return nil, r, err
			}
			errors.As(err, &r.Torn)
			r.Cut = int64(len(b)) - l.size
			if err := l.cut(); err != nil {
				return nil, r, err
			}
			break
		}
		l.take(f)
	}
	if l.size < o.Length {
		return nil, r, &corrupt.Error{File: name, Offset: l.size, What: "bookmark log bytes", Want: o.Length, Got: l.size}
	}
	r.Frames = int(l.frames())
	return l, r, nil
}

const foreignOwner = "bookmark log owner"

func (l *Log) checkHeader(name string, b []byte) error {
	if err := framed.CheckHeader(name, "bookmark", b, fileHeader, fileMagic); err != nil {
		return err
	}
	show := func(id record.Identity, g op.Generation, n uint32) string {
		return fmt.Sprintf("%v/g%d number %d", id, g, n)
	}
	want := show(l.o.Identity, l.o.Generation, l.number)
	got := show(record.DecodeIdentity(b[4:]), op.Generation(binary.LittleEndian.Uint32(b[24:])), binary.LittleEndian.Uint32(b[28:]))
	if want != got {
		return &corrupt.Error{File: name, Offset: 4, What: foreignOwner, Want: want, Got: got}
	}
	return nil
}

// fits checks the op of the next frame: what the checkpoint covers is at or
// below its op, what follows is above it and ascends.
func (l *Log) fits(f frame) error {
	bad := func(want string) error {
		return &corrupt.Error{File: l.name(l.number), Offset: l.size + 16, What: "bookmark op", Want: want, Got: f.Op}
	}
	if l.size < l.o.Length {
		if f.Op > l.o.Applied {
			return bad(fmt.Sprintf("at most %d", l.o.Applied))
		}
	} else if above := max(l.o.Applied, l.lastOp); f.Op <= above {
		return bad(fmt.Sprintf("above %d", above))
	}
	return nil
}

// take uses a frame that the checkpoint covers and sets a later one aside.
func (l *Log) take(f frame) {
	covered := l.size < l.o.Length
	l.size += frameSize
	if !covered {
		l.ahead = append(l.ahead, f)
		l.lastOp, l.dirty = f.Op, true
		if !l.o.Defects.Has(defect.FutureBookmarks) {
			return
		}
	}
	if f.flags&tombstone != 0 {
		l.unset(f.Key)
	} else {
		l.set(f.Entry)
	}
}

func (l *Log) cut() error {
	if err := framed.Cut(l.h, "bookmark.cut", l.size); err != nil {
		return fmt.Errorf("bookmark: cut: %w", err)
	}
	l.dirty = false
	return nil
}
