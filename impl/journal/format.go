package journal

import (
	"encoding/binary"

	"purgelab/impl/corrupt"
	"purgelab/impl/framed"
	"purgelab/impl/raftlog"
	"purgelab/impl/record"
	"purgelab/model/op"
)

const (
	fileMagic  = 0x314a4c50 // "PLJ1"
	frameMagic = 0x4d46504a // "JPFM"

	fileHeader  = 40
	frameHeader = 40
	stateBytes  = 24
	entryHeader = 13

	hasState = 1
)

// identitySum is where the checksum of each frame starts, so that a frame of
// another replica, or one inside a payload, never passes for one of ours.
func identitySum(id record.Identity) uint32 {
	return framed.Sum(id.Append(nil))
}

func encodeFileHeader(id record.Identity, number uint32, firstSeq uint64) []byte {
	b := binary.LittleEndian.AppendUint32(nil, fileMagic)
	b = id.Append(b)
	b = binary.LittleEndian.AppendUint32(b, number)
	b = binary.LittleEndian.AppendUint64(b, firstSeq)
	return framed.SealHeader(b, 0)
}

// fileHead is a decoded header of a file.
type fileHead struct {
	id       record.Identity
	number   uint32
	firstSeq uint64
}

func decodeFileHeader(file string, b []byte) (fileHead, error) {
	if err := framed.CheckHeader(file, "journal file", b, fileHeader, fileMagic); err != nil {
		return fileHead{}, err
	}
	return fileHead{
		id:       record.DecodeIdentity(b[4:]),
		number:   binary.LittleEndian.Uint32(b[24:]),
		firstSeq: binary.LittleEndian.Uint64(b[28:]),
	}, nil
}

// appendFrame encodes one frame to b.
func appendFrame(b []byte, sum uint32, inc op.Incarnation, seq, synced uint64, state *raftlog.State, entries []raftlog.Entry) []byte {
	at := len(b)
	b = append(b, make([]byte, frameHeader)...)
	var flags byte
	if state != nil {
		flags = hasState
	}
	b = append(b, flags)
	if state != nil {
		b = binary.LittleEndian.AppendUint64(b, state.Term)
		b = binary.LittleEndian.AppendUint64(b, state.Vote)
		b = binary.LittleEndian.AppendUint64(b, uint64(state.Commit))
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(len(entries)))
	var first op.Number
	for i := range entries {
		e := &entries[i]
		if i == 0 {
			first = e.Op
		}
		b = binary.LittleEndian.AppendUint64(b, e.Term)
		b = append(b, byte(e.Type))
		b = binary.LittleEndian.AppendUint32(b, uint32(len(e.Data)))
		b = append(b, e.Data...)
	}
	f := b[at:]
	binary.LittleEndian.PutUint32(f[12:], uint32(inc))
	binary.LittleEndian.PutUint64(f[16:], seq)
	binary.LittleEndian.PutUint64(f[24:], synced)
	binary.LittleEndian.PutUint64(f[32:], uint64(first))
	framed.Seal(f, frameHeader, frameMagic, sum)
	return b
}

// frame is a decoded frame; data of entries are parts of the buffer read.
type frame struct {
	seq, synced uint64
	size        int64 // with its header
	hasState    bool
	state       raftlog.State
	first       op.Number
	body        []byte // entries, encoded
	count       int
}

// decodeFrame reads the frame at b[0:], which continues to the end of the
// file. at is its place in file, for errors.
func decodeFrame(file string, at int64, b []byte, sum uint32, inc op.Incarnation) (frame, error) {
	bad := func(off int64, what string, want, got any) (frame, error) {
		return frame{}, &corrupt.Error{File: file, Offset: at + off, What: what, Want: want, Got: got}
	}
	b, err := framed.Check(file, "journal frame", at, b, frameHeader, frameMagic, sum)
	if err != nil {
		return frame{}, err
	}
	if i := op.Incarnation(binary.LittleEndian.Uint32(b[12:])); i != inc {
		return bad(12, "journal frame incarnation", inc, i)
	}
	f := frame{
		seq:    binary.LittleEndian.Uint64(b[16:]),
		synced: binary.LittleEndian.Uint64(b[24:]),
		first:  op.Number(binary.LittleEndian.Uint64(b[32:])),
		size:   int64(len(b)),
	}
	// Behind a good checksum a bad shape is a bug of the writer; it is
	// reported as damage all the same, never read beyond.
	body := b[frameHeader:]
	if len(body) < 1 {
		return bad(frameHeader, "journal frame body bytes", "at least 1", len(body))
	}
	flags := body[0]
	body = body[1:]
	if flags&hasState != 0 {
		if len(body) < stateBytes {
			return bad(frameHeader, "journal frame state bytes", stateBytes, len(body))
		}
		f.hasState = true
		f.state = raftlog.State{
			Term:   binary.LittleEndian.Uint64(body),
			Vote:   binary.LittleEndian.Uint64(body[8:]),
			Commit: op.Number(binary.LittleEndian.Uint64(body[16:])),
		}
		body = body[stateBytes:]
	}
	if len(body) < 4 {
		return bad(frameHeader, "journal frame count bytes", 4, len(body))
	}
	f.count = int(binary.LittleEndian.Uint32(body))
	f.body = body[4:]
	rest := f.body
	for i := 0; i < f.count; i++ {
		if len(rest) < entryHeader {
			return bad(frameHeader, "journal entry header bytes", entryHeader, len(rest))
		}
		n := int64(binary.LittleEndian.Uint32(rest[9:]))
		if int64(len(rest)-entryHeader) < n {
			return bad(frameHeader, "journal entry data bytes", n, len(rest)-entryHeader)
		}
		rest = rest[entryHeader+n:]
	}
	if len(rest) != 0 {
		return bad(frameHeader, "journal frame bytes after entries", 0, len(rest))
	}
	return f, nil
}

// entries calls yield for each entry of the frame, in order.
func (f *frame) entries(yield func(i int, e raftlog.Entry)) {
	rest := f.body
	for i := 0; i < f.count; i++ {
		n := binary.LittleEndian.Uint32(rest[9:])
		yield(i, raftlog.Entry{
			Op:   f.first + op.Number(i),
			Term: binary.LittleEndian.Uint64(rest),
			Type: raftlog.EntryType(rest[8]),
			Data: rest[entryHeader : entryHeader+n],
		})
		rest = rest[entryHeader+n:]
	}
}
