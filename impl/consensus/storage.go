package consensus

import (
	"fmt"
	"math"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"

	"purgelab/impl/raftlog"
	"purgelab/model/op"
)

// Limits of the entries kept in raft's own form, so that what was just appended
// need not be read and converted again when it commits or is resent.
const (
	tailEntries = 1024
	tailBytes   = 1 << 20
)

// entryOverhead is at least what the encoding of an entry adds to its data:
// type, term and index of up to 11 bytes each, and the length.
const entryOverhead = 40

// storage shows a raftlog.Log to raft. Entries handed out by Ready are in tail
// before they are in the log; raft does not ask for them until Advance.
type storage struct {
	log  raftlog.Log
	hard *raftpb.HardState
	conf *raftpb.ConfState // the present one

	tail  []*raftpb.Entry // consecutive, ending with the last op appended by this process
	bytes int             // of tail, as the sum of cost
	err   error           // the log's first error; raft panics on it
}

var _ raft.Storage = (*storage)(nil)

func newStorage(log raftlog.Log, s raftlog.State, members Membership) *storage {
	commit := uint64(s.Commit)
	return &storage{
		log:  log,
		hard: &raftpb.HardState{Term: &s.Term, Vote: &s.Vote, Commit: &commit},
		conf: members.toRaft(),
	}
}

func (s *storage) InitialState() (*raftpb.HardState, *raftpb.ConfState, error) {
	return s.hard, s.conf, nil
}

func (s *storage) FirstIndex() (uint64, error) { return uint64(s.log.First()), nil }
func (s *storage) LastIndex() (uint64, error)  { return uint64(s.log.Last()), nil }

func (s *storage) Term(i uint64) (uint64, error) {
	if e := s.at(i); e != nil {
		return e.GetTerm(), nil
	}
	n := op.Number(i)
	if n+1 < s.log.First() {
		return 0, raft.ErrCompacted
	}
	if n > s.log.Last() {
		return 0, raft.ErrUnavailable
	}
	t, err := s.log.Term(n)
	return t, s.failed(err, "term of op %d", i)
}

func (s *storage) Entries(lo, hi, maxSize uint64) ([]*raftpb.Entry, error) {
	if s.at(lo) != nil && s.at(hi-1) != nil {
		first := s.tail[0].GetIndex()
		es := s.tail[lo-first : hi-first]
		n, size := 1, cost(es[0])
		for n < len(es) {
			size += cost(es[n])
			if uint64(size) > maxSize {
				break
			}
			n++
		}
		return es[:n:n], nil
	}
	if op.Number(lo) < s.log.First() {
		return nil, raft.ErrCompacted
	}
	if op.Number(hi) > s.log.Last()+1 {
		return nil, raft.ErrUnavailable
	}
	es, err := s.log.Entries(op.Number(lo), op.Number(hi), int(min(maxSize, math.MaxInt)))
	if err != nil {
		return nil, s.failed(err, "entries of ops %d to %d", lo, hi-1)
	}
	return toRaft(es), nil
}

// at is the entry of op i if it is in the tail.
func (s *storage) at(i uint64) *raftpb.Entry {
	if len(s.tail) == 0 {
		return nil
	}
	if k := i - s.tail[0].GetIndex(); k < uint64(len(s.tail)) { // below the first it wraps around
		return s.tail[k]
	}
	return nil
}

// extend puts entries that are about to be appended to the log in the tail.
func (s *storage) extend(es []*raftpb.Entry) {
	keep := 0
	if len(s.tail) > 0 {
		if first, next := s.tail[0].GetIndex(), es[0].GetIndex(); first < next && next <= first+uint64(len(s.tail)) {
			keep = int(next - first)
		}
	}
	if keep < len(s.tail) {
		for _, e := range s.tail[keep:] {
			s.bytes -= cost(e)
		}
		s.tail = s.tail[:keep:keep] // slices of it may be in messages: copy, do not overwrite
	}
	s.tail = append(s.tail, es...)
	for _, e := range es {
		s.bytes += cost(e)
	}
	for len(s.tail) > 1 && (len(s.tail) > tailEntries || s.bytes > tailBytes) {
		s.drop()
	}
}

// drop forgets the first entry of the tail.
func (s *storage) drop() {
	s.bytes -= cost(s.tail[0])
	s.tail = s.tail[1:]
}

func (s *storage) failed(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	if s.err == nil {
		s.err = fmt.Errorf("consensus: read "+format+": %w", append(args, err)...)
	}
	return s.err
}

// cost bounds the encoded size of an entry from above.
func cost(e *raftpb.Entry) int { return len(e.GetData()) + entryOverhead }

var (
	normalType     = raftpb.EntryNormal.Enum()
	confChangeType = raftpb.EntryConfChangeV2.Enum()
)

// toRaft converts entries read from a log, sharing their data.
func toRaft(es []raftlog.Entry) []*raftpb.Entry {
	out := make([]*raftpb.Entry, len(es))
	entries := make([]raftpb.Entry, len(es))
	numbers := make([]uint64, 2*len(es))
	for i := range es {
		term, index := &numbers[2*i], &numbers[2*i+1]
		*term, *index = es[i].Term, uint64(es[i].Op)
		e := &entries[i]
		e.Type, e.Term, e.Index, e.Data = normalType, term, index, es[i].Data
		if es[i].Type == raftlog.ConfChange {
			e.Type = confChangeType
		}
		out[i] = e
	}
	return out
}

// appendEntries converts raft's entries, sharing their data.
func appendEntries(out []raftlog.Entry, es []*raftpb.Entry) []raftlog.Entry {
	for _, e := range es {
		t := raftlog.Normal
		if e.GetType() != raftpb.EntryNormal {
			t = raftlog.ConfChange
		}
		out = append(out, raftlog.Entry{Op: op.Number(e.GetIndex()), Term: e.GetTerm(), Type: t, Data: e.GetData()})
	}
	return out
}
