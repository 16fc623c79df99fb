package traces

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"purgelab/traces/tlc"
)

// TestNothingIsLeftToSearchFor: in good traces no state has two successors. The trace
// modules tell states by the cursor, which would hide a second one, so here TLC tells
// them by all that they are.
func TestNothingIsLeftToSearchFor(t *testing.T) {
	own, err := fs.Sub(modules, "tla")
	require.NoError(t, err)
	whole := fstest.MapFS{}
	names, err := fs.Glob(own, "*")
	require.NoError(t, err)
	for _, name := range names {
		text, err := fs.ReadFile(own, name)
		require.NoError(t, err)
		if strings.HasSuffix(name, ".cfg") {
			require.Contains(t, string(text), "VIEW TraceView\n")
		}
		whole[name] = &fstest.MapFile{Data: []byte(strings.Replace(string(text), "VIEW TraceView\n", "", 1))}
	}
	tool, err := tlc.Find(context.Background(), "../.tools", os.Stderr)
	require.NoError(t, err)
	v := &validator{tool: tool, o: Options{Spec: "../spec", Modules: whole, Timeout: 5 * time.Minute, Keep: t.TempDir()}}
	var jobs []*job
	paths, err := filepath.Glob("testdata/accepted/*.ndjson")
	require.NoError(t, err)
	for _, path := range paths {
		tr := readSample(t, path)
		jobs = append(jobs, findDesign(tr.Header.Design).jobs(tr)...)
	}
	q := newQueue(jobs, defaultBatch, func(j *job) int { return len(j.steps) })
	for batch := q.take(); batch != nil; batch = q.take() {
		q.judged(batch)
		res, err := v.tlc(context.Background(), batch, "Consumed")
		require.NoError(t, err)
		require.Equal(t, tlc.Pass, res.Verdict, res.Reason)
		said, err := os.ReadFile(filepath.Join(v.o.Keep, fmt.Sprintf("%s-%d.txt", batch[0].judge.root, v.runs)))
		require.NoError(t, err)
		degree := outdegree.FindStringSubmatch(string(said))
		require.NotNil(t, degree, "%s", batch[0].judge.root)
		assert.Equal(t, "1", degree[1], "%s: the largest number of successors", batch[0].judge.root)
	}
}

// outdegree is what TLC says of the state graph.
var outdegree = regexp.MustCompile(`outdegree of the complete state graph is .*the maximum (\d+)`)
