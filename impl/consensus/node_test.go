package consensus

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSmoke(t *testing.T) {
	log := &memLog{}
	n, err := New(Config{ID: 1, Voters: []uint64{1}, Log: log, Rand: rand.New(rand.NewPCG(1, 1)), HeartbeatTicks: 5, ElectionTicks: 30})
	require.NoError(t, err)
	var got []string
	run := func() {
		for b, ok := n.Ready(); ok; b, ok = n.Ready() {
			log.Append(b.State, b.Entries)
			log.Sync()
			n.Advance()
			for _, e := range b.Committed {
				got = append(got, string(e.Data))
			}
		}
	}
	for range 100 {
		n.Tick()
		run()
	}
	require.Equal(t, Leader, n.Status().Role)
	require.NoError(t, n.Propose([]byte("a"), []byte("b")))
	run()
	require.Equal(t, []string{"", "a", "b"}, got)
	require.EqualValues(t, 2, n.Status().OwnTermEntry)
}
