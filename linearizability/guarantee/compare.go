package guarantee

import (
	"fmt"

	"purgelab/linearizability/verdict"
)

// Problem is what keeps the matrix from being accepted.
type Problem struct {
	Verdict verdict.Verdict `json:"verdict"` // fail, or undecided
	Cell    Cell            `json:"cell"`
	Text    string          `json:"text"`
}

func (p *Problem) String() string {
	return fmt.Sprintf("%s, %s, %s: %s", p.Cell.Name(), p.Cell.Class, p.Cell.Property, p.Text)
}

// Problems compares the halves. A violation that the simulation shows and the model
// does not have means that one of them is wrong; so does one that the model has and
// no run shows. A property that one half was not asked about is not compared. And what
// was acknowledged may be lost only where the policy says so.
func (m *Matrix) Problems() []Problem {
	var out []Problem
	for _, c := range m.Cells() {
		add := func(v verdict.Verdict, format string, args ...any) {
			out = append(out, Problem{v, c, fmt.Sprintf(format, args...)})
		}
		tlc, sim := c.TLC, c.Simulation
		switch {
		case sim.Outcome == Violated && tlc.Outcome == Holds:
			add(verdict.Fail, "violated in simulation, holds in %s: %s: %s", tlc.Evidence, sim.Evidence, sim.Text)
		case tlc.Outcome == Violated && (sim.Outcome == Holds || sim.Outcome == NotMet):
			add(verdict.Fail, "violated in %s, and no run shows it: %s", tlc.Evidence, tlc.Text)
		case tlc.Outcome == Undecided:
			add(verdict.Undecided, "%s: %s", tlc.Evidence, tlc.Text)
		case sim.Outcome == Undecided || sim.Outcome == NotMet:
			add(verdict.Undecided, "%s", sim.Text)
		}
	}
	for _, b := range m.Blocks {
		if b.Simulated != nil && b.Simulated.Lost > 0 && b.Messages == persisted && b.Bookmarks == persisted {
			c := m.Cell(b, "AckDurable")
			out = append(out, Problem{verdict.Fail, c, fmt.Sprintf("%d acknowledged operations were lost, and the policy lets none be", b.Simulated.Lost)})
		}
	}
	return out
}

// Verdict is fail if the halves disagree, undecided if something was not decided.
func (m *Matrix) Verdict() verdict.Verdict {
	v := verdict.Pass
	for _, p := range m.Problems() {
		v = verdict.Worst(v, p.Verdict)
	}
	if len(m.Blocks) == 0 {
		return verdict.Undecided
	}
	return v
}
