package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/traces"
	"purgelab/traces/models"
)

// The fixed set of runs shows every action of every design, and every situation, that
// a trace can show; and docs/coverage.md has a line for each. How often, and which run
// was the first, changes with every change of the code.
func TestCoverageGate(t *testing.T) {
	root, err := models.Root()
	require.NoError(t, err)
	actions, err := models.Actions(filepath.Join(root, "spec"))
	require.NoError(t, err)
	list, err := coveredTraces(context.Background())
	require.NoError(t, err)
	rows := traces.Cover(list, actions)
	for i := range rows {
		if rows[i].Missed() {
			t.Errorf("no trace of the fixed set shows %s of %s", rows[i].What, rows[i].Design)
		}
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "coverage.md"))
	require.NoError(t, err)
	require.Equal(t, coverageLines(coveragePage(rows, nil, actions, len(list))), coverageLines(string(page)),
		"docs/coverage.md is another one: make coverage")
}

// coverageLines are the headings of a page, and of each line of its tables what it is
// about and, if no trace can show it, why.
func coverageLines(page string) []string {
	var out []string
	for _, line := range strings.Split(page, "\n") {
		cells := strings.Split(line, " | ")
		switch {
		case strings.HasPrefix(line, "#"):
			out = append(out, line)
		case len(cells) > 2 && strings.HasPrefix(cells[2], "in no trace"):
			out = append(out, cells[0]+" | "+strings.TrimSuffix(cells[2], " |"))
		case strings.HasPrefix(line, "|"):
			out = append(out, cells[0])
		}
	}
	return out
}

// An action that is never seen is missed: the gate turns red.
func TestCoverageGateIsRed(t *testing.T) {
	root, err := models.Root()
	require.NoError(t, err)
	list, err := readTraces([]string{filepath.Join(root, "traces/testdata/accepted/new-incarnation.ndjson")})
	require.NoError(t, err)
	rows := traces.Cover(list, map[string][]string{"Ordered": {"PurgeDuplicate"}})
	require.True(t, rows[0].Missed())
	require.Contains(t, coveragePage(rows, nil, nil, 1), "| `Ordered!PurgeDuplicate` | 0 | **never seen** |  |\n")
}
