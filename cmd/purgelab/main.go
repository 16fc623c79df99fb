// Command purgelab is the laboratory's one program: it model-checks the
// specification, runs fault-injected replicas, judges what clients saw, and
// asks the specification whether it accepts what replicas did.
//
// Results go to standard output and everything else to standard error; with
// --json each result is one JSON object on a line of its own. The exit code is
// 0 for pass, 1 when a property is violated, 2 when no verdict was reached,
// and 3 for bad usage or unreadable input. A verdict that was not reached is
// never printed as pass.
//
// Each command is one file with its test beside it; the scripts in
// testdata/script show every command from the outside.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() { os.Exit(program(os.Args[1:])) }

// program is main with an exit code. The first interrupt cancels the context, so
// that commands stop, keep what they have and say undecided; a second one ends
// the process at once.
func program(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return execute(ctx, args, os.Stdout, os.Stderr)
}
