package transfer

import "purgelab/impl/engine"

// Move takes the next chunk, of about max bytes, from an export on this machine whose
// point has the pieces of the manifest; false when none is missing.
func (p *Pull) Move(from engine.Export, max int) (more bool, err error) {
	piece, at, more := p.in.Want()
	if !more {
		return false, nil
	}
	data, err := from.Read(piece, at, max)
	if err != nil {
		return true, err
	}
	c := &Chunk{Offer: p.id, Piece: piece, At: at, Data: data}
	c.Seal()
	_, err = p.Take(c)
	return true, err
}
