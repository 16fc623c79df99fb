package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"purgelab/impl/replica"
	"purgelab/linearizability/scenario"
	"purgelab/linearizability/verdict"
)

// newScenarioCmd is "purgelab scenario".
func newScenarioCmd() *cobra.Command {
	var defective, steps bool
	cmd := &cobra.Command{
		Use:   "scenario [NAME|FILE...]",
		Short: "Play scripts of what went wrong in real brokers",
		Long: `Play scripted scenarios, one readable text file each: without arguments all that
the program carries, else those that are named, or files. docs/scenarios.md
describes the files.

Each prints whether the expected outcome was met, and if not the first line that
differs. With --defect the defect that a file names is switched on, and the wrong
outcome that the file describes must appear and violate the property it names;
files that name no defect are left out.

Exit code: 0 all as the files say, 1 not, 2 undecided, 3 a file has a mistake: its
line and column are printed.`,
		Example: `  purgelab scenario
  purgelab scenario s02-repair-brings-purged-data-back --defect --steps
  purgelab scenario mine.txt`,
		RunE: func(cmd *cobra.Command, names []string) error {
			list, err := scenario.Own()
			if err != nil {
				return err
			}
			if len(names) > 0 {
				list = nil
			}
			for _, name := range names {
				s, err := scenario.Find(name)
				if err != nil {
					return &exitError{exitUsage, err}
				}
				list = append(list, s)
			}
			return playAll(cmd, list, defective, steps)
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			list, err := scenario.Own()
			if err != nil {
				return nil, cobra.ShellCompDirectiveDefault
			}
			var out []string
			for _, s := range list {
				out = append(out, s.Name)
			}
			return out, cobra.ShellCompDirectiveDefault
		},
	}
	cmd.Flags().BoolVar(&defective, "defect", false, "switch on the defect that each scenario names")
	cmd.Flags().BoolVar(&steps, "steps", false, "print every step with its answer")
	return cmd
}

// scenarioLine is the outcome of one scenario under one design.
type scenarioLine struct {
	Scenario  string           `json:"scenario"`
	Design    string           `json:"design"`
	Variant   string           `json:"variant,omitempty"`
	Messages  string           `json:"messages,omitempty"` // if not both are persisted
	Bookmarks string           `json:"bookmarks,omitempty"`
	Defect    string           `json:"defect,omitempty"`
	Met       bool             `json:"met"`
	Trouble   string           `json:"trouble,omitempty"`
	Violated  []verdict.Result `json:"violated,omitempty"`
	Answers   []string         `json:"answers,omitempty"`
}

func playAll(cmd *cobra.Command, list []*scenario.Scenario, defective, steps bool) error {
	t := &table{header: []string{"scenario", "design", "outcome", "violated"}}
	if defective {
		t.header = []string{"scenario", "design", "defect", "outcome", "violated"}
	}
	var trouble, told bytes.Buffer
	code, played := exitPass, 0
	var cut error
all:
	for _, s := range list {
		if defective && s.Defect == "" {
			continue
		}
		for _, way := range s.Ways() {
			if err := cmd.Context().Err(); err != nil {
				cut = undecidedError("interrupted after %s: %w", plural(played, "scenario"), err)
				break all
			}
			r := scenario.Play(cmd.Context(), s, way, defective)
			played++
			line := scenarioLine{Scenario: s.Name, Design: way.Design.String(), Variant: s.Variants.String(), Met: r.Met(), Trouble: r.Trouble(), Violated: r.Red}
			if way.Policy != (replica.Policy{}) {
				line.Messages, line.Bookmarks = way.Policy.Messages.String(), way.Policy.Bookmarks.String()
			}
			outcome, violated := "met", "nothing"
			design := way.String()
			if line.Variant != "" {
				design += ", " + strings.ReplaceAll(line.Variant, ",", ", ")
			}
			if len(r.Red) > 0 {
				violated = r.Red[0].Property
			}
			switch {
			case !defective && r.Met() && len(r.Red) > 0:
				violated += ", as listed"
			case defective && r.Met():
				outcome, violated = "wrong, as expected", s.Red
			case !r.Met():
				outcome = "not met"
				code = worse(code, exitOf(r))
				fmt.Fprintf(&trouble, "%s, %s: %s\n", s.Name, design, r.Trouble())
			}
			if steps {
				tellSteps(&told, s, r)
				line.Answers = r.Answers
			}
			if defective {
				line.Defect = s.Defect
				t.add(s.Name, design, s.Defect, outcome, violated)
			} else {
				t.add(s.Name, design, outcome, violated)
			}
			if jsonWanted(cmd) {
				if err := writeJSON(cmd.OutOrStdout(), line); err != nil {
					return err
				}
			}
		}
	}
	if played == 0 && cut == nil {
		return usageError("none of them names a defect")
	}
	ends := exitWith(code)
	if cut != nil && code != exitViolated {
		ends = cut
	}
	if jsonWanted(cmd) || played == 0 {
		return ends
	}
	out := cmd.OutOrStdout()
	_, err := told.WriteTo(out)
	if err = errors.Join(err, t.write(out)); err == nil {
		_, err = trouble.WriteTo(out)
	}
	if err != nil {
		return err
	}
	return ends
}

// exitOf an outcome that was not met: undecided if nothing else is wrong.
func exitOf(r *scenario.Result) int {
	if r.Undecided != "" && len(r.Red) == 0 && len(r.Differ) == 0 {
		return exitUndecided
	}
	return exitViolated
}

// tellSteps prints a scenario as it was played.
func tellSteps(b *bytes.Buffer, s *scenario.Scenario, r *scenario.Result) {
	fmt.Fprintf(b, "%s, %s: %s\n", s.Name, r.Way, s.Says)
	width := 0
	for _, x := range s.Steps {
		width = max(width, len(x.Text))
	}
	differ := map[int]bool{}
	for _, i := range r.Differ {
		differ[i] = true
	}
	for i, x := range s.Steps {
		line := "  " + x.Text
		if x.Want != "" {
			line = fmt.Sprintf("  %-*s -> %s", width, x.Text, r.Answers[i])
		}
		if differ[i] {
			line += "   (differs)"
		}
		fmt.Fprintln(b, strings.TrimRight(line, " "))
	}
	for _, x := range r.Red {
		fmt.Fprintf(b, "  violated %s: %s\n", x.Property, strings.TrimPrefix(strings.ReplaceAll(x.Reason, "\n", "\n    "), x.Property+": "))
	}
	fmt.Fprintln(b)
}
