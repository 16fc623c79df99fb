package sim

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/engine"
	"purgelab/impl/replica"
	"purgelab/impl/segment"
	"purgelab/impl/transfer"
)

// spoiling is a cluster that spoils, and what is on its heap of messages.
func spoiling(t *testing.T, s Spoil) *Cluster {
	c := toyCluster(t, 1, false, &appender{})
	c.SpoilTransfers(s)
	return c
}

func (c *Cluster) onTheirWay() (out []*transfer.Message) {
	list := slices.Clone(c.heap.list)
	slices.SortFunc(list, func(a, b event) int { return int(a.at-b.at) + int(a.seq) - int(b.seq) })
	for _, e := range list {
		if e.kind == evMessage {
			out = append(out, c.messages.list[e.slot].m.Transfer)
		}
	}
	return out
}

func moved(t *transfer.Message) parcel {
	return parcel{replica.Message{From: 1, To: 1, Transfer: t}, 0}
}

func chunk(offer uint64) *transfer.Message {
	c := &transfer.Chunk{Offer: offer, Data: []byte("whole batches")}
	c.Seal()
	return &transfer.Message{Chunk: c}
}

// What is altered is a copy, in one bit; of a manifest something else comes out, which
// its name gives away.
func TestSpoilFlips(t *testing.T) {
	c := spoiling(t, Spoil{Chunk: 1, Manifest: 1})
	sealed := 0
	for range 100 {
		was := chunk(7)
		got := c.spoilt(moved(was)).m.Transfer.Chunk
		require.Equal(t, chunk(7), was)
		differ := 0
		for i := range got.Data {
			if got.Data[i] != was.Chunk.Data[i] {
				differ++
			}
		}
		require.Equal(t, 1, differ)
		if got.Sum != was.Chunk.Sum {
			sealed++
		}
	}
	require.Greater(t, sealed, 20)
	require.Less(t, sealed, 80)
	require.Equal(t, 100, c.Effects.Moves.FlippedChunks)
	contradict := 0
	for range 100 {
		m := &transfer.Manifest{Term: 2, Point: engine.Point{Incarnation: 1, Applied: 9, Settled: 1, Start: 3, End: 8, Pieces: []segment.Piece{{Base: 3, End: 8, Size: 99, Sum: 5}}}}
		require.NoError(t, m.Check())
		got := c.spoilt(moved(&transfer.Message{Offer: m, ID: m.ID()})).m.Transfer
		require.Error(t, got.CheckOffer())
		if got.Offer.Check() != nil {
			contradict++
		}
	}
	require.Positive(t, contradict)
	require.Equal(t, 100, c.Effects.Moves.FlippedManifests)
}

// A chunk that is kept comes before one of another offer, and not before one of its own;
// a request comes when the replica that it is for is opened; nothing comes when all is
// healed.
func TestSpoilKeeps(t *testing.T) {
	c := spoiling(t, Spoil{Late: 1})
	c.spoilt(moved(chunk(7)))
	c.spoilt(moved(chunk(7)))
	require.Empty(t, c.onTheirWay())
	c.spoilt(moved(chunk(8)))
	require.Equal(t, []*transfer.Message{chunk(7)}, c.onTheirWay())
	q := &transfer.Message{Request: &transfer.Request{}}
	c.spoilt(moved(q))
	require.Len(t, c.onTheirWay(), 1)
	c.comesToLife(1, 0)
	require.Equal(t, []*transfer.Message{q, q}, slices.DeleteFunc(c.onTheirWay(), func(m *transfer.Message) bool { return m.Chunk != nil }))
	require.Equal(t, 3, c.Effects.Moves.Late)
	c.Heal()
	c.comesToLife(1, 0)
	c.spoilt(moved(chunk(9)))
	require.Equal(t, 3, c.Effects.Moves.Late)
}
