package invariant

import (
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/observe"
	"purgelab/impl/replica"
	"purgelab/impl/segment"
	"purgelab/impl/vfs/crashfs"
	"purgelab/model/op"
)

// travelling are the batches of ops from n on, of two messages each, from an offset on, as
// a chunk.
func travelling(t *testing.T, n op.Number, from op.Offset, batches int) []byte {
	d := crashfs.New()
	o := segment.Options{FS: d.FS(), Dir: "g", Start: from, End: from}
	require.NoError(t, d.FS().Mkdir("t", "g"))
	l, _, err := segment.Open(o)
	require.NoError(t, err)
	for i := range batches {
		require.NoError(t, l.Append(n+op.Number(i), from+op.Offset(2*i), 1, []op.Payload{"a", "b"}))
	}
	sources, _, err := l.Pieces(from, l.Mark())
	require.NoError(t, err)
	chunk, err := segment.NewReader(o).Read(sources[0], from, segment.FirstByte, 1<<20)
	require.NoError(t, err)
	return chunk
}

// TestPurgedNeverTravels: after the story the messages of op 5 may leave, and those of
// ops before the purge at op 4 may not; after a deletion nothing below the start may.
func TestPurgedNeverTravels(t *testing.T) {
	served := func(chunk []byte, more ...observe.Event) []Violation {
		c := watched(append(story(), more...))
		c.Served(9, 1, 0, chunk)
		return c.Violations()
	}
	require.Empty(t, served(travelling(t, 5, 0, 2)))
	got := served(travelling(t, 4, 0, 2))
	require.Len(t, got, 1)
	require.Equal(t, "PurgedNeverTravels: replica 1, partition 0, at 9 ms: sends the message of op 4 after op 6: op 4 purged it", got[0].String())

	more := func(e observe.Event) observe.Event {
		e.Replica, e.Generation = 1, 1
		return e
	}
	deletion := []observe.Event{
		more(observe.Event{Action: "Materialize", Op: 7, Kind: "append", Offset: 1, Count: 5, End: 6}),
		more(observe.Event{Action: "Materialize", Op: 8, Kind: "advance", Offset: 3, Start: 3, End: 6}),
	}
	require.Empty(t, served(travelling(t, 7, 3, 1), deletion...))
	got = served(travelling(t, 7, 2, 1), deletion...)
	require.Len(t, got, 1)
	require.Equal(t, "PurgedNeverTravels: replica 1, partition 0, at 9 ms: sends message 2 after op 8: the start is 3", got[0].String())
	require.Len(t, served([]byte("rubbish")), 1)
	require.NotContains(t, Transfers(replica.ResetRecord), "PurgedNeverTravels")
}
