package main

import (
	"bytes"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"purgelab/impl/sim"
	"purgelab/linearizability/faults"
	"purgelab/linearizability/run"
	"purgelab/linearizability/verdict"
)

// newPoliciesCmd is "purgelab policies".
func newPoliciesCmd() *cobra.Command {
	var seeds, out string
	var jobs, partitions, ops int
	var fresh bool
	cmd := &cobra.Command{
		Use:   "policies --seeds A..B",
		Short: "Sweep every durability policy, and demand that what they are for was met",
		Long: `Make a sweep for each design in which a replica can join again, each policy of
messages and of bookmarks, and groups of one, three and five, all faults on. One
table shows what they met; a column whose sum is zero fails the whole, since then
nothing was shown.

What was interrupted goes on when the same command is given again; what came to
its end begins anew.

Exit code: 0 every run passed and every column was met, 1 a property is violated
or a column is zero, 2 a run is undecided or was not made, 3 bad usage.`,
		Example: `  purgelab policies --seeds 1..1000
  purgelab policies --seeds 1..20 --jobs 1 --out out/few`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			from, to, err := parseSeeds(seeds)
			if err != nil {
				return err
			}
			p := &run.Policies{Settings: run.Settings{Partitions: partitions, Ops: ops, Faults: string(faults.All)}, From: from, To: to, Jobs: jobs, Out: out}
			if partitions < 1 || ops < 1 {
				return usageError("--partitions %d, --ops %d: want at least 1", partitions, ops)
			}
			if err := makeFolder("out", out); err != nil {
				return err
			}
			if err := p.Clear(fresh); err != nil {
				return usageError("%w: remove it, or use --fresh", err)
			}
			b := newBar(cmd.ErrOrStderr(), len(p.Sweeps())*int(to-from+1), "policies")
			p.Progress = func(done, _ int) { b.set(done) }
			all, err := p.Run(cmd.Context())
			b.done()
			if err != nil {
				return &exitError{exitUsage, err}
			}
			if jsonWanted(cmd) {
				err = policiesJSON(cmd.OutOrStdout(), all)
			} else {
				err = printPolicies(cmd.OutOrStdout(), all)
			}
			if err != nil {
				return err
			}
			return exitWith(run.VerdictOf(all).ExitCode())
		},
	}
	cmd.Flags().StringVar(&seeds, "seeds", "", "seeds A..B of each sweep, both included")
	cmd.Flags().IntVar(&partitions, "partitions", 2, "partitions")
	cmd.Flags().IntVar(&ops, "ops", 300, "operations of a run, of all clients together")
	cmd.Flags().IntVar(&jobs, "jobs", 0, "runs at a time (default: one per core)")
	cmd.Flags().StringVar(&out, "out", "out/policies", "folder for the state and the runs that did not pass")
	cmd.Flags().BoolVar(&fresh, "fresh", false, "begin anew, whatever an interrupted start left")
	return cmd
}

// shorter are the heads of the columns of what must be met.
var shorter = map[string]string{
	"replicas that lost their memory": "suspects", "suspects rejoined": "rejoined", "memberships changed": "memberships",
	"incarnations begun": "incarnations", "acknowledged operations lost": "acks lost", "disks replaced": "disks replaced",
	"foreign disks refused": "foreign refused", "replicas of the plane rejoined": "plane rejoined",
}

// met are the numbers in those columns.
func met(e *sim.Effects) []any {
	var out []any
	for _, want := range run.Met {
		e.Each(func(name string, n int) {
			if name == want {
				out = append(out, n)
			}
		})
	}
	return out
}

func printPolicies(w io.Writer, all []run.PolicySweep) error {
	t := &table{header: []string{"design", "replicas", "messages", "bookmarks", "runs", "fail", "undecided"}}
	for _, name := range run.Met {
		t.header = append(t.header, shorter[name])
	}
	t.header = append(t.header, "ticks to rest", "to serve")
	var b bytes.Buffer
	var rested, served int64
	runs, reds, undecided, wanted, made := 0, 0, 0, 0, 0
	for i := range all {
		x, s := &all[i].Settings, all[i].Summary
		if s == nil {
			continue
		}
		made++
		runs, reds, undecided, wanted = runs+s.Runs, reds+len(s.Reds), undecided+len(s.Undecided), wanted+len(s.Done)
		rested, served = max(rested, s.Rested), max(served, s.Served)
		cells := append([]any{x.Design, x.Replicas, x.Messages, x.Bookmarks, s.Runs, len(s.Reds), len(s.Undecided)}, met(&s.Effects)...)
		t.add(append(cells, s.Rested, s.Served)...)
	}
	sum := run.Sum(all)
	t.add(append(append([]any{"sum", "", "", "", runs, reds, undecided}, met(&sum)...), rested, served)...)
	if err := t.write(&b); err != nil {
		return err
	}
	for i := range all {
		if s := all[i].Summary; s != nil {
			for _, r := range append(s.Reds, s.Undecided...) {
				fmt.Fprintf(&b, "\n%s seed %d: %s %s\n  %s\n  %s\n", all[i].Name(), r.Seed, r.Verdict, r.Property, r.Reason, r.Replay)
			}
		}
	}
	if v := run.VerdictOf(all); v != verdict.Undecided {
		for _, name := range run.Unmet(all) {
			fmt.Fprintf(&b, "\nfail: %s: 0 in all runs, want at least 1: they did not meet what they are for\n", name)
		}
	}
	fmt.Fprintf(&b, "\nafter the last fault: at rest within %d ticks (at most %d), an append and a purge of every partition within %d more (at most %d)\n", rested, run.RestTicks, served, run.ServeTicks)
	fmt.Fprintf(&b, "verdict %s: %d of %s begun, %d of %d runs made, %d fail, %d undecided\n", run.VerdictOf(all), made, plural(len(all), "sweep"), runs, max(wanted, runs), reds, undecided)
	_, err := w.Write(b.Bytes())
	return err
}

// policiesJSON prints each run that did not pass, each sweep, then the sum.
func policiesJSON(w io.Writer, all []run.PolicySweep) error {
	type line struct {
		Sweep   string          `json:"sweep"`
		Verdict verdict.Verdict `json:"verdict"`
		Runs    int             `json:"runs"`
		NotMade int             `json:"notMade"`
		Unmet   []string        `json:"unmet,omitempty"`
		Effects sim.Effects     `json:"effects"`
	}
	sum := line{Sweep: "all " + strconv.Itoa(len(all)), Verdict: run.VerdictOf(all), Unmet: run.Unmet(all), Effects: run.Sum(all)}
	for i := range all {
		s := all[i].Summary
		if s == nil {
			continue
		}
		for _, r := range append(s.Reds, s.Undecided...) {
			if err := writeJSON(w, r); err != nil {
				return err
			}
		}
		one := line{Sweep: all[i].Name(), Verdict: s.Verdict(), Runs: s.Runs, NotMade: len(s.Done) - s.Runs, Effects: s.Effects}
		sum.Runs, sum.NotMade = sum.Runs+one.Runs, sum.NotMade+one.NotMade
		if err := writeJSON(w, one); err != nil {
			return err
		}
	}
	return writeJSON(w, sum)
}
