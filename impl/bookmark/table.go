package bookmark

import (
	"fmt"

	"purgelab/impl/corrupt"
	"purgelab/impl/framed"
)

// Table reads the bookmarks that the checkpoint of o covers, by key, without opening
// the log.
func Table(o Options) ([]Entry, error) {
	if o.Length == 0 {
		return nil, nil
	}
	l := &Log{o: o, number: o.Number}
	l.sum = l.frameSum(o.Number)
	h, b, err := framed.ReadFile(o.FS, l.name(o.Number))
	if err != nil {
		return nil, fmt.Errorf("bookmark: table: %w", err)
	}
	h.Close()
	if err := l.checkHeader(l.name(o.Number), b); err != nil {
		return nil, err
	}
	if int64(len(b)) < o.Length {
		return nil, &corrupt.Error{File: l.name(o.Number), Offset: int64(len(b)), What: "bookmark log bytes", Want: o.Length, Got: len(b)}
	}
	for l.size = fileHeader; l.size < o.Length; {
		f, err := l.decode(l.size, b[l.size:], l.frames()+1)
		if err == nil {
			err = l.fits(f)
		}
		if err != nil {
			return nil, err
		}
		l.take(f)
	}
	return l.table, nil
}

// WriteTable makes the log of o.Number, which holds the bookmarks of list, by key, and
// syncs it. Nothing is made of an empty list. What it returns a checkpoint must say.
func WriteTable(o Options, list []Entry) (Capture, error) {
	c := Capture{Number: o.Number}
	if len(list) == 0 {
		return c, nil
	}
	l := &Log{o: o, number: o.Number}
	l.sum = l.frameSum(o.Number)
	b := l.header(nil, o.Number)
	for i, e := range list {
		b = l.encode(b, frame{Entry: e, flags: table}, uint32(i+1))
	}
	h, err := o.FS.Create("transfer.bookmarks.create", l.name(o.Number))
	if err != nil {
		return c, fmt.Errorf("bookmark: write table: %w", err)
	}
	defer h.Close()
	if _, err := h.WriteAt("transfer.bookmarks.write", b, 0); err != nil {
		return c, fmt.Errorf("bookmark: write table: %w", err)
	}
	if err := h.Sync("transfer.bookmarks.sync"); err != nil {
		return c, fmt.Errorf("bookmark: write table: %w: %w", ErrFailed, err)
	}
	c.Length = int64(len(b))
	return c, nil
}
