package minimize

import (
	"context"
	"fmt"
	"strings"

	"purgelab/linearizability/teeth"
	"purgelab/linearizability/verdict"
)

// Goal is how small a run has to get, for nine in ten defects.
const (
	GoalOps    = 10
	GoalFaults = 2
)

// Row is how small the run gets that shows a defect.
type Row struct {
	Defect   string `json:"defect"`
	Design   string `json:"design"`
	Property string `json:"property,omitempty"`
	// Operations and Faults of the first run that shows it, and of the smallest.
	FromOps    int `json:"fromOps,omitempty"`
	FromFaults int `json:"fromFaults,omitempty"`
	Ops        int `json:"ops,omitempty"`
	Faults     int `json:"faults,omitempty"`
	Runs       int `json:"runs,omitempty"` // made to get there
	// Scenario tells whether the smallest can be told as one.
	Scenario bool   `json:"scenario,omitempty"`
	Trouble  string `json:"trouble,omitempty"`
}

// Small tells whether the goal is met.
func (r *Row) Small() bool {
	return r.Trouble == "" && r.Ops <= GoalOps && r.Faults <= GoalFaults
}

// Defect makes the first run small that shows a defect of the table.
func Defect(ctx context.Context, t teeth.Tooth, jobs int) Row {
	row := Row{Defect: t.Name, Design: t.Design}
	r, property, err := t.Shown(ctx, teeth.DefaultRuns)
	switch {
	case err != nil:
		row.Trouble = err.Error()
		return row
	case r == nil:
		row.Trouble = fmt.Sprintf("no run of %d shows it", teeth.DefaultRuns)
		return row
	}
	row.Property = property
	out, err := Run(ctx, r.Settings, Options{Property: property, Jobs: jobs})
	if err != nil {
		row.Trouble = err.Error()
		return row
	}
	row.FromOps, row.FromFaults, row.Ops, row.Faults, row.Runs = out.BeforeOps, out.BeforeFaults, out.Ops, out.Faults, out.Runs
	if out.Ended != nil {
		row.Trouble = "interrupted: " + out.Ended.Error()
		return row
	}
	_, err = Scenario(ctx, t.Name, property, out.Run)
	row.Scenario = err == nil
	return row
}

// Verdict is pass if nine in ten are small, and undecided if that is not known of all.
func Verdict(rows []Row) verdict.Verdict {
	small := 0
	for i := range rows {
		if strings.HasPrefix(rows[i].Trouble, "interrupted") {
			return verdict.Undecided
		}
		if rows[i].Small() {
			small++
		}
	}
	if 10*small >= 9*len(rows) {
		return verdict.Pass
	}
	return verdict.Fail
}

// Markdown is the table as docs/minimize.md has it, and how many meet the goal.
func Markdown(rows []Row) string {
	var b strings.Builder
	small := 0
	b.WriteString("| defect | design | violated | operations | faults | runs made | scenario |\n|---|---|---|---:|---:|---:|---|\n")
	for i := range rows {
		r := &rows[i]
		if r.Small() {
			small++
		}
		if r.Trouble != "" {
			fmt.Fprintf(&b, "| %s | %s | %s | | | | %s |\n", r.Defect, r.Design, r.Property, r.Trouble)
			continue
		}
		told := "-"
		if r.Scenario {
			told = "yes"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %d → %d | %d → %d | %d | %s |\n", r.Defect, r.Design, r.Property, r.FromOps, r.Ops, r.FromFaults, r.Faults, r.Runs, told)
	}
	fmt.Fprintf(&b, "\n%d of %d defects: at most %d operations and %d faults.\n", small, len(rows), GoalOps, GoalFaults)
	return b.String()
}
