package main

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

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
messages and of bookmarks, and groups of one, three and five, all faults on; and
each once more with logs so short that whoever falls behind needs a transfer of
state. Two tables show what they met; a column whose sum is zero fails the whole,
since then nothing was shown.

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
	"foreign disks refused": "foreign refused", "replicas of the plane rejoined": "plane rejoined", "purges amid a transfer": "purges amid",
	"transfers resumed elsewhere": "elsewhere",
}

// head of the column of an effect.
func head(effect string) string {
	if short := shorter[effect]; short != "" {
		return short
	}
	return strings.TrimPrefix(strings.TrimPrefix(effect, "transfers "), "refused, ")
}

// met are the numbers in those columns.
func met(names []string, e *sim.Effects) []any {
	var out []any
	for _, want := range names {
		e.Each(func(name string, n int) {
			if name == want {
				out = append(out, n)
			}
		})
	}
	return out
}

// policySum is what sweeps add up to.
type policySum struct {
	made, wanted, runs, reds, undecided int
	rested, served                      int64
}

func (p *policySum) add(o *policySum) {
	p.made, p.wanted, p.runs, p.reds, p.undecided = p.made+o.made, p.wanted+o.wanted, p.runs+o.runs, p.reds+o.reds, p.undecided+o.undecided
	p.rested, p.served = max(p.rested, o.rested), max(p.served, o.served)
}

// printTable prints the sweeps with one kind of log.
func printTable(w io.Writer, of *run.PolicyTable) (sum policySum, err error) {
	t := &table{header: []string{"design", "replicas", "messages", "bookmarks", "runs", "fail", "undecided"}}
	for _, name := range of.Met {
		t.header = append(t.header, head(name))
	}
	t.header = append(t.header, "ticks to rest", "to serve")
	row := func(p *policySum, e *sim.Effects, names ...any) {
		cells := append(append(names, p.runs, p.reds, p.undecided), met(of.Met, e)...)
		t.add(append(cells, p.rested, p.served)...)
	}
	for i := range of.Sweeps {
		x, s := &of.Sweeps[i].Settings, of.Sweeps[i].Summary
		if s == nil {
			continue
		}
		one := policySum{1, len(s.Done), s.Runs, len(s.Reds), len(s.Undecided), s.Rested, s.Served}
		sum.add(&one)
		row(&one, &s.Effects, x.Design, x.Replicas, x.Messages, x.Bookmarks)
	}
	all := run.Sum(of.Sweeps)
	row(&sum, &all, "sum", "", "", "")
	fmt.Fprintf(w, "logs %s\n", of.Log)
	if err = t.write(w); err == nil {
		_, err = fmt.Fprintln(w)
	}
	return sum, err
}

func printPolicies(w io.Writer, all []run.PolicySweep) error {
	var b bytes.Buffer
	var sum policySum
	for _, t := range run.Tables(all) {
		one, err := printTable(&b, &t)
		if err != nil {
			return err
		}
		sum.add(&one)
	}
	for _, list := range [][]run.Red{gathered(all, func(s *run.Summary) []run.Red { return s.Reds }), gathered(all, func(s *run.Summary) []run.Red { return s.Undecided })} {
		for _, g := range run.Groups(list) {
			printGroup(&b, &g)
			b.WriteByte('\n')
		}
	}
	if v := run.VerdictOf(all); v != verdict.Undecided {
		for _, name := range run.Unmet(all) {
			fmt.Fprintf(&b, "fail: %s: 0 in all runs, want at least 1: they did not meet what they are for\n\n", name)
		}
	}
	printTicks(&b, sum.rested, sum.served)
	fmt.Fprintf(&b, "verdict %s: %d of %s begun, %d of %d runs made, %d fail, %d undecided\n", run.VerdictOf(all), sum.made, plural(len(all), "sweep"), sum.runs, max(sum.wanted, sum.runs), sum.reds, sum.undecided)
	_, err := w.Write(b.Bytes())
	return err
}

// printTicks tells the slowest of runs, and what each of them is held to.
func printTicks(w io.Writer, rested, served int64) {
	fmt.Fprintf(w, "after the last fault: at rest within %d ticks (at most %d), an append and a purge of every partition within %d more (at most %d)\n", rested, run.RestTicks, served, run.ServeTicks)
}

// gathered are the runs of all sweeps of which each has a list.
func gathered(all []run.PolicySweep, of func(*run.Summary) []run.Red) []run.Red {
	var out []run.Red
	for i := range all {
		if s := all[i].Summary; s != nil {
			out = append(out, of(s)...)
		}
	}
	return out
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
