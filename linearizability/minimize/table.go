package minimize

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"purgelab/linearizability/teeth"
	"purgelab/linearizability/verdict"
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
	Scenario bool `json:"scenario,omitempty"`
	// Replay makes the smallest again, from the files that were kept of it.
	Replay  string `json:"replay,omitempty"`
	Trouble string `json:"trouble,omitempty"`
	// Interrupted: nothing of it is known yet.
	Interrupted bool `json:"-"`
}

// Small tells whether it is not large.
func (r *Row) Small() bool {
	return r.Trouble == "" && r.Ops <= GoalOps && r.Faults <= GoalFaults
}

// Defect makes the first run small that shows a defect of the table, and keeps what the
// small one is made of in a folder of the defect's name, below dir. What made remembers is
// not made again.
func Defect(ctx context.Context, t teeth.Tooth, jobs int, dir string, made *Rows) Row {
	if row, ok := made.get(t.Name); ok {
		return row
	}
	row := Row{Defect: t.Name, Design: t.Design}
	r, property, err := t.Shown(ctx, teeth.DefaultRuns)
	switch {
	case ctx.Err() != nil:
		row.Interrupted = true
		return row
	case err != nil:
		row.Trouble = err.Error()
		return row
	case r == nil:
		row.Trouble = fmt.Sprintf("no run of %d shows it", teeth.DefaultRuns)
		return row
	}
	row.Property = property
	out, err := Run(ctx, r.Settings, Options{Property: property, Jobs: jobs, State: made.tried(t.Name)})
	if err != nil {
		row.Trouble, row.Interrupted = err.Error(), ctx.Err() != nil
		return row
	}
	row.FromOps, row.FromFaults, row.Ops, row.Faults, row.Runs = out.BeforeOps, out.BeforeFaults, out.Ops, out.Faults, out.Runs
	if out.Ended != nil {
		row.Interrupted = true
		return row
	}
	_, err = Scenario(ctx, t.Name, property, out.Run)
	if row.Interrupted = ctx.Err() != nil; row.Interrupted {
		return row
	}
	row.Scenario = err == nil
	if row.Replay, err = out.keep(filepath.Join(dir, t.Name)); err != nil {
		row.Trouble = err.Error()
		return row
	}
	if err := made.put(row); err != nil {
		row.Trouble = err.Error()
	}
	return row
}

// Verdict is pass if nine in ten are small.
func Verdict(rows []Row) verdict.Verdict {
	small := 0
	for i := range rows {
		if rows[i].Small() {
			small++
		}
	}
	if 10*small >= 9*len(rows) {
		return verdict.Pass
	}
	return verdict.Fail
}

// replayLine is how the document tells the command of a row.
const replayLine = "* %s: `%s`\n"

var replayOf = regexp.MustCompile("^\\* ([a-z-]+): `(purgelab run [^`]+)`$")

const head = "| defect | design | violated | operations | faults | runs made | scenario |\n|---|---|---|---:|---:|---:|---|\n"

// String is the row as a line of the table.
func (r *Row) String() string {
	if r.Trouble != "" {
		return fmt.Sprintf("| %s | %s | %s | | | | %s |", r.Defect, r.Design, r.Property, r.Trouble)
	}
	told := "-"
	if r.Scenario {
		told = "yes"
	}
	return fmt.Sprintf("| %s | %s | %s | %d → %d | %d → %d | %d | %s |", r.Defect, r.Design, r.Property, r.FromOps, r.Ops, r.FromFaults, r.Faults, r.Runs, told)
}

// Read reads the rows of a table that Markdown wrote, with their commands; other lines
// are passed over.
func Read(text string) []Row {
	var out []Row
	for _, line := range strings.Split(text, "\n") {
		if f := replayOf.FindStringSubmatch(line); f != nil {
			if i := slices.IndexFunc(out, func(r Row) bool { return r.Defect == f[1] }); i >= 0 {
				out[i].Replay = f[2]
			}
			continue
		}
		cells := strings.Split(line, "|")
		if len(cells) != 9 {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		r := Row{Defect: cells[1], Design: cells[2], Property: cells[3]}
		if !slices.ContainsFunc(teeth.Table, func(t teeth.Tooth) bool { return t.Name == r.Defect }) {
			continue
		}
		if n, _ := fmt.Sscanf(strings.Join(cells[4:7], " "), "%d → %d %d → %d %d", &r.FromOps, &r.Ops, &r.FromFaults, &r.Faults, &r.Runs); n == 5 {
			r.Scenario = cells[7] == "yes"
		} else {
			r.Trouble = cells[7]
		}
		out = append(out, r)
	}
	return out
}

// Merge puts rows in the place of those of the same defects, and new ones where the table
// of defects has them.
func Merge(old, now []Row) []Row {
	var out []Row
	for _, t := range teeth.Table {
		for _, list := range [][]Row{now, old} {
			if i := slices.IndexFunc(list, func(r Row) bool { return r.Defect == t.Name }); i >= 0 {
				out = append(out, list[i])
				break
			}
		}
	}
	return out
}

// Markdown is the table as docs/minimize.md has it, how many meet the goal, and the
// commands that make the small runs.
func Markdown(rows []Row) string {
	var b strings.Builder
	small, told := 0, 0
	b.WriteString(head)
	for i := range rows {
		if rows[i].Small() {
			small++
		}
		if rows[i].Scenario {
			told++
		}
		b.WriteString(rows[i].String() + "\n")
	}
	fmt.Fprintf(&b, "\n%d of %d defects: at most %d operations and %d faults; %d can be told as a scenario.\n", small, len(rows), GoalOps, GoalFaults, told)
	b.WriteString("\nThe small runs, each of which violates the property, and does not without the defect:\n\n")
	for i := range rows {
		if rows[i].Replay != "" {
			fmt.Fprintf(&b, replayLine, rows[i].Defect, rows[i].Replay)
		}
	}
	return b.String()
}
