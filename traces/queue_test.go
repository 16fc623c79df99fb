package traces

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBatchesAreBounded: a batch holds parts up to the limit, but one that is larger goes
// alone.
func TestBatchesAreBounded(t *testing.T) {
	k := new(kind)
	for _, n := range []int{4, 6, 1, 30, 5, 5} {
		k.jobs = append(k.jobs, &job{kind: k, steps: make([]step, n)})
	}
	q := &queue{limit: 10, cut: func(j *job) int { return len(j.steps) }}
	var sizes [][]int
	for len(k.jobs) > 0 {
		var of []int
		for _, j := range q.batch(k) {
			of = append(of, j.to-j.from)
		}
		sizes = append(sizes, of)
	}
	require.Equal(t, [][]int{{4, 6}, {1}, {30}, {5, 5}}, sizes)
}
