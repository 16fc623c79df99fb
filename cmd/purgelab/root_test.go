package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// each calls f with every command that does something of this program's own.
func each(cmd *cobra.Command, f func(*cobra.Command)) {
	if cmd.Name() == "completion" || cmd.Name() == "help" {
		return
	}
	if cmd.Runnable() {
		f(cmd)
	}
	for _, c := range cmd.Commands() {
		each(c, f)
	}
}

// TestEveryCommandHasAnExample that names the command and uses flags which it
// has.
func TestEveryCommandHasAnExample(t *testing.T) {
	root := newRootCmd()
	completion, _, err := root.Find([]string{"completion"})
	require.NoError(t, err)
	require.Contains(t, completion.Example, completion.CommandPath()+" bash")
	each(root, func(cmd *cobra.Command) {
		require.NotEmpty(t, cmd.Short, cmd.CommandPath())
		require.Contains(t, cmd.Example, cmd.CommandPath())
		for _, line := range strings.Split(cmd.Example, "\n") {
			if !strings.Contains(line, cmd.CommandPath()+" ") || cmd.HasSubCommands() {
				continue
			}
			for _, word := range strings.Fields(line) {
				if name, ok := strings.CutPrefix(word, "--"); ok {
					require.NotNil(t, cmd.Flag(name), "%s: the example uses --%s", cmd.CommandPath(), name)
				}
			}
		}
	})
}

// TestContract: the names that scripts rely on.
func TestContract(t *testing.T) {
	run := []string{"seed", "replicas", "partitions", "design", "messages", "bookmarks", "positions", "clients", "ops", "faults", "defect", "out"}
	want := map[string][]string{
		"purgelab":                {"version", "json", "log-level"},
		"purgelab demo":           {"out"},
		"purgelab spec list":      nil,
		"purgelab spec check":     {"tier", "workers", "timeout", "keep"},
		"purgelab run":            run,
		"purgelab sweep":          append([]string{"seeds", "jobs"}, run[1:]...),
		"purgelab policies":       {"seeds", "jobs", "out"},
		"purgelab check":          {"semantics", "timeout", "html"},
		"purgelab trace generate": run,
		"purgelab trace validate": nil,
		"purgelab trace coverage": nil,
		"purgelab report":         {"out"},
		"purgelab minimize":       {"jobs", "out", "scenario"},
		"purgelab teeth":          {"layer", "out"},
	}
	each(newRootCmd(), func(cmd *cobra.Command) {
		flags := map[string]bool{}
		for _, set := range []*pflag.FlagSet{cmd.Flags(), cmd.InheritedFlags()} {
			set.VisitAll(func(f *pflag.Flag) { flags[f.Name] = true })
		}
		for _, name := range append(want[cmd.CommandPath()], "json", "log-level") {
			require.True(t, flags[name] || cmd.PersistentFlags().Lookup(name) != nil, "%s lacks --%s", cmd.CommandPath(), name)
		}
		delete(want, cmd.CommandPath())
	})
	require.Empty(t, want, "commands that are missing")
}
