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

	"purgelab/traces/models"
)

// ties are the checks that hold the specification to something else: samples of traces,
// the implementation to drawn behaviours of a group and to every transition of a replica,
// a scenario to the counterexample that it is, the model to every transition of the contract.
func ties(root string, list []models.Model) ([]check, error) {
	out, err := traceChecks(root)
	if err != nil {
		return nil, err
	}
	for _, m := range list {
		test := "TestGroups"
		if m.Module == "SIMAgreedLog.tla" {
			test = "TestAgreedLog"
		} else if !strings.Contains(m.Module, "Group") {
			continue
		}
		if m.Mode == "simulate" {
			out = append(out, testCheck("replay of "+m.Name, "traces/replay", pattern(test, m.Name, follows), m.Module, m.Cfg))
		}
	}
	for _, r := range []struct{ design, model, module string }{
		{"ordered", "two ops", "SIMOrdered"}, {"ordered", "three ops", "SIMOrdered"}, {"ordered", "transfers", "SIMTransfer"},
		{"advance", "two ops", "SIMAdvance"}, {"advance", "three ops", "SIMAdvance"}, {"advance", "transfers", "SIMTransferAdvance"},
		{"reset-record", "two ops", "SIMResetRecord"}, {"reset-record", "transfers", "SIMTransferReset"},
	} {
		out = append(out, testCheck("replay of "+r.design+", "+r.model, "traces/replay", pattern("TestEveryTransition", r.design, r.model, follows), r.module+".tla", r.module+".cfg"))
	}
	for _, r := range []struct{ defect, module string }{
		{"settled-at-proposal", "SIMLiveness"}, {"stale-pull-kept", "SIMTransferLiveness"}, {"suspects-unheard", "SIMRecovery"},
	} {
		out = append(out, testCheck("round trip of "+r.defect, "linearizability/scenario", pattern("TestFoundAgain", "defect-"+r.defect), r.module+".tla", "defects/"+r.defect+".cfg"))
	}
	return append(out, testCheck("model ≡ specification", "model", pattern("TestModelIsSpec"), "MCPartition.tla",
		"MCPartition.cfg", "MCPartitionContinue.cfg", "MCPartitionSessionsFew.cfg", "MCPartitionSuccession.cfg")), nil
}

// follows is the part of a replay that compares. What else a test asks of behaviours, of how
// many they take an action or show a defect, changes with them, and says nothing of the
// implementation.
const follows = "follows"

// testCheck is a test of the project that has TLC read a module with configurations.
func testCheck(name, pkg, run, module string, cfgs ...string) check {
	c := check{name: name, kind: Tie, pkg: pkg, modules: []string{strings.TrimSuffix(module, ".tla")}}
	for _, cfg := range cfgs {
		c.files = append(c.files, filepath.Join("spec", cfg))
	}
	c.red = func(ctx context.Context, w *workspace) (string, error) { return w.test(ctx, pkg, run) }
	return c
}

// pattern is that of a test, and of one among its parts.
func pattern(names ...string) string {
	return "^" + strings.ReplaceAll(strings.Join(names, "$/^"), " ", "_") + "$"
}

const testTimeout = 10 * time.Minute

var (
	// failed is what a panic, testify or else a test in its last line says, up to the end
	// of what belongs to it.
	failed = []*regexp.Regexp{
		regexp.MustCompile(`\npanic: ([^\n\[]*\w)`),
		regexp.MustCompile(`(?s)\n\s+Error:[ \t]*([^\s].*?)\n\s+(?:Test:|--- )`),
		regexp.MustCompile(`(?s).*\n\s+\w+_test\.go:\d+:[ \t]*([^\s].*?)\n\s*(?:--- |FAIL)`),
	}
	late = regexp.MustCompile(`panic: test timed out|no verdict after|exit code \d+`)
	// cannot is what TLC says of what it cannot evaluate.
	cannot = regexp.MustCompile(`TLC threw|Attempted to|attempted to|cannot be evaluated|was not able to evaluate`)
)

// test runs a test of the project upon the workspace.
func (w *workspace) test(ctx context.Context, pkg, run string) (string, error) {
	program, err := w.tests.of(ctx, pkg)
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, program, "-test.v", "-test.run", run, "-test.timeout", testTimeout.String(), "-test.failfast")
	cmd.Dir = w.in(filepath.FromSlash(pkg))
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil && strings.Count(string(out), "=== RUN") <= strings.Count(run, "/"):
		return "", fmt.Errorf("%s has no test %s", pkg, run)
	case err == nil:
		return "", nil
	case ctx.Err() != nil || !errors.As(err, &exit) || !exit.Exited(): // somebody else ended it
		return "", fmt.Errorf("%s: %w", run, errors.Join(err, ctx.Err()))
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
	for _, r := range failed {
		if f := r.FindStringSubmatch(out); f != nil {
			return f[1]
		}
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
