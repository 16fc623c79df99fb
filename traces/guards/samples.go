package guards

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"purgelab/traces"
	"purgelab/traces/tlc"
)

// traceModules is the folder of the trace modules within the project.
var traceModules = filepath.Join("traces", "tla")

// samples is the folder of traces that are accepted, and of others, with what is said of
// each in rejected.txt.
var samples = filepath.Join("traces", "testdata")

// traceChecks are the samples of traces, by design.
func traceChecks(modules map[string]string) []check {
	var out []check
	for _, d := range []struct {
		design string
		roots  []string
	}{
		{"ordered", []string{"TraceOrdered", "TraceOrderedGroup"}},
		{"advance", []string{"TraceAdvance", "TraceAdvanceGroup"}},
		{"reset-record", []string{"TraceResetRecord", "TraceResetRecordGroup"}},
	} {
		c := check{name: "traces of " + d.design, reads: map[string]bool{}, apt: func(g *Guard) bool { return g.Change != Always }}
		for _, r := range d.roots {
			read(modules, r, c.reads)
		}
		c.red = func(ctx context.Context, w *workspace) (string, error) { return w.judged(ctx, d.design) }
		out = append(out, c)
	}
	return out
}

var rejectedAt = regexp.MustCompile(`(?m)^\s*(\S+\.ndjson):(\d+): `)

// judged says which sample of a design is not accepted, or not rejected for the line for
// which it should be.
func (w *workspace) judged(ctx context.Context, design string) (string, error) {
	told, err := os.ReadFile(filepath.Join(w.root, samples, "rejected.txt"))
	if err != nil {
		return "", err
	}
	lines := map[string]int{}
	for _, m := range rejectedAt.FindAllStringSubmatch(string(told), -1) {
		if lines[m[1]], err = strconv.Atoi(m[2]); err != nil {
			return "", err
		}
	}
	files, err := fs.Glob(os.DirFS(w.root), filepath.ToSlash(samples)+"/*/*.ndjson")
	if err != nil {
		return "", err
	}
	var list []*traces.Trace
	for _, f := range files {
		t, err := traces.ReadFile(filepath.Join(w.root, f))
		if err != nil {
			return "", err
		}
		if t.Header.Design == design {
			list = append(list, t)
		}
	}
	reports, err := traces.Validate(ctx, w.tool, traces.Options{Spec: w.in("spec"), Modules: os.DirFS(w.in(traceModules)), Timeout: testTimeout}, list)
	if err != nil {
		return "", err
	}
	for _, r := range reports {
		name := filepath.Base(r.Trace)
		line := lines[name] // 0: it is accepted
		switch {
		case r.Verdict == tlc.Undecided && ctx.Err() != nil:
			return "", ctx.Err()
		case r.Verdict == tlc.Undecided && strings.Contains(r.Reason, "arsing"):
			return "", fmt.Errorf("%w: %s", errMalformed, r.Reason)
		case r.Verdict == tlc.Undecided:
			return name + ": TLC cannot evaluate it", nil
		case r.Verdict == tlc.Pass && line > 0:
			return name + " is accepted", nil
		case r.Verdict == tlc.Fail && line == 0:
			return name + " is rejected", nil
		case r.Verdict == tlc.Fail && r.Rejections[0].Line != line:
			return fmt.Sprintf("%s is rejected for line %d, not %d", name, r.Rejections[0].Line, line), nil
		}
	}
	return "", nil
}
