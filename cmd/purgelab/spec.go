package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"purgelab/traces/models"
	"purgelab/traces/tlc"
)

// newSpecCmd is "purgelab spec": the models of the specification.
func newSpecCmd() *cobra.Command {
	return group(&cobra.Command{
		Use:   "spec",
		Short: "List the specification's models, or check them with TLC",
	}, newSpecListCmd(), newSpecCheckCmd())
}

func newSpecListCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the models in spec/manifest.json",
		Example: "  purgelab spec list",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, list, err := loadModels()
			if err != nil {
				return err
			}
			if jsonWanted(cmd) {
				for _, m := range list {
					if err := writeJSON(cmd.OutOrStdout(), m); err != nil {
						return err
					}
				}
				return nil
			}
			t := table{header: []string{"model", "module", "expected", "states", "tier"}}
			for _, m := range list {
				t.add(m.Name, m.Module, m.Expect, orDash(m.Distinct), m.Tier)
			}
			return t.write(cmd.OutOrStdout())
		},
	}
}

func newSpecCheckCmd() *cobra.Command {
	var o models.Options
	tier := newChoice("smoke", models.Tiers...)
	cmd := &cobra.Command{
		Use:   "check [NAME...]",
		Short: "Run TLC on models and compare with what spec/manifest.json expects",
		Long: `Run TLC on the models of a tier, or on those named, and compare the result, the
violated property and the number of states with spec/manifest.json.

A model whose property is violated as expected passes: it shows that the check
can fail. A counterexample is printed as a table of steps when a model is named
or does not do what is expected of it.

Exit code: 0 all as expected, 1 a difference, 2 undecided, 3 bad usage.`,
		Example: "  purgelab spec check --tier demo\n  purgelab spec check ordered-local --workers 2",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			_, list, err := loadModels()
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []string
			for _, m := range list {
				names = append(names, m.Name)
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, names []string) error {
			root, list, err := loadModels()
			if err != nil {
				return err
			}
			if list, err = models.Select(list, tier.value, names); err != nil {
				return &exitError{exitUsage, err}
			}
			tool, err := findTLC(cmd.Context(), root, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			o.Dir = filepath.Join(root, "spec")
			p := &specPrinter{out: cmd.OutOrStdout(), json: jsonWanted(cmd), named: len(names) > 0}
			if !p.json {
				fmt.Fprintf(p.out, "%s\n\n", tool)
			}
			p.width(list)
			outcomes := models.Check(cmd.Context(), tool, list, o, p.print)
			return p.finish(outcomes)
		},
	}
	f := cmd.Flags()
	f.Var(tier, "tier", "models of this tier and of those below it: "+tier.list())
	completeChoices(cmd, "tier", tier)
	f.IntVar(&o.Workers, "workers", 1, "TLC workers per model")
	f.IntVar(&o.Jobs, "jobs", 0, "models at once (default: processors / workers)")
	f.DurationVar(&o.Timeout, "timeout", 30*time.Minute, "undecided after this long, per model")
	f.StringVar(&o.Keep, "keep", "", "folder to keep TLC's own output in")
	return cmd
}

// loadModels reads the manifest of the project that the caller stands in.
func loadModels() (root string, list []models.Model, err error) {
	if root, err = models.Root(); err != nil {
		return "", nil, &exitError{exitUsage, err}
	}
	if list, err = models.Load(filepath.Join(root, "spec")); err != nil {
		return "", nil, &exitError{exitUsage, err}
	}
	return root, list, nil
}

// findTLC finds TLC or says what to install. Without it nothing is decided; a
// jar that is not what it should be is unreadable input.
func findTLC(ctx context.Context, root string, log io.Writer) (tlc.Tool, error) {
	tool, err := tlc.Find(ctx, models.ToolFolder(root), log)
	if errors.Is(err, tlc.ErrMissing) || ctx.Err() != nil {
		return tool, &exitError{exitUndecided, err}
	}
	if err != nil {
		return tool, &exitError{exitUsage, err}
	}
	return tool, nil
}

// specPrinter prints one line per model as soon as it and those before it are
// done, and counterexamples below.
type specPrinter struct {
	out     io.Writer
	json    bool
	named   bool
	widths  [2]int
	started bool
	err     error
}

func (p *specPrinter) width(list []models.Model) {
	p.widths = [2]int{len("model"), len("expected")}
	for _, m := range list {
		p.widths[0] = max(p.widths[0], len(m.Name))
		p.widths[1] = max(p.widths[1], len(m.Expect))
	}
}

type specLine struct {
	Name     string      `json:"name"`
	Verdict  tlc.Verdict `json:"verdict"`
	Expected string      `json:"expected"`
	Got      string      `json:"got"`
	Distinct int64       `json:"distinct"`
	Depth    int         `json:"depth"`
	Seconds  float64     `json:"seconds"`
	Problem  string      `json:"problem,omitempty"`
	Trace    []string    `json:"trace,omitempty"`
}

func (p *specPrinter) print(o models.Outcome) {
	l := specLine{Name: o.Model.Name, Verdict: o.Verdict, Expected: o.Model.Expect, Got: o.Got(), Problem: o.Problem}
	var table string
	if o.Result != nil {
		l.Distinct, l.Depth, l.Seconds = o.Result.Distinct, o.Result.Depth, o.Result.Seconds
		if len(o.Result.Trace) > 0 && (p.named || o.Verdict != tlc.Pass) {
			table = tlc.Table(o.Result.Trace)
		}
	}
	if p.json {
		if table != "" {
			l.Trace = strings.Split(strings.TrimRight(table, "\n"), "\n")
		}
		p.err = writeJSON(p.out, l)
		return
	}
	row := func(v ...any) {
		fmt.Fprintf(p.out, "%-*s  %-9s  %-*s  %-*s  %10s  %5s  %7s\n", p.widths[0], v[0], v[1], p.widths[1], v[2], p.widths[1], v[3], v[4], v[5], v[6])
	}
	if !p.started {
		p.started = true
		row("model", "verdict", "expected", "got", "states", "depth", "seconds")
	}
	row(l.Name, l.Verdict, l.Expected, l.Got, orDash(l.Distinct), orDash(int64(l.Depth)), fmt.Sprintf("%.1f", l.Seconds))
	if l.Problem != "" {
		fmt.Fprintf(p.out, "  %s\n", l.Problem)
	}
	if table != "" {
		fmt.Fprintf(p.out, "\n  %s\n", strings.ReplaceAll(strings.TrimRight(table, "\n"), "\n", "\n  "))
		if o.Result.Reason != "" {
			fmt.Fprintf(p.out, "  %s\n\n", o.Result.Reason)
		}
	}
}

// finish prints the sum and turns the outcomes into an exit code: a difference
// before an undecided model.
func (p *specPrinter) finish(outcomes []models.Outcome) error {
	count := map[tlc.Verdict]int{}
	var seconds float64
	for _, o := range outcomes {
		count[o.Verdict]++
		if o.Result != nil {
			seconds += o.Result.Seconds
		}
	}
	if !p.json {
		fmt.Fprintf(p.out, "\n%s: %d as expected, %d not, %d undecided; %.0f s of TLC\n", plural(len(outcomes), "model"), count[tlc.Pass], count[tlc.Fail], count[tlc.Undecided], seconds)
	}
	switch {
	case p.err != nil:
		return p.err
	case count[tlc.Fail] > 0:
		return &exitError{exitViolated, fmt.Errorf("%d of %d models do not do what the manifest expects", count[tlc.Fail], len(outcomes))}
	case count[tlc.Undecided] > 0:
		return &exitError{exitUndecided, fmt.Errorf("%d of %d models are undecided", count[tlc.Undecided], len(outcomes))}
	}
	return nil
}

// jsonWanted reads the flag --json, which every command has.
func jsonWanted(cmd *cobra.Command) bool {
	v, err := cmd.Flags().GetBool("json")
	return err == nil && v
}

func orDash(n int64) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}
