package judge

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Operations come in the order of time, whether they were nearly so or not at all.
func TestInTime(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, far := range []int{1, 16, 1 << 20} {
		for _, n := range []int{0, 1, 2, 1000} {
			times, list := make([]int64, n), make([]int32, n)
			for k := range times {
				times[k], list[k] = int64((k+r.IntN(far))*n+k), int32(k)
			}
			inTime(list, func(i int32) int64 { return times[i] })
			require.True(t, slices.IsSortedFunc(list, func(a, b int32) int { return cmp.Compare(times[a], times[b]) }), "%d operations, up to %d from their places", n, far)
			slices.Sort(list)
			for k, i := range list {
				require.EqualValues(t, k, i, "each is there once")
			}
		}
	}
}
