package journal

import (
	"testing"

	fuzz "github.com/google/gofuzz"
	"github.com/stretchr/testify/require"

	"purgelab/impl/corrupt"
	"purgelab/impl/framed"
	"purgelab/impl/raftlog"
	"purgelab/impl/record"
	"purgelab/model/op"
)

func TestFrameRoundTrip(t *testing.T) {
	f := fuzz.NewWithSeed(1).NilChance(0.2).NumElements(0, 6)
	for range 1000 {
		var seq, synced uint64
		var first op.Number
		var state *raftlog.State
		var entries []raftlog.Entry
		f.Fuzz(&seq)
		f.Fuzz(&synced)
		f.Fuzz(&first)
		f.Fuzz(&state)
		f.Fuzz(&entries)
		for i := range entries {
			entries[i].Op = first + op.Number(i)
		}
		b := appendFrame([]byte("before"), 7, 1, seq, synced, state, entries)[6:]
		x, err := decodeFrame("f", 0, append(b, "after"...), 7, 1)
		require.NoError(t, err)
		require.EqualValues(t, len(b), x.size)
		require.Equal(t, []uint64{seq, synced}, []uint64{x.seq, x.synced})
		require.Equal(t, state != nil, x.hasState)
		if state != nil {
			require.Equal(t, *state, x.state)
		}
		require.Equal(t, len(entries), x.count)
		x.entries(func(i int, e raftlog.Entry) {
			want := entries[i]
			require.Equal(t, string(want.Data), string(e.Data))
			want.Data, e.Data = nil, nil
			require.Equal(t, want, e)
		})
		_, err = decodeFrame("f", 0, b, 8, 1)
		require.ErrorIs(t, err, corrupt.ErrCorrupt, "another replica's")
		_, err = decodeFrame("f", 0, b, 7, 2)
		require.ErrorIs(t, err, corrupt.ErrCorrupt, "another incarnation's")
	}
}

func TestFileHeaderRoundTrip(t *testing.T) {
	f := fuzz.NewWithSeed(2)
	for range 200 {
		var want fileHead
		var id record.Identity
		f.Fuzz(&id)
		f.Fuzz(&want.number)
		f.Fuzz(&want.firstSeq)
		want.id = id
		got, err := decodeFileHeader("f", encodeFileHeader(id, want.number, want.firstSeq))
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

// TestGarbage: no input makes a decoder read beyond it, checksums right or wrong.
func TestGarbage(t *testing.T) {
	f := fuzz.NewWithSeed(3).NilChance(0).NumElements(0, 120)
	good := appendFrame(nil, 0, 1, 5, 4, &raftlog.State{Term: 1}, []raftlog.Entry{entry(2, 1), entry(3, 1)})
	for range 5000 {
		var b []byte
		f.Fuzz(&b)
		_, err := decodeFrame("f", 0, b, 0, 1)
		require.Error(t, err)
		_, err = decodeFileHeader("f", b)
		require.Error(t, err)
		mixed := append([]byte{}, good...)
		copy(mixed[frameHeader+len(b)%(len(mixed)-frameHeader):], b)
		putSum(mixed)
		if x, err := decodeFrame("f", 0, mixed, 0, 1); err == nil {
			x.entries(func(int, raftlog.Entry) {})
		} else {
			require.ErrorIs(t, err, corrupt.ErrCorrupt)
		}
	}
}

// putSum makes the checksum of a frame right.
func putSum(f []byte) { framed.Seal(f, frameHeader, frameMagic, 0) }
