package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"purgelab/linearizability/foreign"
	"purgelab/linearizability/foreign/contract"
	"purgelab/linearizability/minimize"
	"purgelab/linearizability/run"
	"purgelab/linearizability/strictjson"
	"purgelab/linearizability/verdict"
)

// minimizeFlags are those of the command.
type minimizeFlags struct {
	jobs                   int
	out, scenario, defects string
	semantics, format      *choice
	allow                  []string
	force                  bool
}

// newMinimizeCmd is "purgelab minimize".
func newMinimizeCmd() *cobra.Command {
	f := minimizeFlags{semantics: newChoice(contract.Contracts[0].Name, contract.Names()...), format: newChoice(string(foreign.Auto), foreign.Formats...)}
	cmd := &cobra.Command{
		Use:   "minimize RUN-DIR|FILE",
		Short: "Make a red run small: few operations, few faults, the same violation",
		Long: `Leave out of a red run the faults, clients, operations and messages that are not
needed, while the same property stays violated; with a defect switched on, only while
the property holds without it. The result is a run folder of its own. docs/minimize.md
says how it is done.

Of a history, ours or another system's (docs/foreign.md), operations are left out while
it stays wrong for the same reason. The result is JSON lines.

With --defects the first run that shows each defect, or each that is named, is made
small, and the table of how small goes into a document.

An interrupt keeps the smallest run so far; the same command given again goes on.

Exit code: 0 nothing more can be left out, 1 (with --defects) fewer than nine in ten
get small, 2 interrupted, or --scenario cannot say it, 3 bad usage, or no property is
violated.`,
		Example: `  purgelab minimize out/seven
  purgelab minimize out/seven --out out/small --scenario small.txt
  purgelab minimize theirs.jsonl --semantics continue --out small.jsonl
  purgelab minimize jepsen/history.edn --semantics continue --allow holes`,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case f.jobs < 0:
				return usageError("--jobs %d: want 0 (one per core) or more", f.jobs)
			case f.defects != "":
				return f.table(cmd, args)
			case len(args) != 1:
				return usageError("purgelab minimize: want one run folder or history, got %d", len(args))
			case fileExists(args[0]):
				return f.history(cmd, args[0])
			}
			return f.run(cmd, args[0])
		},
	}
	cmd.Flags().IntVar(&f.jobs, "jobs", 0, "runs at a time (default: one per core)")
	cmd.Flags().StringVar(&f.out, "out", "", "folder, or file, for the result (default: that of the run or history with -min at its end)")
	cmd.Flags().StringVar(&f.scenario, "scenario", "", "save the result as a scenario in this file, too")
	cmd.Flags().StringVar(&f.defects, "defects", "", "instead of a run: write the table of defects into this Markdown file, between its marks if it has them; others stay")
	cmd.Flags().Var(f.semantics, "semantics", "of a history, the contract of a purge: "+f.semantics.list())
	completeChoices(cmd, "semantics", f.semantics)
	cmd.Flags().Var(f.format, "format", "of a history: "+f.format.list())
	completeChoices(cmd, "format", f.format)
	cmd.Flags().StringSliceVar(&f.allow, "allow", nil, "of a history, promises that the system does not give: "+strings.Join(contract.OptionNames(), ", "))
	completeList(cmd, "allow", contract.OptionNames())
	cmd.Flags().BoolVar(&f.force, "force", false, "let --out replace what is there, and begin anew what was interrupted")
	return cmd
}

// triedFile remembers what was tried, until all was.
const triedFile = "minimize.tried"

func (f *minimizeFlags) run(cmd *cobra.Command, dir string) error {
	s, err := recordedRun(dir)
	if err != nil {
		return err
	}
	out := f.out
	if out == "" {
		out = strings.TrimRight(dir, "/") + "-min"
	}
	if err := f.claim(out, dir); err != nil {
		return err
	}
	b := newBarOf(cmd.ErrOrStderr(), -1, "minimize", "runs")
	manyRuns()
	r, err := minimize.Run(cmd.Context(), s, minimize.Options{
		Jobs: f.jobs, State: filepath.Join(out, triedFile),
		Progress: func(p minimize.Progress) {
			b.say(fmt.Sprintf("minimize: %d of %d operations, %d of %d faults", p.Ops, p.FromOps, p.Faults, p.FromFaults))
			b.set(p.Runs)
		},
	})
	b.done()
	if err != nil {
		_ = os.Remove(out) // if nothing is in it
		if cmd.Context().Err() != nil {
			return undecidedError("%s: %w", dir, err)
		}
		return &exitError{exitUsage, fmt.Errorf("%s: %w", dir, err)}
	}
	if err := f.save(out, r); err != nil {
		return err
	}
	if r.Ended == nil {
		if err := os.Remove(filepath.Join(out, triedFile)); err != nil {
			return err
		}
	}
	var said error
	if f.scenario != "" {
		said = saveScenario(cmd.Context(), f.scenario, r)
	}
	if jsonWanted(cmd) {
		err = minimizeJSON(cmd.OutOrStdout(), r, out)
	} else {
		err = printMinimized(cmd.OutOrStdout(), r, out)
	}
	switch {
	case err != nil:
		return err
	case said != nil:
		return undecidedError("--scenario %s: %w", f.scenario, said)
	case r.Ended != nil:
		return exitWith(exitUndecided)
	}
	return nil
}

// recordedRun reads what a run folder says of its run: the settings, and what broke and
// was asked if the folder has those files.
func recordedRun(dir string) (run.Settings, error) {
	name := filepath.Join(dir, run.RecordFile)
	raw, err := os.ReadFile(name)
	if err != nil {
		return run.Settings{}, usageError("%s: want the folder of a run: %w", dir, err)
	}
	var rec run.Record
	if err := strictjson.DecodeOwn(raw, &rec); err != nil {
		return run.Settings{}, usageError("%s: %w", name, err)
	}
	s := rec.Settings
	for file, to := range map[string]*string{run.PlanFile: &s.Faults, run.ScriptFile: &s.Workload} {
		if path := filepath.Join(dir, file); fileExists(path) {
			*to = path
		}
	}
	return s, nil
}

// claim makes the folder of the result ready. What an interrupt left there goes on.
func (f *minimizeFlags) claim(out, dir string) error {
	if filepath.Clean(out) == filepath.Clean(dir) {
		return usageError("--out %s: want another folder than that of the run", out)
	}
	if err := makeFolder("out", out); err != nil {
		return err
	}
	if fileExists(filepath.Join(out, triedFile)) && !f.force {
		return nil
	}
	own, err := runFilesIn(out)
	if err != nil {
		return err
	}
	if len(own) > 0 && !f.force {
		return usageError("--out %s: it holds %s: want an empty folder, or --force", out, filepath.Base(own[0]))
	}
	for _, name := range append(own, filepath.Join(out, triedFile)) {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// save writes the smallest run as the run of its own files.
func (f *minimizeFlags) save(out string, r *minimize.Result) error {
	s := &r.Run.Settings
	s.Faults, s.Workload = filepath.Join(out, run.PlanFile), filepath.Join(out, run.ScriptFile)
	if r.Faults == 0 {
		s.Faults = "none"
	}
	return writeRun(context.Background(), out, r.Run)
}

func saveScenario(ctx context.Context, file string, r *minimize.Result) error {
	name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	text, err := minimize.Scenario(ctx, name, r.Property, r.Run)
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o644)
}

func printMinimized(w io.Writer, r *minimize.Result, out string) error {
	var b bytes.Buffer
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-9s %s\n", name, fmt.Sprintf(format, args...))
	}
	line("violated", "%s: %s", r.Property, why(r.Property, r.Reason))
	line("from", "%s, %s", plural(r.BeforeOps, "operation"), plural(r.BeforeFaults, "fault"))
	line("to", "%s, %s, in %s", plural(r.Ops, "operation"), plural(r.Faults, "fault"), plural(r.Runs, "run"))
	for _, l := range minimize.Lines(r.Run.Plan, r.Run.Workload) {
		fmt.Fprintf(&b, "  %s\n", l)
	}
	line("replay", "%s", r.Run.Settings.Replay())
	line("files", "%s", out)
	if r.Ended != nil {
		line("verdict", "%s: more may be left out: give the same command again", verdict.Undecided)
	}
	_, err := w.Write(b.Bytes())
	return err
}

func minimizeJSON(w io.Writer, r *minimize.Result, out string) error {
	return writeJSON(w, struct {
		Property   string   `json:"property"`
		Reason     string   `json:"reason"`
		FromOps    int      `json:"fromOps"`
		FromFaults int      `json:"fromFaults"`
		Ops        int      `json:"ops"`
		Faults     int      `json:"faults"`
		Runs       int      `json:"runs"`
		Left       []string `json:"left"`
		Replay     string   `json:"replay"`
		Dir        string   `json:"dir"`
		Complete   bool     `json:"complete"`
	}{r.Property, r.Reason, r.BeforeOps, r.BeforeFaults, r.Ops, r.Faults, r.Runs,
		minimize.Lines(r.Run.Plan, r.Run.Workload), r.Run.Settings.Replay(), out, r.Ended == nil})
}
