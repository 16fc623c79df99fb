package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"purgelab/linearizability/scenario"
	"purgelab/traces"
	"purgelab/traces/behaviours"
	"purgelab/traces/models"
	"purgelab/traces/tlc"
)

// roundTrip is a counterexample on its way from the specification to the implementation
// and back.
type roundTrip struct {
	File     string `json:"file"`
	Model    string `json:"model"`
	Property string `json:"property"` // violated in the model
	Actions  int    `json:"actions"`
	// Defect that the implementation has under the same name; Follows is how many of the
	// actions lead it, with the defect, from state to state of the counterexample.
	Defect  string   `json:"defect,omitempty"`
	Follows int      `json:"follows"`
	Red     []string `json:"red,omitempty"`  // violated by the implementation with it
	Calm    []string `json:"calm,omitempty"` // and without it
	// Trace is the verdict on what the implementation did without it, Defective on what
	// it did with it.
	Trace     tlc.Verdict `json:"trace"`
	Defective tlc.Verdict `json:"defective"`
	// Reasons say where the two and the counterexample part, and why a trace is rejected.
	Reasons []string `json:"reasons,omitempty"`
}

// writeCounterexample makes a scenario of the counterexample of a model, and plays it.
func writeCounterexample(cmd *cobra.Command, tool tlc.Tool, spec string, m models.Model, dir string) error {
	b, property, err := behaviours.Counterexample(cmd.Context(), tool, spec, m)
	if err != nil && interrupted(cmd.Context(), err) {
		return undecidedError("interrupted")
	} else if holds := (*behaviours.HoldsError)(nil); errors.As(err, &holds) {
		return usageError("--model: %w", err)
	} else if err != nil {
		return undecidedError("%w", err)
	}
	c, err := scenario.FromCounterexample(cmd.Context(), b, cmp.Or(m.Defect, m.Name), property, m.Why)
	if err != nil {
		return err
	}
	t := roundTrip{File: filepath.Join(dir, c.Name+".txt"), Model: m.Name, Property: property, Actions: len(b.Acts) - 1, Defect: c.Defect, Calm: properties(c.Calm)}
	if t.Follows = t.Actions; c.Difference != nil {
		t.Follows = max(c.Difference.Act-1, 0)
	}
	var list []*traces.Trace
	for _, r := range []*scenario.Result{c.Calm, c.Red} {
		if r == nil {
			continue
		}
		trace, err := r.DrivenTrace()
		if err != nil {
			return err
		}
		list = append(list, trace)
	}
	if c.Red != nil {
		t.Red = properties(c.Red)
	}
	reports, err := traces.Validate(cmd.Context(), tool, traces.Options{Spec: spec, Timeout: traces.Limit}, list)
	if err != nil {
		return undecidedError("%w", err)
	}
	if t.Trace = reports[0].Verdict; c.Red != nil {
		t.Defective = reports[1].Verdict
	}
	if c.Difference != nil {
		t.Reasons = append(t.Reasons, c.Difference.Error())
	}
	for _, r := range reports {
		for _, x := range r.Rejections {
			t.Reasons = append(t.Reasons, fmt.Sprintf("trace, event %d, %s: %s", x.Line-1, x.Event.Action, x.Reason))
		}
	}
	if err := os.WriteFile(t.File, []byte(c.Text), 0o666); err != nil {
		return usageError("--out: %w", err)
	}
	if jsonWanted(cmd) {
		err = writeJSON(cmd.OutOrStdout(), t)
	} else {
		err = t.print(cmd.OutOrStdout())
	}
	switch {
	case err != nil:
		return err
	case c.Undecided() != "":
		return undecidedError("%s", c.Undecided())
	case slices.ContainsFunc(reports, undecided):
		return undecidedError("%s", reports[slices.IndexFunc(reports, undecided)].Reason)
	case t.Trace == tlc.Fail || !c.Reproduced():
		return exitWith(exitViolated)
	}
	return nil
}

func undecided(r traces.Report) bool { return r.Verdict == tlc.Undecided }

func properties(r *scenario.Result) []string {
	var out []string
	for _, x := range r.Red {
		out = append(out, x.Property)
	}
	return out
}

func (t *roundTrip) print(w io.Writer) error {
	words := map[tlc.Verdict]string{tlc.Pass: "accepted", tlc.Fail: "rejected", tlc.Undecided: "undecided"}
	nothing := func(list []string) string {
		if len(list) == 0 {
			return "nothing"
		}
		return strings.Join(list, ", ")
	}
	fmt.Fprintf(w, "%s  %s, %s violated by the specification\n", t.File, plural(t.Actions, "action"), t.Property)
	if t.Defect != "" {
		fmt.Fprintf(w, "  with %s: %s violated, trace %s, %d of %d actions lead to the same state\n", t.Defect, nothing(t.Red), words[t.Defective], t.Follows, t.Actions)
	}
	fmt.Fprintf(w, "  without: %s violated, trace %s\n", nothing(t.Calm), words[t.Trace])
	for _, x := range t.Reasons {
		fmt.Fprintf(w, "    %s\n", x)
	}
	return nil
}
