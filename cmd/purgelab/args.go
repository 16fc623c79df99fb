package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// someOf is for commands that take one argument or more of a kind.
func someOf(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usageError("%s: want one %s or more, got none\nSee '%s --help'", cmd.CommandPath(), what, cmd.CommandPath())
		}
		return nil
	}
}

// group makes a command that does nothing but hold others: alone it shows its
// help, and what it does not know it refuses.
func group(cmd *cobra.Command, of ...*cobra.Command) *cobra.Command {
	var names, examples []string
	for _, c := range of {
		names = append(names, c.Name())
		first, _, _ := strings.Cut(c.Example, "\n")
		examples = append(examples, first)
	}
	cmd.Example = strings.Join(examples, "\n")
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return usageError("%s %s: want one of %s", cmd.CommandPath(), args[0], strings.Join(names, ", "))
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	cmd.AddCommand(of...)
	return cmd
}

// checkFlags refuses numbers and times below zero, which mean nothing anywhere.
func checkFlags(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if t := f.Value.Type(); err == nil && (t == "int" || t == "duration") && strings.HasPrefix(f.Value.String(), "-") {
			want := "no number below 0"
			if t == "duration" {
				want = "a time of 0s or more"
			}
			err = usageError("--%s %s: want %s", f.Name, f.Value, want)
		}
	})
	return err
}
