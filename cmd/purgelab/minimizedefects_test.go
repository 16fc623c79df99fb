package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/linearizability/faults"
	"purgelab/linearizability/minimize"
	"purgelab/linearizability/run"
)

// isRed makes the run of a command and tells whether a property is violated.
func isRed(t *testing.T, command, property string) bool {
	args, ok := strings.CutPrefix(command, "purgelab ")
	require.True(t, ok, command)
	return evidence{property, args}.red(t)
}

// TestSmallRuns makes every run that docs/minimize.md names: it violates the property, does
// not without the defect, and is as small as its row says.
func TestSmallRuns(t *testing.T) {
	t.Chdir("../..")
	page, err := os.ReadFile("docs/minimize.md")
	require.NoError(t, err)
	rows := minimize.Read(string(page))
	require.Greater(t, len(rows), 50)
	for _, r := range rows {
		require.NotEmpty(t, r.Replay, r.Defect)
		t.Run(r.Defect, func(t *testing.T) {
			t.Parallel()
			anew := "to make it anew: purgelab minimize --defects docs/minimize.md " + r.Defect
			require.Contains(t, r.Replay, " --defect "+r.Defect)
			require.True(t, isRed(t, r.Replay, r.Property), "%s: %s holds: %s", r.Replay, r.Property, anew)
			right := strings.Replace(r.Replay, " --defect "+r.Defect, "", 1)
			require.False(t, isRed(t, right, r.Property), "%s: %s is violated without the defect: %s", right, r.Property, anew)

			dir := filepath.Join("docs/minimize", r.Defect)
			script, err := os.ReadFile(filepath.Join(dir, run.ScriptFile))
			require.NoError(t, err)
			require.Equal(t, r.Ops, bytes.Count(script, []byte("\n")))
			require.Equal(t, r.Faults, strike(t, filepath.Join(dir, run.PlanFile)))
		})
	}
	folders, err := os.ReadDir("docs/minimize")
	require.NoError(t, err)
	require.Len(t, folders, len(rows), "one folder a command")
}

// strike counts the faults of a plan; a network that is bad all the time is one, and no
// file is none.
func strike(t *testing.T, file string) int {
	text, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return 0
	}
	require.NoError(t, err)
	var p faults.Plan
	require.NoError(t, json.Unmarshal(text, &p))
	n := len(p.Faults)
	if p.Network != (faults.Plan{}).Network {
		n++
	}
	return n
}

// TestTableKeepsSmallRuns: the command that makes rows of the table keeps what their runs
// are made of beside it.
func TestTableKeepsSmallRuns(t *testing.T) {
	t.Chdir(t.TempDir())
	var out bytes.Buffer
	require.Equal(t, exitPass, execute(context.Background(), []string{"minimize", "--defects", "table.md", "two-outstanding", "end-from-records"}, &out, io.Discard))
	page, err := os.ReadFile("table.md")
	require.NoError(t, err)
	rows := minimize.Read(string(page))
	require.Len(t, rows, 2)
	for _, r := range rows {
		require.FileExists(t, filepath.Join("table", r.Defect, run.ScriptFile))
		require.True(t, isRed(t, r.Replay, r.Property), r.Replay)
	}
}

// TestInterruptedTable: rows that were made stay, what was tried for the next one, too,
// and the same command goes on to the table that it would have made at once.
func TestInterruptedTable(t *testing.T) {
	t.Chdir(t.TempDir())
	args := []string{"minimize", "--jobs", "1", "--defects", "table.md", "two-outstanding", "end-from-records"}
	var want, log bytes.Buffer
	require.Equal(t, exitPass, execute(context.Background(), args, &want, &log), log.String())
	page, err := os.ReadFile("table.md")
	require.NoError(t, err)
	require.NoDirExists(t, "table.tried")
	require.NoError(t, os.Remove("table.md"))

	// In the second row: some parts of its first run were tried.
	tried := filepath.Join("table.tried", "end-from-records.tried")
	ctx := interruptWhen(func() bool {
		text, _ := os.ReadFile(tried)
		return bytes.Count(text, []byte("\n")) > 5
	})
	var out bytes.Buffer
	log.Reset()
	require.Equal(t, exitUndecided, execute(ctx, args, &out, &log))
	rows := strings.SplitAfter(want.String(), "\n")
	require.Equal(t, rows[0], out.String())
	require.Equal(t, "purgelab: interrupted at end-from-records: 1 of 2 defects made small; the same command goes on\n", log.String())
	before, err := os.ReadFile(tried)
	require.NoError(t, err)

	// What the folder remembers is believed, so it is not made again.
	name := filepath.Join("table.tried", "made")
	made, err := os.ReadFile(name)
	require.NoError(t, err)
	mark := regexp.MustCompile(`"runs":[0-9]+`)
	require.Len(t, mark.FindAll(made, -1), 1)
	require.NoError(t, os.WriteFile(name, mark.ReplaceAll(made, []byte(`"runs":4242`)), 0o644))
	out.Reset()
	log.Reset()
	require.Equal(t, exitUndecided, execute(interruptWhen(func() bool { return true }), args, &out, &log))
	require.Contains(t, out.String(), "| 4242 |")
	require.NoError(t, os.WriteFile(name, made, 0o644))

	// What was tried for the second row is not tried again, either.
	var after []byte
	ctx = interruptWhen(func() bool {
		text, err := os.ReadFile(tried)
		if err == nil {
			after = text
		}
		return false
	})
	out.Reset()
	log.Reset()
	require.Equal(t, exitPass, execute(ctx, args, &out, &log))
	require.Equal(t, "purgelab: going on: 1 of 2 defects were made small before\n", log.String())
	require.Equal(t, want.String(), out.String())
	require.True(t, bytes.HasPrefix(after, before))
	require.Greater(t, len(after), len(before))
	lines := strings.Split(string(after), "\n")
	slices.Sort(lines)
	require.Len(t, slices.Compact(lines), bytes.Count(after, []byte("\n"))+1, "nothing twice")
	again, err := os.ReadFile("table.md")
	require.NoError(t, err)
	require.Equal(t, string(page), string(again))
	require.NoDirExists(t, "table.tried")
}
