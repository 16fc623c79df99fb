package traces

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"purgelab/impl/observe"
	"purgelab/traces/tlc"
)

// traceOnly are events that the trace module takes by itself: no action of the
// specification is to be enabled for them.
var traceOnly = map[observe.Action]bool{ChangeMembers: true, Joined: true, CopyState: true}

// TestEnabledIsWhatMayHappen: what a rejection lists as enabled holds, in every state of
// good traces, the action that was taken there; and of each action there are states in
// which it is not listed.
func TestEnabledIsWhatMayHappen(t *testing.T) {
	paths, err := filepath.Glob("testdata/accepted/*.ndjson")
	require.NoError(t, err)
	tool, err := tlc.Find(context.Background(), "../.tools", os.Stderr)
	require.NoError(t, err)
	own, err := fs.Sub(modules, "tla")
	require.NoError(t, err)
	v := &validator{tool: tool, o: Options{Spec: "../spec", Modules: own, Timeout: 5 * time.Minute}}
	var jobs []*job
	of, from := map[*judge]*design{}, map[*job]string{}
	for _, path := range paths {
		tr := readSample(t, path)
		d := findDesign(tr.Header.Design)
		for _, j := range d.jobs(tr) {
			jobs, of[j.judge], from[j] = append(jobs, j), d, path
		}
	}
	taken, missed := map[string]int{}, map[string]int{} // by action: states in which it was taken, is not listed
	q := newQueue(jobs, defaultBatch, func(j *job) int { return len(j.steps) })
	for batch := q.take(); batch != nil; batch = q.take() {
		q.judged(batch)
		res, err := v.tlc(context.Background(), batch, "Told")
		require.NoError(t, err)
		require.Equal(t, tlc.Pass, res.Verdict, res.Reason)
		printed, err := printedValues(res.Output)
		require.NoError(t, err)
		listed := map[*job]map[int][]string{}
		for _, p := range printed {
			word, j, cursor := readPrinted(batch, p)
			if word != "AT" {
				continue
			}
			if listed[j] == nil {
				listed[j] = map[int][]string{}
			}
			if _, again := listed[j][cursor]; !again { // one event may be several steps
				listed[j][cursor] = enabledIn(p)
			}
		}
		for _, j := range batch {
			require.Len(t, listed[j], len(j.steps)+1, "%s", j.piece)
			for i := range j.steps {
				s, listed := &j.steps[i], listed[j][i+1]
				for _, r := range of[j.judge].rules {
					if !slices.Contains(listed, string(r.Action)) {
						missed[j.judge.root+"!"+string(r.Action)]++
					}
				}
				if _, ok := s.action(j.judge); !ok || s.Unseen || s.Old || traceOnly[s.Action] {
					continue
				}
				taken[j.judge.root+"!"+string(s.Action)]++
				assert.Contains(t, listed, string(s.Action), "%s, %s, line %d: %s", from[j], j.piece, s.Number, s.nearest(j.judge))
			}
		}
	}
	for _, a := range slices.Sorted(maps.Keys(taken)) {
		if !strings.HasSuffix(a, "!PowerLoss") { // a machine that is down may lose power, too
			require.Positive(t, missed[a], "%s is listed in every state", a)
		}
	}
	require.Greater(t, len(taken), 50, "%v", taken)
}
