package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"purgelab/linearizability/scenario"
	"purgelab/linearizability/teeth"
	"purgelab/linearizability/verdict"
	"purgelab/traces/tlc"
)

// newTeethCmd is "purgelab teeth".
func newTeethCmd() *cobra.Command {
	var names []string
	for _, l := range teeth.Layers {
		names = append(names, string(l))
	}
	layer := newChoice("", names...)
	var out, reasons string
	o := teeth.Options{Layers: teeth.Layers}
	cmd := &cobra.Command{
		Use:   "teeth [NAME...]",
		Short: "Switch known bugs on, and demand that each check made for them turns red",
		Long: `Switch each defect on, or those named, and demand that every layer that has to
catch it turns red by a property that the defect is known to break, and that no
layer is red without a defect. Prints the kill matrix: defect × layer.

  spec     TLC finds that the model with the bug violates the property
  history  what clients saw in a simulated run is not linearizable
  trace    TLC finds that the specification does not allow what replicas did
  boot     a named invariant does not hold on replicas
  scenario a script that retells how it went wrong goes wrong that way

A dash stands for a layer that does not have to catch the defect.

With --reasons it is asked instead, for each defect that histories have to catch, what
the judge names as the reason, and demanded that this is the promise that it breaks.

With --out a run of some layers or of some defects changes their cells and no others,
so that a long run can be made in parts.

Exit code: 0 all caught, 1 one was missed or a check is red without a defect,
2 undecided, 3 bad usage.`,
		Example: "  purgelab teeth\n  purgelab teeth --layer boot\n  purgelab teeth marker-no-dirsync duplicate-purge-wipes",
		RunE: func(cmd *cobra.Command, names []string) error {
			root, list, err := loadModels()
			if err != nil {
				return err
			}
			o.Models, o.Spec = list, filepath.Join(root, "spec")
			if o.Scenarios, err = scenario.Own(); err != nil {
				return err
			}
			if o.Teeth, err = teeth.Select(teeth.WithScenarios(teeth.WithModels(teeth.Table, list), o.Scenarios), names); err != nil {
				return &exitError{exitUsage, err}
			}
			if layer.value != "" {
				o.Layers = []teeth.Layer{teeth.Layer(layer.value)}
			}
			if o.Runs < 1 || o.Jobs < 0 {
				return usageError("--runs %d, --jobs %d: want at least one run, and no negative number", o.Runs, o.Jobs)
			}
			if reasons != "" {
				return teethReasons(cmd, o, reasons)
			}
			o.Tool = func(ctx context.Context) (tlc.Tool, error) { return findTLC(ctx, root, cmd.ErrOrStderr()) }
			b := newBar(cmd.ErrOrStderr(), 1, "teeth")
			o.Progress = func(done, all int) { b.of(done, all) }
			m := teeth.Make(cmd.Context(), o)
			b.done()
			if out != "" {
				if err := writeBetween(out, markTeeth, func(old string) string { return m.Markdown(old, len(names) > 0) }); err != nil {
					return err
				}
			}
			if jsonWanted(cmd) {
				err = teethJSON(cmd.OutOrStdout(), m)
			} else {
				err = printTeeth(cmd.OutOrStdout(), m, len(names) > 0)
			}
			if err != nil {
				return err
			}
			return exitWith(m.Verdict().ExitCode())
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			var all []string
			for _, t := range teeth.Table {
				all = append(all, t.Name)
			}
			return all, cobra.ShellCompDirectiveNoFileComp
		},
	}
	f := cmd.Flags()
	f.Var(layer, "layer", "only this layer: "+layer.list())
	completeChoices(cmd, "layer", layer)
	f.IntVar(&o.Runs, "runs", teeth.DefaultRuns, "runs at most, per defect")
	f.IntVar(&o.Jobs, "jobs", 0, "runs and models at a time (default: one per core)")
	f.StringVar(&reasons, "reasons", "", "write what the judge calls each defect into this Markdown file, between its marks, and nothing else")
	f.StringVar(&out, "out", "", "write the matrix into this Markdown file, between its marks if it has them; what was not asked stays")
	return cmd
}

func printTeeth(w io.Writer, m *teeth.Matrix, replays bool) error {
	t := table{header: m.Header()}
	for i := range m.Rows {
		t.rows = append(t.rows, m.Rows[i].Text())
	}
	if err := t.write(w); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for i := range m.Rows {
		for _, c := range m.Rows[i].Cells {
			good := c.Outcome == teeth.Caught
			if c.Outcome == teeth.NotExpected || good && !replays {
				continue
			}
			fmt.Fprintf(w, "%s, %s: %s\n", c.Defect, c.Layer, c.Short())
			for _, line := range []string{why(c.Property, c.Reason), c.Replay} {
				if line != "" {
					fmt.Fprintf(w, "  %s\n", line)
				}
			}
		}
	}
	for i := range m.Controls {
		c := &m.Controls[i]
		fmt.Fprintf(w, "without a defect, %s\n", c)
		for _, line := range []string{c.Reason, c.Replay} {
			if line != "" {
				fmt.Fprintf(w, "  %s\n", line)
			}
		}
	}
	must, caught, missed, undecided := m.Sum()
	_, err := fmt.Fprintf(w, "verdict %s: %s, %d of %d caught, %d not, %d undecided\n",
		m.Verdict(), plural(len(m.Rows), "defect"), caught, must, missed, undecided)
	return err
}

// teethJSON prints each cell, what was found without a defect, and the sum.
func teethJSON(w io.Writer, m *teeth.Matrix) error {
	for i := range m.Rows {
		for _, c := range m.Rows[i].Cells {
			if err := writeJSON(w, c); err != nil {
				return err
			}
		}
	}
	for _, c := range m.Controls {
		if err := writeJSON(w, c); err != nil {
			return err
		}
	}
	must, caught, missed, undecided := m.Sum()
	return writeJSON(w, struct {
		Verdict   verdict.Verdict `json:"verdict"`
		Defects   int             `json:"defects"`
		Must      int             `json:"mustCatch"`
		Caught    int             `json:"caught"`
		Missed    int             `json:"missed"`
		Undecided int             `json:"undecided"`
	}{m.Verdict(), len(m.Rows), must, caught, missed, undecided})
}

// Marks in documents, between which commands write.
const (
	markTeeth    = "<!-- begin: purgelab teeth --out docs/defects.md -->"
	markReasons  = "<!-- begin: purgelab teeth --reasons docs/judging.md -->"
	markMinimize = "<!-- begin: purgelab minimize --defects docs/minimize.md -->"
	markEnd      = "<!-- end -->"
)

// writeBetween changes what stands between begin and the end mark of a file, or all of a file
// without marks; one that is not there is made.
func writeBetween(name, begin string, change func(old string) string) error {
	old, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &exitError{exitUsage, err}
	}
	lines := strings.Split(string(old), "\n")
	a := slices.Index(lines, begin)
	text := ""
	if a < 0 {
		text = change(string(old))
	} else {
		z := slices.Index(lines[a:], markEnd)
		if z < 0 {
			return usageError("%s:%d: no %s after this line", name, a+1, markEnd)
		}
		text = change(strings.Join(lines[a:a+z], "\n"))
		text = strings.Join(lines[:a+1], "\n") + "\n\n" + strings.TrimRight(text, "\n") + "\n\n" + strings.Join(lines[a+z:], "\n")
	}
	return os.WriteFile(name, []byte(text), 0o644)
}
