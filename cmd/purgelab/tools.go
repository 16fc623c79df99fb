package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"purgelab/traces/models"
	"purgelab/traces/tlc"
)

// newToolsCmd is "purgelab tools". make runs it before the long targets, so
// that a missing tool is named at once and not after minutes of work.
func newToolsCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "tools",
		Short: "Find Java and TLC, fetching TLC if need be, and say which are used",
		Long: `Find Java and TLC, the two tools that this program uses and does not contain.
TLC is the jar named by TLA2TOOLS_JAR, or the one in the folder .tools of the
project, or is fetched into that folder with Maven. Its checksum is verified.

Exit code: 0 both are ready, 2 something is missing: the message says what to
install, 3 the jar is not the one it should be.`,
		Example: "  purgelab tools",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			root, err := models.Root()
			if err != nil {
				return &exitError{exitUsage, err}
			}
			tool, err := findTLC(cmd.Context(), root, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if jsonWanted(cmd) {
				return writeJSON(cmd.OutOrStdout(), map[string]string{"java": tool.Java, "jar": tool.Jar, "tlc": tool.Build, "source": tool.Source})
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "java  %s\nTLC   %s\n", tool.Java, tool)
			return err
		},
	}
}

// tlcVersion says which TLC there is, without fetching one.
func tlcVersion(ctx context.Context) string {
	root, err := models.Root()
	if err != nil {
		root = "."
	}
	if os.Getenv("TLA2TOOLS_JAR") == "" {
		if jars, _ := filepath.Glob(filepath.Join(models.ToolFolder(root), "*.jar")); len(jars) == 0 {
			return "TLC is not here yet: fetched when first needed, or by 'purgelab tools'"
		}
	}
	tool, err := tlc.Find(ctx, models.ToolFolder(root), io.Discard)
	if err != nil {
		return "TLC: " + err.Error()
	}
	return tool.String()
}
