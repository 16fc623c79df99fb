// Package framed is what the log files of a replica have in common: a file begins
// with a header that says whose it is, and goes on with frames, each of which can
// be told from damage. What a frame holds is the business of its log.
//
// A header is sealed by a CRC-32C of all that comes before it:
//
//	+0       magic   u32
//	+4       ...
//	+size-4  crc32c  u32
//
// A frame, little endian, says how long it is:
//
//	+0   magic   u32
//	+4   length  u32   of what follows the log's own fixed part
//	+8   crc32c  u32   of the rest, begun with a sum that names the owner
//	+12  ...
//
// The sum that a checksum begins with keeps a frame of another owner, and one
// that lies inside a payload, from passing for one of this file.
package framed

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"

	"purgelab/impl/corrupt"
	"purgelab/impl/vfs"
)

// Castagnoli is the polynomial of every checksum on a disk.
var Castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Sum is the checksum that those of a file's frames begin with.
func Sum(owner []byte) uint32 { return crc32.Checksum(owner, Castagnoli) }

// SealHeader ends a header that begins at b[at:] with its checksum.
func SealHeader(b []byte, at int) []byte {
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[at:], Castagnoli))
}

// CheckHeader checks the header of size bytes at the beginning of b. what is the
// kind of file, for the error, which is a *corrupt.Error.
func CheckHeader(file, what string, b []byte, size int, magic uint32) error {
	if len(b) < size {
		return &corrupt.Error{File: file, What: what + " header bytes", Want: size, Got: len(b)}
	}
	if m := binary.LittleEndian.Uint32(b); m != magic {
		return &corrupt.Error{File: file, What: what + " magic", Want: magic, Got: m}
	}
	stored := binary.LittleEndian.Uint32(b[size-4:])
	if crc := crc32.Checksum(b[:size-4], Castagnoli); crc != stored {
		return &corrupt.Error{File: file, Offset: int64(size - 4), What: what + " header checksum", Want: crc, Got: stored}
	}
	return nil
}

// Seal fills in magic, length and checksum of frame f, whose fixed part is of
// fixed bytes.
func Seal(f []byte, fixed int, magic, sum uint32) {
	binary.LittleEndian.PutUint32(f, magic)
	binary.LittleEndian.PutUint32(f[4:], uint32(len(f)-fixed))
	binary.LittleEndian.PutUint32(f[8:], checksum(f, sum))
}

func checksum(f []byte, sum uint32) uint32 {
	return crc32.Update(crc32.Update(sum, Castagnoli, f[:8]), Castagnoli, f[12:])
}

// Check returns the frame at the beginning of b, which goes on to the end of the
// file; at is its place in file and what its kind, for the error, which is a
// *corrupt.Error.
func Check(file, what string, at int64, b []byte, fixed int, magic, sum uint32) ([]byte, error) {
	if len(b) < fixed {
		return nil, &corrupt.Error{File: file, Offset: at, What: what + " header bytes", Want: fixed, Got: len(b)}
	}
	if m := binary.LittleEndian.Uint32(b); m != magic {
		return nil, &corrupt.Error{File: file, Offset: at, What: what + " magic", Want: magic, Got: m}
	}
	length := int64(binary.LittleEndian.Uint32(b[4:]))
	if length > int64(len(b)-fixed) {
		return nil, &corrupt.Error{File: file, Offset: at + 4, What: what + " length", Want: fmt.Sprintf("at most %d", len(b)-fixed), Got: length}
	}
	b = b[:int64(fixed)+length]
	stored := binary.LittleEndian.Uint32(b[8:])
	if crc := checksum(b, sum); crc != stored {
		return nil, &corrupt.Error{File: file, Offset: at + 8, What: what + " checksum", Want: crc, Got: stored}
	}
	return b, nil
}

// Cut removes what lies above size, durably. Its calls carry label with one of
// the endings .truncate and .sync.
func Cut(h vfs.File, label vfs.Label, size int64) error {
	if err := h.Truncate(label+".truncate", size); err != nil {
		return err
	}
	return h.Sync(label + ".sync")
}

// ReadFile opens a file and reads it whole.
func ReadFile(fs vfs.FS, name string) (vfs.File, []byte, error) {
	h, err := fs.Open(name)
	if err != nil {
		return nil, nil, err
	}
	size, err := h.Size()
	if err != nil {
		h.Close()
		return nil, nil, err
	}
	b := make([]byte, size)
	if n, err := h.ReadAt(b, 0); err != nil && !(err == io.EOF && int64(n) == size) {
		h.Close()
		return nil, nil, err
	}
	return h, b, nil
}
