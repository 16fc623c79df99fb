package engine

import (
	"errors"
	"fmt"

	"purgelab/impl/segment"
	"purgelab/impl/vfs"
	"purgelab/model/op"
)

// ErrNoPoint: there is no durable state that could be exported now. It is worth
// asking again after the next checkpoint.
var ErrNoPoint = errors.New("engine: nothing to export")

// ErrGone: what was exported is purged, or deleted, since then.
var ErrGone = segment.ErrGone

// Point is the state of a partition as of op Applied: what a durable checkpoint covers.
// Points of two replicas that applied the same ops are the same, if they began their
// files at the same messages.
type Point struct {
	_           struct{} `cbor:",toarray"`
	Incarnation op.Incarnation
	Generation  op.Generation
	Settled     op.Generation
	Boundary    op.Number // of the purge that began Generation
	Applied     op.Number
	Start, End  op.Offset
	Timestamp   op.Timestamp // of the last message ever appended
	// Extra is what the caller gave to the checkpoint.
	Extra []byte
	// Bookmarks by key.
	Bookmarks []BookmarkEntry
	// Pieces hold the messages from Start up to End.
	Pieces []segment.Piece
	// Previous is the era before a boundary above Applied: then there is nothing in
	// this one yet.
	Previous Era
}

// Export is a point, and what it names can be read.
type Export interface {
	Point() *Point
	// Read returns whole batches of a piece from a byte on, as they travel: as many
	// as fit max bytes, but at least one. It is ErrGone if they were purged since, or
	// one of their messages was deleted: neither travels.
	Read(piece int, at int64, max int) ([]byte, error)
	// Release lets the files go.
	Release()
}

// Import writes the state of a point into a folder of its own, from which Open boots
// once all of it is there.
type Import interface {
	// Begin makes the folder, and removes from it what another import left, but for
	// messages: of them Messages keeps what it can use.
	Begin() error
	// Messages is where the pieces go.
	Messages() (*segment.Intake, error)
	// Seal begins to write the rest, once the last piece is there. After its last
	// step the folder, and its name, are durable.
	Seal() Task
}

// ImportOptions say where a point goes.
type ImportOptions struct {
	Options // of the engine that will be opened; Dir is the folder
	// Own are the facts of the state that the receiver has.
	Own Facts
}

// PointError says what of a point contradicts what.
type PointError struct {
	What      string
	Want, Got any
}

func (e *PointError) Error() string {
	return fmt.Sprintf("engine: state of a transfer contradicts itself: %s: want %v, got %v", e.What, e.Want, e.Got)
}

// Check refuses a point that contradicts itself.
func (p *Point) Check() error {
	bad := func(what string, want, got any) error { return &PointError{what, want, got} }
	switch {
	case p.Incarnation == 0:
		return bad("incarnation", "at least 1", p.Incarnation)
	case p.Applied < Bootstrap:
		return bad("op", fmt.Sprintf("at least %d", Bootstrap), p.Applied)
	case p.Boundary > p.Applied && (p.End != 0 || len(p.Bookmarks) > 0):
		return bad("boundary", fmt.Sprintf("at most op %d", p.Applied), p.Boundary)
	case p.Boundary > p.Applied && p.Previous.Generation >= p.Generation:
		return bad("generation before the boundary", fmt.Sprintf("below %d", p.Generation), p.Previous.Generation)
	case p.Generation == 0 && p.Boundary != 0:
		return bad("boundary of generation 0", 0, p.Boundary)
	case p.Settled < p.Generation:
		return bad("purge that is settled", fmt.Sprintf("at least %d", p.Generation), p.Settled)
	case p.Start < 0 || p.Start > p.End:
		return bad("start", fmt.Sprintf("0 to the end %d", p.End), p.Start)
	case p.Timestamp < 0:
		return bad("time of the last message", "at least 0", p.Timestamp)
	}
	if err := p.checkPieces(); err != nil {
		return err
	}
	return p.checkBookmarks()
}

func (p *Point) checkPieces() error {
	bad := func(i int, what string, want, got any) error {
		return &PointError{fmt.Sprintf("%s of piece %d", what, i), want, got}
	}
	if p.Start == p.End {
		if len(p.Pieces) > 0 {
			return &PointError{fmt.Sprintf("pieces of no message, start %d and end %d", p.Start, p.End), 0, len(p.Pieces)}
		}
		return nil
	}
	if len(p.Pieces) == 0 {
		return &PointError{fmt.Sprintf("pieces of messages %d to %d", p.Start, p.End-1), "at least 1", 0}
	}
	for i, x := range p.Pieces {
		switch {
		case i == 0 && x.Base != p.Start: // what lies below it does not travel
			return bad(i, "base", fmt.Sprintf("the start %d", p.Start), x.Base)
		case i > 0 && x.Base != p.Pieces[i-1].End:
			return bad(i, "base", p.Pieces[i-1].End, x.Base)
		case x.End <= x.Base || x.End > p.End:
			return bad(i, "end", fmt.Sprintf("%d to %d", x.Base+1, p.End), x.End)
		case x.Size <= segment.FirstByte:
			return bad(i, "size", fmt.Sprintf("above %d", segment.FirstByte), x.Size)
		}
	}
	if last := p.Pieces[len(p.Pieces)-1]; last.End != p.End {
		return bad(len(p.Pieces)-1, "end", p.End, last.End)
	}
	return nil
}

func (p *Point) checkBookmarks() error {
	for i, b := range p.Bookmarks {
		bad := func(what string, want, got any) error {
			return &PointError{fmt.Sprintf("%s of bookmark %s", what, b.Key), want, got}
		}
		at := b.Position
		switch {
		case b.Key.Kind != op.Consumer && b.Key.Kind != op.Group:
			return bad("kind", fmt.Sprintf("%d or %d", int(op.Consumer), int(op.Group)), int(b.Key.Kind))
		case i > 0 && !p.Bookmarks[i-1].Key.Less(b.Key):
			return bad("order", fmt.Sprintf("above %s", p.Bookmarks[i-1].Key), b.Key)
		case at.Incarnation != p.Incarnation || at.Generation != p.Generation:
			return bad("era", fmt.Sprintf("i%d:g%d", p.Incarnation, p.Generation), fmt.Sprintf("i%d:g%d", at.Incarnation, at.Generation))
		case at.Offset < 0 || at.Offset >= p.End:
			return bad("offset", fmt.Sprintf("0 to %d", p.End-1), at.Offset)
		case b.Op <= p.Boundary || b.Op > p.Applied:
			return bad("op", fmt.Sprintf("%d to %d", p.Boundary+1, p.Applied), b.Op)
		}
	}
	return nil
}

// Clear removes all names of a folder that keep does not want, and makes that durable.
func Clear(fs vfs.FS, label vfs.Label, dir string, keep func(name string) bool) error {
	names, err := fs.List(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if keep(name) {
			continue
		}
		if n := len(name) - 1; name[n] == '/' {
			name = name[:n]
			if err := Clear(fs, label, dir+"/"+name, func(string) bool { return false }); err != nil {
				return err
			}
		}
		if err := fs.Remove(label, dir+"/"+name); err != nil && !errors.Is(err, vfs.ErrNotExist) {
			return err
		}
	}
	return fs.SyncDir(label+"-sync", dir)
}
