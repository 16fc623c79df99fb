package guards

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

// ties are the checks that hold the specification to something else: the model to every
// transition of the contract, samples of traces, the implementation to every transition of
// a replica and to drawn behaviours of a group.
func ties(modules map[string]string) []check {
	out := []check{testCheck("model ≡ specification", "model", "TestModelIsSpec", modules, "MCPartition")}
	out = append(out, traceChecks(modules)...)
	for _, d := range []struct {
		design  string
		modules []string
	}{{"ordered", []string{"SIMOrdered", "SIMTransfer"}}, {"advance", []string{"SIMAdvance", "SIMTransferAdvance"}}, {"reset-record", []string{"SIMResetRecord"}}} {
		out = append(out, testCheck("replay of "+d.design, "traces/replay", "TestEveryTransition/^"+d.design+"$", modules, d.modules...))
	}
	for _, d := range []struct{ design, module string }{{"ordered", "SIMOrderedGroup"}, {"advance", "SIMAdvanceGroup"}, {"reset-record", "SIMResetRecordGroup"}} {
		out = append(out, testCheck("replay of groups of "+d.design, "traces/replay", "TestGroups/^sim-"+d.design+"-group$", modules, d.module))
	}
	return out
}

// testCheck is a test of the project that has TLC read modules.
func testCheck(name, pkg, test string, modules map[string]string, roots ...string) check {
	c := check{name: name, kind: Tie, reads: map[string]bool{}, apt: func(g *Guard) bool { return g.Change != Always }}
	for _, r := range roots {
		read(modules, r, c.reads)
	}
	c.red = func(ctx context.Context, w *workspace) (string, error) { return w.test(ctx, pkg, test) }
	return c
}

const testTimeout = 20 * time.Minute

var (
	// failure is what testify or a test says, up to the end of what belongs to it.
	failure = regexp.MustCompile(`(?s)\n\s+(?:Error:|\w+_test\.go:\d+:)[ \t]*([^\s].*?)\n\s+(?:Test:|--- )`)
	late    = regexp.MustCompile(`panic: test timed out|no verdict after`)
	// cannot is what TLC says of what it cannot evaluate.
	cannot = regexp.MustCompile(`TLC threw|Attempted to|attempted to|cannot be evaluated|was not able to evaluate`)
)

// test runs a test of the project upon the workspace.
func (w *workspace) test(ctx context.Context, pkg, test string) (string, error) {
	program, err := w.tests.of(ctx, pkg)
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, program, "-test.run", "^"+strings.Replace(test, "/", "$/", 1), "-test.timeout", testTimeout.String(), "-test.failfast")
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
	if late.Match(out) {
		return "", errLate
	}
	return said(string(out)), nil
}

// said is why a test failed, in short.
func said(out string) string {
	if cannot.MatchString(out) {
		return senseless
	}
	if f := failure.FindStringSubmatch(out); f != nil {
		out = f[1]
	}
	return out
}

// programs are tests of the project, each built when it is first needed.
type programs struct {
	root, dir string
	mu        sync.Mutex
}

// of is the test program of a package.
func (p *programs) of(ctx context.Context, pkg string) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	file := filepath.Join(p.dir, strings.ReplaceAll(pkg, "/", "-")+".test")
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-o", file, "./"+pkg)
	cmd.Dir = p.root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the tests of %s: %w: %s", pkg, err, out)
	}
	return file, nil
}
