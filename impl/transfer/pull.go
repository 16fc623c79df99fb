package transfer

import (
	"errors"
	"fmt"
	"math"

	"purgelab/impl/engine"
	"purgelab/impl/observe"
	"purgelab/impl/record"
	"purgelab/impl/segment"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/durable"
)

// PullOptions say where a state goes.
type PullOptions struct {
	// Engine are the options of the engine to be; its Dir is the new home.
	Engine engine.Options
	// Import is that of the engine.
	Import func(engine.ImportOptions, *engine.Point) engine.Import
	// Window is how many chunks are asked for at a time; 0 means DefaultWindow.
	Window int
}

// Pull is a state on its way into a home. Between two calls it holds no more than
// the manifest; a call holds a chunk.
type Pull struct {
	o      PullOptions
	m      *Manifest
	id     uint64
	in     *segment.Intake
	imp    engine.Import
	seal   engine.Task
	coming int // chunks asked for that may still come
	wrong  int // chunks in a row that did not fit where they belong
	sealed bool
	failed error // of the disk; nothing more is done
}

// offerFile holds the manifest that is pulled into a home.
func offerFile(home string) string { return home + "/offer" }

// Begin stages a manifest in a home, which need not be there, and goes on with what
// the home holds of its messages. A manifest that contradicts itself, or that is not
// above what the receiver has, is a *Refusal, and changes nothing.
func Begin(o PullOptions, m *Manifest, own Own) (*Pull, error) {
	if o.Window == 0 {
		o.Window = DefaultWindow
	}
	err := m.Check()
	if err == nil {
		err = own.Fresh(m)
	}
	if err != nil {
		return nil, err
	}
	p := &Pull{o: o, m: m, id: m.ID()}
	p.imp = o.Import(engine.ImportOptions{Options: o.Engine, Own: own.Facts}, &m.Point)
	fail := func(err error) (*Pull, error) { return nil, fmt.Errorf("transfer: begin: %w", err) }
	home := o.Engine.Dir
	if err := durable.Mkdir(o.Engine.FS, "transfer.home", home); err != nil {
		return fail(err)
	}
	if err := p.imp.Begin(); err != nil {
		return fail(err)
	}
	if was, err := Staged(o.Engine.FS, home, o.Engine.Identity); err != nil || was == nil || was.ID() != p.id {
		if err := record.Write(o.Engine.FS, "transfer.offer", offerFile(home), o.Engine.Identity, m.Encode()); err != nil {
			return fail(err)
		}
	}
	if p.in, err = p.imp.Messages(); err != nil {
		return fail(err)
	}
	return p, nil
}

// Manifest is what is pulled.
func (p *Pull) Manifest() *Manifest { return p.m }

// Left is how many bytes are missing, or the most that can be said.
func (p *Pull) Left() int64 {
	piece, at, more := p.in.Want()
	if !more {
		return 0
	}
	left := p.m.Point.Pieces[piece].Size - at
	for _, x := range p.m.Point.Pieces[piece+1:] {
		if left > math.MaxInt64-x.Size {
			return math.MaxInt64
		}
		left += x.Size
	}
	return left
}

// Ask is what to ask for now; nil while chunks are to come, unless again is set: they
// did not. It can be put to any replica whose offer is the same.
func (p *Pull) Ask(again bool) *Request {
	piece, at, more := p.in.Want()
	if !more || p.coming > 0 && !again {
		return nil
	}
	p.coming = p.o.Window
	return &Request{Offer: p.id, Piece: piece, At: at, Chunks: p.o.Window}
}

// Take stores a chunk. One that is not the next is passed over; one of another offer,
// or that is not what it says, is a *Refusal and changes nothing, but that a piece
// which turns out wrong when it is whole is pulled again. Any other error is the
// disk's, and ends the pull: this home must be given up, or the machine restarted.
func (p *Pull) Take(c *Chunk) (stored bool, err error) {
	if p.failed != nil {
		return false, p.failed
	}
	if err := c.check(p.id); err != nil {
		return false, err
	}
	p.coming = max(0, p.coming-1)
	piece, at, more := p.in.Want()
	if !more || c.Piece != piece || c.At != at {
		return false, nil
	}
	if err := refusedChunk(p.in.Take(c.Data)); err != nil {
		if _, refused := Refused(err); !refused {
			p.failed = err
		} else if p.wrong++; p.wrong > 1 {
			p.wrong = 0
			p.in.Restart()
		}
		return false, err
	}
	p.wrong = 0
	return true, nil
}

// ErrMissing: messages are not all there.
var ErrMissing = errors.New("transfer: not all messages are there")

// Step takes the next step of writing the rest, once no message is missing. After the
// last one the home can be opened, and its record written. An error ends the pull, as
// one of Take does.
func (p *Pull) Step() (done bool, did observe.Action, err error) {
	switch {
	case p.failed != nil:
		return false, "", p.failed
	case p.sealed:
		return true, "", nil
	case p.Left() > 0:
		return false, "", fmt.Errorf("%w: %d bytes", ErrMissing, p.Left())
	case p.seal == nil:
		p.seal = p.imp.Seal()
	}
	if done, _, p.failed = p.seal.Step(); p.failed != nil || !done {
		return false, "", p.failed
	}
	p.sealed = true
	return true, "StageState", nil
}

// Close lets the files go. What is stored stays, for another Begin.
func (p *Pull) Close() { p.in.Close() }

// Staged is what a pull into a home was of; nil if the home is of none, or nothing can
// be made of what it says, since nothing depends on it.
func Staged(fs vfs.FS, home string, id record.Identity) (*Manifest, error) {
	b, answer, err := record.Read(fs, offerFile(home), id)
	if answer != record.Value {
		if answer == record.Damaged || answer == record.Foreign {
			err = nil
		}
		return nil, err
	}
	m, err := DecodeManifest(offerFile(home), b)
	if err != nil {
		return nil, nil
	}
	return m, nil
}
