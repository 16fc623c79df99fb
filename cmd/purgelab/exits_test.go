package main

import (
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
)

// cmdExits is the script command `exits CODE PROGRAM ARG…`: it runs a program
// and demands an exit code, since `exec` and `! exec` tell only pass and fail
// apart. What the program printed is there for stdout, stderr and cmp.
func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("%s: exit code %d, want %d", args[1], got, want)
	}
}

func TestWorse(t *testing.T) {
	order := []int{exitPass, exitUndecided, exitViolated, exitUsage}
	for i, a := range order {
		for j, b := range order {
			require.Equal(t, order[max(i, j)], worse(a, b), "worse(%d, %d)", a, b)
		}
	}
}

func TestCodeOf(t *testing.T) {
	require.Equal(t, exitPass, codeOf(nil))
	require.Equal(t, exitUndecided, codeOf(errors.New("disk full")))
	require.Equal(t, exitViolated, codeOf(fmt.Errorf("run 3: %w", exitWith(exitViolated))))
	require.Equal(t, exitUsage, codeOf(usageError("seed %q", "x")))
	require.NoError(t, exitWith(exitPass))
}
