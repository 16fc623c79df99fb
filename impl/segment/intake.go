package segment

import (
	"errors"
	"fmt"
	"slices"

	"purgelab/impl/corrupt"
	"purgelab/impl/defect"
	"purgelab/impl/framed"
	"purgelab/impl/vfs"
	"purgelab/model/op"
)

// Intake writes pieces that come from another replica into files of this one, in
// order. A file is synced when its piece is whole; its name is the business of who
// makes the folder durable. A crash leaves whole pieces and the beginning of one.
type Intake struct {
	o      Options
	owner  owner
	sum    uint32 // that checksums begin with
	pieces []Piece
	failed error

	at   int // which piece is being written
	h    vfs.File
	size int64 // of its file, up to the last whole batch
	got  uint32
	next op.Offset
	last batch // that was taken, and the last one of the piece before: their op and time
	ends batch
	buf  []byte
}

// NewIntake writes into o.Dir, which is there, batches of ops above after. What it holds of the pieces already is
// kept, as far as it is whole; files that are of no piece are removed.
func NewIntake(o Options, after op.Number, pieces []Piece) (*Intake, error) {
	own := owner{o.Identity, o.Generation}
	in := &Intake{o: o, owner: own, sum: own.sum(), pieces: pieces, last: batch{op: after}}
	l := &Log{o: o}
	bases, err := l.list()
	if err != nil {
		return nil, err
	}
	for _, base := range bases {
		if slices.ContainsFunc(pieces, func(p Piece) bool { return p.Base == base }) {
			continue
		}
		if err := o.FS.Remove("transfer.intake.discard", l.name(base)); err != nil {
			return nil, fmt.Errorf("segment: intake: %w", err)
		}
	}
	in.begin(0)
	for in.at < len(pieces) {
		whole, err := in.resume()
		if err != nil {
			return nil, err
		}
		if !whole {
			break
		}
	}
	return in, nil
}

// Want is the next byte that is missing; false if nothing is.
func (in *Intake) Want() (piece int, at int64, more bool) {
	return in.at, in.size, in.at < len(in.pieces)
}

// begin turns to a piece, of which nothing is there.
func (in *Intake) begin(i int) {
	in.at, in.ends = i, in.last
	in.Restart()
}

// Restart forgets what there is of the present piece: it may be what makes the rest of
// it wrong.
func (in *Intake) Restart() {
	in.Close()
	in.size, in.got, in.last = fileHeader, 0, in.ends
	if in.at < len(in.pieces) {
		in.next = in.pieces[in.at].Base
	}
}

// before is what the file of the present piece says of the one before it.
func (in *Intake) before() summary {
	if in.at == 0 {
		return summary{}
	}
	p := in.pieces[in.at-1]
	return summary{base: p.Base, number: uint32(in.at - 1), size: p.Size, sum: p.Sum, op: in.ends.op, ts: in.ends.ts}
}

// resume reads what the disk holds of the present piece. A file that is whole is
// synced once more, since nobody knows whether it was.
func (in *Intake) resume() (whole bool, err error) {
	p := &in.pieces[in.at]
	name := in.name()
	h, b, err := framed.ReadFile(in.o.FS, name)
	if errors.Is(err, vfs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("segment: intake %s: %w", name, err)
	}
	if before, _, err := decodeFileHeader(name, b, in.owner, p.Base); err == nil && before == in.before() {
		in.h = h
		for in.size < min(int64(len(b)), p.Size) {
			x, err := decodeBatch(name, in.size, b[in.size:], in.sum)
			if err == nil {
				err = in.fits(&x)
			}
			if err != nil {
				break
			}
			in.take(&x, b[in.size:in.size+x.size])
		}
		if in.size == p.Size && in.got == p.Sum && int64(len(b)) == p.Size {
			return true, in.sync()
		}
		if in.size < p.Size {
			if err := h.Truncate("transfer.intake.cut", in.size); err != nil {
				return false, fmt.Errorf("segment: intake %s: %w", name, err)
			}
			return false, nil
		}
	} else {
		h.Close()
	}
	// Of another offer, or not a file of ours at all.
	in.Restart()
	return false, nil
}

// Take stores the batches of data, which begin at Want, as they travelled. If it
// refuses, nothing is stored. A piece that turns out wrong when it is whole is
// forgotten, and wanted again.
func (in *Intake) Take(data []byte) error {
	if in.failed != nil {
		return in.failed
	}
	if in.at == len(in.pieces) {
		return &corrupt.Error{File: in.o.Dir, What: "bytes after the last piece", Want: 0, Got: len(data)}
	}
	if len(data) == 0 {
		return &corrupt.Error{File: in.name(), Offset: in.size, What: "bytes of the piece that came", Want: "at least 1", Got: 0}
	}
	p := &in.pieces[in.at]
	was := *in
	back := func() { in.size, in.got, in.next, in.last = was.size, was.got, was.next, was.last }
	in.buf = in.buf[:0]
	if in.h == nil {
		in.buf = appendFileHeader(in.buf, in.owner, p.Base, in.before())
	}
	for rest := data; len(rest) > 0; {
		x, err := travelling(in.name(), in.size, rest)
		if err == nil {
			err = in.fits(&x)
		}
		if err != nil {
			back()
			return err
		}
		k := len(in.buf)
		in.buf = append(in.buf, rest[:x.size]...)
		framed.Seal(in.buf[k:], batchHeader, batchMagic, in.sum)
		in.take(&x, rest[:x.size])
		rest = rest[x.size:]
	}
	if in.size == p.Size && (in.got != p.Sum || in.next != p.End) {
		err := &corrupt.Error{File: in.name(), What: fmt.Sprintf("checksum of piece %d up to offset %d", p.Base, p.End), Want: p.Sum, Got: in.got}
		if in.next != p.End {
			err.What, err.Want, err.Got = fmt.Sprintf("end of piece %d", p.Base), p.End, in.next
		}
		in.Restart()
		return err
	}
	if err := in.write(was.size); err != nil {
		back()
		return fmt.Errorf("segment: intake %s: %w", in.name(), err)
	}
	if in.size == p.Size {
		return in.sync()
	}
	return nil
}

// write puts the buffer where the batches from a byte on lie, after the header if
// there is no file yet.
func (in *Intake) write(from int64) error {
	if in.h != nil {
		_, err := in.h.WriteAt("transfer.chunk.write", in.buf, from)
		return err
	}
	h, err := in.o.FS.Create("transfer.chunk.create", in.name())
	if err != nil {
		return err
	}
	if _, err := h.WriteAt("transfer.chunk.write", in.buf, 0); err != nil {
		h.Close()
		return err
	}
	in.h = h
	return nil
}

// sync makes the present piece durable and turns to the next.
func (in *Intake) sync() error {
	if !in.o.Defects.Has(defect.InstallBeforeSync) {
		if err := in.h.Sync("transfer.chunk.sync"); err != nil {
			in.failed = fmt.Errorf("segment: intake %s: %w: %w", in.name(), ErrFailed, err)
			return in.failed
		}
	}
	in.begin(in.at + 1)
	return nil
}

// fits checks that x may follow what was taken.
func (in *Intake) fits(x *batch) error {
	p := &in.pieces[in.at]
	bad := func(off int64, what string, want, got any) error {
		return &corrupt.Error{File: in.name(), Offset: in.size + off, What: what, Want: want, Got: got}
	}
	switch {
	case x.base != in.next:
		return bad(24, "batch base", in.next, x.base)
	case x.count == 0:
		return bad(12, "batch count", "at least 1", x.count)
	case x.end() > p.End:
		return bad(24, "batch end", fmt.Sprintf("at most %d", p.End), x.end())
	case in.size+x.size > p.Size:
		return bad(4, "end of a batch in the file", fmt.Sprintf("at most %d", p.Size), in.size+x.size)
	case x.op <= in.last.op || x.op > in.o.Applied:
		return bad(16, "batch op", fmt.Sprintf("%d to %d", in.last.op+1, in.o.Applied), x.op)
	case x.ts < in.last.ts || x.ts > in.o.Timestamp:
		return bad(32, "batch timestamp", fmt.Sprintf("%d to %d", in.last.ts, in.o.Timestamp), x.ts)
	}
	return nil
}

// take counts batch x, which is b.
func (in *Intake) take(x *batch, b []byte) {
	in.size += x.size
	in.got = addSum(in.got, b)
	in.next = x.end()
	in.last = batch{op: x.op, ts: x.ts}
}

// Close lets the file go.
func (in *Intake) Close() {
	if in.h != nil {
		in.h.Close()
		in.h = nil
	}
}

func (in *Intake) name() string { return (&Log{o: in.o}).name(in.pieces[in.at].Base) }
