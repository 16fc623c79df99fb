package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"purgelab/impl/observe"
	"purgelab/linearizability/faults"
	"purgelab/linearizability/history"
	"purgelab/linearizability/report"
	"purgelab/linearizability/run"
	"purgelab/linearizability/strictjson"
	"purgelab/linearizability/verdict"
	"purgelab/model/op"
	"purgelab/traces"
)

// reportFile is the name of the page in the folder of a run or a demo.
const reportFile = "report.html"

// newReportCmd is "purgelab report".
func newReportCmd() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "report RUN-DIR...",
		Short: "Draw one self-contained page of runs",
		Long: `Draw one HTML page of runs from their folders: verdicts, faults that took effect,
and for each run a timeline of its clients, replicas and faults. The page needs
no network. Nothing is judged again: the page shows the verdicts of run.json.`,
		Example: "  purgelab report out/seven --out seven.html",
		Args:    someOf("RUN-DIR"),
		RunE: func(cmd *cobra.Command, dirs []string) error {
			if err := writeReport(out, dirs); err != nil {
				return err
			}
			if jsonWanted(cmd) {
				return writeJSON(cmd.OutOrStdout(), map[string]string{"report": out})
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), out)
			return err
		},
	}
	cmd.Flags().StringVar(&out, "out", reportFile, "file to write")
	return cmd
}

// writeReport draws the page of the runs in dirs.
func writeReport(out string, dirs []string) error {
	p := report.Page{Title: "purgelab: " + plural(len(dirs), "run"), Verdict: report.Pass, Footer: footer()}
	total := verdict.Pass
	for _, dir := range dirs {
		r, err := readRun(dir)
		if err != nil {
			return &exitError{exitUsage, err}
		}
		total = verdict.Worst(total, r.record.Verdict)
		p.Runs = append(p.Runs, r.draw())
		p.Checks = append(p.Checks, r.checks()...)
	}
	p.Verdict = total.String()
	return writePage(out, p)
}

// writePage writes a page, whole or not at all.
func writePage(out string, p report.Page) error {
	if err := makeFolder("out", filepath.Dir(out)); err != nil {
		return err
	}
	f, err := os.Create(out + ".new")
	if err != nil {
		return err
	}
	if err := errors.Join(report.Write(f, p), f.Close()); err != nil {
		return err
	}
	return os.Rename(out+".new", out)
}

func footer() string {
	b := thisBuild()
	return fmt.Sprintf("purgelab, revision %s, %s", b.Revision, b.Go)
}

// runFiles is a run as its folder holds it.
type runFiles struct {
	record    run.Record
	history   []history.Event
	trace     []observe.Event
	plan      *faults.Plan
	rejected  string // why the specification does not accept the trace
	porcupine string
}

// readRun reads a run's folder.
func readRun(dir string) (*runFiles, error) {
	r := new(runFiles)
	name := filepath.Join(dir, run.RecordFile)
	raw, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if err := strictjson.DecodeOwn(raw, &r.record); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	f, err := os.Open(filepath.Join(dir, run.HistoryFile))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if r.history, err = history.Parse(f.Name(), f); err != nil {
		return nil, err
	}
	t, err := traces.ReadFile(filepath.Join(dir, run.TraceFile))
	if err != nil {
		return nil, err
	}
	for _, l := range t.Lines {
		r.trace = append(r.trace, l.Event)
	}
	p, err := os.Open(filepath.Join(dir, run.PlanFile))
	if err != nil {
		return nil, err
	}
	defer p.Close()
	if r.plan, err = faults.Parse(p.Name(), p, r.record.Settings.Replicas); err != nil {
		return nil, err
	}
	rejected, err := os.ReadFile(filepath.Join(dir, run.RejectedFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	r.rejected = string(rejected)
	for part := range r.record.Settings.Partitions {
		page, err := os.ReadFile(filepath.Join(dir, porcupineFile(op.Partition(part))))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		r.porcupine = string(page)
		break
	}
	return r, nil
}

// name is how a page calls the run.
func (r *runFiles) name() string {
	s := r.record.Settings
	return fmt.Sprintf("seed %d, %s, %s", s.Seed, plural(s.Replicas, "replica"), s.Design)
}

// draw makes the run's part of a page.
func (r *runFiles) draw() report.Run {
	s := r.record.Settings
	out := report.Run{
		Name: r.name(), Verdict: r.record.Verdict.String(), Replay: r.record.Replay, Rejection: r.rejected, Porcupine: r.porcupine,
		Settings: []report.Setting{
			{Name: "seed", Value: fmt.Sprint(s.Seed)}, {Name: "design", Value: s.Design}, {Name: "replicas", Value: fmt.Sprint(s.Replicas)},
			{Name: "partitions", Value: fmt.Sprint(s.Partitions)}, {Name: "clients", Value: fmt.Sprint(s.Clients)},
			{Name: "operations", Value: fmt.Sprint(r.record.Operations)}, {Name: "positions", Value: s.Positions},
			{Name: "faults", Value: s.Faults}, {Name: "digest", Value: r.record.Digest},
		},
		Timeline: report.Timeline{
			Replicas: s.Replicas, Partitions: s.Partitions,
			Operations: report.Operations(r.history), Events: r.trace, Faults: stretches(r.plan),
		},
	}
	if s.Defect != "" {
		out.Settings = append(out.Settings, report.Setting{Name: "defect", Value: s.Defect})
	}
	if v := r.record.Violations; len(v) > 0 {
		out.Property, out.Reason = v[0].Property, why(v[0].Property, v[0].String())
	} else {
		for _, x := range r.record.Results {
			if x.Verdict != verdict.Pass {
				out.Property, out.Reason = x.Property, why(x.Property, x.Reason)
				break
			}
		}
	}
	out.Faults = counters(r.record.Faults, &r.record.Effects)
	return out
}

// checks are the run's lines in the table of verdicts: for its history and for
// its replicas one line if all holds, else one for each property that does not.
func (r *runFiles) checks() []report.Check {
	var out []report.Check
	for _, layer := range []string{"histories", "replicas", "traces"} {
		pass, all := 0, 0
		for _, x := range r.record.Results {
			if layerOf(x.Property) != layer {
				continue
			}
			all++
			if x.Verdict == verdict.Pass {
				pass++
				continue
			}
			out = append(out, report.Check{
				Layer: layer, Name: r.name(), Verdict: x.Verdict.String(), Property: x.Property, Detail: why(x.Property, x.Reason), Replay: r.record.Settings.ReplayOf(x.Property),
			})
		}
		if pass == all && all > 0 {
			out = append(out, report.Check{
				Layer: layer, Name: r.name(), Verdict: report.Pass, Detail: fmt.Sprintf("%s, %s", plural(pass, "property"), plural(r.record.Operations, "operation")),
			})
		}
	}
	return out
}

// layerOf says who checks a property of a run.
func layerOf(property string) string {
	switch property {
	case "Linearizable":
		return "histories"
	case run.TraceAccepted:
		return "traces"
	}
	return "replicas"
}

// stretches are the faults of a plan that last; crashes are seen on the
// replicas that they hit.
func stretches(p *faults.Plan) []report.Fault {
	var out []report.Fault
	for _, f := range p.Faults {
		name := string(f.Kind)
		switch f.Kind {
		case faults.ProcessCrash, faults.PowerLoss, faults.CrashAt:
			continue
		case faults.Partition, faults.Isolate:
			var who []string
			for _, id := range f.Replicas {
				if id == 0 {
					who = append(who, "leader")
				} else {
					who = append(who, fmt.Sprint(id))
				}
			}
			name += " " + strings.Join(who, ",")
			if f.OneWay != "" {
				name += " " + f.OneWay
			}
		}
		out = append(out, report.Fault{Name: name, From: f.At, To: f.At + f.For})
	}
	return out
}
