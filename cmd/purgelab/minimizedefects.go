package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"purgelab/linearizability/minimize"
	"purgelab/linearizability/teeth"
)

// table makes a run small for each of some defects, or of all that runs have to show. The
// document has what is known after each, and a folder beside it what an interrupt left.
func (f *minimizeFlags) table(cmd *cobra.Command, names []string) error {
	list, err := teeth.Select(teeth.Table, names)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	list = slices.DeleteFunc(slices.Clone(list), func(t teeth.Tooth) bool { return !t.ByRuns() })
	dir := strings.TrimSuffix(f.defects, filepath.Ext(f.defects))
	state := dir + ".tried"
	if f.force {
		if err := os.RemoveAll(state); err != nil {
			return err
		}
	}
	made, err := minimize.OpenRows(state)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	left := slices.DeleteFunc(slices.Clone(list), func(t teeth.Tooth) bool { return made.Has(t.Name) })
	if n := len(list) - len(left); n > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "purgelab: going on: %d of %s were made small before\n", n, plural(len(list), "defect"))
	}
	b := newBar(cmd.ErrOrStderr(), len(list), "minimize")
	manyRuns()
	var rows []minimize.Row
	for _, t := range list {
		row := minimize.Defect(cmd.Context(), t, f.jobs, dir, made)
		if row.Interrupted {
			b.done()
			return undecidedError("interrupted at %s: %d of %s made small; the same command goes on", t.Name, len(rows), plural(len(list), "defect"))
		}
		rows = append(rows, row)
		if err := writeBetween(f.defects, markMinimize, func(old string) string {
			return minimize.Markdown(minimize.Merge(minimize.Read(old), []minimize.Row{row}))
		}); err != nil {
			return err
		}
		b.clear()
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
	if err := made.Done(); err != nil {
		return err
	}
	return exitWith(minimize.Verdict(rows).ExitCode())
}
