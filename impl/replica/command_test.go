package replica

import (
	"testing"

	fuzz "github.com/google/gofuzz"
	"github.com/stretchr/testify/require"

	"purgelab/model/op"
)

// TestCommandsComeBack: a leader that takes a command from memory executes what the
// others decode, in every field.
func TestCommandsComeBack(t *testing.T) {
	f := fuzz.NewWithSeed(1).NilChance(0.3).NumElements(1, 4)
	for range 2000 {
		var c command
		f.Fuzz(&c)
		got, err := decodeCommand(2, encodeCommand(&c))
		require.NoError(t, err)
		require.Equal(t, &c, got)
	}
}

// TestProposalsAreForgotten: of what a leader proposed, nothing is kept once it is
// committed, be it found in memory or read back.
func TestProposalsAreForgotten(t *testing.T) {
	r := &Replica{origin: 7}
	var data [][]byte
	for n := uint64(1); n <= 6; n++ {
		c := &command{Origin: 7, Number: n, Request: op.Request{Kind: op.Append, Payloads: []op.Payload{"m"}}}
		data = append(data, encodeCommand(c))
		r.proposals = append(r.proposals, proposal{data[n-1], c})
	}
	first := r.proposals[0].c
	c, err := r.commandOf(2, data[0])
	require.NoError(t, err)
	require.Same(t, first, c)
	require.Len(t, r.proposals, 5)

	other, err := r.commandOf(3, encodeCommand(&command{Origin: 8, Number: 9}))
	require.NoError(t, err)
	require.EqualValues(t, 9, other.Number)
	require.Len(t, r.proposals, 5, "of another replica")

	c, err = r.commandOf(4, append([]byte(nil), data[3]...))
	require.NoError(t, err)
	require.EqualValues(t, 4, c.Number)
	require.Len(t, r.proposals, 2, "those before it were lost")
}
