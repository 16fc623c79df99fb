package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"purgelab/linearizability/faults"
	"purgelab/linearizability/guarantee"
	"purgelab/linearizability/run"
	"purgelab/linearizability/verdict"
)

// modelTimeout bounds each process of TLC; most take seconds.
const modelTimeout = 10 * time.Minute

// newMatrixCmd is "purgelab matrix".
func newMatrixCmd() *cobra.Command {
	var o guarantee.Options
	var out string
	var fresh bool
	var only partOfMatrix
	cmd := &cobra.Command{
		Use:   "matrix",
		Short: "The guarantee matrix: design, policies and faults by property, by models and by runs",
		Long: `Compute what a purge guarantees: for each design, variant and policy, under each
class of faults, whether each property holds, or what shows that it is violated.
TLC checks models of it, the simulator makes runs, and the two are compared: a
violation in simulation where the model says that the property holds is a failure,
and so is one in a model that no run shows, neither of a drawn seed nor of the
plans in ` + guarantee.Folder + `.

With --out the page is written, and the data beside it; for ` + guarantee.Document + `
those that other commands ask whether a violation is listed.

An interrupted computation goes on where it was when the same command is given
again; one that came to its end begins anew. Answers of TLC stay in the folder of the
state. They are named after all that TLC reads, and are used as long as that is the
same.

With --design or --class the runs of a part are made anew, and of the rest those count
that were made last, of which there must be as many.

Exit code: 0 the two agree, 1 they do not, 2 something was not decided, 3 bad usage.`,
		Example: "  purgelab matrix\n  purgelab matrix --runs 50 --out out/matrix.md\n  purgelab matrix --design reset-record --class topic-crash,second-crash",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.Runs < 1 || o.Jobs < 0 {
				return usageError("--runs %d, --jobs %d: want at least one run, and no negative number", o.Runs, o.Jobs)
			}
			if err := only.choose(&o, cmd.Flags().Changed("runs")); err != nil {
				return err
			}
			if err := makeFolder("state", o.State); err != nil {
				return err
			}
			if fresh {
				if err := guarantee.Clear(o.State); err != nil {
					return err
				}
			}
			log := cmd.ErrOrStderr()
			root, _, err := loadModels()
			if err != nil {
				return err
			}
			tool, missing := findTLC(cmd.Context(), root, log)
			switch {
			case missing == nil:
				o.Models = guarantee.NewModels(tool, guarantee.ModelOptions{Dir: filepath.Join(root, "spec"), Timeout: modelTimeout, Keep: o.State}).Ask
			case codeOf(missing) == exitUsage:
				return missing
			default:
				fmt.Fprintln(log, "purgelab: models are not asked:", missing)
			}
			if o.Weaknesses, err = guarantee.Weaknesses(); err != nil {
				return &exitError{exitUsage, err}
			}
			o.Versions = run.Versions()
			b := newBar(log, 1, "matrix")
			o.Progress = func(done, all int) { b.of(done, all) }
			o.Resumed = func(done, all int) {
				fmt.Fprintf(log, "purgelab: going on: %d of %d parts were there before\n", done, all)
			}
			m, err := guarantee.Make(cmd.Context(), o)
			b.done()
			switch {
			case err == nil:
			case interrupted(cmd.Context(), err):
				return undecidedError("interrupted; the same command goes on")
			case errors.Is(err, guarantee.ErrOther):
				return &exitError{exitUsage, err}
			default:
				return &exitError{exitViolated, err}
			}
			if out != "" {
				if err := writeMatrix(m, out); err != nil {
					return err
				}
			}
			if jsonWanted(cmd) {
				err = matrixJSON(cmd.OutOrStdout(), m)
			} else {
				err = printMatrix(cmd.OutOrStdout(), m, out)
			}
			if err := errors.Join(err, guarantee.Clear(o.State)); err != nil {
				return err
			}
			code := m.Verdict().ExitCode()
			if missing != nil {
				code = worse(code, exitUndecided)
			}
			return exitWith(code)
		},
	}
	f := cmd.Flags()
	f.StringVar(&out, "out", "", "write the page to this Markdown file, and the data beside it")
	f.IntVar(&o.Runs, "runs", guarantee.DefaultRuns, "runs of each subject under each class")
	f.IntVar(&o.Jobs, "jobs", 0, "parts at a time (default: one per core)")
	f.StringVar(&o.State, "state", filepath.Join("out", "matrix"), "folder for what was found so far")
	f.BoolVar(&fresh, "fresh", false, "make all runs anew, whatever an interrupted computation left")
	f.StringSliceVar(&only.designs, "design", nil, "only these designs")
	f.StringSliceVar(&only.classes, "class", nil, "only these classes of faults")
	completeList(cmd, "design", designNames())
	completeList(cmd, "class", matrixClasses())
	return cmd
}

// partOfMatrix is what is computed anew; nil: all of it.
type partOfMatrix struct{ designs, classes []string }

func designNames() []string {
	var out []string
	for _, s := range guarantee.Subjects {
		if !slices.Contains(out, s.Design) {
			out = append(out, s.Design)
		}
	}
	return out
}

// choose narrows what is computed to the part. What is left out comes from as many
// runs.
func (p *partOfMatrix) choose(o *guarantee.Options, runsGiven bool) error {
	if p.designs == nil && p.classes == nil {
		return nil
	}
	for _, d := range p.designs {
		if !slices.Contains(designNames(), d) {
			return usageError("--design %s: want some of %s", d, strings.Join(designNames(), ", "))
		}
	}
	for _, c := range p.classes {
		// What is violated without faults counts under all classes, so that none cannot
		// be had alone.
		if !slices.Contains(faults.Matrix[1:], faults.Class(c)) {
			return usageError("--class %s: want some of %v", c, faults.Matrix[1:])
		}
		o.Classes = append(o.Classes, faults.Class(c))
	}
	for _, s := range guarantee.Subjects {
		if p.designs == nil || slices.Contains(p.designs, s.Design) {
			o.Subjects = append(o.Subjects, s)
		}
	}
	o.Base = guarantee.Known()
	if runsGiven && o.Runs != o.Base.Runs {
		return usageError("--runs %d: the rest, which is not computed anew, is of %d runs", o.Runs, o.Base.Runs)
	}
	o.Runs = o.Base.Runs
	return nil
}

// dataOf is where the data of a page goes.
func dataOf(page string) string {
	if root, ok := strings.CutSuffix(filepath.ToSlash(page), guarantee.Document); ok {
		return filepath.FromSlash(root + guarantee.Data)
	}
	return strings.TrimSuffix(page, filepath.Ext(page)) + ".json"
}

// writeMatrix writes the page and the data. A page whose answers are not what the
// cells say is not written.
func writeMatrix(m *guarantee.Matrix, page string) error {
	text, err := m.Markdown(m.Command(filepath.ToSlash(page)))
	if err != nil {
		return &exitError{exitViolated, err}
	}
	data, err := m.Encode()
	if err != nil {
		return err
	}
	if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
		return err
	}
	return os.WriteFile(dataOf(page), data, 0o644)
}

// sums of a matrix.
type sums struct {
	Verdict   verdict.Verdict `json:"verdict"`
	Cells     int             `json:"cells"`
	Violated  int             `json:"violated"`
	Compared  int             `json:"compared"` // both halves were asked
	Disagree  int             `json:"disagree"`
	Undecided int             `json:"undecided"`
	Simulated int             `json:"runs"`
}

func sumUp(m *guarantee.Matrix) sums {
	s := sums{Verdict: m.Verdict()}
	for _, c := range m.Cells() {
		s.Cells++
		if c.Violated() {
			s.Violated++
		}
		if c.TLC.Outcome != guarantee.NotAsked && c.Simulation.Outcome != guarantee.NotAsked {
			s.Compared++
		}
	}
	for _, p := range m.Problems() {
		if p.Verdict == verdict.Fail {
			s.Disagree++
		} else {
			s.Undecided++
		}
	}
	for _, b := range m.Blocks {
		if b.Simulated != nil {
			s.Simulated += b.Simulated.Runs
		}
	}
	return s
}

// printMatrix tells how many properties each subject violates under each class.
func printMatrix(w io.Writer, m *guarantee.Matrix, page string) error {
	var b bytes.Buffer
	t := table{header: []string{"violated, of"}}
	row := map[guarantee.Subject][]any{}
	var order []guarantee.Subject
	for _, block := range m.Blocks {
		if row[block.Subject] == nil {
			order = append(order, block.Subject)
			row[block.Subject] = []any{block.Name()}
		}
		n := 0
		for _, p := range block.Properties() {
			if c := m.Cell(block, p); c.Violated() {
				n++
			}
		}
		cell := fmt.Sprint(n)
		if guarantee.Unasked(block.Subject, block.Class) != "" {
			cell = "-"
		}
		row[block.Subject] = append(row[block.Subject], cell)
	}
	for _, c := range faults.Matrix {
		t.header = append(t.header, string(c))
	}
	for _, s := range order {
		t.add(row[s]...)
	}
	if err := t.write(&b); err != nil {
		return err
	}
	for _, p := range m.Problems() {
		fmt.Fprintf(&b, "\n%s: %s\n", p.Verdict, &p)
	}
	s := sumUp(m)
	fmt.Fprintf(&b, "\n%s in %d runs: %d violated, %d compared with a model, %d disagree, %d undecided\n", plural(s.Cells, "cell"), s.Simulated, s.Violated, s.Compared, s.Disagree, s.Undecided)
	if page != "" {
		fmt.Fprintf(&b, "written to %s\n", page)
	}
	fmt.Fprintf(&b, "verdict %s\n", s.Verdict)
	_, err := w.Write(b.Bytes())
	return err
}

// matrixJSON prints each cell, each problem, and the sum.
func matrixJSON(w io.Writer, m *guarantee.Matrix) error {
	for _, c := range m.Cells() {
		if err := writeJSON(w, c); err != nil {
			return err
		}
	}
	for _, p := range m.Problems() {
		if err := writeJSON(w, p); err != nil {
			return err
		}
	}
	return writeJSON(w, sumUp(m))
}
