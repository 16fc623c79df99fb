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
	state    raftlog.State
	begin    op.Number // before the first entry, if that is not op 2
	baseTerm uint64
	entries  []raftlog.Entry
}

func (i *image) base() op.Number { return max(i.begin, 1) }

// compact drops the entries up to op n.
func (i *image) compact(n op.Number) {
	if n <= i.base() {
		return
	}
	k := n - i.base()
	i.baseTerm = i.entries[k-1].Term
	i.begin, i.entries = n, slices.Clone(i.entries[k:])
}

// write is one frame: a state or one entry.
type write struct {
	state *raftlog.State
	entry raftlog.Entry
}

var _ raftlog.Log = (*memLog)(nil)

func (l *memLog) First() op.Number     { return l.base() + 1 }
func (l *memLog) Last() op.Number      { return l.base() + op.Number(len(l.entries)) }
func (l *memLog) State() raftlog.State { return l.state }

func (l *memLog) Term(n op.Number) (uint64, error) {
	if l.err != nil {
		return 0, l.err
	}
	if n == l.base() {
		return max(l.baseTerm, 1), nil
	}
	return l.entries[n-l.base()-1].Term, nil
}

func (l *memLog) Entries(lo, hi op.Number, maxBytes int) ([]raftlog.Entry, error) {
	l.reads++
	if l.err != nil {
		return nil, l.err
	}
	es := l.entries[lo-l.base()-1 : hi-l.base()-1]
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
	at := int(w.entry.Op-i.base()) - 1
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
	l.image = l.synced
	l.entries = slices.Clip(l.entries)
	for _, w := range l.pending[:r.IntN(len(l.pending)+1)] {
		l.image.append(w)
	}
	l.Sync()
}
