// Package record keeps small durable facts: one value a file, replaced as a
// whole. There is one writer and one reader for all of them, so the order of
// durable steps and the answers to a damaged file are decided once.
//
// Write makes a new file beside the old one and moves it into place:
//
//	create path.tmp, write, sync, rename to path, sync the directory
//
// A crash anywhere leaves the old value or the new one, whole. A leftover
// path.tmp is removed first, so that a retry after a failed sync never trusts
// the file whose sync failed.
//
// Format, little endian:
//
//	+0   magic        u32   "PLR1"
//	+4   cluster      u64   \
//	+12  partition    u32    | whose fact it is
//	+16  replica      u32    |
//	+20  incarnation  u32   /
//	+24  length       u32   of the value
//	+28  crc32c       u32   of bytes 0..27 and the value
//	+32  value
//
// The file ends with the value; a longer or a shorter file is damaged.
package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"path"

	"purgelab/impl/corrupt"
	"purgelab/impl/framed"
	"purgelab/impl/vfs"
	"purgelab/model/op"
)

// Identity says whose disk it is; files of another one are foreign.
type Identity struct {
	Cluster     uint64
	Partition   op.Partition
	Replica     uint32
	Incarnation op.Incarnation
}

// IdentityBytes is the encoded size of an Identity.
const IdentityBytes = 20

// Append encodes the identity to b.
func (id Identity) Append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, id.Cluster)
	b = binary.LittleEndian.AppendUint32(b, uint32(id.Partition))
	b = binary.LittleEndian.AppendUint32(b, id.Replica)
	return binary.LittleEndian.AppendUint32(b, uint32(id.Incarnation))
}

// DecodeIdentity reads what Append wrote; b holds IdentityBytes or more.
func DecodeIdentity(b []byte) Identity {
	return Identity{
		Cluster:     binary.LittleEndian.Uint64(b),
		Partition:   op.Partition(binary.LittleEndian.Uint32(b[8:])),
		Replica:     binary.LittleEndian.Uint32(b[12:]),
		Incarnation: op.Incarnation(binary.LittleEndian.Uint32(b[16:])),
	}
}

// String prints an identity as cluster/p<partition>/r<replica>/i<incarnation>.
func (id Identity) String() string {
	return fmt.Sprintf("%x/p%d/r%d/i%d", id.Cluster, id.Partition, id.Replica, id.Incarnation)
}

// Answer is what Read found.
type Answer uint8

const (
	// IOError: the file could not be read; nothing is known.
	IOError Answer = iota
	// Absent: no such file.
	Absent
	// Foreign: an intact record of another identity.
	Foreign
	// Damaged: the bytes are not a record.
	Damaged
	// Value: an intact record of the wanted identity.
	Value
)

var answerNames = [...]string{"io-error", "absent", "foreign", "damaged", "value"}

func (a Answer) String() string { return answerNames[a] }

// ForeignError is the error of the answer Foreign.
type ForeignError struct {
	File      string
	Want, Got Identity
}

func (e *ForeignError) Error() string {
	return fmt.Sprintf("record: %s belongs to another replica: want %v, got %v", e.File, e.Want, e.Got)
}

const (
	magic      = 0x31524c50 // "PLR1"
	headerSize = 32
	crcAt      = 28
)

// Encode returns the bytes of a record.
func Encode(id Identity, value []byte) []byte {
	b := make([]byte, 0, headerSize+len(value))
	b = binary.LittleEndian.AppendUint32(b, magic)
	b = id.Append(b)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(value)))
	crc := crc32.Update(crc32.Checksum(b, framed.Castagnoli), framed.Castagnoli, value)
	b = binary.LittleEndian.AppendUint32(b, crc)
	return append(b, value...)
}

// Span is the bytes of a record of value at file: it is there whole or not at
// all, so damage to any of them must be refused.
func Span(file string, value []byte) corrupt.Span {
	return corrupt.Span{File: file, To: int64(headerSize + len(value)), Of: corrupt.Record}
}

// ErrNotSynced: the new record is in place, and the sync of its directory failed.
var ErrNotSynced = errors.New("in place, not known to be durable")

// Write replaces the record at path by value, durably. Its calls carry label
// with one of the endings .discard, .create, .write, .sync, .rename, .dirsync.
// After an error the old value or the new one is there; the new one if the error
// is ErrNotSynced.
func Write(fs vfs.FS, label vfs.Label, file string, id Identity, value []byte) error {
	if err := Replace(fs, label, file, id, value); err != nil {
		return err
	}
	if err := fs.SyncDir(label+".dirsync", path.Dir(file)); err != nil {
		return fmt.Errorf("record: write %s: %w: %w", file, ErrNotSynced, err)
	}
	return nil
}

// Replace is Write without the last step: the new value is whole, but a power
// loss may bring the old one back.
func Replace(fs vfs.FS, label vfs.Label, file string, id Identity, value []byte) error {
	tmp := file + ".tmp"
	h, err := fs.Open(tmp)
	if err == nil {
		h.Close()
		err = fs.Remove(label+".discard", tmp)
	}
	if err != nil && !errors.Is(err, vfs.ErrNotExist) {
		return fmt.Errorf("record: write %s: %w", file, err)
	}
	h, err = fs.Create(label+".create", tmp)
	if err != nil {
		return fmt.Errorf("record: write %s: %w", file, err)
	}
	defer h.Close()
	if _, err := h.WriteAt(label+".write", Encode(id, value), 0); err != nil {
		return fmt.Errorf("record: write %s: %w", file, err)
	}
	if err := h.Sync(label + ".sync"); err != nil {
		return fmt.Errorf("record: write %s: %w", file, err)
	}
	if err := fs.Rename(label+".rename", tmp, file); err != nil {
		return fmt.Errorf("record: write %s: %w", file, err)
	}
	return nil
}

// Read returns the value at file. The error is nil for Value and Absent, a
// *ForeignError for Foreign, a *corrupt.Error for Damaged.
func Read(fs vfs.FS, file string, want Identity) ([]byte, Answer, error) {
	h, b, err := framed.ReadFile(fs, file)
	if errors.Is(err, vfs.ErrNotExist) {
		return nil, Absent, nil
	}
	if err != nil {
		return nil, IOError, fmt.Errorf("record: read %s: %w", file, err)
	}
	h.Close()
	id, value, err := Decode(file, b)
	if err != nil {
		return nil, Damaged, err
	}
	if id != want {
		return nil, Foreign, &ForeignError{File: file, Want: want, Got: id}
	}
	return value, Value, nil
}

// Decode takes the bytes of a record apart; file is for the error.
func Decode(file string, b []byte) (Identity, []byte, error) {
	if len(b) < headerSize {
		return Identity{}, nil, &corrupt.Error{File: file, What: "record header bytes", Want: headerSize, Got: len(b)}
	}
	if m := binary.LittleEndian.Uint32(b); m != magic {
		return Identity{}, nil, &corrupt.Error{File: file, What: "record magic", Want: uint32(magic), Got: m}
	}
	length := binary.LittleEndian.Uint32(b[24:])
	if uint64(len(b)) != headerSize+uint64(length) {
		return Identity{}, nil, &corrupt.Error{File: file, Offset: 24, What: "record length", Want: len(b) - headerSize, Got: length}
	}
	value := b[headerSize:]
	stored := binary.LittleEndian.Uint32(b[crcAt:])
	if crc := crc32.Update(crc32.Checksum(b[:crcAt], framed.Castagnoli), framed.Castagnoli, value); crc != stored {
		return Identity{}, nil, &corrupt.Error{File: file, Offset: crcAt, What: "record checksum", Want: crc, Got: stored}
	}
	return DecodeIdentity(b[4:]), value, nil
}
