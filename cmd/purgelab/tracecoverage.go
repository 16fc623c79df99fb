package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"purgelab/linearizability/faults"
	"purgelab/linearizability/run"
	"purgelab/traces"
	"purgelab/traces/models"
)

// newTraceCoverageCmd is "purgelab trace coverage".
func newTraceCoverageCmd() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "coverage [FILE...]",
		Short: "Count which actions of the specification traces show",
		Long: `Count how often traces show each action of the specification of their design, and
each situation that matters to a purge (a crash between any two of its durable
steps, a duplicate purge after a change of leader, a new incarnation), with the first
seed, or file, that showed it. Whether the specification accepts the traces is what
'purgelab trace validate' says.

Without files, traces of a fixed set of runs are counted, and it is a failure if
none of them shows an action or a situation that a trace can show. With --out a page
is written, too, that also says which actions TLC takes in each model of the smoke tier
that passes. Answers of TLC are kept as long as what it reads is the same.

Exit code: 0, 1 something that the fixed set must show was never seen, 2 undecided,
3 a malformed file, by line.`,
		Example: "  purgelab trace coverage\n  purgelab trace coverage out/traces/trace-7.ndjson",
		RunE: func(cmd *cobra.Command, files []string) error {
			if out != "" && len(files) > 0 {
				return usageError("--out: the page is of the fixed set of runs, not of files")
			} else if out != "" {
				if err := makeFolder("out", filepath.Dir(out)); err != nil {
					return err
				}
			}
			var list []*traces.Trace
			var err error
			if len(files) > 0 {
				list, err = readTraces(files)
			} else {
				list, err = coveredTraces(cmd.Context())
			}
			if err != nil {
				return err
			}
			root, err := models.Root()
			if err != nil {
				return &exitError{exitUsage, err}
			}
			actions, err := models.Actions(filepath.Join(root, "spec"))
			if err != nil {
				return &exitError{exitUsage, err}
			}
			rows := traces.Cover(list, actions)
			if out != "" {
				tool, err := findTLC(cmd.Context(), root, cmd.ErrOrStderr())
				if err != nil {
					return err
				}
				took, err := countedModels(cmd.Context(), root, tool, cmd.ErrOrStderr())
				if err != nil {
					return err
				}
				if err := os.WriteFile(out, []byte(coveragePage(rows, took, actions, len(list))), 0o644); err != nil {
					return usageError("--out: %w", err)
				}
			}
			missed, err := printCoverage(cmd, rows, len(list))
			if err == nil && missed > 0 && len(files) == 0 {
				err = exitWith(exitViolated)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "write a page of it to this file, with what TLC takes in models")
	return cmd
}

// readTraces reads files, and says which line of which is wrong.
func readTraces(files []string) ([]*traces.Trace, error) {
	var list []*traces.Trace
	for _, name := range files {
		t, err := traces.ReadFile(name)
		if err != nil {
			return nil, &exitError{exitUsage, err}
		}
		list = append(list, t)
	}
	return list, nil
}

// covered are runs that together show all that a trace can show: settings, and the
// seeds of each.
var covered = []struct {
	run.Settings
	seeds []uint64
}{
	{run.Settings{Design: "ordered", Faults: "all", Ops: 100}, []uint64{1, 5, 6, 35, 36, 45}},
	{run.Settings{Design: "ordered", Faults: "all", Ops: 100, Replicas: 1}, []uint64{1, 14}},
	{run.Settings{Design: "ordered", Faults: "power-all", Ops: 80, Messages: "replicated", Bookmarks: "replicated"}, []uint64{1, 2, 3, 6}},
	{run.Settings{Design: "ordered", Faults: "all", Ops: 60, Messages: "replicated"}, []uint64{1}},
	{run.Settings{Design: "ordered", Faults: "dirsync-failure", Ops: 60}, []uint64{28}},
	{run.Settings{Design: "ordered", Ops: 400, CompactOps: 5, Plan: purgeHindered}, []uint64{1, 5}},
	{run.Settings{Design: "advance", Faults: "all", Ops: 100}, []uint64{1, 2, 3}},
	{run.Settings{Design: "ordered", Faults: "all", Ops: 100, CompactOps: 5}, []uint64{1, 10, 12, 22}},
	{run.Settings{Design: "ordered", Faults: "all", Ops: 60, CompactOps: 6}, []uint64{8, 51, 73}},
	{run.Settings{Design: "advance", Faults: "all", Ops: 100, CompactOps: 5}, []uint64{1, 10, 22, 23, 98}},
	{run.Settings{Design: "advance", Faults: "all", Ops: 60, Bookmarks: "replicated"}, []uint64{1}},
	{run.Settings{Design: "advance", Faults: "power-all", Ops: 80, Messages: "replicated", Bookmarks: "replicated"}, []uint64{1, 2, 3, 4, 5, 6}},
	{run.Settings{Design: "reset-record", Faults: "all", Ops: 100}, []uint64{1, 25}},
	{run.Settings{Design: "reset-record", Faults: "all", Ops: 150}, []uint64{2}},
	{run.Settings{Design: "reset-record", Faults: "cleanup", Ops: 100, Partitions: 2}, []uint64{1, 2, 18, 19, 36}},
	{run.Settings{Design: "reset-record", Faults: "cleanup", Ops: 100, Variant: "retry-sync"}, []uint64{1, 2, 3}},
	{run.Settings{Design: "reset-record", Faults: "power-all", Ops: 80, Messages: "replicated", Bookmarks: "replicated"}, []uint64{1, 2}},
	{run.Settings{Design: "reset-record", Faults: "power-all", Ops: 80, Messages: "replicated", Bookmarks: "replicated", Variant: "keep-floor"}, []uint64{17}},
	{run.Settings{Design: "reset-record", Faults: "all", Ops: 60, Messages: "replicated"}, []uint64{1}},
	{run.Settings{Design: "reset-record", Ops: 100, Plan: leaderCutOff}, []uint64{1}},
	{run.Settings{Design: "reset-record", Faults: "all", Ops: 60, CompactOps: 6}, []uint64{4, 8}},
	{run.Settings{Design: "reset-record", Faults: "all", Ops: 100, Replicas: 5, CompactOps: 5}, []uint64{228}},
}

// leaderCutOff takes the leader away while its cleanup cannot go on: what it held is
// refused.
var leaderCutOff = &faults.Plan{Faults: []faults.Fault{
	{At: 300, For: 3000, Kind: faults.DiskFault, Replicas: []int{1, 2, 3}, Rule: "fail-before label=purge.bookmark.unlink times=0"},
	{At: 700, For: 1500, Kind: faults.Partition, Replicas: []int{3}},
}}

// purgeHindered keeps a follower from the middle of its purges, and then from the others.
var purgeHindered = &faults.Plan{Faults: []faults.Fault{
	{At: 300, For: 12000, Kind: faults.DiskFault, Replicas: []int{3}, Rule: "fail-before label=purge.switch times=0"},
	{At: 480, For: 6000, Kind: faults.Partition, Replicas: []int{3}},
}}

// coveredTraces makes those runs.
func coveredTraces(ctx context.Context) ([]*traces.Trace, error) {
	var list []*traces.Trace
	for _, c := range covered {
		for _, seed := range c.seeds {
			s := c.Settings
			s.Seed = seed
			r, err := run.Run(ctx, s)
			if ctx.Err() != nil {
				return nil, undecidedError("interrupted after %s", plural(len(list), "run"))
			}
			if err != nil {
				return nil, undecidedError("seed %d: %w", s.Seed, err)
			}
			var b bytes.Buffer
			if err := r.WriteTrace(&b); err != nil {
				return nil, err
			}
			t, err := traces.Read(&b, r.Settings.Replay())
			if err != nil {
				return nil, err
			}
			list = append(list, t)
		}
	}
	return list, nil
}

// printCoverage prints a row per action and situation, and what was never seen. It
// returns how many of those should have been.
func printCoverage(cmd *cobra.Command, rows []traces.Shown, count int) (missed int, err error) {
	w := cmd.OutOrStdout()
	t := table{header: []string{"design", "action or situation", "count", "first"}}
	seen := 0
	var unseen []string
	for i := range rows {
		r := &rows[i]
		if r.Missed() {
			missed++
			unseen = append(unseen, fmt.Sprintf("never seen: %s of %s", r.What, r.Design))
		} else if r.Count > 0 {
			seen++
		}
		if jsonWanted(cmd) {
			if err := writeJSON(w, r); err != nil {
				return missed, err
			}
			continue
		}
		first := r.First
		if r.Never != "" && r.Count == 0 {
			first = "in no trace: " + r.Never
		} else if r.Held != "" {
			first += "; held to " + r.Held
		}
		t.add(r.Design, r.What, r.Count, first)
	}
	if jsonWanted(cmd) {
		return missed, nil
	}
	if err := t.write(w); err != nil {
		return missed, err
	}
	for _, text := range unseen {
		if _, err := fmt.Fprintln(w, text); err != nil {
			return missed, err
		}
	}
	_, err = fmt.Fprintf(w, "\n%s: %d seen, %d never seen, %d in no trace\n", plural(count, "trace"), seen, missed, len(rows)-seen-missed)
	return missed, err
}
