package model

import (
	"slices"

	"purgelab/model/op"
)

// chunkSize balances what a log that goes its own way copies against the length of
// the list of chunks.
const chunkSize = 32

// log holds the messages of one generation from offset 0, deleted ones
// included: the start decides what is readable. It is persistent: a log that goes
// on from another one shares its messages, and the first that does so writes behind
// them in place, so that a line of n appends costs n. The second one copies a chunk
// and the list of chunks. So logs that come from one another belong to one goroutine.
type log struct {
	chunks *chunks // nil: it is empty
	n      int
	hash   uint64 // of all messages in order
}

// chunks are all full but for the last one.
type chunks struct{ list []*chunk }

// chunk is never changed below used.
type chunk struct {
	used     int
	messages [chunkSize]op.Record
}

func (l log) len() op.Offset { return op.Offset(l.n) }

func (l log) at(o op.Offset) op.Record { return l.chunks.list[o/chunkSize].messages[o%chunkSize] }

func (l log) append(batch []op.Payload, ts op.Timestamp) log {
	for _, p := range batch {
		c := l.last()
		c.messages[c.used] = op.Record{Payload: p, Timestamp: ts}
		c.used++
		l.n++
		l.hash = mix(mix(l.hash, hashString(string(p))), uint64(ts))
	}
	return l
}

// last is the chunk for the next message, which no other log has written there.
func (l *log) last() *chunk {
	k, used := l.n/chunkSize, l.n%chunkSize
	if l.chunks == nil {
		l.chunks = &chunks{}
	}
	if used > 0 && l.chunks.list[k].used == used {
		return l.chunks.list[k]
	}
	c := &chunk{used: used}
	if used > 0 {
		copy(c.messages[:used], l.chunks.list[k].messages[:used])
	}
	if len(l.chunks.list) > k {
		l.chunks = &chunks{slices.Clone(l.chunks.list[:k])}
	}
	l.chunks.list = append(l.chunks.list, c)
	return c
}

// firstAt is the first offset in [from, len) with a timestamp of at least ts,
// or len. Timestamps never fall, so a binary search finds it.
func (l log) firstAt(ts op.Timestamp, from op.Offset) op.Offset {
	lo, hi := from, l.len()
	for lo < hi {
		if mid := lo + (hi-lo)/2; l.at(mid).Timestamp < ts {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// records are n messages. Most polls read few, so that all are in one chunk, and what is
// returned is that part of it: nobody may change it.
func (l log) records(from op.Offset, n uint32) []op.Record {
	if n == 0 {
		return nil
	}
	if at := int(from % chunkSize); at+int(n) <= chunkSize {
		return l.chunks.list[from/chunkSize].messages[at : at+int(n) : at+int(n)]
	}
	out := make([]op.Record, n)
	for i := range out {
		out[i] = l.at(from + op.Offset(i))
	}
	return out
}

func (l log) equal(o log) bool {
	if l.hash != o.hash || l.n != o.n {
		return false
	}
	for k, n := 0, l.n; n > 0; k, n = k+1, n-chunkSize {
		a, b, used := l.chunks.list[k], o.chunks.list[k], min(n, chunkSize)
		if a != b && !slices.Equal(a.messages[:used], b.messages[:used]) {
			return false
		}
	}
	return true
}

// mix folds v into h; the constants are those of splitmix64.
func mix(h, v uint64) uint64 {
	h = (h ^ v) + 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

func hashString(s string) uint64 { // FNV-1a
	h := uint64(14695981039346656037)
	for i := 0; i < len(s); i++ {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}
