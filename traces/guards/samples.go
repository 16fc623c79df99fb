package guards

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"purgelab/traces"
	"purgelab/traces/tlc"
)

// traceModules is the folder of the trace modules within the project.
var traceModules = filepath.Join("traces", "tla")

// samples is the folder of traces that are accepted, and of others, with what is said of
// each of these in told.
var (
	samples = filepath.Join("traces", "testdata")
	told    = filepath.Join(samples, "rejected.txt")
)

// traceChecks are the samples of traces, by design.
func traceChecks(root string) ([]check, error) {
	var out []check
	for _, d := range []struct {
		design  string
		modules []string
	}{
		{"ordered", []string{"TraceOrdered", "TraceOrderedGroup"}},
		{"advance", []string{"TraceAdvance", "TraceAdvanceGroup"}},
		{"reset-record", []string{"TraceResetRecord", "TraceResetRecordGroup"}},
	} {
		list, err := samplesOf(root, d.design)
		if err != nil {
			return nil, err
		}
		files := []string{told}
		for _, t := range list {
			files = append(files, t.Name)
		}
		for _, m := range d.modules {
			files = append(files, filepath.Join(traceModules, m+".cfg"))
		}
		red := func(ctx context.Context, w *workspace) (string, error) { return w.judged(ctx, d.design) }
		out = append(out, check{name: "traces of " + d.design, kind: Tie, modules: d.modules, files: files, red: red})
	}
	return out, nil
}

// samplesOf are the samples of a design; each is named by its file, below root.
func samplesOf(root, design string) ([]*traces.Trace, error) {
	files, err := fs.Glob(os.DirFS(root), filepath.ToSlash(samples)+"/*/*.ndjson")
	if err != nil {
		return nil, err
	}
	var out []*traces.Trace
	for _, f := range files {
		t, err := traces.ReadFile(filepath.Join(root, f))
		if err != nil {
			return nil, err
		}
		if t.Name = f; t.Header.Design == design {
			out = append(out, t)
		}
	}
	return out, nil
}

// judged says which sample of a design is not accepted, or not rejected as it is told.
func (w *workspace) judged(ctx context.Context, design string) (string, error) {
	said, err := os.ReadFile(filepath.Join(w.root, told))
	if err != nil {
		return "", err
	}
	list, err := samplesOf(w.root, design)
	if err != nil {
		return "", err
	}
	reports, err := traces.Validate(ctx, w.tool, traces.Options{Spec: w.in("spec"), Modules: os.DirFS(w.in(traceModules)), Timeout: testTimeout}, list)
	if err != nil {
		return "", err
	}
	for _, r := range reports {
		if why, err := odd(&r, string(said)); why != "" || err != nil {
			return why, errors.Join(err, ctx.Err())
		}
	}
	return "", nil
}

// odd says in what a report differs from what is told of its trace; what is told
// nothing of is accepted.
func odd(r *traces.Report, told string) (string, error) {
	name := filepath.Base(r.Trace)
	_, want, isRejected := strings.Cut("\n\n"+told, "\n\n"+name+"\n")
	want, _, _ = strings.Cut(want, "\n\n")
	switch {
	case r.Verdict == tlc.Undecided && late.MatchString(r.Reason):
		return "", errLate
	case r.Verdict == tlc.Undecided && strings.Contains(r.Reason, "arsing"):
		return "", fmt.Errorf("%w: %s", errMalformed, r.Reason)
	case r.Verdict == tlc.Undecided:
		return senseless, nil
	case r.Verdict == tlc.Pass && isRejected:
		return name + " is accepted", nil
	case r.Verdict == tlc.Pass:
		return "", nil
	}
	if late.MatchString(r.Rejections[0].Reason) {
		return "", errLate
	}
	got := strings.TrimRight(r.Rejections[0].Explain(name), "\n")
	switch {
	case !isRejected:
		return fmt.Sprintf("%s is rejected: line %d: %s", name, r.Rejections[0].Line, r.Rejections[0].Reason), nil
	case got == want:
		return "", nil
	}
	is, was := strings.Split(got, "\n"), strings.Split(want, "\n")
	i := 0
	for i < min(len(is), len(was))-1 && is[i] == was[i] {
		i++
	}
	return fmt.Sprintf("%s is rejected otherwise: %s, not %s", name, strings.TrimSpace(is[i]), strings.TrimSpace(was[i])), nil
}
