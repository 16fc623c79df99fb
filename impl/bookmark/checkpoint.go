package bookmark

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"purgelab/impl/vfs"
	"purgelab/model/op"
)

// Capture is the log as it was when a checkpoint began.
type Capture struct {
	// Number and Length are what the checkpoint record must say.
	Number uint32
	Length int64
	table  []Entry // of a rewrite; nil when the file goes on
}

// DefaultSlack is how many dead frames a log may hold beyond as many as live.
const DefaultSlack = 64

// Capture begins a checkpoint of the table as it is now; at most one is under
// way. End it with Sync, or with Abandon. A log that holds many dead frames
// will be rewritten by Sync.
func (l *Log) Capture() Capture {
	l.Abandon()
	if l.h == nil {
		return Capture{Number: l.number}
	}
	if len(l.ahead) == 0 && int(l.frames()) > 2*len(l.table)+l.o.Slack {
		l.rewriting = true
		return Capture{
			Number: l.number + 1,
			Length: fileHeader + int64(len(l.table))*frameSize,
			table:  slices.Clone(l.table),
		}
	}
	return Capture{Number: l.number, Length: l.size - int64(len(l.ahead))*frameSize}
}

// Abandon forgets a capture.
func (l *Log) Abandon() { l.rewriting, l.since = false, nil }

// Synced tells whether Sync has nothing to do for a capture.
func (l *Log) Synced(c Capture) bool { return c.Number == l.number && !l.dirty }

// Sync makes what was captured durable, except for the name of a new file. After
// an error the log is as before, and answers ErrFailed if the sync failed.
func (l *Log) Sync(c Capture) error {
	if l.failed != nil {
		return l.failed
	}
	if l.rewriting && c.Number == l.number+1 {
		return l.rewrite(c)
	}
	if !l.dirty {
		return nil
	}
	if err := l.h.Sync("bookmark.sync"); err != nil {
		l.failed = fmt.Errorf("%w: sync: %w", ErrFailed, err)
		return l.failed
	}
	l.dirty = false
	return nil
}

// rewrite makes the file of the next number and turns to it.
func (l *Log) rewrite(c Capture) error {
	name := l.name(c.Number)
	// A leftover of a checkpoint that did not end. Never reuse its file.
	if err := l.o.FS.Remove("bookmark.rewrite.discard", name); err != nil && !errors.Is(err, vfs.ErrNotExist) {
		return fmt.Errorf("bookmark: rewrite: %w", err)
	}
	h, err := l.o.FS.Create("bookmark.rewrite.create", name)
	if err != nil {
		return fmt.Errorf("bookmark: rewrite: %w", err)
	}
	old := l.sum
	l.sum = l.frameSum(c.Number)
	b := l.header(nil, c.Number)
	seq := uint32(0)
	for _, e := range c.table {
		seq++
		b = l.encode(b, frame{Entry: e, flags: table}, seq)
	}
	for _, f := range l.since {
		seq++
		b = l.encode(b, f, seq)
	}
	if _, err = h.WriteAt("bookmark.rewrite.write", b, 0); err == nil {
		err = h.Sync("bookmark.rewrite.sync")
	}
	if err != nil {
		h.Close()
		l.sum = old
		return fmt.Errorf("bookmark: rewrite: %w", err)
	}
	l.h.Close()
	l.h, l.number, l.size = h, c.Number, int64(len(b))
	l.dirty, l.newName = false, true
	l.Abandon()
	return nil
}

// Number is that of the file being written.
func (l *Log) Number() uint32 { return l.number }

// Reclaim removes one log of another number than keep, which the durable
// checkpoint names, and than the one being written; false when there is none.
func (l *Log) Reclaim(keep uint32) (bool, error) {
	names, err := l.o.FS.List(l.o.Dir)
	if err != nil {
		return false, fmt.Errorf("bookmark: reclaim: %w", err)
	}
	for _, name := range names {
		if !strings.HasPrefix(name, "bookmarks-") {
			continue
		}
		name = l.o.Dir + "/" + name
		if name == l.name(keep) || name == l.name(l.number) {
			continue
		}
		if err := l.o.FS.Remove("bookmark.reclaim", name); err != nil {
			return false, fmt.Errorf("bookmark: reclaim: %w", err)
		}
		return true, nil
	}
	return false, nil
}

// Overwrite changes a bookmark in the table alone, as if the op that set it had
// set another one. It exists for a defect.
func (l *Log) Overwrite(k op.Key, p op.Position) {
	if i, ok := l.find(k); ok {
		l.table[i].Position = p
	}
}

// Adopt puts the bookmarks of an older generation's log, those of ops above its
// checkpoint included, into the table as if they were of generation g. It exists
// for the defect that forgets to ask.
func (l *Log) Adopt(old *Log, g op.Generation) {
	for _, f := range old.ahead {
		if f.flags&tombstone != 0 {
			old.unset(f.Key)
		} else {
			old.set(f.Entry)
		}
	}
	for _, e := range old.table {
		if _, ok := l.find(e.Key); !ok {
			e.Position.Generation = g
			l.set(e)
		}
	}
}
