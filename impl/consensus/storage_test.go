package consensus

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"purgelab/impl/raftlog"
)

// The log as raft sees it answers as raft's own storage does, whatever was
// appended, replaced, or forgotten by a restart.
func TestStorageAnswersAsMemoryStorage(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		log := &memLog{}
		ours := newStorage(log, raftlog.State{}, Membership{})
		theirs := raft.NewMemoryStorage()
		one := uint64(1)
		require.NoError(t, theirs.ApplySnapshot(&raftpb.Snapshot{Metadata: &raftpb.SnapshotMetadata{Index: &one, Term: &one, ConfState: &raftpb.ConfState{}}}))
		term := uint64(1)
		for range 300 {
			switch r.IntN(10) {
			case 0:
				ours = newStorage(log, raftlog.State{}, Membership{})
			case 1:
				for range len(ours.tail) / 2 { // as if it were long
					ours.drop()
				}
			case 2, 3, 4, 5:
				last, _ := theirs.LastIndex()
				at := last + 1
				if r.IntN(4) == 0 && last > 1 {
					at, term = 2+r.Uint64N(last-1), term+1
				}
				var es []*raftpb.Entry
				for i := range r.Uint64N(5) + 1 {
					es = append(es, &raftpb.Entry{Index: proto.Uint64(at + i), Term: proto.Uint64(term), Data: make([]byte, r.IntN(50))})
				}
				held := append([]*raftpb.Entry(nil), ours.tail...)
				heldTail := ours.tail
				ours.extend(es)
				require.Equal(t, held, heldTail, "slices in messages are not overwritten")
				log.Append(nil, appendEntries(nil, es))
				require.NoError(t, theirs.Append(es))
			default:
				compare(t, r, ours, theirs)
			}
		}
	}
}

func compare(t *testing.T, r *rand.Rand, ours *storage, theirs *raft.MemoryStorage) {
	first, _ := theirs.FirstIndex()
	got, _ := ours.FirstIndex()
	require.Equal(t, first, got)
	last, _ := theirs.LastIndex()
	got, _ = ours.LastIndex()
	require.Equal(t, last, got)

	for i := range last + 3 {
		want, wantErr := theirs.Term(i)
		got, err := ours.Term(i)
		require.Equal(t, wantErr, err)
		require.Equal(t, want, got)
	}
	if last < first {
		return
	}
	lo := first + r.Uint64N(last-first+1)
	hi := lo + 1 + r.Uint64N(last-lo+1)
	want, err := theirs.Entries(lo, hi, ^uint64(0))
	require.NoError(t, err)
	es, err := ours.Entries(lo, hi, ^uint64(0))
	require.NoError(t, err)
	require.Equal(t, appendEntries(nil, want), appendEntries(nil, es))

	require.Equal(t, len(es), cap(es), "raft may append to what it got")
	bytes := 0
	for _, e := range ours.tail {
		bytes += cost(e)
	}
	require.Equal(t, bytes, ours.bytes)

	// A limit is kept, but one entry always comes.
	limit := r.Uint64N(300)
	es, err = ours.Entries(lo, hi, limit)
	require.NoError(t, err)
	require.NotEmpty(t, es)
	require.Equal(t, appendEntries(nil, want[:len(es)]), appendEntries(nil, es))
	_, err = ours.Entries(1, 2, limit)
	require.Equal(t, raft.ErrCompacted, err)
}

// The cost of an entry is a bound of its encoding.
func TestCostBoundsTheEncoding(t *testing.T) {
	for _, n := range []int{0, 1, 127, 128, 1 << 14, 1 << 21} {
		e := &raftpb.Entry{Type: confChangeType, Term: proto.Uint64(^uint64(0)), Index: proto.Uint64(^uint64(0)), Data: make([]byte, n)}
		require.GreaterOrEqual(t, cost(e), proto.Size(e))
	}
}
