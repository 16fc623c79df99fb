package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"purgelab/linearizability/teeth"
	"purgelab/linearizability/verdict"
)

// wrongHistories is how many are looked at of each defect.
const wrongHistories = 10

// teethReasons writes what the judge calls each defect.
func teethReasons(cmd *cobra.Command, o teeth.Options, file string) error {
	jobs := o.Jobs
	if jobs == 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	b := newBar(cmd.ErrOrStderr(), 1, "reasons")
	manyRuns()
	list, err := teeth.ReasonsOf(cmd.Context(), o.Teeth, o.Runs, wrongHistories, jobs, func(done, all int) { b.of(done, all) })
	b.done()
	if err != nil {
		return undecidedError("%w", err)
	}
	if err := writeBetween(file, markReasons, func(string) string { return teeth.ReasonTable(list) }); err != nil {
		return err
	}
	v := verdict.Pass
	for i := range list {
		x := &list[i]
		v = verdict.Worst(v, x.Verdict())
		switch {
		case jsonWanted(cmd):
			err = writeJSON(cmd.OutOrStdout(), x)
		case x.Wrong != "":
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: want a reason of %q, got %s\n", x.Defect, x.Right, x.Wrong)
		case x.Verdict() != verdict.Pass:
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: no reason in %s\n", x.Defect, plural(x.Runs, "run"))
		}
		if err != nil {
			return err
		}
	}
	if !jsonWanted(cmd) {
		fmt.Fprintf(cmd.OutOrStdout(), "verdict %s: %s\n", v, plural(len(list), "defect"))
	}
	return exitWith(v.ExitCode())
}
