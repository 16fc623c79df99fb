package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Documents show commands with their real output in fenced blocks:
//
//	```console
//	$ purgelab run --seed 7
//	seed 7: pass
//	…
//	```
//
// TestDocs runs every such command and compares what it prints. Numbers may
// differ, since they change with the machine and with every change of the
// code, and so may the width of columns; a line of … stands for any lines. A
// command that is meant to end with another code than 0 has a fence that says
// so: ```console exit=1. With -update the blocks are written anew.
//
// `$ make TARGET` is not run, but there must be such a target.

// block is one fenced block of commands.
type block struct {
	line     int // of the fence, from 0
	exit     int
	commands []docCommand
}

// docCommand is a command with the output that the document shows.
type docCommand struct {
	first, last int // lines of the output: [first, last)
	args        []string
	output      []string
}

// parseDoc finds the blocks of a document.
func parseDoc(lines []string) ([]block, error) {
	var out []block
	in := false
	for i, l := range lines {
		switch {
		case !in && strings.HasPrefix(l, "```console"):
			in = true
			b := block{line: i}
			if exit, ok := strings.CutPrefix(l, "```console exit="); ok {
				n, err := strconv.Atoi(exit)
				if err != nil {
					return nil, fmt.Errorf("line %d: exit code: %w", i+1, err)
				}
				b.exit = n
			}
			out = append(out, b)
		case in && l == "```":
			in = false
		case in:
			b := &out[len(out)-1]
			if cmd, ok := strings.CutPrefix(l, "$ "); ok {
				cmd, _, _ = strings.Cut(cmd, "  #")
				b.commands = append(b.commands, docCommand{first: i + 1, last: i + 1, args: strings.Fields(cmd)})
				continue
			}
			if len(b.commands) == 0 {
				return nil, fmt.Errorf("line %d: output before a command", i+1)
			}
			c := &b.commands[len(b.commands)-1]
			c.output, c.last = append(c.output, l), i+1
		}
	}
	return out, nil
}

var (
	number = regexp.MustCompile(`[0-9][0-9.,]*(e[+-]?[0-9]+)?`)
	hex    = regexp.MustCompile(`\b[0-9a-f]{12,}\b`)
	spaces = regexp.MustCompile(` +`)
)

// byTLC is how a result names the TLC that it comes from.
var byTLC = regexp.MustCompile(`TLC \S+ of \d+ \w+ \d+ \(.*\)`)

// masked is a line without what may differ: numbers, the faults that took
// effect, in which words a property was found violated, and whose TLC it was.
func masked(l string) string {
	if strings.HasPrefix(l, "faults ") {
		return "faults"
	}
	if strings.HasPrefix(l, "fail ") {
		l, _, _ = strings.Cut(l, ":")
	}
	l = byTLC.ReplaceAllString(l, "TLC")
	l = number.ReplaceAllString(hex.ReplaceAllString(l, "#"), "#")
	return spaces.ReplaceAllString(strings.TrimSpace(l), " ")
}

const anyLines = "…"

// agree tells whether what was printed is what a document shows.
func agree(shown, printed []string) bool {
	for i, s := range shown {
		if s == anyLines {
			for k := range len(printed) - i + 1 {
				if agree(shown[i+1:], printed[i+k:]) {
					return true
				}
			}
			return false
		}
		if i >= len(printed) || masked(s) != masked(printed[i]) {
			return false
		}
	}
	return len(shown) == len(printed)
}

// shorten gives what was printed the … that a document had: as many lines
// before and after it.
func shorten(shown, printed []string) []string {
	for i, s := range shown {
		if s == anyLines {
			after := len(shown) - i - 1
			if i+after >= len(printed) {
				return printed
			}
			out := append(append([]string{}, printed[:i]...), anyLines)
			return append(out, printed[len(printed)-after:]...)
		}
	}
	return printed
}

func TestDocs(t *testing.T) {
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	require.NoError(t, err)
	for _, name := range append(files, filepath.Join(root, "README.md"), filepath.Join(root, "ARCHITECTURE.md")) {
		t.Run(filepath.Base(name), func(t *testing.T) { testDoc(t, root, name) })
	}
}

func testDoc(t *testing.T, root, name string) {
	raw, err := os.ReadFile(name)
	require.NoError(t, err)
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	require.NoError(t, err)
	lines := strings.Split(string(raw), "\n")
	blocks, err := parseDoc(lines)
	require.NoError(t, err)
	t.Chdir(workspace(t, root))
	type change struct {
		first, last int
		with        []string
	}
	var changes []change
	for _, b := range blocks {
		for _, c := range b.commands {
			switch c.args[0] {
			case "make":
				require.Contains(t, string(makefile), "\n"+c.args[len(c.args)-1]+":", "line %d", c.first)
				continue
			case "purgelab":
			default:
				continue
			}
			var out, errs bytes.Buffer
			code := execute(context.Background(), c.args[1:], &out, &errs)
			require.Equal(t, b.exit, code, "line %d: %v\n%s%s", c.first, c.args, out.String(), errs.String())
			printed := strings.Split(strings.TrimRight(out.String(), "\n"), "\n")
			if errs.Len() > 0 && code != exitPass {
				printed = append(printed, strings.Split(strings.TrimRight(errs.String(), "\n"), "\n")...)
			}
			if *update {
				changes = append(changes, change{c.first, c.last, shorten(c.output, printed)})
			} else if len(c.output) > 0 && !agree(c.output, printed) {
				t.Errorf("%s:%d: %s\nshown:\n%s\nprinted:\n%s\nto show what is printed now: go test ./cmd/purgelab -run TestDocs -update", filepath.Base(name), c.first, strings.Join(c.args, " "),
					strings.Join(c.output, "\n"), strings.Join(printed, "\n"))
			}
		}
	}
	for i := len(changes) - 1; i >= 0; i-- {
		c := changes[i]
		lines = append(lines[:c.first], append(append([]string{}, c.with...), lines[c.last:]...)...)
	}
	if *update && len(changes) > 0 {
		require.NoError(t, os.WriteFile(name, []byte(strings.Join(lines, "\n")), 0o644))
	}
}

// workspace is a folder in which commands may write, with the parts of the
// project that they read.
func workspace(t *testing.T, root string) string {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, ".tools"), 0o755))
	for _, name := range []string{"spec", "traces", "docs", "linearizability", ".tools"} {
		require.NoError(t, os.Symlink(filepath.Join(root, name), filepath.Join(dir, name)))
	}
	return dir
}

// TestArchitectureNamesEveryPackage: a package that the map does not show has
// nobody's leave to exist.
func TestArchitectureNamesEveryPackage(t *testing.T) {
	doc, err := os.ReadFile("../../ARCHITECTURE.md")
	require.NoError(t, err)
	out, err := exec.Command("go", "list", "purgelab/...").Output()
	require.NoError(t, err)
	for _, path := range strings.Fields(string(out)) {
		name := strings.TrimPrefix(path, "purgelab/")
		require.True(t, strings.Contains(string(doc), "| `"+name+"` |"), "ARCHITECTURE.md: the code map lacks %s", name)
	}
}

func TestParseDoc(t *testing.T) {
	doc := strings.Split("text\n```console exit=1\n$ purgelab run --seed 7  # a remark\nseed 7: fail\nmore\n$ make demo\n```\n```\n$ not run\n```", "\n")
	blocks, err := parseDoc(doc)
	require.NoError(t, err)
	require.Len(t, blocks, 1)
	require.Equal(t, 1, blocks[0].exit)
	require.Equal(t, []docCommand{
		{first: 3, last: 5, args: []string{"purgelab", "run", "--seed", "7"}, output: []string{"seed 7: fail", "more"}},
		{first: 6, last: 6, args: []string{"make", "demo"}},
	}, blocks[0].commands)
	_, err = parseDoc([]string{"```console", "output"})
	require.ErrorContains(t, err, "line 2")
}

func TestAgree(t *testing.T) {
	shown := strings.Split("seed 7: pass\n…\n12  runs", "\n")
	require.True(t, agree(shown, []string{"seed 8: pass", "x", "y", "300 runs"}))
	require.True(t, agree(shown, []string{"seed 8: pass", "300 runs"}))
	require.False(t, agree(shown, []string{"seed 8: undecided", "x", "300 runs"}))
	require.False(t, agree(shown, []string{"seed 8: pass", "x", "300 runs", "more"}))
	require.False(t, agree([]string{"a", "b"}, []string{"a"}))
	require.True(t, agree([]string{"fail  Linearizable: x", "faults  2 storm"}, []string{"fail  Linearizable: y", "faults  1 storm, 3 isolate"}))
	require.False(t, agree([]string{"fail  Linearizable: x"}, []string{"fail  SessionOnce: x"}))
	require.Equal(t, []string{"a", "…", "d"}, shorten([]string{"x", "…", "y"}, []string{"a", "b", "c", "d"}))
}
