package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"purgelab/linearizability/check"
	"purgelab/linearizability/foreign"
	"purgelab/linearizability/foreign/contract"
	"purgelab/linearizability/minimize"
	"purgelab/linearizability/verdict"
)

// history makes a recorded history small.
func (f *minimizeFlags) history(cmd *cobra.Command, name string) error {
	c, err := f.contract()
	if err != nil {
		return err
	}
	if f.scenario != "" {
		return usageError("--scenario %s: want a run folder, got the history %s", f.scenario, name)
	}
	out := f.out
	if out == "" {
		stem, _, _ := strings.Cut(filepath.Base(name), ".")
		out = filepath.Join(filepath.Dir(name), stem+"-min.jsonl")
	}
	tried := out + ".tried"
	if fileExists(out) && !fileExists(tried) && !f.force {
		return usageError("--out %s: it is there already: want another name, or --force", out)
	}
	h, write, err := minimize.Record(&c, name, foreign.Format(f.format.value))
	if err != nil {
		return &exitError{exitUsage, err}
	}
	h.Name = fmt.Sprintf("%s by %s", name, f.semantics)
	if len(f.allow) > 0 {
		h.Name += " without " + strings.Join(f.allow, ", ")
	}
	if f.force {
		if err := os.RemoveAll(tried); err != nil {
			return err
		}
	}
	b := newBarOf(cmd.ErrOrStderr(), -1, "minimize", "checks")
	manyRuns()
	r, err := minimize.History(cmd.Context(), h, minimize.HistoryOptions{
		Jobs: f.jobs, State: tried,
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
	if err := write(&text, r); err != nil {
		return err
	}
	if err := os.WriteFile(out, text.Bytes(), 0o644); err != nil {
		return err
	}
	// What an interrupt left is judged to its end, too.
	if r.Result, err = again(context.WithoutCancel(cmd.Context()), &c, out); err != nil {
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

// contract is the one by which a history is wrong.
func (f *minimizeFlags) contract() (contract.Contract, error) {
	c, err := contract.Find(f.semantics.value)
	if err != nil {
		return c, &exitError{exitUsage, err}
	}
	if c, err = c.Weaken(f.allow); err != nil {
		return c, &exitError{exitUsage, fmt.Errorf("--allow: %w", err)}
	}
	return c, nil
}

// again judges what was written, so that its lines are named, and it is known to be wrong
// without the rest.
func again(ctx context.Context, c *contract.Contract, name string) (check.Result, error) {
	h, err := c.Read(name, foreign.Purgelab)
	if err != nil {
		return check.Result{}, err
	}
	rep, err := c.Judge(ctx, h, contract.Options{})
	switch {
	case err != nil:
		return check.Result{}, err
	case rep.Total.Verdict != verdict.Fail || len(rep.Partitions) == 0:
		return check.Result{}, undecidedError("%s: want what is left to be wrong, got verdict %s", name, rep.Total)
	}
	return rep.Partitions[0], nil
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
		}{r.Before, len(r.Ops), r.Runs, out, r.Ended == nil, r.Result})
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "wrong     %s\n", strings.ReplaceAll(r.Result.Reason, "\n", "\n          "))
	if err := printShown(&b, strings.Repeat(" ", 10), r.Result.Shown); err != nil {
		return err
	}
	fmt.Fprintf(&b, "from      %s\nto        %s, in %s\n", plural(r.Before, "operation"), plural(len(r.Ops), "operation"), plural(r.Runs, "check"))
	fmt.Fprintf(&b, "file      %s\n", out)
	if r.Ended != nil {
		fmt.Fprintf(&b, "verdict   %s: more may be left out: give the same command again\n", verdict.Undecided)
	}
	_, err := w.Write(b.Bytes())
	return err
}
