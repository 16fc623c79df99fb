package sim

import (
	"math/rand/v2"
	"slices"

	"purgelab/impl/transfer"
)

// Messages of transfers travel longer, and through more hands, than others, so more
// may happen to them: a bit flips in what a message carries, or a copy of a message is
// kept somewhere and comes when another transfer has begun, or the machine that it
// was meant for another life. What is around it, who it is from and for and of which
// incarnation, is never altered: that has no checksum, nor have messages of raft.
// Whoever lets replicas talk over a wire has to add one; that of TCP is too weak.

// Spoil is what happens to messages of transfers beside what the network does to all.
// Each is a probability.
type Spoil struct {
	Chunk    float64 `json:"chunk"`    // a bit of a chunk's messages flips
	Manifest float64 `json:"manifest"` // a bit of a manifest flips
	Late     float64 `json:"late"`     // a copy comes late
}

// spoiler does it.
type spoiler struct {
	Spoil
	rand *rand.Rand
	late []lateParcel // at most one of a kind, and between the same replicas
}

// lateParcel is a copy that is kept. What is asked for comes again in the first
// moments of the next life of the machine, and once more later; so does an offer, and
// before the next one, as a chunk does before that of another offer.
type lateParcel struct {
	parcel
	offer uint64 // what it is, or is of; of a request 0
}

// SpoilTransfers changes what happens to messages of transfers from now on. Copies that
// are kept come all the same.
func (c *Cluster) SpoilTransfers(s Spoil) { c.spoil.Spoil = s }

// spoilt gives what becomes of a message of a transfer; nobody else's is altered.
func (c *Cluster) spoilt(p parcel) parcel {
	s := &c.spoil
	if s.Spoil == (Spoil{}) && len(s.late) == 0 {
		return p
	}
	c.outrun(p)
	if s.Late > 0 && s.rand.Float64() < s.Late {
		s.keep(p)
	}
	t := *p.m.Transfer
	switch {
	case t.Chunk != nil && s.Chunk > 0 && s.rand.Float64() < s.Chunk:
		x := *t.Chunk
		x.Data = slices.Clone(x.Data)
		x.Data[s.rand.IntN(len(x.Data))] ^= 1 << s.rand.IntN(8)
		if s.rand.IntN(2) == 0 { // it flipped before there was a checksum
			x.Seal()
		}
		t.Chunk = &x
		c.Effects.Moves.FlippedChunks++
	case t.Offer != nil && s.Manifest > 0 && s.rand.Float64() < s.Manifest:
		if t.Offer = flipped(t.Offer, s.rand); t.Offer == nil {
			return p
		}
		c.Effects.Moves.FlippedManifests++
	default:
		return p
	}
	p.m.Transfer = &t
	return p
}

// flips is how often a bit of a manifest is drawn until what comes out can be read, and
// says something else.
const flips = 200

// flipped is a manifest with a bit of its encoding flipped; nil if none was found.
func flipped(m *transfer.Manifest, r *rand.Rand) *transfer.Manifest {
	b := m.Encode()
	for range flips {
		at, bit := r.IntN(len(b)), byte(1)<<r.IntN(8)
		b[at] ^= bit
		x, err := transfer.DecodeManifest("message", b)
		if b[at] ^= bit; err == nil && x.ID() != m.ID() {
			return x
		}
	}
	return nil
}

// lateOf is a message as one that may be kept; false of a drop, which needs no repeat.
func lateOf(p parcel) (l lateParcel, ok bool) {
	l.parcel = p
	switch t := p.m.Transfer; {
	case t.Offer != nil:
		l.offer = t.ID
	case t.Chunk != nil:
		l.offer = t.Chunk.Offer
	case t.Request == nil:
		return l, false
	}
	return l, true
}

// like tells whether two messages are of one kind and between the same replicas.
func (l *lateParcel) like(x *lateParcel) bool {
	a, b := l.m.Transfer, x.m.Transfer
	return l.m.From == x.m.From && l.m.To == x.m.To && l.shard == x.shard &&
		(a.Offer != nil) == (b.Offer != nil) && (a.Chunk != nil) == (b.Chunk != nil)
}

func (s *spoiler) keep(p parcel) {
	l, ok := lateOf(p)
	if !ok {
		return
	}
	if i := slices.IndexFunc(s.late, func(x lateParcel) bool { return x.like(&l) }); i >= 0 {
		s.late[i] = l
		return
	}
	s.late = append(s.late, l)
}

// outrun lets a copy that is kept come before a message of another offer.
func (c *Cluster) outrun(p parcel) {
	s := &c.spoil
	l, ok := lateOf(p)
	if !ok || p.m.Transfer.Request != nil {
		return
	}
	for i := range s.late {
		if x := s.late[i]; x.like(&l) && x.offer != l.offer {
			s.late = slices.Delete(s.late, i, i+1)
			c.comes(x.parcel, 0)
			return
		}
	}
}

// comesToLife lets the requests and offers that are kept for a replica come now that it
// was opened.
func (c *Cluster) comesToLife(id, h int) {
	for i := range c.spoil.late {
		if x := &c.spoil.late[i]; x.m.To == id && x.shard == h && x.m.Transfer.Chunk == nil {
			c.comes(x.parcel, c.spoil.rand.Int64N(c.o.Disk.Work)) // before it has done much
			c.comes(x.parcel, c.spoil.rand.Int64N(c.net.SlowDelay))
		}
	}
}

// comes delivers a copy, after the shortest way and d.
func (c *Cluster) comes(p parcel, d int64) {
	c.Effects.Moves.Late++
	c.schedule(d+1, event{kind: evMessage, slot: c.messages.put(p)})
}
