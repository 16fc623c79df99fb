// Package transfer moves the state of a partition to a replica that is behind, or
// has nothing, and whose log can no longer be replayed from another one. What is
// moved is a durable checkpoint (package engine). No log travels, and nothing that is
// purged or deleted when a chunk leaves: an offer of that ends.
//
//	sender                                     receiver
//	Export, held          ──── Manifest ────►  refuse, or stage it      StageManifest
//	                      ◄─── Request ──────  from the first byte missing, a window
//	at most so many bytes ──── Chunk ───────►  check, store             StageChunk
//	a tick                                     piece whole: sync        SyncPiece
//	                                           bookmarks, checkpoint,
//	                                           marker, their folders    StageState
//	                                           the record of the home   CommitInstall
//	Release               ◄── (the caller's)   what is old goes         ReclaimOld
//
// Both ends are value machines: no goroutine, no clock; ticks and messages are handed
// in. A message may be lost, repeated or late: a chunk counts only if it is the next
// one of the offer that is being pulled.
//
// # Homes
//
// The files of a replica lie in a home, a folder that a record of the replica names.
// An install makes another one beside it, and then writes that record anew:
//
//	<home>/           what an engine keeps, and a log that begins after the state
//	<home>/offer      the manifest that is, or was, pulled into it
//
// So whoever looks sees exactly the old state up to the write of that record, and
// exactly the new one after it. A boot opens what the record names. Another home is
// either a pull that was interrupted, which goes on with what it has, from any
// replica whose manifest names the same pieces, or it is rubbish and is removed. The
// record is the replica's, since it is where its log begins, too.
//
// A receiver goes on as a member with its old state until the record is written. What
// it applies meanwhile, a purge among it, is forgotten with the old home: an offer is
// refused, also at the very end, unless its op is above all that the receiver has
// committed, so the new state holds the effect of all that.
package transfer

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/fxamacker/cbor/v2"

	"purgelab/impl/corrupt"
	"purgelab/impl/engine"
	"purgelab/impl/framed"
)

// Manifest is an offer: all of the state but its messages.
type Manifest struct {
	_ struct{} `cbor:",toarray"`
	// Term of op Point.Applied.
	Term  uint64
	Point engine.Point
}

// Request asks for chunks: the first one from a byte of a piece on, and those that
// follow it, across pieces.
type Request struct {
	Offer  uint64
	Piece  int
	At     int64
	Chunks int
}

// Chunk is whole batches of one piece, as they travel.
type Chunk struct {
	Offer uint64
	Piece int
	At    int64
	Data  []byte
	Sum   uint32 // CRC-32C of all of it
}

// Drop says that an offer is not served any more.
type Drop struct{ Offer uint64 }

// Message is one of the four. ID goes with an offer: that of its manifest, as the sender
// computed it.
type Message struct {
	Offer   *Manifest
	ID      uint64
	Request *Request
	Chunk   *Chunk
	Drop    *Drop
}

var (
	encMode = must(cbor.CoreDetEncOptions().EncMode())
	decMode = must(cbor.DecOptions{DupMapKey: cbor.DupMapKeyEnforcedAPF, MaxArrayElements: 1 << 24}.DecMode())
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err) // the options are constants
	}
	return v
}

// Encode gives the bytes of a manifest: the same for the same state, whoever has it.
func (m *Manifest) Encode() []byte {
	b, err := encMode.Marshal(m)
	if err != nil {
		panic(fmt.Sprintf("transfer: encode a manifest: %v", err)) // none has a type that cannot be encoded
	}
	return b
}

// DecodeManifest reads what Encode gave; from is for the error, which is a
// *corrupt.Error. It may still contradict itself: see Check.
func DecodeManifest(from string, b []byte) (*Manifest, error) {
	m := &Manifest{}
	if err := decMode.Unmarshal(b, m); err != nil {
		return nil, &corrupt.Error{File: from, What: "manifest of a transfer", Want: "an encoded manifest", Got: err.Error()}
	}
	return m, nil
}

// ID names the offer of a manifest. Equal manifests have equal names.
func (m *Manifest) ID() uint64 {
	sum := sha256.Sum256(m.Encode())
	return binary.LittleEndian.Uint64(sum[:])
}

// Bytes is how much is to be moved, but for the manifest itself.
func (m *Manifest) Bytes() (n int64) {
	for i := range m.Point.Pieces {
		n += m.Point.Pieces[i].Size
	}
	return n
}

// Seal sets the checksum of a chunk.
func (c *Chunk) Seal() { c.Sum = c.checksum() }

// checksum of a chunk.
func (c *Chunk) checksum() uint32 {
	b := binary.LittleEndian.AppendUint64(nil, c.Offer)
	b = binary.LittleEndian.AppendUint64(b, uint64(c.Piece))
	b = binary.LittleEndian.AppendUint64(b, uint64(c.At))
	return crc32.Update(framed.Sum(b), framed.Castagnoli, c.Data)
}
