package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"purgelab/linearizability/run"
	"purgelab/traces"
	"purgelab/traces/models"
	"purgelab/traces/tlc"
)

// newTraceCmd is "purgelab trace": what replicas did, and whether the
// specification accepts it.
func newTraceCmd() *cobra.Command {
	return group(&cobra.Command{
		Use:   "trace",
		Short: "Write traces of simulated runs, let TLC judge them, count what they show",
	}, newTraceGenerateCmd(), newTraceValidateCmd(), newTraceBehavioursCmd(), newTraceReplayCmd(), newTraceCoverageCmd())
}

func newTraceGenerateCmd() *cobra.Command {
	var f runFlags
	var out string
	count := 1
	cmd := &cobra.Command{
		Use:   "generate --out DIR",
		Short: "Run the implementation and write traces of what its replicas did",
		Long: `Run the implementation in the simulator, once or for several seeds in a row, and
write what its replicas did as trace-<seed>.ndjson. The schema is in
docs/traces.md; 'purgelab trace validate' judges the files.

A trace is what happened, right or wrong: with --defect it shows the bug. Traces
of an interrupted command are whole, and are kept.`,
		Example: "  purgelab trace generate --seed 7 --faults all --count 3 --out out/traces",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if out == "" {
				return usageError("--out: want a folder for the traces")
			}
			if count < 1 {
				return usageError("--count %d: want at least 1", count)
			}
			s, err := f.settings(cmd)
			if err != nil {
				return err
			}
			if err := makeFolder("out", out); err != nil {
				return err
			}
			for made := range count {
				err := generateTrace(cmd, s, out)
				if err != nil && interrupted(cmd.Context(), err) {
					return undecidedError("interrupted at seed %d: %d of %s written to %s", s.Seed, made, plural(count, "trace"), out)
				}
				if err != nil {
					return err
				}
				s.Seed++
			}
			return nil
		},
	}
	f.addSeed(cmd)
	f.add(cmd)
	cmd.Flags().StringVar(&out, "out", "", "folder for the traces")
	cmd.Flags().IntVar(&count, "count", count, "traces, of consecutive seeds")
	return cmd
}

// generateTrace makes one run and writes its trace, whole or not at all.
func generateTrace(cmd *cobra.Command, s run.Settings, dir string) error {
	r, err := run.Run(cmd.Context(), s)
	if err != nil {
		return undecidedError("seed %d: %w", s.Seed, err)
	}
	if err := cmd.Context().Err(); err != nil {
		return err
	}
	path := filepath.Join(dir, fmt.Sprintf("trace-%d.ndjson", s.Seed))
	file, err := os.Create(path + ".new")
	if err != nil {
		return usageError("--out: %w", err)
	}
	if err := errors.Join(r.WriteTrace(file), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(path+".new", path); err != nil {
		return err
	}
	if jsonWanted(cmd) {
		return writeJSON(cmd.OutOrStdout(), map[string]any{"file": path, "seed": s.Seed, "events": len(r.Trace)})
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s  seed %d, %s\n", path, s.Seed, plural(len(r.Trace), "event"))
	return err
}

func newTraceValidateCmd() *cobra.Command {
	o := traces.Options{Jobs: runtime.NumCPU()}
	cmd := &cobra.Command{
		Use:   "validate FILE...",
		Short: "Let TLC decide whether the specification accepts traces",
		Long: `Let TLC decide whether the specification accepts what replicas did: each replica
of each partition against the module of its design (Ordered.tla, ResetRecord.tla
or Advance.tla), with every durable step and crash, and all replicas of a
partition together against that of the group.

A rejected trace names the first line that no action of the specification
explains, the state before it, and the actions that could have happened there.

Exit code: 0 accepted, 1 rejected, 2 undecided, 3 a malformed file, by line.`,
		Example: "  purgelab trace validate out/seven/trace.ndjson",
		Args:    someOf("FILE"),
		RunE: func(cmd *cobra.Command, files []string) error {
			list, err := readTraces(files)
			if err != nil {
				return err
			}
			root, err := models.Root()
			if err != nil {
				return &exitError{exitUsage, err}
			}
			tool, err := findTLC(cmd.Context(), root, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			o.Spec = filepath.Join(root, "spec")
			begun := time.Now()
			b := newBar(cmd.ErrOrStderr(), 1, "steps")
			o.Progress = func(done, all int) { b.of(done, all) }
			reports, err := traces.Validate(cmd.Context(), tool, o, list)
			b.done()
			if err != nil {
				return undecidedError("%w", err)
			}
			return printReports(cmd, reports, tool, time.Since(begun))
		},
	}
	f := cmd.Flags()
	f.IntVar(&o.Jobs, "jobs", o.Jobs, "TLC processes at once")
	f.DurationVar(&o.Timeout, "timeout", traces.Limit, "undecided after this long, per TLC process")
	f.StringVar(&o.Keep, "keep", "", "folder to keep the modules written and TLC's own output in")
	return cmd
}

// printReports prints the verdict of each trace and returns the exit code of
// the worst.
func printReports(cmd *cobra.Command, reports []traces.Report, tool tlc.Tool, took time.Duration) error {
	w := cmd.OutOrStdout()
	code, events, steps, judged := exitPass, 0, 0, 0
	for _, r := range reports {
		events, steps, judged = events+r.Events, steps+r.Steps, judged+r.Judged
		switch r.Verdict {
		case tlc.Fail:
			code = worse(code, exitViolated)
		case tlc.Undecided:
			code = worse(code, exitUndecided)
		}
		var err error
		if jsonWanted(cmd) {
			err = writeJSON(w, r)
		} else {
			err = printReport(w, r)
		}
		if err != nil {
			return err
		}
	}
	if !jsonWanted(cmd) {
		what := fmt.Sprintf("%s, %s", plural(len(reports), "trace"), plural(events, "event"))
		if judged < steps {
			fmt.Fprintf(w, "\n%s: %d of %s judged in %.1f s, by %s\n", what, judged, plural(steps, "step"), took.Seconds(), tool)
		} else {
			fmt.Fprintf(w, "\n%s (%s) judged in %.1f s, %.0f events a second, by %s\n", what, plural(steps, "step"), took.Seconds(), float64(events)/took.Seconds(), tool)
		}
	}
	return exitWith(code)
}

func printReport(w io.Writer, r traces.Report) error {
	words := map[tlc.Verdict]string{tlc.Pass: "accepted", tlc.Fail: "rejected", tlc.Undecided: "undecided"}
	if _, err := fmt.Fprintf(w, "%s: %s: %s, %s\n", r.Trace, words[r.Verdict], plural(r.Events, "event"), plural(r.Pieces, "piece")); err != nil {
		return err
	}
	if r.Reason != "" {
		fmt.Fprintf(w, "  %s\n", r.Reason)
	}
	for i, x := range r.Rejections {
		// One is enough to read; the others mostly follow from it.
		text := x.Explain(r.Trace)
		if i > 0 {
			text = fmt.Sprintf("  line %d too, %s: %s\n", x.Line, x.Piece, x.Reason)
		}
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
	}
	return nil
}
