package guarantee

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/traces/tlc"
)

// counting is a TLC that finds nothing, or comes to no verdict, and how often it was
// started.
func counting(t *testing.T, recorded string) (tlc.Tool, func() int) {
	dir := t.TempDir()
	text, err := filepath.Abs("../../traces/tlc/testdata/recorded/" + recorded)
	require.NoError(t, err)
	java, started := filepath.Join(dir, "java"), filepath.Join(dir, "started")
	script := fmt.Sprintf("#!/bin/sh\necho >> %s\ncat %s\n", started, text)
	require.NoError(t, os.WriteFile(java, []byte(script), 0o755))
	return tlc.Tool{Java: java, Jar: "jar", Build: "TLC of a test"}, func() int {
		text, err := os.ReadFile(started)
		if !os.IsNotExist(err) {
			require.NoError(t, err)
		}
		return strings.Count(string(text), "\n")
	}
}

// An answer is kept as long as all that TLC reads is the same, and no longer.
func TestAnswersAreKept(t *testing.T) {
	tool, started := counting(t, "pass.txt")
	spec, keep := t.TempDir(), t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(spec, name), []byte(text), 0o644))
	}
	write("Top.tla", "---- MODULE Top ----\nEXTENDS Below, Integers\n====\n")
	write("Below.tla", "---- MODULE Below ----\nX == INSTANCE Inner\n====\n")
	write("Inner.tla", "---- MODULE Inner ----\n====\n")
	write("Other.tla", "---- MODULE Other ----\n====\n")
	write("Top.cfg", "SPECIFICATION Spec\nCONSTANTS\n    N = 1\nINVARIANTS\n    TypeOK\n    BookmarkBound\n")
	l := &level{name: "Top", module: "Top", cfg: "Top.cfg"}
	asked := func(known ...string) bool {
		before := started()
		m := NewModels(tool, ModelOptions{Dir: spec, Keep: keep})
		x, err := m.level(context.Background(), l, known)
		require.NoError(t, err)
		require.Equal(t, "Top", x.Name)
		require.Contains(t, x.Rest, "TypeOK")
		require.Positive(t, x.States)
		return started() > before
	}
	require.True(t, asked())
	require.False(t, asked(), "all is the same")
	write("Other.tla", "---- MODULE Other ----\nY == 1\n====\n")
	require.False(t, asked(), "nobody names this module")
	for _, name := range []string{"Inner", "Below", "Top"} {
		write(name+".tla", "---- MODULE "+name+" ---- \\* Below, Inner\n====\n")
		require.True(t, asked(), name)
		require.False(t, asked(), name)
	}
	l.set = map[string]string{"N": "= 2"}
	require.True(t, asked(), "another constant")
	require.True(t, asked("BookmarkBound"), "fewer properties")
	require.False(t, asked("BookmarkBound"))
	tool.Build = "another TLC of a test"
	require.True(t, asked(), "another TLC")

	// What is not readable is not passed over.
	files, err := filepath.Glob(filepath.Join(keep, "model-*.json"))
	require.NoError(t, err)
	require.Greater(t, len(files), 6)
	for _, f := range files {
		require.NoError(t, os.WriteFile(f, []byte("{"), 0o644))
	}
	_, err = NewModels(tool, ModelOptions{Dir: spec, Keep: keep}).level(context.Background(), l, nil)
	require.ErrorContains(t, err, "remove it, and it is asked again")
}

// What was not decided is asked again.
func TestNoAnswerIsNotKept(t *testing.T) {
	tool, started := counting(t, "syntax.txt")
	keep := t.TempDir()
	for n := 1; n <= 2; n++ {
		x, err := NewModels(tool, ModelOptions{Dir: specDir, Keep: keep}).level(context.Background(), orderedLocal("none"), nil)
		require.NoError(t, err)
		require.NotEmpty(t, x.Open)
		require.Equal(t, n, started())
	}
	left, err := os.ReadDir(keep)
	require.NoError(t, err)
	require.Empty(t, left)
}
