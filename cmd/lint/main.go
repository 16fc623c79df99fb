// Command lint checks the rules of this project that no general tool knows:
// which package may import which, what a deterministic package may not
// contain, what may stand at the top of the tree, and what no file may name.
//
//	go run ./cmd/lint            # lint the module of the working directory
//
// Findings go to standard output, one a line, as file:line: rule: message, and
// the exit code is 1 if there is one. Each rule has a file in testdata that
// breaks it, so that a rule that no longer bites is itself found.
//
// Packages are loaded with `go list -export`, and type-checked one by one
// against the compiler's export data: no module beyond the standard library
// is needed, and a run takes about two seconds.
package main

import (
	"fmt"
	"os"
	"sort"
)

// finding is one place that breaks one rule.
type finding struct {
	File string // relative to the root of the module
	Line int    // 0 when the file as a whole is meant
	Rule string
	Text string
}

func (f finding) String() string {
	if f.Line == 0 {
		return fmt.Sprintf("%s: %s: %s", f.File, f.Rule, f.Text)
	}
	return fmt.Sprintf("%s:%d: %s: %s", f.File, f.Line, f.Rule, f.Text)
}

func main() {
	findings, err := lint(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, "lint:", err)
		os.Exit(3)
	}
	for _, f := range findings {
		fmt.Println(f)
	}
	if len(findings) > 0 {
		os.Exit(1)
	}
}

// lint runs every rule on the module at root.
func lint(root string) ([]finding, error) {
	files, err := listFiles(root)
	if err != nil {
		return nil, err
	}
	found, err := checkTree(root, files)
	if err != nil {
		return nil, err
	}
	m, err := load(root)
	if err != nil {
		return nil, err
	}
	for _, p := range m.packages {
		found = append(found, checkArrows(m, p)...)
		inside, err := checkPackage(m, p)
		if err != nil {
			return nil, err
		}
		found = append(found, inside...)
	}
	sort.Slice(found, func(i, j int) bool {
		a, b := found[i], found[j]
		if a.File != b.File {
			return a.File < b.File
		}
		if a.Line != b.Line {
			return a.Line < b.Line
		}
		return a.Text < b.Text
	})
	return found, nil
}
