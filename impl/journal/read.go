package journal

import (
	"encoding/binary"
	"fmt"
	"io"

	"purgelab/impl/corrupt"
	"purgelab/impl/raftlog"
	"purgelab/impl/vfs"
	"purgelab/model/op"
)

// Bounds of the cache of recent entries; half is dropped when one is passed.
const (
	cacheEntries = 2048
	cacheBytes   = 1 << 20
)

// cache remembers an entry just appended.
func (j *Journal) cache(e raftlog.Entry) {
	if n := len(j.tail); n > 0 {
		if e.Op <= j.tail[0].Op {
			j.drop(n)
		} else if keep := int(e.Op - j.tail[0].Op); keep < n {
			for _, d := range j.tail[keep:] {
				j.tailBytes -= len(d.Data)
			}
			j.tail = j.tail[:keep]
		}
	}
	j.tail = append(j.tail, e)
	j.tailBytes += len(e.Data)
	if len(j.tail) > cacheEntries || j.tailBytes > cacheBytes && len(j.tail) > 1 {
		j.drop(len(j.tail) / 2)
	}
}

// drop forgets the oldest k cached entries.
func (j *Journal) drop(k int) {
	for _, d := range j.tail[:k] {
		j.tailBytes -= len(d.Data)
	}
	n := copy(j.tail, j.tail[k:])
	clear(j.tail[n:])
	j.tail = j.tail[:n]
}

// Entries implements raftlog.Log. The size of an entry is that of its data and
// of its header in a frame. Callers must not change the data.
func (j *Journal) Entries(lo, hi op.Number, maxBytes int) ([]raftlog.Entry, error) {
	if lo < j.First() || hi > j.Last()+1 || lo >= hi {
		return nil, fmt.Errorf("journal: entries %d to %d: have %d to %d", lo, hi, j.First(), j.Last()+1)
	}
	out := make([]raftlog.Entry, 0, min(hi-lo, 64))
	size := 0
	var c chunk
	take := func(e raftlog.Entry) bool {
		size += len(e.Data) + entryHeader
		if len(out) > 0 && size > maxBytes {
			return false
		}
		out = append(out, e)
		return true
	}
	for n := lo; n < hi; {
		if len(j.tail) > 0 && n >= j.tail[0].Op {
			for ; n < hi; n++ {
				if !take(j.tail[n-j.tail[0].Op]) {
					return out, nil
				}
			}
			return out, nil
		}
		r := j.index[n-j.base-1]
		f, err := j.readFrame(&c, r)
		if err != nil {
			return nil, fmt.Errorf("journal: read op %d: %w", n, err)
		}
		full, from := false, n
		f.entries(func(_ int, e raftlog.Entry) {
			// A frame may begin before n, and its end may have been overwritten.
			if full || e.Op != n || n >= hi || !j.same(n, r) || e.Term != j.index[n-j.base-1].term {
				return
			}
			if !take(e) {
				full = true
				return
			}
			n++
		})
		if full {
			break
		}
		if n == from { // an intact frame, but another one
			return nil, &corrupt.Error{File: j.name(r.file), Offset: int64(r.at), What: fmt.Sprintf("op of term %d in the frame", r.term), Want: n, Got: f.first}
		}
	}
	return out, nil
}

// same tells whether op n is stored in the frame that r names.
func (j *Journal) same(n op.Number, r ref) bool {
	s := j.index[n-j.base-1]
	return s.file == r.file && s.at == r.at
}

// chunk is a part of a file, read once for the frames that lie in it.
type chunk struct {
	file uint32
	name string
	at   int64
	b    []byte
}

// chunkBytes is what one read of a chunk asks for, or a frame if that is longer.
const chunkBytes = 16 << 10

// frame returns the bytes from where r points on, and how long the frame there
// is; 0 when the chunk does not tell.
func (c *chunk) frame(r ref) (b []byte, length int64) {
	if off := int64(r.at) - c.at; c.file == r.file && off >= 0 && off < int64(len(c.b)) {
		b = c.b[off:]
	}
	if len(b) >= frameHeader {
		length = frameHeader + int64(binary.LittleEndian.Uint32(b[4:]))
	}
	return b, length
}

// readFrame reads and checks one frame from disk, or from the chunk read last.
// Its entries point into the chunk. A frame longer than a chunk takes two reads.
func (j *Journal) readFrame(c *chunk, r ref) (frame, error) {
	for reads := 0; ; reads++ {
		b, length := c.frame(r)
		if length > 0 && length <= int64(len(b)) || reads == 2 {
			return decodeFrame(c.name, int64(r.at), b, j.sum, j.o.Identity.Incarnation)
		}
		if err := j.readChunk(c, r, max(chunkBytes, length)); err != nil {
			return frame{}, err
		}
	}
}

func (j *Journal) readChunk(c *chunk, r ref, size int64) error {
	h, err := j.handle(r.file)
	if err != nil {
		return err
	}
	end, err := h.Size()
	if err != nil {
		return err
	}
	if c.file != r.file {
		c.file, c.name = r.file, j.name(r.file)
	}
	c.at = int64(r.at)
	c.b = make([]byte, max(0, min(size, end-c.at)))
	if n, err := h.ReadAt(c.b, c.at); err != nil && !(err == io.EOF && n == len(c.b)) {
		return err
	}
	return nil
}

// handle returns an open file. Of the older ones only the last used is kept.
func (j *Journal) handle(number uint32) (vfs.File, error) {
	if number == j.number {
		return j.file, nil
	}
	if j.old != nil && j.oldNumber == number {
		return j.old, nil
	}
	f, err := j.o.FS.Open(j.name(number))
	if err != nil {
		return nil, err
	}
	if j.old != nil {
		j.old.Close()
	}
	j.old, j.oldNumber = f, number
	return f, nil
}
