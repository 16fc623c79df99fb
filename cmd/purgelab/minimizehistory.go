package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"purgelab/linearizability/check"
	"purgelab/linearizability/history"
	"purgelab/linearizability/minimize"
	"purgelab/linearizability/verdict"
	"purgelab/model"
	"purgelab/model/op"
)

// history makes a recorded history small.
func (f *minimizeFlags) history(cmd *cobra.Command, name string) error {
	numbering, err := model.ParseNumbering(f.semantics.value)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	if f.scenario != "" {
		return usageError("--scenario %s: want a run folder, got the history %s", f.scenario, name)
	}
	out := f.out
	if out == "" {
		ext := filepath.Ext(name)
		out = strings.TrimSuffix(name, ext) + "-min" + ext
	}
	tried := out + ".tried"
	if fileExists(out) && !fileExists(tried) && !f.force {
		return usageError("--out %s: it is there already: want another name, or --force", out)
	}
	events, err := readEvents(name)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	if !slices.ContainsFunc(events, func(e history.Event) bool { return e.Reply != nil && e.Reply.Position != op.Position{} }) {
		return usageError("%s: no answer tells a position: want a history that does", name)
	}
	b := newBarOf(cmd.ErrOrStderr(), -1, "minimize", "checks")
	manyRuns()
	r, err := minimize.History(cmd.Context(), name, events, minimize.HistoryOptions{
		Check: check.Options{Semantics: model.Semantics{Numbering: numbering}}, Jobs: f.jobs, State: tried,
		Progress: func(p minimize.Progress) {
			b.say(fmt.Sprintf("minimize: %d of %d operations", p.Ops, p.FromOps))
			b.set(p.Runs)
		},
	})
	b.done()
	var e *minimize.NotWrongError
	switch {
	case errors.As(err, &e) && e.Result.Verdict == verdict.Undecided, err != nil && cmd.Context().Err() != nil:
		return undecidedError("%s: %w", name, err)
	case err != nil:
		return &exitError{exitUsage, fmt.Errorf("%s: %w", name, err)}
	}
	var text bytes.Buffer
	if err := history.Write(&text, r.Events); err != nil {
		return err
	}
	if err := os.WriteFile(out, text.Bytes(), 0o644); err != nil {
		return err
	}
	if r.Ended == nil {
		if err := os.Remove(tried); err != nil {
			return err
		}
	}
	if err := printHistory(cmd, r, out); err != nil {
		return err
	}
	if r.Ended != nil {
		return exitWith(exitUndecided)
	}
	return nil
}

func readEvents(name string) ([]history.Event, error) {
	in, err := history.Open(name)
	if err != nil {
		return nil, err
	}
	events, err := history.Parse(name, in)
	return events, errors.Join(err, in.Close())
}

func printHistory(cmd *cobra.Command, r *minimize.HistoryResult, out string) error {
	w := cmd.OutOrStdout()
	if jsonWanted(cmd) {
		return writeJSON(w, struct {
			FromOps  int          `json:"fromOps"`
			Ops      int          `json:"ops"`
			Checks   int          `json:"checks"`
			File     string       `json:"file"`
			Complete bool         `json:"complete"`
			Result   check.Result `json:"result"`
		}{r.Before, r.Ops, r.Runs, out, r.Ended == nil, r.Result})
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "wrong     %s\n", strings.ReplaceAll(r.Result.Reason, "\n", "\n          "))
	if err := printShown(&b, strings.Repeat(" ", 10), r.Result.Shown); err != nil {
		return err
	}
	fmt.Fprintf(&b, "from      %s\nto        %s, in %s\n", plural(r.Before, "operation"), plural(r.Ops, "operation"), plural(r.Runs, "check"))
	fmt.Fprintf(&b, "file      %s\n", out)
	if r.Ended != nil {
		fmt.Fprintf(&b, "verdict   %s: more may be left out: give the same command again\n", verdict.Undecided)
	}
	_, err := w.Write(b.Bytes())
	return err
}
