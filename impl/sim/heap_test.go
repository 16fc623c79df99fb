package sim

import (
	"math/rand/v2"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHeapPopsInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := 0; round < 200; round++ {
		var h eventHeap
		var want, got []event
		seq := uint64(0)
		for i := 0; i < 300; i++ {
			if r.IntN(3) > 0 || len(want) == 0 {
				e := event{at: r.Int64N(50), seq: seq}
				seq++
				h.push(e)
				want = append(want, e)
				continue
			}
			sort.Slice(want, func(i, j int) bool { return want[i].before(&want[j]) })
			require.Equal(t, want[0], h.pop())
			want = want[1:]
		}
		sort.Slice(want, func(i, j int) bool { return want[i].before(&want[j]) })
		for len(h.list) > 0 {
			got = append(got, h.pop())
		}
		require.Equal(t, want, got)
	}
}

func TestSlabReusesSlots(t *testing.T) {
	var s slab[string]
	a, b := s.put("a"), s.put("b")
	require.Equal(t, "a", s.take(a))
	require.Equal(t, a, s.put("c"))
	require.Equal(t, "b", s.take(b))
	require.Equal(t, "c", s.take(a))
	require.Len(t, s.list, 2)
}

func BenchmarkHeap(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	var h eventHeap
	for i := 0; i < 64; i++ {
		h.push(event{at: r.Int64N(1000), seq: uint64(i)})
	}
	b.ReportAllocs()
	for i := 0; i < b.N; i++ {
		e := h.pop()
		e.at += int64(i % 997)
		e.seq = uint64(i + 64)
		h.push(e)
	}
}
