package main

import (
	"fmt"
	"sort"
	"strings"
)

// arrow is one rule on imports. Paths are within the module unless they name
// a package of another one; a path that ends in /... stands for a tree.
type arrow struct {
	From []string
	// Never may not be reached from From, directly or through others.
	Never []string
	// Only, if not nil, are the only packages outside the standard library
	// that From may import directly.
	Only []string
	// Except are allowed in spite of Never.
	Except []string
	// Tests tells whether test files are held to the rule too.
	Tests bool
	Why   string
}

var arrows = []arrow{
	{
		From: []string{"impl/..."}, Never: []string{"model/..."}, Except: []string{"model/op"}, Tests: true,
		Why: "the oracle shares no code with its subject",
	}, {
		From: []string{"impl/..."}, Never: []string{"linearizability/...", "traces/...", "cmd/..."}, Except: []string{"linearizability/workload", "linearizability/faults", "linearizability/history"},
		Why: "the implementation does not know who judges it",
	}, {
		From:  []string{"impl/replica", "impl/meta", "impl/consensus", "impl/engine/...", "impl/transfer", "impl/journal", "impl/segment", "impl/bookmark", "impl/record", "impl/framed", "impl/purge", "impl/recovery", "impl/vfs/...", "impl/observe", "impl/defect", "impl/raftlog"},
		Never: []string{"linearizability/...", "impl/sim/...", "impl/node/..."}, Tests: true,
		Why: "a replica does not know whether it runs in the simulator or on a machine",
	}, {
		From: []string{"model/..."}, Only: []string{"model/op", "github.com/anishathalye/porcupine"},
		Why: "the oracle is small enough to be read whole",
	}, {
		From: []string{"model/op"}, Only: []string{},
		Why: "the vocabulary is a leaf",
	}, {
		From: []string{"impl/consensus"}, Never: []string{"impl/vfs/...", "impl/journal", "impl/record", "impl/framed", "impl/segment", "impl/bookmark", "impl/engine/...", "impl/purge", "impl/recovery", "impl/replica"},
		Why: "consensus knows no disk",
	}, {
		From: []string{"impl/engine/...", "impl/transfer"}, Never: []string{"impl/consensus", "impl/replica"},
		Why: "what is materialized does not know who decided it",
	}, {
		From: []string{"impl/sim/..."}, Never: []string{"impl/node/...", "impl/vfs/osfs"},
		Why: "the simulator runs in memory alone",
	}, {
		From: []string{"linearizability/check", "linearizability/judge", "linearizability/foreign/...", "linearizability/history", "linearizability/verdict"}, Never: []string{"impl/..."}, Except: []string{"impl/observe", "impl/defect"},
		Why: "a judge of recorded histories must work for histories of other systems",
	}, {
		From: []string{"linearizability/run", "linearizability/faults", "linearizability/invariant", "linearizability/workload", "linearizability/crashpoints"}, Never: []string{"linearizability/guarantee"}, Tests: true,
		Why: "what is violated is judged without asking whether it is listed",
	}, {
		From: []string{"traces", "traces/behaviours", "traces/guards", "traces/models", "traces/tlc"}, Never: []string{"model", "impl/replica", "impl/sim/...", "cmd/..."},
		Why: "a trace is judged by the specification alone",
	}, {
		From: []string{"traces/replay"}, Never: []string{"model", "impl/sim/...", "cmd/..."},
		Why: "a replica is led through a behaviour by what it offers, and by its disk",
	},
}

// matches tells whether path is named by pattern.
func matches(pattern, path string) bool {
	if tree, ok := strings.CutSuffix(pattern, "/..."); ok {
		return path == tree || strings.HasPrefix(path, tree+"/")
	}
	return path == pattern
}

func matchesAny(patterns []string, path string) bool {
	for _, p := range patterns {
		if matches(p, path) {
			return true
		}
	}
	return false
}

// checkArrows holds one package to every arrow that starts at it.
func checkArrows(m *module, p *listed) []finding {
	var out []finding
	from := m.rel(p.ImportPath)
	for _, a := range arrows {
		if !matchesAny(a.From, from) {
			continue
		}
		report := func(to, how string) {
			out = append(out, finding{File: from, Rule: "arrow", Text: fmt.Sprintf("%s %s: %s", how, to, a.Why)})
		}
		forbidden := func(path string) bool {
			to := m.rel(path)
			return to != from && matchesAny(a.Never, to) && !matchesAny(a.Except, to)
		}
		for _, d := range p.Deps {
			if forbidden(d) {
				report(m.rel(d), "must not reach")
			}
		}
		if a.Tests {
			for _, d := range unique(p.TestImports, p.XTestImports) {
				if forbidden(d) {
					report(m.rel(d), "tests must not import")
				}
			}
		}
		if a.Only != nil {
			for _, d := range p.Imports {
				if q := m.byPath[d]; q != nil && !q.Standard && !matchesAny(a.Only, m.rel(d)) {
					report(m.rel(d), "must not import")
				}
			}
		}
	}
	return out
}

// unique merges lists, sorted.
func unique(lists ...[]string) []string {
	seen := map[string]bool{}
	for _, l := range lists {
		for _, s := range l {
			seen[s] = true
		}
	}
	var out []string
	for s := range seen {
		out = append(out, s)
	}
	sort.Strings(out)
	return out
}
