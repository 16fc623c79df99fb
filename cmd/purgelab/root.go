package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// execute runs one command line and returns its exit code.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRootCmd()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	ran := false
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		ran = true
		return checkFlags(cmd)
	}
	err := root.ExecuteContext(ctx)
	if err != nil && !ran {
		// cobra refused the command line itself.
		err = &exitError{exitUsage, err}
	}
	var e *exitError
	if err != nil && (!errors.As(err, &e) || e.err != nil) {
		fmt.Fprintln(stderr, "purgelab:", err)
	}
	return codeOf(err)
}

func newRootCmd() *cobra.Command {
	var version, asJSON bool
	logLevel := newChoice("warn", "trace", "debug", "info", "warn", "error", "off")
	root := &cobra.Command{
		Use:   "purgelab",
		Short: "A laboratory for purging a partition of a replicated log",
		Long: `purgelab checks what a purge of a message broker's partition guarantees:
with TLC on a specification, with fault-injected runs of a real replica whose
client histories are judged, and with traces of those runs that the
specification has to accept.

Exit codes: 0 pass, 1 a property is violated, 2 undecided, 3 bad usage.`,
		Example: `  purgelab demo
  purgelab run --seed 7 --replicas 3 --faults all --out out/seven
  purgelab sweep --seeds 1..100 --faults all
  purgelab spec check --tier smoke`,
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if version {
				return printVersion(cmd)
			}
			return cmd.Help()
		},
	}
	root.Flags().BoolVar(&version, "version", false, "print revision, Go and TLC versions")
	root.PersistentFlags().BoolVar(&asJSON, "json", false, "print one JSON object per result line, and nothing else")
	root.PersistentFlags().Var(logLevel, "log-level", "log to standard error: "+logLevel.list())
	completeChoices(root, "log-level", logLevel)
	root.AddCommand(newCheckCmd(), newDemoCmd(), newMatrixCmd(), newMinimizeCmd(), newPoliciesCmd(), newReportCmd(), newRunCmd(), newScenarioCmd(), newSpecCmd(), newSweepCmd(), newTeethCmd(), newToolsCmd(), newTraceCmd())
	exemplifyCompletion(root)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError("%w\nSee '%s --help'", flagError(err), cmd.CommandPath())
	})
	return root
}

// exemplifyCompletion gives cobra's own command examples, as every other has.
func exemplifyCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			c.Example = "  source <(purgelab completion bash)\n  purgelab completion zsh >~/.zfunc/_purgelab\n  purgelab completion fish | source"
		}
	}
}

// build says which program this is.
type build struct {
	Revision string `json:"revision"`
	Modified bool   `json:"modified"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	TLC      string `json:"tlc"`
}

func thisBuild() build {
	b := build{Revision: "unknown", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

func printVersion(cmd *cobra.Command) error {
	b := thisBuild()
	b.TLC = tlcVersion(cmd.Context())
	if jsonWanted(cmd) {
		return writeJSON(cmd.OutOrStdout(), b)
	}
	changed := ""
	if b.Modified {
		changed = ", with changes"
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "purgelab revision %s%s\n%s %s\n%s\n", b.Revision, changed, b.Go, b.Platform, b.TLC)
	return err
}
