package segment

import (
	"fmt"
	"strconv"
	"strings"

	"purgelab/impl/corrupt"
	"purgelab/impl/framed"
	"purgelab/model/op"
)

// Report says what Open found and did.
type Report struct {
	// Files are readable. Unread ones were taken on trust; Batches is what was read in
	// the others.
	Files, Unread, Batches int
	// Torn, if not nil, is why the log was cut above the checkpoint.
	Torn *corrupt.Error
	// Cut is how many bytes went, Removed how many files.
	Cut     int64
	Removed int
	// Lowest is the base of the first file that is left.
	Lowest op.Offset
}

// Open reads the log of one generation.
func Open(o Options) (*Log, Report, error) {
	if o.SegmentBytes == 0 {
		o.SegmentBytes = DefaultSegmentBytes
	}
	if o.IndexEvery == 0 {
		o.IndexEvery = DefaultIndexEvery
	}
	own := owner{o.Identity, o.Generation}
	l := &Log{o: o, owner: own, sum: own.sum(), end: o.End, ts: o.Timestamp}
	var r Report
	if err := l.open(&r); err != nil {
		l.Close()
		return nil, r, err
	}
	return l, r, nil
}

// open is Open; what it opened before an error is still open then.
func (l *Log) open(r *Report) error {
	o := &l.o
	bases, err := l.list()
	if err != nil {
		return err
	}
	// The start lies in the last file that begins at or below it. Older files
	// are leftovers of a reclaim, or of an unlink that a power loss undid.
	first := 0
	for i, b := range bases {
		if b <= o.Start {
			first = i
		}
	}
	l.below = append(l.below, bases[:first]...)
	bases = bases[first:]
	if o.Start < o.End && (len(bases) == 0 || bases[0] > o.Start) {
		e := &corrupt.Error{File: l.name(o.Start), What: "segment that holds the start", Want: fmt.Sprintf("base at most %d", o.Start), Got: "none"}
		if len(bases) > 0 {
			e.Got = bases[0]
		}
		return e
	}
	// needed is where the messages end that must be there: none if the start has
	// reached the end, since all files may have been reclaimed then, and of the
	// unlinks some undone.
	if o.Start < o.End {
		l.needed = o.End
	}
	if bases, err = l.trust(bases, r); err != nil {
		return err
	}
	// next is the offset that the next batch must have.
	var next op.Offset
	if len(bases) > 0 {
		next = bases[0]
	}
	for i, base := range bases {
		if base > o.End && i == 0 || base != next {
			bad := &corrupt.Error{File: l.name(base), What: "segment base", Want: next, Got: base}
			if i == 0 {
				bad.Want = o.End
			}
			if next < l.needed {
				return bad
			}
			return l.finish(r, bad, bases[i:])
		}
		head, err := l.header(base)
		if err != nil {
			return err
		}
		torn, err := l.load(head, &next, r)
		if err != nil {
			return err
		}
		if torn != nil {
			rest := bases[i+1:]
			if k := len(l.files); k == 0 || l.files[k-1].base != base {
				rest = bases[i:] // not even its header is there
			}
			return l.finish(r, torn, rest)
		}
	}
	return l.finish(r, nil, nil)
}

// list returns the bases of the files, ascending.
func (l *Log) list() ([]op.Offset, error) {
	names, err := l.o.FS.List(l.o.Dir)
	if err != nil {
		return nil, fmt.Errorf("segment: open: %w", err)
	}
	var bases []op.Offset
	for _, name := range names {
		digits, seg := strings.CutPrefix(name, "seg-")
		digits, log := strings.CutSuffix(digits, ".log")
		if b, err := strconv.ParseInt(digits, 10, 64); seg && log && err == nil && len(digits) == 20 && b >= 0 {
			bases = append(bases, op.Offset(b))
		}
	}
	return bases, nil
}

// cut removes the end of a file, durably.
func (l *Log) cut(f *file, size int64, r *Report) error {
	r.Cut += size - f.size
	if err := framed.Cut(f.h, "segment.cut", f.size); err != nil {
		return fmt.Errorf("segment: cut %s: %w", f.name, err)
	}
	f.dirty = false
	return nil
}

// finish checks that nothing durable is missing and removes files after a cut.
func (l *Log) finish(r *Report, torn *corrupt.Error, rest []op.Offset) error {
	r.Torn, r.Files = torn, len(l.files)
	if k := len(l.files); k > 0 && l.files[k-1].end < l.o.End {
		f := l.files[k-1]
		if f.end < l.needed {
			return &corrupt.Error{File: f.name, Offset: f.size, What: "end of the messages", Want: l.o.End, Got: f.end}
		}
		for _, f := range l.files {
			l.below = append(l.below, f.base)
		}
		l.Close()
	}
	for _, base := range rest {
		if err := l.o.FS.Remove("segment.cut.remove", l.name(base)); err != nil {
			return fmt.Errorf("segment: cut: %w", err)
		}
		r.Removed++
	}
	if len(rest) > 0 {
		if err := l.o.FS.SyncDir("segment.cut.dirsync", l.o.Dir); err != nil {
			return fmt.Errorf("segment: cut: %w", err)
		}
	}
	// Whatever was found above the checkpoint may be in the cache only.
	l.newName = len(l.files) > 0
	r.Lowest = l.Lowest()
	return nil
}
