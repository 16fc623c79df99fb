package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"purgelab/linearizability/check"
	"purgelab/linearizability/faults"
	"purgelab/linearizability/history"
	"purgelab/linearizability/run"
	"purgelab/linearizability/verdict"
	"purgelab/model/op"
)

// newRunCmd is "purgelab run".
func newRunCmd() *cobra.Command {
	var f runFlags
	var out string
	var force bool
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Make one simulated run and judge it",
		Long: `Make one simulated run of a cluster under faults, and judge it: the history of
its clients against the sequential model, by the judge and, where that finds
neither an order nor a reason, by porcupine; its replicas by the named invariants
while they run. One seed gives one run, to the byte.

With --out the folder gets run.json (settings, versions, digest, verdict),
history.jsonl, trace.ndjson, faults.json (which --faults accepts), workload.jsonl
(which --workload accepts) and report.html.
A folder that holds another run is refused; --force removes the files of that run.
With --log-level debug the operations of clients are told in the order of time,
with trace the steps of replicas too.

Exit code: 0 pass, 1 a property is violated, 2 undecided, 3 bad usage.`,
		Example: `  purgelab run --seed 7 --replicas 3 --faults all --out out/seven
  purgelab run --seed 7 --faults out/seven/faults.json --defect marker-no-dirsync`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := f.settings(cmd)
			if err != nil {
				return err
			}
			if out != "" {
				if err := claimRunFolder(out, &s, force); err != nil {
					return err
				}
			}
			r, err := run.Run(cmd.Context(), s)
			if err != nil {
				return undecidedError("seed %d: %w", s.Seed, err)
			}
			logRun(logger(cmd), r)
			if out != "" {
				if err := writeRun(cmd.Context(), out, r); err != nil {
					return err
				}
			}
			rec, err := r.Record()
			if err != nil {
				return err
			}
			if jsonWanted(cmd) {
				err = writeJSON(cmd.OutOrStdout(), struct {
					*run.Record
					Listed map[string]string `json:"listed,omitempty"` // by violated property
				}{rec, listings(&s, r.Violated())})
			} else {
				err = printRun(cmd.OutOrStdout(), rec, out)
			}
			if err != nil {
				return err
			}
			return exitWith(r.Verdict.ExitCode())
		},
	}
	f.addSeed(cmd)
	f.add(cmd)
	cmd.Flags().StringVar(&out, "out", "", "folder for run.json, history.jsonl, trace.ndjson, faults.json, workload.jsonl, report.html")
	cmd.Flags().BoolVar(&force, "force", false, "let --out replace the files of another run")
	return cmd
}

// porcupineFile is the name of porcupine's page of one partition in a run's
// folder.
func porcupineFile(p op.Partition) string { return fmt.Sprintf("porcupine-p%d.html", p) }

// writeRun writes a run's folder, with porcupine's page if the history is not
// linearizable, and the report.
func writeRun(ctx context.Context, dir string, r *run.Result) error {
	if err := r.Write(dir); err != nil {
		return fmt.Errorf("run: %w", err)
	}
	if err := explain(ctx, dir, r); err != nil {
		return err
	}
	return writeReport(filepath.Join(dir, reportFile), []string{dir})
}

// explain lets porcupine draw its page of what it could not order.
func explain(ctx context.Context, dir string, r *run.Result) error {
	for _, c := range r.Checked {
		if c.Verdict != verdict.Fail {
			continue
		}
		ops, err := history.Pair(run.HistoryFile, r.History)
		if err != nil {
			return err
		}
		o := r.CheckOptions()
		o.HTML = func(p op.Partition) (io.WriteCloser, error) {
			return os.Create(filepath.Join(dir, porcupineFile(p)))
		}
		_, _, err = check.Check(ctx, ops, o)
		return err
	}
	return nil
}

// printRun says in a few lines what was run, what broke, and what was found.
func printRun(w io.Writer, r *run.Record, dir string) error {
	var b bytes.Buffer
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-9s %s\n", name, fmt.Sprintf(format, args...))
	}
	s := r.Settings
	what := fmt.Sprintf("seed %d, design %s, %s, %s, faults %s", s.Seed, s.Design, plural(s.Replicas, "replica"), plural(s.Clients, "client"), s.Faults)
	if s.Partitions > 1 {
		what += ", " + plural(s.Partitions, "partition")
	}
	if s.Defect != "" {
		what += ", defect " + s.Defect
	}
	line("run", "%s", what)
	line("did", "%s in %s of simulated time, digest %s", plural(r.Operations, "operation"), seconds(r.Millis), r.Digest)
	line("faults", "%s", faultWords(r.Faults))
	var bad []verdict.Result
	count := map[verdict.Verdict]int{}
	for _, x := range r.Results {
		count[x.Verdict]++
		if x.Verdict != verdict.Pass {
			bad = append(bad, x)
		}
	}
	line("checked", "%s: %d pass, %d fail, %d undecided", plural(len(r.Results), "property"), count[verdict.Pass], count[verdict.Fail], count[verdict.Undecided])
	for i := 0; i < len(bad); i++ {
		x, first := bad[i], i
		name := x.Property
		if x.Verdict == verdict.Fail {
			name += ", " + listing(&s, x.Property)
		}
		// An interrupt leaves all properties undecided for one reason.
		for x.Verdict == verdict.Undecided && i+1 < len(bad) && bad[i+1].Verdict == x.Verdict && bad[i+1].Reason == x.Reason {
			i++
		}
		if i > first {
			name += fmt.Sprintf(" and %d more", i-first)
		}
		line(x.Verdict.String(), "%s", strings.TrimSuffix(name+": "+why(x.Property, x.Reason), ": "))
		if err := printShown(&b, strings.Repeat(" ", 10), x.Shown); err != nil {
			return err
		}
	}
	if r.Verdict != verdict.Pass {
		line("replay", "%s", r.Replay)
	}
	if dir != "" {
		line("files", "%s", dir)
	}
	line("verdict", "%s", r.Verdict)
	_, err := w.Write(b.Bytes())
	return err
}

// faultWords lists the planned faults that took effect, by kind.
func faultWords(n map[faults.Kind]int) string {
	var w []string
	for _, k := range faults.Kinds {
		if n[k] > 0 {
			w = append(w, fmt.Sprintf("%d %s", n[k], k))
		}
	}
	if len(w) == 0 {
		return "none took effect"
	}
	return strings.Join(w, ", ") + " took effect"
}

func seconds(ms int64) string { return fmt.Sprintf("%.1f s", float64(ms)/1000) }

// interrupted tells whether an error only says that the user ended the work.
func interrupted(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, context.Canceled)
}
