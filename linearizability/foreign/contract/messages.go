package contract

import (
	"sort"

	"purgelab/linearizability/foreign"
	"purgelab/model/op"
)

// message is one of a stream. Serial counts the messages that the state ever
// took in, so that what a cursor names stays what it was when others go.
type message struct {
	serial  int
	payload op.Payload
	subject string
	at      *foreign.Position // nil: nobody told
}

// chunkSize balances what an append copies against the length of the list.
const chunkSize = 32

// messages is a persistent list, by rising serial: append copies the tail and
// shares the full chunks.
type messages struct {
	full []*[chunkSize]message
	tail []message
	hash uint64
}

func (l messages) len() int { return len(l.full)*chunkSize + len(l.tail) }

func (l messages) at(i int) *message {
	if c := i / chunkSize; c < len(l.full) {
		return &l.full[c][i%chunkSize]
	}
	return &l.tail[i-len(l.full)*chunkSize]
}

func (l messages) append(m message) messages {
	tail := make([]message, len(l.tail), chunkSize)
	copy(tail, l.tail)
	tail = append(tail, m)
	l.hash = mix(mix(l.hash, hashText(string(m.payload))), uint64(m.serial))
	if len(tail) == chunkSize {
		full := make([]*[chunkSize]message, len(l.full)+1)
		copy(full, l.full)
		full[len(l.full)] = (*[chunkSize]message)(tail)
		l.full, tail = full, nil
	}
	l.tail = tail
	return l
}

// keep is the list without those that a function does not want.
func (l messages) keep(want func(*message) bool) messages {
	var out messages
	for i := range l.len() {
		if m := l.at(i); want(m) {
			out = out.append(*m)
		}
	}
	return out
}

// find is the index of the first message of at least a serial.
func (l messages) find(serial int) int {
	return sort.Search(l.len(), func(i int) bool { return l.at(i).serial >= serial })
}

func (l messages) equal(o messages) bool {
	if l.hash != o.hash || l.len() != o.len() {
		return false
	}
	for i, c := range l.full {
		if c == o.full[i] {
			continue
		}
		for k := range c {
			if !c[k].same(&o.full[i][k]) {
				return false
			}
		}
	}
	for i := range l.tail {
		if !l.tail[i].same(&o.tail[i]) {
			return false
		}
	}
	return true
}

func (m *message) same(o *message) bool {
	return m.serial == o.serial && m.payload == o.payload && samePlace(m.at, o.at)
}

func hashText(s string) uint64 { // FNV-1a
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}
