package transfer

import (
	"errors"
	"fmt"
	"slices"

	"purgelab/impl/defect"
	"purgelab/impl/engine"
	"purgelab/impl/segment"
	"purgelab/model/op"
)

// Defaults of SenderOptions.
const (
	DefaultChunkBytes = 64 << 10
	DefaultWindow     = 8
)

// SenderOptions say how much leaves at once.
type SenderOptions struct {
	// ChunkBytes is about how large a chunk is; one batch may be larger. 0 means
	// DefaultChunkBytes.
	ChunkBytes int
	// Budget is how many bytes leave in a tick, to all receivers together, so that
	// the traffic of consensus goes on; the last chunk may go beyond. 0: no bound.
	Budget int
	// IdleTicks is how long an offer is held for a receiver that asks for nothing.
	// 0: until it is dropped.
	IdleTicks int
	Defects   defect.Set
}

// Sender holds the offers that a replica has made, one a receiver.
type Sender struct {
	o      SenderOptions
	offers []*offer
	left   int // of the budget of this tick
}

// offer is a checkpoint that is held for one receiver.
type offer struct {
	to     uint64
	id     uint64
	m      *Manifest
	held   engine.Export
	piece  int // the next chunk begins here
	at     int64
	chunks int // that were asked for and have not left
	idle   int
}

// NewSender has made no offer.
func NewSender(o SenderOptions) *Sender {
	if o.ChunkBytes == 0 {
		o.ChunkBytes = DefaultChunkBytes
	}
	return &Sender{o: o, left: o.Budget}
}

// Offer makes an offer of the last durable checkpoint of e, in the place of one that
// the receiver had. term gives the term of an op of the log. Whether this replica may
// make one is its caller's to ask, see Standing. It is engine.ErrNoPoint if there is no
// checkpoint to offer.
func (s *Sender) Offer(to uint64, e engine.Engine, term func(op.Number) (uint64, error)) (*Manifest, error) {
	held, err := e.Export()
	if err != nil {
		return nil, fmt.Errorf("transfer: offer: %w", err)
	}
	m := &Manifest{Point: *held.Point()}
	if s.o.Defects.Has(defect.SessionsNotTransferred) {
		m.Point.Extra = nil
	}
	m.Term, err = term(m.Point.Applied)
	if err == nil {
		err = m.Check()
	}
	if err != nil {
		held.Release()
		return nil, fmt.Errorf("transfer: offer: %w", err)
	}
	s.Drop(to)
	s.offers = append(s.offers, &offer{to: to, id: m.ID(), m: m, held: held})
	return m, nil
}

// Holds tells whether there is an offer for a receiver.
func (s *Sender) Holds(to uint64) bool { return s.find(to) != nil }

// Manifest is what is offered to a receiver, nil if nothing is.
func (s *Sender) Manifest(to uint64) *Manifest {
	if x := s.find(to); x != nil {
		return x.m
	}
	return nil
}

// Lowest is the op of the lowest checkpoint that is held, false if none is: the log
// above it must stay, so that the receiver can go on from there.
func (s *Sender) Lowest() (n op.Number, any bool) {
	for i, x := range s.offers {
		if i == 0 || x.m.Point.Applied < n {
			n, any = x.m.Point.Applied, true
		}
	}
	return n, any
}

func (s *Sender) find(to uint64) *offer {
	for _, x := range s.offers {
		if x.to == to {
			return x
		}
	}
	return nil
}

// Request notes what a receiver asks for. If it means an offer that is not held, the
// answer says so, and is to be sent.
func (s *Sender) Request(from uint64, q *Request) *Message {
	x := s.find(from)
	if x == nil || x.id != q.Offer {
		return &Message{Drop: &Drop{q.Offer}}
	}
	if pieces := x.m.Point.Pieces; q.Piece < 0 || q.Piece >= len(pieces) || q.At < 0 || q.At >= pieces[q.Piece].Size || q.Chunks < 1 {
		return nil // nothing of ours asks for that
	}
	x.piece, x.at, x.chunks, x.idle = q.Piece, q.At, q.Chunks, 0
	return nil
}

// Work tells whether Next has a chunk to send.
func (s *Sender) Work() bool {
	return (s.o.Budget == 0 || s.left > 0) && slices.ContainsFunc(s.offers, func(x *offer) bool { return x.chunks > 0 })
}

// Next is a chunk to be sent, while there is one within the budget, or that an offer
// was purged. What cannot be read ends its offer; a receiver learns that when it asks
// again. The error is the disk's, and tells corruption.
func (s *Sender) Next() (to uint64, m *Message, err error) {
	for i, x := range s.offers {
		if x.chunks == 0 || !s.Work() {
			continue
		}
		data, err := x.held.Read(x.piece, x.at, s.o.ChunkBytes)
		if errors.Is(err, engine.ErrGone) {
			s.Drop(x.to)
			return x.to, &Message{Drop: &Drop{x.id}}, nil
		}
		if err != nil {
			s.Drop(x.to)
			return 0, nil, fmt.Errorf("transfer: chunk at byte %d of piece %d: %w", x.at, x.piece, err)
		}
		c := &Chunk{Offer: x.id, Piece: x.piece, At: x.at, Data: data}
		c.Seal()
		x.chunks--
		if x.at += int64(len(data)); x.at == x.m.Point.Pieces[x.piece].Size {
			if x.piece, x.at = x.piece+1, segment.FirstByte; x.piece == len(x.m.Point.Pieces) {
				x.chunks = 0
			}
		}
		s.left -= len(data)
		// The others first, next time.
		s.offers = append(slices.Delete(s.offers, i, i+1), x)
		return x.to, &Message{Chunk: c}, nil
	}
	return 0, nil, nil
}

// Tick gives the budget of the next tick, and drops the offers whose receivers have
// asked for nothing for too long; it returns those receivers.
func (s *Sender) Tick() (dropped []uint64) {
	s.left = s.o.Budget
	for _, x := range slices.Clone(s.offers) {
		if x.idle++; s.o.IdleTicks > 0 && x.idle > s.o.IdleTicks {
			dropped = append(dropped, x.to)
			s.Drop(x.to)
		}
	}
	return dropped
}

// Drop ends the offer for a receiver, if there is one: it has installed it, or does
// not want it any more.
func (s *Sender) Drop(to uint64) {
	s.offers = slices.DeleteFunc(s.offers, func(x *offer) bool {
		if x.to == to {
			x.held.Release()
		}
		return x.to == to
	})
}

// Close drops all offers.
func (s *Sender) Close() {
	for _, x := range slices.Clone(s.offers) {
		s.Drop(x.to)
	}
}
