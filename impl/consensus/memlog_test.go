package consensus

import (
	"fmt"
	"slices"

	"purgelab/impl/raftlog"
	"purgelab/model/op"
)

// memLog is a log in memory that knows what was synced, so that a power loss
// can take the rest.
type memLog struct {
	state, syncedState raftlog.State
	entries            []raftlog.Entry // the first is op 2
	synced             []raftlog.Entry
	reads              int // calls of Entries
	err                error
}

var _ raftlog.Log = (*memLog)(nil)

func (l *memLog) First() op.Number     { return 2 }
func (l *memLog) Last() op.Number      { return op.Number(1 + len(l.entries)) }
func (l *memLog) State() raftlog.State { return l.state }

func (l *memLog) Term(n op.Number) (uint64, error) {
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

// Append is the caller's write. A suffix that is replaced stays as it was for
// those who hold it.
func (l *memLog) Append(s *raftlog.State, es []raftlog.Entry) {
	if s != nil {
		l.state = *s
	}
	if len(es) == 0 {
		return
	}
	at := int(es[0].Op) - 2
	if at < 0 || at > len(l.entries) {
		panic(fmt.Sprintf("append of op %d to a log that ends at %d", es[0].Op, l.Last()))
	}
	if at < len(l.entries) {
		l.entries = slices.Clone(l.entries[:at])
	}
	l.entries = append(l.entries, es...)
}

// Sync makes everything durable.
func (l *memLog) Sync() { l.synced, l.syncedState = l.entries, l.state }

// PowerLoss keeps what was synced.
func (l *memLog) PowerLoss() { l.entries, l.state = slices.Clip(l.synced), l.syncedState }
