package guards

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"purgelab/traces/models"
	"purgelab/traces/tlc"
)

// check is one way to notice a change.
type check struct {
	name string
	// modules that it reads.
	reads map[string]bool
	// apt tells whether it can notice the change at all.
	apt func(*Guard) bool
	// red says how the specification in the workspace differs from what is expected;
	// empty: it does not.
	red func(ctx context.Context, w *workspace) (string, error)
}

// errMalformed is a change after which a module is none: a fault of Find.
var errMalformed = errors.New("the changed module is not well-formed")

// timeout of one model: TLC says every minute how many states there are.
const (
	leastTimeout  = 130 * time.Second
	secondTimeout = 10 * time.Second // for each second that the manifest plans
	testTimeout   = 10 * time.Minute
)

// checks lists who is asked, the cheapest first: models of the smoke tier that must
// pass, those that must fail, traces, the rest of the models, the tests.
func checks(list []models.Model, modules map[string]string) []check {
	var out []check
	list = slices.Clone(list)
	rank := func(m *models.Model) int {
		switch {
		case !models.Within(m.Tier, "smoke"):
			return 2
		case m.Expect != models.ExpectPass:
			return 1
		}
		return 0
	}
	slices.SortStableFunc(list, func(a, b models.Model) int {
		return cmp.Or(cmp.Compare(rank(&a), rank(&b)), cmp.Compare(a.Seconds, b.Seconds))
	})
	samples := traceChecks(modules)
	for _, m := range list {
		if m.Mode != "check" {
			continue
		}
		if rank(&m) == 2 {
			out, samples = append(out, samples...), nil
		}
		out = append(out, modelCheck(m, modules))
	}
	return slices.Concat(out, samples, testChecks(modules))
}

// modelCheck is a model held to its row of the manifest.
func modelCheck(m models.Model, modules map[string]string) check {
	apt := func(g *Guard) bool {
		switch g.Change {
		case Always:
			return m.Expect == g.Name
		case Dropped: // it allows more: what is violated still is
			return m.Expect == models.ExpectPass
		}
		return true
	}
	red := func(ctx context.Context, w *workspace) (string, error) {
		limit := max(leastTimeout, time.Duration(m.Seconds*float64(secondTimeout)))
		o := models.Check(ctx, w.tool, []models.Model{m}, models.Options{Dir: w.in("spec"), Timeout: limit}, nil)[0]
		switch r := o.Result; {
		case o.Verdict == tlc.Pass:
			return "", nil
		case o.Verdict == tlc.Fail:
			return o.Problem, nil
		case r == nil || ctx.Err() != nil:
			return "", errors.New(o.Problem)
		case r.Code == tlc.CodeParse || r.Code == tlc.CodeConfig:
			return "", fmt.Errorf("%w: %s", errMalformed, o.Problem)
		case m.Expect == models.ExpectPass && r.Distinct > m.Distinct:
			return fmt.Sprintf("more than %d distinct states, the manifest says %d", r.Distinct, m.Distinct), nil
		case len(r.Errors) > 0:
			return "TLC cannot evaluate it", nil
		}
		return "", nil // no answer in time
	}
	reads := map[string]bool{}
	read(modules, strings.TrimSuffix(path.Base(m.Module), ".tla"), reads)
	return check{name: m.Name, reads: reads, apt: apt, red: red}
}

// testChecks are the tests that hold the specification to something else.
func testChecks(modules map[string]string) []check {
	var out []check
	for _, t := range []struct {
		name, pkg, test string
		roots           []string // modules that it has TLC read
	}{
		{"model ≡ specification", "model", "TestModelIsSpec", []string{"MCPartition"}},
		{"replay", "traces/replay", "TestEveryTransition", []string{"SIMOrdered", "SIMAdvance", "SIMResetRecord"}},
	} {
		c := check{name: t.name, reads: map[string]bool{}, apt: func(g *Guard) bool { return g.Change != Always }}
		for _, r := range t.roots {
			read(modules, r, c.reads)
		}
		c.red = func(ctx context.Context, w *workspace) (string, error) { return w.test(ctx, t.pkg, t.test) }
		out = append(out, c)
	}
	return out
}

var failure = regexp.MustCompile(`(?m)^\s+(?:Error:|\w+_test\.go:\d+:)\s*(\S.*)$`)

// test runs a test of the project upon the workspace.
func (w *workspace) test(ctx context.Context, pkg, test string) (string, error) {
	binary, err := w.built(ctx, pkg)
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, binary, "-test.run", "^"+test+"$", "-test.timeout", testTimeout.String())
	cmd.Dir = w.in(filepath.FromSlash(pkg))
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return "", nil
	case ctx.Err() != nil || !errors.As(err, &exit):
		return "", fmt.Errorf("%s: %w", test, errors.Join(err, ctx.Err()))
	}
	if f := failure.FindSubmatch(out); f != nil {
		return fmt.Sprintf("%s fails: %s", test, f[1]), nil
	}
	return test + " fails", nil
}

// built is the test program of a package.
func (w *workspace) built(ctx context.Context, pkg string) (string, error) {
	binary := w.in("bin", strings.ReplaceAll(pkg, "/", "-")+".test")
	if _, err := os.Stat(binary); err == nil {
		return binary, nil
	}
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-o", binary, "./"+pkg)
	cmd.Dir = w.root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the tests of %s: %w: %s", pkg, err, out)
	}
	return binary, nil
}
