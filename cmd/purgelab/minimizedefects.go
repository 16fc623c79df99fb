package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"purgelab/linearizability/minimize"
	"purgelab/linearizability/teeth"
)

// table makes a run small for each of some defects, or of all that runs have to show. The
// document has what is known after each.
func (f *minimizeFlags) table(cmd *cobra.Command, names []string) error {
	list, err := teeth.Select(teeth.Table, names)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	list = slices.DeleteFunc(slices.Clone(list), func(t teeth.Tooth) bool { return !t.ByRuns() })
	dir := strings.TrimSuffix(f.defects, filepath.Ext(f.defects))
	b := newBar(cmd.ErrOrStderr(), len(list), "minimize")
	manyRuns()
	var rows []minimize.Row
	for _, t := range list {
		row := minimize.Defect(cmd.Context(), t, f.jobs, dir)
		rows = append(rows, row)
		if row.Interrupted {
			break
		}
		if err := writeBetween(f.defects, markMinimize, func(old string) string {
			return minimize.Markdown(minimize.Merge(minimize.Read(old), []minimize.Row{row}))
		}); err != nil {
			return err
		}
		if jsonWanted(cmd) {
			err = writeJSON(cmd.OutOrStdout(), row)
		} else {
			_, err = fmt.Fprintln(cmd.OutOrStdout(), row.String())
		}
		if err != nil {
			return err
		}
		b.step()
	}
	b.done()
	return exitWith(minimize.Verdict(rows).ExitCode())
}
