package tagged

import (
	"encoding/binary"
	"fmt"

	"purgelab/impl/bookmark"
	"purgelab/impl/corrupt"
	"purgelab/impl/purge"
	"purgelab/impl/record"
	"purgelab/impl/vfs"
	"purgelab/model/op"
)

// checkpoint is the value of a checkpoint record.
type checkpoint struct {
	Generation op.Generation
	Settled    op.Generation
	Boundary   op.Number
	Applied    op.Number
	Start, End op.Offset
	Timestamp  op.Timestamp
	Bookmarks  bookmark.Capture
	Extra      []byte
}

const checkpointBytes = 64

func (c *checkpoint) encode() []byte {
	b := make([]byte, 0, checkpointBytes+len(c.Extra))
	b = binary.LittleEndian.AppendUint32(b, uint32(c.Generation))
	b = binary.LittleEndian.AppendUint32(b, uint32(c.Settled))
	b = binary.LittleEndian.AppendUint64(b, uint64(c.Boundary))
	b = binary.LittleEndian.AppendUint64(b, uint64(c.Applied))
	b = binary.LittleEndian.AppendUint64(b, uint64(c.Start))
	b = binary.LittleEndian.AppendUint64(b, uint64(c.End))
	b = binary.LittleEndian.AppendUint64(b, uint64(c.Timestamp))
	b = binary.LittleEndian.AppendUint32(b, c.Bookmarks.Number)
	b = binary.LittleEndian.AppendUint32(b, 0)
	b = binary.LittleEndian.AppendUint64(b, uint64(c.Bookmarks.Length))
	return append(b, c.Extra...)
}

func decodeCheckpoint(file string, b []byte) (checkpoint, error) {
	if len(b) < checkpointBytes {
		return checkpoint{}, &corrupt.Error{File: file, What: "checkpoint bytes", Want: fmt.Sprintf("at least %d", checkpointBytes), Got: len(b)}
	}
	return checkpoint{
		Generation: op.Generation(binary.LittleEndian.Uint32(b)),
		Settled:    op.Generation(binary.LittleEndian.Uint32(b[4:])),
		Boundary:   op.Number(binary.LittleEndian.Uint64(b[8:])),
		Applied:    op.Number(binary.LittleEndian.Uint64(b[16:])),
		Start:      op.Offset(binary.LittleEndian.Uint64(b[24:])),
		End:        op.Offset(binary.LittleEndian.Uint64(b[32:])),
		Timestamp:  op.Timestamp(binary.LittleEndian.Uint64(b[40:])),
		Bookmarks: bookmark.Capture{
			Number: binary.LittleEndian.Uint32(b[48:]),
			Length: int64(binary.LittleEndian.Uint64(b[56:])),
		},
		Extra: b[checkpointBytes:],
	}, nil
}

func checkpointFile(dir string, g op.Generation) string { return purge.Folder(dir, g) + "/checkpoint" }

// writeCheckpoint makes c durable in its generation's folder.
func writeCheckpoint(fs vfs.FS, label vfs.Label, dir string, id record.Identity, c *checkpoint) error {
	return record.Write(fs, label, checkpointFile(dir, c.Generation), id, c.encode())
}

// readCheckpoint returns the checkpoint of a generation; found is false if
// there is none.
func readCheckpoint(fs vfs.FS, dir string, id record.Identity, g op.Generation) (c checkpoint, found bool, err error) {
	file := checkpointFile(dir, g)
	b, a, err := record.Read(fs, file, id)
	if a == record.Absent {
		return checkpoint{}, false, nil
	}
	if err != nil {
		return checkpoint{}, false, fmt.Errorf("engine: checkpoint: %w", err)
	}
	if c, err = decodeCheckpoint(file, b); err != nil {
		return checkpoint{}, false, err
	}
	if c.Generation != g {
		return checkpoint{}, false, mismatch(file, "generation of the checkpoint", g, c.Generation)
	}
	return c, true, nil
}
