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
	var out []raftlog.Entry
	size := 0
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
		r := j.index[n-Bootstrap-1]
		f, err := j.readFrame(r)
		if err != nil {
			return nil, fmt.Errorf("journal: read op %d: %w", n, err)
		}
		full := false
		f.entries(func(_ int, e raftlog.Entry) {
			// A frame may begin before n, and its end may have been overwritten.
			if full || e.Op != n || n >= hi || !j.same(n, r) {
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
	}
	return out, nil
}

// same tells whether op n is stored in the frame that r names.
func (j *Journal) same(n op.Number, r ref) bool {
	s := j.index[n-Bootstrap-1]
	return s.file == r.file && s.at == r.at
}

// readFrame reads and checks one frame from disk.
func (j *Journal) readFrame(r ref) (frame, error) {
	h, err := j.handle(r.file)
	if err != nil {
		return frame{}, err
	}
	head := make([]byte, frameHeader)
	if _, err := h.ReadAt(head, int64(r.at)); err != nil {
		return frame{}, err
	}
	size, err := h.Size()
	if err != nil {
		return frame{}, err
	}
	length := int64(binary.LittleEndian.Uint32(head[4:]))
	if most := size - int64(r.at) - frameHeader; length > most {
		return frame{}, &corrupt.Error{File: j.name(r.file), Offset: int64(r.at) + 4, What: "journal frame length", Want: fmt.Sprintf("at most %d", most), Got: length}
	}
	b := make([]byte, frameHeader+length)
	if n, err := h.ReadAt(b, int64(r.at)); err != nil && !(err == io.EOF && n == len(b)) {
		return frame{}, err
	}
	return decodeFrame(j.name(r.file), int64(r.at), b, j.sum, j.o.Identity.Incarnation)
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
