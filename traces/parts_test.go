package traces

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"purgelab/traces/tlc"
)

// TestPartsSayWhatTheWholeSays: some good and bad samples of every module are judged whole, and
// with their ends cut into parts of a few steps. Each report is the same.
func TestPartsSayWhatTheWholeSays(t *testing.T) {
	const parts = 2 // after a first one that is long: each takes a process
	sizes := []int{1, 2, 3, 7}
	good, err := filepath.Glob("testdata/accepted/*.ndjson")
	require.NoError(t, err)
	bad, err := filepath.Glob("testdata/rejected/*.ndjson")
	require.NoError(t, err)
	var whole, cut []*Trace
	var size []int // by trace that is cut
	for i, path := range slices.Concat(every(4, good), every(12, bad)) {
		n := sizes[i%len(sizes)]
		whole = append(whole, readSample(t, path))
		cut, size = append(cut, whole[i]), append(size, n)
	}
	tool, err := tlc.Find(context.Background(), "../.tools", os.Stderr)
	require.NoError(t, err)
	carried := map[string]int{} // by module: parts that begin where another one ended
	got, err := Validate(context.Background(), tool, Options{Spec: "../spec", Jobs: 2, Timeout: 5 * time.Minute, cut: func(j *job) int {
		n := size[j.trace]
		if j.from > 0 {
			carried[j.judge.root]++
			return min(j.from+n, len(j.steps))
		}
		return max(len(j.steps)-parts*n, min(n, len(j.steps)))
	}}, cut)
	require.NoError(t, err)
	want := map[string]Report{}
	for _, r := range validate(t, whole...) {
		want[r.Trace] = r
	}
	for i, r := range got {
		assert.Equal(t, want[r.Trace], r, "%s in parts of %d", r.Trace, size[i])
	}
	for _, d := range designs {
		for _, judge := range d.judges() {
			require.Greater(t, carried[judge.root], 3, judge.root)
		}
	}
}

// every is every nth of a list.
func every(n int, list []string) (out []string) {
	for i := 0; i < len(list); i += n {
		out = append(out, list[i])
	}
	return out
}
