package consensus

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"purgelab/impl/raftlog"
	"purgelab/model/op"
)

// memLog is a log in memory that knows what was synced, so that a power loss
// can take the rest.
type memLog struct {
	image         // as read
	synced  image // what a power loss leaves for certain
	pending []write
	reads   int // calls of Entries
	err     error
}

type image struct {
	state   raftlog.State
	entries []raftlog.Entry // the first is op 2
}

// write is one frame: a state or one entry.
type write struct {
	state *raftlog.State
	entry raftlog.Entry
}

var _ raftlog.Log = (*memLog)(nil)

func (l *memLog) First() op.Number     { return 2 }
func (l *memLog) Last() op.Number      { return op.Number(1 + len(l.entries)) }
func (l *memLog) State() raftlog.State { return l.state }

func (l *memLog) Term(n op.Number) (uint64, error) {
	if l.err != nil {
		return 0, l.err
	}
	if n == 1 {
		return 1, nil
	}
	return l.entries[n-2].Term, nil
}

func (l *memLog) Entries(lo, hi op.Number, maxBytes int) ([]raftlog.Entry, error) {
	l.reads++
	if l.err != nil {
		return nil, l.err
	}
	es := l.entries[lo-2 : hi-2]
	for i, size := 0, 0; i < len(es); i++ {
		if size += len(es[i].Data); size > maxBytes && i > 0 {
			return es[:i:i], nil
		}
	}
	return es, nil
}

// Append is the caller's write: the state, then the entries.
func (l *memLog) Append(s *raftlog.State, es []raftlog.Entry) {
	if s != nil {
		state := *s
		l.append(write{state: &state})
	}
	for _, e := range es {
		l.append(write{entry: e})
	}
}

func (l *memLog) append(w write) {
	l.pending = append(l.pending, w)
	l.image.append(w)
}

// append applies one frame. A suffix that is replaced stays as it was for those
// who hold it.
func (i *image) append(w write) {
	if w.state != nil {
		i.state = *w.state
		return
	}
	at := int(w.entry.Op) - 2
	if at < 0 || at > len(i.entries) {
		panic(fmt.Sprintf("append of op %d to a log of %d entries", w.entry.Op, len(i.entries)))
	}
	if at < len(i.entries) {
		i.entries = slices.Clone(i.entries[:at])
	}
	i.entries = append(i.entries, w.entry)
}

// Sync makes everything durable.
func (l *memLog) Sync() { l.synced, l.pending = l.image, l.pending[:0] }

// PowerLoss keeps what was synced, and any beginning of what was written since.
func (l *memLog) PowerLoss(r *rand.Rand) {
	l.image = image{state: l.synced.state, entries: slices.Clip(l.synced.entries)}
	for _, w := range l.pending[:r.IntN(len(l.pending)+1)] {
		l.image.append(w)
	}
	l.Sync()
}
