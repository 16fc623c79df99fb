package main

import (
	"errors"
	"fmt"
)

// Exit codes, as every command uses them.
const (
	exitPass      = 0
	exitViolated  = 1 // a property is violated
	exitUndecided = 2 // time-out, tool missing, interrupted
	exitUsage     = 3 // bad usage or unreadable input
)

// exitError ends the program with a code. err is nil when the verdict that
// the code stands for has been printed already.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usageError is an exitError for what the user has to change.
func usageError(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

// undecidedError is an exitError for a verdict that could not be reached.
func undecidedError(format string, args ...any) error {
	return &exitError{exitUndecided, fmt.Errorf(format, args...)}
}

// exitWith turns a code into what a command returns.
func exitWith(code int) error {
	if code == exitPass {
		return nil
	}
	return &exitError{code: code}
}

// worse is the graver of two codes: bad input, then violated, then undecided,
// then pass.
func worse(a, b int) int {
	rank := func(code int) int {
		switch code {
		case exitUsage:
			return 3
		case exitViolated:
			return 2
		case exitPass:
			return 0
		}
		return 1
	}
	if rank(b) > rank(a) {
		return b
	}
	return a
}

// codeOf is the exit code of what a command returned. An error without a code
// is trouble with the machine, such as a full disk: no verdict was reached.
func codeOf(err error) int {
	if err == nil {
		return exitPass
	}
	var e *exitError
	if errors.As(err, &e) {
		return e.code
	}
	return exitUndecided
}
