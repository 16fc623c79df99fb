package main

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"purgelab/impl/sim"
	"purgelab/linearizability/faults"
	"purgelab/linearizability/run"
	"purgelab/linearizability/strictjson"
	"purgelab/linearizability/verdict"
	"purgelab/traces/models"
)

// newSweepCmd is "purgelab sweep".
func newSweepCmd() *cobra.Command {
	var f runFlags
	var seeds, out string
	var jobs int
	var fresh, withTraces bool
	cmd := &cobra.Command{
		Use:   "sweep --seeds A..B",
		Short: "Make many runs in parallel and judge each",
		Long: `Make one run per seed, in parallel, and judge each. A folder is kept for every
run that did not pass, and a line in runs.jsonl for every run. Runs that look alike
are told together: one property, and one reason but for its numbers. The cheapest to
look at comes first, and its line is the last but one.

With --traces, TLC judges the trace of each run, too, those of many runs at once: a
run whose trace the specification does not accept violates TraceAccepted.

An interrupted sweep goes on where it was when the same command is given again;
one that came to its end begins anew.

Exit code: 0 every run passed, 1 a property is violated, 2 a run is undecided or
was not made, 3 bad usage.`,
		Example: `  purgelab sweep --seeds 1..500 --replicas 3 --faults all --clients 4 --ops 300
  purgelab sweep --seeds 1..2000 --faults power --defect marker-no-dirsync
  purgelab sweep --seeds 1..200 --faults all --ops 60 --traces`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			from, to, err := parseSeeds(seeds)
			if err != nil {
				return err
			}
			s, err := f.settings(cmd)
			if err != nil {
				return err
			}
			var judge *run.TraceJudge
			if withTraces {
				if judge, err = traceJudge(cmd); err != nil {
					return err
				}
			}
			if out == "" {
				out = sweepFolder(&s, from, to)
				if withTraces {
					out += "-traces"
				}
			}
			if err := prepareSweep(out, fresh); err != nil {
				return err
			}
			if jobs < 0 {
				return usageError("--jobs %d: want 0 (one per core) or more", jobs)
			}
			total := int(to - from + 1)
			b := newBarOf(cmd.ErrOrStderr(), total, "sweep, none red", "runs")
			made := 0 // before
			manyRuns()
			sum, err := (&run.Sweep{
				Settings: s, From: from, To: to, Jobs: jobs, Out: out, Traces: judge,
				Resumed: func(done int) {
					fmt.Fprintf(cmd.ErrOrStderr(), "purgelab: going on: %d of %d runs were made before\n", done, total)
					made = done
				},
				Progress: func(sum *run.Summary) {
					if n := len(sum.Reds); n > 0 {
						b.say(fmt.Sprintf("sweep, %d red", n))
					}
					b.of(sum.Runs-made, total-made)
				},
			}).Run(cmd.Context())
			b.done()
			if sum == nil {
				return &exitError{exitUsage, err}
			}
			if err != nil && !interrupted(cmd.Context(), err) {
				return err
			}
			if jsonWanted(cmd) {
				err = sweepJSON(cmd.OutOrStdout(), &s, sum)
			} else {
				err = printSweep(cmd.OutOrStdout(), &s, sum)
			}
			if err != nil {
				return err
			}
			if left := len(sum.Done) - sum.Runs; left > 0 {
				return &exitError{sum.Verdict().ExitCode(), fmt.Errorf("interrupted: %s left; the same command goes on", plural(left, "run"))}
			}
			return exitWith(sum.Verdict().ExitCode())
		},
	}
	cmd.Flags().StringVar(&seeds, "seeds", "", "seeds A..B, both included")
	f.add(cmd)
	cmd.Flags().IntVar(&jobs, "jobs", 0, "runs at a time (default: one per core)")
	cmd.Flags().StringVar(&out, "out", "", "folder for the state and the runs that did not pass (default: one below out/ named for the sweep)")
	cmd.Flags().BoolVar(&withTraces, "traces", false, "let TLC judge the trace of every run, too")
	cmd.Flags().BoolVar(&fresh, "fresh", false, "begin anew, whatever an interrupted sweep left")
	return cmd
}

// parseSeeds reads A..B, or one seed.
func parseSeeds(text string) (from, to uint64, err error) {
	a, b, ok := strings.Cut(text, "..")
	if !ok {
		b = a
	}
	from, errA := strconv.ParseUint(a, 10, 64)
	to, errB := strconv.ParseUint(b, 10, 64)
	if errA != nil || errB != nil || to < from {
		return 0, 0, usageError("--seeds %q: want A..B, two whole numbers with A not above B", text)
	}
	return from, to, nil
}

// traceJudge finds who judges traces.
func traceJudge(cmd *cobra.Command) (*run.TraceJudge, error) {
	root, err := models.Root()
	if err != nil {
		return nil, &exitError{exitUsage, err}
	}
	tool, err := findTLC(cmd.Context(), root, cmd.ErrOrStderr())
	if err != nil {
		return nil, err
	}
	return &run.TraceJudge{Tool: tool, Spec: filepath.Join(root, "spec")}, nil
}

// sweepFolder names a folder by what the sweep depends on, so that another one
// does not meet its state.
func sweepFolder(s *run.Settings, from, to uint64) string {
	h := fnv.New32a()
	fmt.Fprint(h, s.Flags())
	return filepath.Join("out", fmt.Sprintf("sweep-%d-%d-%08x", from, to, h.Sum32()))
}

// prepareSweep looks at what an earlier sweep left in a folder. One that came
// to its end, or that is not to be continued, is cleared away.
func prepareSweep(dir string, fresh bool) error {
	if err := makeFolder("out", dir); err != nil {
		return err
	}
	name := filepath.Join(dir, "sweep.json")
	raw, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return &exitError{exitUsage, err}
	}
	var old run.Summary
	if err := strictjson.DecodeOwn(raw, &old); err != nil && !fresh {
		return usageError("%s: %w: remove it, or use --fresh", name, err)
	}
	if !fresh && slices.Contains(old.Done, false) {
		return nil // to be continued
	}
	left, err := filepath.Glob(filepath.Join(dir, "seed-*"))
	if err != nil {
		return err
	}
	for _, d := range append(left, name, filepath.Join(dir, run.RunsFile)) {
		if err := os.RemoveAll(d); err != nil {
			return err
		}
	}
	return nil
}

func printSweep(w io.Writer, of *run.Settings, s *run.Summary) error {
	var b bytes.Buffer
	if err := effects(of, s.Faults, &s.Effects).write(&b); err != nil {
		return err
	}
	fmt.Fprintf(&b, "\nseeds %d..%d: %d of %s made, %d operations, %s of simulated time\n", s.From, s.To, s.Runs, plural(len(s.Done), "run"), s.Operations, seconds(s.Millis))
	printTicks(&b, s.Rested, s.Served)
	groups := run.Groups(s.Reds)
	printGroups(&b, groups)
	printGroups(&b, run.Groups(s.Undecided))
	if len(s.Reds) > 0 {
		b.WriteByte('\n')
		if err := byProperty(of, s.Reds).write(&b); err != nil {
			return err
		}
	}
	if len(groups) > 0 {
		fmt.Fprintf(&b, "replay %s\n", groups[0].Cheapest.Replay)
	}
	pass := s.Runs - len(s.Reds) - len(s.Undecided)
	fmt.Fprintf(&b, "verdict %s: %d pass, %d fail, %d undecided, %d not made\n", s.Verdict(), pass, len(s.Reds), len(s.Undecided), len(s.Done)-s.Runs)
	_, err := w.Write(b.Bytes())
	return err
}

// printGroup tells of runs that look alike how many there are, and the cheapest.
func printGroup(b *bytes.Buffer, g *run.Group) {
	r := &g.Cheapest
	fmt.Fprintf(b, "%s: %s %s, the cheapest seed %d\n", plural(len(g.Seeds), "run"), r.Verdict, r.Property, r.Seed)
	if r.Reason != "" {
		fmt.Fprintf(b, "  %s\n", why(r.Property, r.Reason))
	}
	fmt.Fprintf(b, "  %s\n", r.Replay)
	if r.Dir != "" {
		fmt.Fprintf(b, "  %s\n", r.Dir)
	}
}

// printGroups tells of them, and which others there are.
func printGroups(b *bytes.Buffer, groups []run.Group) {
	for _, g := range groups {
		r := g.Cheapest
		b.WriteByte('\n')
		printGroup(b, &g)
		if others := seedList(g.Seeds, r.Seed); others != "" {
			fmt.Fprintf(b, "  also seeds %s\n", others)
		}
	}
}

// seedList are seeds without one of them, and not more than fit into a line.
func seedList(seeds []uint64, but uint64) string {
	const most = 20
	var out []string
	for _, s := range seeds {
		if s != but {
			out = append(out, strconv.FormatUint(s, 10))
		}
	}
	if n := len(out) - most; n > 0 {
		out = append(out[:most], fmt.Sprintf("and %d more", n))
	}
	return strings.Join(out, ", ")
}

// manyRuns lets the memory of runs that are over stay a while: else a fifth of the time
// goes into taking it back.
func manyRuns() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}

// sweepJSON prints each run that did not pass, then the sum.
func sweepJSON(w io.Writer, of *run.Settings, s *run.Summary) error {
	for _, list := range [][]run.Red{s.Reds, s.Undecided} {
		for _, r := range list {
			if err := writeJSON(w, struct {
				run.Red
				Listed map[string]string `json:"listed,omitempty"` // by violated property
			}{r, listings(of, r.Violated)}); err != nil {
				return err
			}
		}
	}
	return writeJSON(w, struct {
		From       uint64              `json:"from"`
		To         uint64              `json:"to"`
		Verdict    verdict.Verdict     `json:"verdict"`
		Runs       int                 `json:"runs"`
		NotMade    int                 `json:"notMade"`
		Fail       int                 `json:"fail"`
		Undecided  int                 `json:"undecided"`
		Operations int                 `json:"operations"`
		Millis     int64               `json:"simulatedMilliseconds"`
		Rested     int64               `json:"restedTicks"`
		Served     int64               `json:"servedTicks"`
		Faults     map[faults.Kind]int `json:"faultsInEffect"`
		Effects    sim.Effects         `json:"effects"`
		Groups     []run.Group         `json:"groups,omitempty"` // of red runs, the cheapest first
	}{s.From, s.To, s.Verdict(), s.Runs, len(s.Done) - s.Runs, len(s.Reds), len(s.Undecided), s.Operations, s.Millis, s.Rested, s.Served, s.Faults, s.Effects, run.Groups(s.Reds)})
}
