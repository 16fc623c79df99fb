package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"purgelab/impl/sim"
	"purgelab/linearizability/faults"
	"purgelab/linearizability/guarantee"
	"purgelab/linearizability/report"
	"purgelab/linearizability/run"
	"purgelab/linearizability/verdict"
	"purgelab/traces"
	"purgelab/traces/models"
	"purgelab/traces/tlc"
)

// newDemoCmd is "purgelab demo".
func newDemoCmd() *cobra.Command {
	var out string
	var runs int
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "The whole loop, within two minutes: models, runs, histories, traces",
		Long: `The main job in one go: check the models of tier demo with TLC; run clusters of
1, 3 and 5 replicas of the purge design "ordered", and of the designs "advance" and
"reset-record", under all faults, and judge their histories and their replicas; let
TLC say whether the specification accepts the traces of some of them. The page
DIR/report.html shows it all.

What ` + guarantee.Document + ` lists of a design reads "violated, as listed", and is
no failure; any other violation is.

Exit code: that of the worst verdict: 3, then 1, then 2, then 0.`,
		Example: "  purgelab demo --out out/demo",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if runs < 1 {
				return usageError("--runs %d: want at least 1", runs)
			}
			d := &demo{cmd: cmd, out: out, share: runs, log: cmd.ErrOrStderr(), begun: time.Now()}
			return d.run(cmd.Context())
		},
	}
	cmd.Flags().IntVar(&runs, "runs", demoRuns, "simulated runs, of all sizes of clusters together")
	cmd.Flags().StringVar(&out, "out", filepath.Join("out", "demo"), "folder for report.html and the runs shown in it")
	return cmd
}

// demoRuns are as many as let the demo end within two minutes on two cores.
const demoRuns = 528

// demoSweeps are the designs and sizes of clusters with their shares of the runs, in
// parts of demoShares. The page shows the first one unfolded.
var demoSweeps = []struct {
	design          string
	replicas, share int
}{{"ordered", 3, 8}, {"ordered", 5, 4}, {"ordered", 1, 4}, {"advance", 3, 4}, {"reset-record", 3, 1}, {"reset-record", 1, 1}}

const demoShares = 22

// demoTraces is how many runs of each size have their traces validated.
const demoTraces = 2

// demoTimeout bounds each process of TLC. It is far more than the two minutes
// that all of them take: a slow machine is to get its verdicts, too.
const demoTimeout = 10 * time.Minute

// notChecked is said of each check that TLC would make, and why only once.
const notChecked = "not checked: TLC is missing"

// demo collects what was checked.
type demo struct {
	cmd     *cobra.Command
	out     string
	log     io.Writer
	begun   time.Time
	page    report.Page
	missing string   // why there is no TLC; empty if there is
	share   int      // simulated runs, of all sizes together
	runs    []string // folders of runs with traces
	drawn   []string // those of the page's runs
	code    int
}

// run does the parts one after another. Each adds its lines to the table, also
// when it could not be done: then they say undecided.
func (d *demo) run(ctx context.Context) error {
	if err := makeFolder("out", d.out); err != nil {
		return err
	}
	root, list, err := loadModels()
	if err != nil {
		return err
	}
	if list, err = models.Select(list, "demo", nil); err != nil {
		return &exitError{exitUsage, err}
	}
	tool, missing := findTLC(ctx, root, d.log)
	if missing != nil {
		if codeOf(missing) == exitUsage {
			return missing
		}
		d.missing = missing.Error()
	}
	d.models(ctx, root, tool, list, missing)
	if err := d.sweeps(ctx); err != nil {
		return err
	}
	if err := d.traces(ctx, root, tool, missing); err != nil {
		return err
	}
	return d.finish()
}

// add puts one line into the table of verdicts.
func (d *demo) add(c report.Check, code int) {
	d.page.Checks = append(d.page.Checks, c)
	d.code = worse(d.code, code)
}

func (d *demo) models(ctx context.Context, root string, tool tlc.Tool, list []models.Model, missing error) {
	const layer = "specification"
	if missing != nil {
		for _, m := range list {
			d.add(report.Check{Layer: layer, Name: m.Name, Verdict: report.Undecided, Detail: notChecked}, exitUndecided)
		}
		return
	}
	fmt.Fprintf(d.log, "model-checking %s with %s\n", plural(len(list), "model"), tool)
	b := newBar(d.log, len(list), "models")
	models.Check(ctx, tool, list, models.Options{Dir: filepath.Join(root, "spec"), Workers: 1, Timeout: demoTimeout}, func(o models.Outcome) {
		b.step()
		m := report.Model{Name: o.Model.Name, Module: o.Model.Module, Expected: o.Model.Expect, Got: o.Got(), Why: o.Model.Why, Verdict: o.Verdict.String()}
		c := report.Check{Layer: layer, Name: o.Model.Name, Verdict: o.Verdict.String(), Detail: o.Problem}
		if o.Result != nil {
			m.Distinct, m.Depth, m.Seconds = int(o.Result.Distinct), o.Result.Depth, o.Result.Seconds
			c.Seconds = o.Result.Seconds
		}
		switch {
		case o.Problem != "":
		case o.Model.Expect == models.ExpectPass:
			c.Detail = fmt.Sprintf("holds in all of %d distinct states", m.Distinct)
		default:
			c.Detail = fmt.Sprintf("breaks %s, as it must", o.Model.Expect)
		}
		d.page.Models = append(d.page.Models, m)
		d.add(c, modelCode(o.Verdict))
	})
	b.done()
}

func modelCode(v tlc.Verdict) int {
	switch v {
	case tlc.Pass:
		return exitPass
	case tlc.Fail:
		return exitViolated
	}
	return exitUndecided
}

// sweeps makes the runs and shows one of each size, and every one that did not
// pass, up to three.
func (d *demo) sweeps(ctx context.Context) error {
	var all sim.Effects
	planned := map[faults.Kind]int{}
	for _, w := range demoSweeps {
		begun := time.Now()
		seeds := max(d.share*w.share/demoShares, 1)
		s := run.Settings{Design: w.design, Replicas: w.replicas, Faults: string(faults.All)}
		if err := s.Complete(); err != nil {
			return err
		}
		fmt.Fprintf(d.log, "running %d clusters of %s under faults, design %s\n", seeds, plural(w.replicas, "replica"), w.design)
		b := newBar(d.log, seeds, "runs")
		sum, err := (&run.Sweep{Settings: s, From: 1, To: uint64(seeds), Progress: func(*run.Summary) { b.step() }}).Run(ctx)
		b.done()
		if sum == nil || err != nil && !interrupted(ctx, err) {
			return undecidedError("runs of %s: %w", plural(w.replicas, "replica"), err)
		}
		d.judged(s, sum, time.Since(begun).Seconds())
		all.Add(sum.Effects)
		for _, k := range faults.Kinds {
			planned[k] += sum.Faults[k]
		}
		if err := d.show(ctx, s, sum); err != nil {
			return err
		}
	}
	d.page.Faults = counters(planned, &all)
	return nil
}

// judged adds the verdicts on many runs: one line, and one for those that did not pass
// and look alike, the cheapest of them. Those that violate only what is listed are no
// failure.
func (d *demo) judged(s run.Settings, sum *run.Summary, took float64) {
	const layer = "runs"
	judged := *sum
	judged.Reds = unlisted(&s, sum.Reds)
	v, bad := judged.Verdict(), judged.Reds
	c := report.Check{
		Layer: layer, Name: fmt.Sprintf("%s, %s, seeds %d..%d", s.Design, plural(s.Replicas, "replica"), sum.From, sum.To), Seconds: took,
		Verdict: v.String(),
		Detail: fmt.Sprintf("%s: %d pass, %d fail, %d undecided, %d not made; %d operations judged",
			plural(len(sum.Done), "run"), sum.Runs-len(sum.Reds)-len(sum.Undecided), len(bad), len(sum.Undecided), len(sum.Done)-sum.Runs, sum.Operations),
	}
	if listed := len(sum.Reds) - len(bad); listed > 0 {
		c.Detail += fmt.Sprintf("; %d violate what %s lists: %s", listed, guarantee.Document, strings.Join(violatedIn(sum.Reds), ", "))
		if v == verdict.Pass {
			c.Verdict, c.Replay = report.Listed, sum.Reds[0].Replay
		}
	}
	d.add(c, v.ExitCode())
	for _, list := range [][]run.Red{bad, sum.Undecided} {
		for _, g := range run.Groups(list) {
			r := g.Cheapest
			c := report.Check{
				Layer: layer, Name: fmt.Sprintf("%s, %s, seed %d", s.Design, plural(s.Replicas, "replica"), r.Seed),
				Verdict: r.Verdict.String(), Property: r.Property, Detail: why(r.Property, r.Reason), Replay: r.Replay,
			}
			if others := seedList(g.Seeds, r.Seed); others != "" {
				c.Detail += "; the same at seeds " + others
			}
			d.add(c, r.Verdict.ExitCode())
		}
	}
}

// violatedIn lists the properties that are violated in some runs.
func violatedIn(reds []run.Red) []string {
	var out []string
	for _, r := range reds {
		out = append(out, r.Violated...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// show makes a few runs again with their files: those that did not pass, and as
// many more as have their traces validated. The page draws the first, and up to
// three that did not pass.
func (d *demo) show(ctx context.Context, s run.Settings, sum *run.Summary) error {
	var seeds []uint64
	reds := unlisted(&s, sum.Reds)
	for _, r := range reds[:min(len(reds), 3)] {
		seeds = append(seeds, r.Seed)
	}
	drawn := max(len(seeds), 1)
	for seed := sum.From; seed < sum.From+demoTraces; seed++ {
		if !slices.Contains(seeds, seed) {
			seeds = append(seeds, seed)
		}
	}
	for i, seed := range seeds {
		if ctx.Err() != nil {
			return nil
		}
		s.Seed = seed
		r, err := run.Run(ctx, s)
		if err != nil {
			return undecidedError("seed %d: %w", seed, err)
		}
		dir := filepath.Join(d.out, fmt.Sprintf("%s-%d-seed-%d", s.Design, s.Replicas, seed))
		if err := writeRun(ctx, dir, r); err != nil {
			return err
		}
		d.runs = append(d.runs, dir)
		if i >= drawn {
			continue
		}
		files, err := readRun(dir)
		if err != nil {
			return err
		}
		d.drawn = append(d.drawn, dir)
		d.page.Runs = append(d.page.Runs, files.draw())
	}
	return nil
}

// traces lets TLC judge the traces of the runs whose files were kept.
func (d *demo) traces(ctx context.Context, root string, tool tlc.Tool, missing error) error {
	const layer = "traces"
	var list []*traces.Trace
	for _, dir := range d.runs {
		t, err := traces.ReadFile(filepath.Join(dir, run.TraceFile))
		if err != nil {
			return &exitError{exitUsage, err}
		}
		list = append(list, t)
	}
	undecided := func(reason string) {
		d.add(report.Check{Layer: layer, Name: plural(len(list), "trace"), Verdict: report.Undecided, Detail: reason}, exitUndecided)
	}
	switch {
	case missing != nil:
		undecided(notChecked)
		return nil
	case len(list) == 0:
		undecided("no run was made")
		return nil
	}
	fmt.Fprintf(d.log, "validating %s against the specification\n", plural(len(list), "trace"))
	begun := time.Now()
	reports, err := traces.Validate(ctx, tool, traces.Options{Spec: filepath.Join(root, "spec"), Jobs: runtime.NumCPU(), Timeout: demoTimeout}, list)
	if err != nil {
		undecided(err.Error())
		return nil
	}
	took := time.Since(begun).Seconds() / float64(len(reports))
	for i, r := range reports {
		c := report.Check{Layer: layer, Name: filepath.Base(d.runs[i]), Verdict: r.Verdict.String(), Detail: r.Reason, Seconds: took}
		if r.Verdict == tlc.Pass {
			c.Detail = fmt.Sprintf("accepted: %d events, %d steps judged", r.Events, r.Judged)
		}
		for _, j := range r.Rejections {
			c.Detail = fmt.Sprintf("rejected at line %d: %s", j.Line, j.Reason)
			c.Replay = "purgelab trace validate " + filepath.Join(d.runs[i], run.TraceFile)
			if k := slices.Index(d.drawn, d.runs[i]); k >= 0 {
				d.page.Runs[k].Rejection = j.Explain(run.TraceFile)
			}
			break
		}
		d.add(c, modelCode(r.Verdict))
	}
	return nil
}

// finish prints the table of verdicts and writes the page.
func (d *demo) finish() error {
	word := map[int]string{exitPass: report.Pass, exitViolated: report.Fail}[d.code]
	if word == "" {
		word = report.Undecided
	}
	took := time.Since(d.begun).Seconds()
	d.page.Title, d.page.Verdict, d.page.Footer = "purgelab demo", word, footer()
	d.page.Lead = fmt.Sprintf("The purge design “ordered”: its specification, clusters of 1, 3 and 5 replicas under network faults, crashes and power losses, and what the specification says of their traces; beside it the designs “advance” and “reset-record”. Made in %.0f s.", took)
	if d.missing != "" {
		d.page.Lead += " TLC is missing: " + d.missing
	}
	file := filepath.Join(d.out, reportFile)
	if err := writePage(file, d.page); err != nil {
		return err
	}
	out := d.cmd.OutOrStdout()
	if jsonWanted(d.cmd) {
		for _, c := range d.page.Checks {
			if err := writeJSON(out, c); err != nil {
				return err
			}
		}
		last := map[string]any{"verdict": word, "report": file, "seconds": took}
		if d.missing != "" {
			last["missing"] = d.missing
		}
		err := writeJSON(out, last)
		return errors.Join(err, exitWith(d.code))
	}
	t := table{header: []string{"layer", "check", "verdict", "seconds", "detail"}}
	for _, c := range d.page.Checks {
		detail := c.Detail
		if c.Property != "" {
			detail = c.Property + ": " + detail
		}
		t.add(c.Layer, c.Name, c.Verdict, fmt.Sprintf("%.1f", c.Seconds), detail)
	}
	var b bytes.Buffer
	if err := t.write(&b); err != nil {
		return err
	}
	for _, c := range d.page.Checks {
		if c.Replay != "" {
			fmt.Fprintf(&b, "replay  %s\n", c.Replay)
		}
	}
	if d.missing != "" {
		fmt.Fprintf(&b, "\nmissing  %s", d.missing)
	}
	fmt.Fprintf(&b, "\nreport   %s\nverdict  %s, in %.0f s\n", file, word, took)
	_, err := out.Write(b.Bytes())
	return errors.Join(err, exitWith(d.code))
}

// counters are the faults that took effect in one run.
func counters(planned map[faults.Kind]int, e *sim.Effects) []report.Counter {
	var out []report.Counter
	for _, k := range faults.Kinds {
		out = append(out, report.Counter{Group: "planned faults", Name: string(k), N: planned[k]})
	}
	e.Each(func(name string, n int) { out = append(out, report.Counter{Group: "what they did", Name: name, N: n}) })
	return out
}
