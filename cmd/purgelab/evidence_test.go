package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/linearizability/guarantee"
	"purgelab/linearizability/run"
	"purgelab/linearizability/verdict"
)

var evidenceLines = flag.Int("evidence", 60, "how many commands of the guarantee matrix to try; 0: all")

// evidence is a line of the page: a command that shows that a property is violated.
type evidence struct{ property, command string }

var (
	evidenceOf  = regexp.MustCompile(`^<a id="e\d+"></a>\*\*\d+\*\* (\w+)$`)
	evidenceRun = regexp.MustCompile("^\\* [a-z-]+, `purgelab (run [^`]+)`:")
)

func readEvidence(page string) (out []evidence) {
	property := ""
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		if f := evidenceOf.FindStringSubmatch(line); f != nil {
			property = f[1]
		}
		if f := evidenceRun.FindStringSubmatch(line); f != nil {
			out = append(out, evidence{property, f[1]})
		}
	}
	return out
}

// red runs the command and tells whether the property is violated.
func (e evidence) red(t *testing.T) bool {
	var out bytes.Buffer
	execute(context.Background(), append(strings.Fields(e.command), "--json"), &out, io.Discard)
	var rec run.Record
	require.NoError(t, json.Unmarshal(out.Bytes(), &rec), "%s", e.command)
	for _, x := range rec.Results {
		if x.Property == e.property {
			return x.Verdict == verdict.Fail
		}
	}
	return false
}

// TestEvidence tries commands of the page, at even distances: each must show what it
// stands there for. What is not true any more means that the matrix is to be computed
// anew.
func TestEvidence(t *testing.T) {
	t.Chdir("../..")
	page, err := os.ReadFile(guarantee.Document)
	require.NoError(t, err)
	list := readEvidence(string(page))
	require.Greater(t, len(list), 100)
	n := len(list)
	if *evidenceLines > 0 {
		n = min(n, *evidenceLines)
	}
	for i := range n {
		e := list[i*len(list)/n]
		require.True(t, e.red(t), "purgelab %s: %s is not violated: %s is not of this program", e.command, e.property, guarantee.Document)
	}
	require.False(t, evidence{list[0].property, "run --seed 1 --ops 40"}.red(t), "a run in which it holds")
}
