package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
)

// topLevel are the only names that may stand at the root of the tree.
var topLevel = map[string]bool{
	"README.md": true, "ARCHITECTURE.md": true, "LICENSE": true, "Makefile": true,
	"go.mod": true, "go.sum": true, ".gitignore": true, ".gitattributes": true,
	".ci": true, "docs": true, "spec": true, "model": true, "impl": true,
	"linearizability": true, "traces": true, "cmd": true,
}

// longest is the number of lines above which a Go file is to be divided.
const longest = 500

// named are texts that no file may hold: a place on somebody's machine, or
// the host of a package registry, which is the reader's to choose. The
// patterns are put together from pieces, since this file is held to them too.
var named = []struct {
	rule string
	re   *regexp.Regexp
	why  string
}{
	{
		"local-path",
		regexp.MustCompile(`(^|[\s"'(=:,` + "`" + `])/(` + strings.Join([]string{"home", "root", "Users", "work", "tmp", "mnt", "private", "var/" + "folders"}, "|") + `)(/[A-Za-z0-9._-]|\b["'` + "`" + `])`),
		"names a path of one machine",
	}, {
		"registry-host",
		regexp.MustCompile(`(proxy|sum)\.` + `golang\.org|repo1?\.` + `maven\.|repo\.` + `maven\.apache|registry\.` + `npmjs|\bpypi\.` + `org|\bcrates\.` + `io\b|deb\.` + `debian\.org`),
		"names the host of a package registry",
	},
}

// link is a Markdown link to a file of the tree, not to a place within a page
// or on the network.
var link = regexp.MustCompile(`\]\(([^)#: ]+)(#[^)]*)?\)`)

// deadLinks finds the links of a document that lead to no file.
func deadLinks(root, name, line string) []string {
	var out []string
	for _, m := range link.FindAllStringSubmatch(line, -1) {
		to := filepath.Join(root, filepath.Dir(filepath.FromSlash(name)), filepath.FromSlash(m[1]))
		if _, err := os.Stat(to); err != nil {
			out = append(out, m[1])
		}
	}
	return out
}

// listFiles lists the files of the tree, slash-separated and relative to
// root: what git tracks or would track, or, outside a repository, every file
// that is in no hidden folder but .ci.
func listFiles(root string) ([]string, error) {
	var out []string
	if _, err := os.Stat(filepath.Join(root, ".git")); err == nil {
		cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
		cmd.Dir = root
		raw, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("git ls-files: %w", err)
		}
		for _, name := range strings.Split(string(raw), "\x00") {
			if name == "" {
				continue
			}
			if _, err := os.Stat(filepath.Join(root, name)); errors.Is(err, fs.ErrNotExist) {
				continue // deleted, not yet committed
			}
			out = append(out, name)
		}
		sort.Strings(out)
		return out, nil
	}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if strings.HasPrefix(d.Name(), ".") && name != "." && name != ".ci" {
				return filepath.SkipDir
			}
			return nil
		}
		out = append(out, filepath.ToSlash(name))
		return nil
	})
	return out, err
}

// checkTree applies the rules on files as such.
func checkTree(root string, files []string) ([]finding, error) {
	var out []finding
	strange := map[string]bool{}
	for _, name := range files {
		top, _, _ := strings.Cut(name, "/")
		if !topLevel[top] && !strange[top] {
			strange[top] = true
			out = append(out, finding{File: top, Rule: "top-level", Text: "not one of the fixed entries of the tree"})
		}
		if strings.HasPrefix(name, "spec/") && (strings.HasSuffix(name, ".go") || strings.HasSuffix(name, ".mod")) {
			out = append(out, finding{File: name, Rule: "spec-no-go", Text: "the specification knows nothing of Go"})
		}
		body, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		if bytes.IndexByte(body, 0) >= 0 {
			continue // not text
		}
		lines := strings.Split(string(body), "\n")
		if strings.HasSuffix(name, ".go") && len(lines)-1 > longest {
			out = append(out, finding{File: name, Rule: "file-length", Text: fmt.Sprintf("%d lines, want at most %d", len(lines)-1, longest)})
		}
		// Samples of bad input to this program break its rules on purpose.
		if strings.HasPrefix(name, "cmd/lint/testdata/") {
			continue
		}
		for i, line := range lines {
			if strings.HasSuffix(name, ".md") {
				for _, to := range deadLinks(root, name, line) {
					out = append(out, finding{name, i + 1, "dead-link", fmt.Sprintf("no file %s", to)})
				}
			}
			for _, n := range named {
				if hit := n.re.FindString(line); hit != "" {
					out = append(out, finding{name, i + 1, n.rule, fmt.Sprintf("%s: %q", n.why, strings.TrimSpace(hit))})
				}
			}
		}
	}
	return out, nil
}
