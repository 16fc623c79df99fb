package model

import "purgelab/model/op"

// chunkSize balances what an append copies (half a tail on average) against
// the length of the list of full chunks.
const chunkSize = 32

type message struct {
	payload   op.Payload
	timestamp op.Timestamp
}

// log holds the messages of one generation from offset 0, deleted ones
// included: the start decides what is readable. It is persistent: append
// copies the tail and shares the full chunks.
type log struct {
	full []*[chunkSize]message // never modified in place
	tail []message             // fewer than chunkSize, never modified in place
	hash uint64                // of all messages in order
}

func (l log) len() op.Offset { return op.Offset(len(l.full)*chunkSize + len(l.tail)) }

func (l log) at(o op.Offset) message {
	if i := int(o) / chunkSize; i < len(l.full) {
		return l.full[i][int(o)%chunkSize]
	}
	return l.tail[int(o)-len(l.full)*chunkSize]
}

func (l log) append(batch []op.Payload, ts op.Timestamp) log {
	tail := make([]message, len(l.tail), min(chunkSize, len(l.tail)+len(batch)))
	copy(tail, l.tail)
	for _, p := range batch {
		tail = append(tail, message{p, ts})
		l.hash = mix(mix(l.hash, hashString(string(p))), uint64(ts))
		if len(tail) == chunkSize {
			full := make([]*[chunkSize]message, len(l.full)+1)
			copy(full, l.full)
			full[len(l.full)] = (*[chunkSize]message)(tail)
			l.full, tail = full, nil
		}
	}
	l.tail = tail
	return l
}

// firstAt is the first offset in [from, len) with a timestamp of at least ts,
// or len. Timestamps never fall, so a binary search finds it.
func (l log) firstAt(ts op.Timestamp, from op.Offset) op.Offset {
	lo, hi := from, l.len()
	for lo < hi {
		if mid := lo + (hi-lo)/2; l.at(mid).timestamp < ts {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

func (l log) records(from op.Offset, n uint32) []op.Record {
	if n == 0 {
		return nil
	}
	out := make([]op.Record, n)
	for i := range out {
		m := l.at(from + op.Offset(i))
		out[i] = op.Record{Payload: m.payload, Timestamp: m.timestamp}
	}
	return out
}

func (l log) equal(o log) bool {
	if l.hash != o.hash || l.len() != o.len() {
		return false
	}
	for i, c := range l.full {
		if c != o.full[i] && *c != *o.full[i] {
			return false
		}
	}
	for i, m := range l.tail {
		if m != o.tail[i] {
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
