package barebench_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/consensus/barebench"
)

func TestEveryMemberApplies(t *testing.T) {
	for _, replicas := range []int{1, 3, 5} {
		g, err := barebench.New(replicas)
		require.NoError(t, err)
		require.Zero(t, g.Applied())
		for range 100 {
			require.NoError(t, g.Propose([]byte("x")))
		}
		require.Equal(t, 100*replicas, g.Applied())
	}
}

func BenchmarkBare(b *testing.B) {
	g, err := barebench.New(3)
	if err != nil {
		b.Fatal(err)
	}
	data := make([]byte, 100)
	b.ReportAllocs()
	for b.Loop() {
		if err := g.Propose(data); err != nil {
			b.Fatal(err)
		}
	}
}
