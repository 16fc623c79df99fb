package transfer

import (
	"errors"
	"fmt"

	"purgelab/impl/corrupt"
	"purgelab/impl/defect"
	"purgelab/impl/engine"
	"purgelab/model/op"
)

// Reason is why something was refused; reports count by it.
type Reason string

// The reasons. The first three are a sender's, the fourth may be.
const (
	Suspect    Reason = "suspect"
	Recovering Reason = "recovering"
	Behind     Reason = "behind"
	TooLarge   Reason = "too-large"

	OlderIncarnation Reason = "older-incarnation"
	OtherIncarnation Reason = "other-incarnation"
	NotAbove         Reason = "not-above"
	Rewinds          Reason = "rewinds"
	Contradiction    Reason = "contradiction"

	AnotherOffer  Reason = "another-offer"
	WrongChecksum Reason = "wrong-checksum"
	WrongChunk    Reason = "wrong-chunk"
)

// Reasons lists all of them.
var Reasons = []Reason{Suspect, Recovering, Behind, TooLarge, OlderIncarnation, OtherIncarnation, NotAbove, Rewinds, Contradiction, AnotherOffer, WrongChecksum, WrongChunk}

// Again tells the refusals of a single message: what was meant is worth asking for again.
func (r Reason) Again() bool { return r == AnotherOffer || r == WrongChecksum || r == WrongChunk }

// Refusal says which two values disagree.
type Refusal struct {
	Reason    Reason
	What      string
	Want, Got any
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("transfer: refused, %s: %s: want %v, got %v", r.Reason, r.What, r.Want, r.Got)
}

// Refused tells whether err is a refusal, and why. Other errors are of a disk.
func Refused(err error) (Reason, bool) {
	var r *Refusal
	if errors.As(err, &r) {
		return r.Reason, true
	}
	return "", false
}

// Standing is what a replica must be to make an offer.
type Standing struct {
	Suspect bool // it cannot prove that it holds all that it acknowledged
	Serving bool // it has finished its recovery
	// Must is the highest op that it knows to be committed: it must have applied that.
	Applied, Must op.Number
}

// Check refuses to make an offer.
func (s Standing) Check() error {
	switch {
	case s.Suspect:
		return &Refusal{Suspect, "standing of the sender", "a member that remembers", "a suspect"}
	case !s.Serving:
		return &Refusal{Recovering, "standing of the sender", "serving", "in recovery"}
	case s.Applied < s.Must:
		return &Refusal{Behind, "op that the sender has applied", s.Must, s.Applied}
	}
	return nil
}

// Own is what a receiver has.
type Own struct {
	Incarnation op.Incarnation
	Committed   op.Number
	// Facts of its state; those of op 1 if it has none.
	Facts engine.Facts
	// Agrees: two replicas that applied the same ops have the same state, so that an
	// offer which would take messages back contradicts what is known. Where they may
	// have purged at different ops, only the generation must not fall.
	Agrees  bool
	Defects defect.Set
}

// Fresh refuses a manifest that is not above what a receiver has committed, or that
// would take something back. It is asked before a pull, and again before its commit.
func (o *Own) Fresh(m *Manifest) error {
	p, f := &m.Point, &o.Facts
	switch {
	case o.Defects.Has(defect.OlderOfferAccepted):
		return nil
	case p.Incarnation < o.Incarnation:
		return &Refusal{OlderIncarnation, "incarnation of the offer", o.Incarnation, p.Incarnation}
	case p.Incarnation > o.Incarnation:
		return &Refusal{OtherIncarnation, "incarnation of the offer", o.Incarnation, p.Incarnation}
	case p.Applied <= o.Committed:
		return &Refusal{NotAbove, "op of the offer", fmt.Sprintf("above %d, which is committed", o.Committed), p.Applied}
	case p.Generation < f.Generation && !o.Defects.Has(defect.OlderGenerationInstalled):
		return &Refusal{Rewinds, fmt.Sprintf("generation as of op %d, that of op %d being the lowest", p.Applied, f.Applied), f.Generation, p.Generation}
	case p.Generation > f.Generation || !o.Agrees:
		return nil
	case p.Boundary != f.Boundary:
		return &Refusal{Rewinds, fmt.Sprintf("boundary of generation %d", p.Generation), f.Boundary, p.Boundary}
	case p.Start < f.Start:
		return &Refusal{Rewinds, fmt.Sprintf("start as of op %d", p.Applied), fmt.Sprintf("at least %d", f.Start), p.Start}
	case p.End < f.End:
		return &Refusal{Rewinds, fmt.Sprintf("end as of op %d", p.Applied), fmt.Sprintf("at least %d", f.End), p.End}
	}
	return nil
}

// CheckOffer refuses an offer whose manifest contradicts itself, or is another one than
// was sent: of most of what a manifest says there is nothing that it could contradict.
func (m *Message) CheckOffer() error {
	if err := m.Offer.Check(); err != nil {
		return err
	}
	if id := m.Offer.ID(); id != m.ID {
		return &Refusal{WrongChecksum, "checksum of the manifest", fmt.Sprintf("%016x", id), fmt.Sprintf("%016x", m.ID)}
	}
	return nil
}

// A manifest is one message, which is not cut into chunks, so there is a bound to it:
// MaxManifest bytes, of which pieceBytes are counted for each piece, that is, for each
// file of messages, bookmarkBytes for each bookmark, and what the caller keeps. A
// gibibyte in files of 16 KiB is half of it.
const (
	MaxManifest = 4 << 20

	pieceBytes    = 33
	bookmarkBytes = 64
)

// bytes that are counted for a manifest.
func (m *Manifest) bytes() int {
	p := &m.Point
	return pieceBytes*len(p.Pieces) + bookmarkBytes*(len(p.Bookmarks)+len(p.Previous.Bookmarks)) + len(p.Extra)
}

// Check refuses a manifest that is too large, or contradicts itself.
func (m *Manifest) Check() error {
	if n := m.bytes(); n > MaxManifest {
		return &Refusal{TooLarge, "bytes of the manifest", fmt.Sprintf("at most %d", MaxManifest), n}
	}
	if m.Term == 0 {
		return &Refusal{Contradiction, fmt.Sprintf("term of op %d", m.Point.Applied), "at least 1", 0}
	}
	var p *engine.PointError
	if err := m.Point.Check(); errors.As(err, &p) {
		return &Refusal{Contradiction, p.What, p.Want, p.Got}
	}
	return nil
}

// check refuses a chunk of another offer, or one that was changed on its way.
func (c *Chunk) check(offer uint64) error {
	if c.Offer != offer {
		return &Refusal{AnotherOffer, "offer of the chunk", fmt.Sprintf("%016x", offer), fmt.Sprintf("%016x", c.Offer)}
	}
	if sum := c.checksum(); sum != c.Sum {
		return &Refusal{WrongChecksum, fmt.Sprintf("checksum of the chunk at byte %d of piece %d", c.At, c.Piece), sum, c.Sum}
	}
	return nil
}

// refusedChunk makes what a store says of the bytes of a chunk a refusal; an error of
// a disk stays what it is.
func refusedChunk(err error) error {
	var c *corrupt.Error
	if errors.As(err, &c) {
		return &Refusal{WrongChunk, fmt.Sprintf("%s, %s at byte %d", c.What, c.File, c.Offset), c.Want, c.Got}
	}
	return err
}
