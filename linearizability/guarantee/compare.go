package guarantee

import (
	"fmt"
	"slices"

	"purgelab/linearizability/faults"
	"purgelab/linearizability/verdict"
)

// Block of a subject under a class; nil if there is none.
func (m *Matrix) Block(s Subject, c faults.Class) *Block {
	for _, b := range m.Blocks {
		if b.Subject == s && b.Class == c {
			return b
		}
	}
	return nil
}

// Cell is one property of a block. What is violated without any fault is violated
// under every class, by the same run: nothing says that a fault must take effect.
func (m *Matrix) Cell(b *Block, property string) Cell {
	c := Cell{Subject: b.Subject, Class: b.Class, Property: property, TLC: b.model(property), Simulation: b.simulation(property)}
	if plain := m.Block(b.Subject, faults.None); b.Simulated != nil && plain != nil && c.Simulation.Outcome != Violated {
		if f := plain.simulation(property); f.Outcome == Violated {
			c.Simulation = f
		}
	}
	return c
}

// Cells are all of them, in the order of the tables.
func (m *Matrix) Cells() []Cell {
	var out []Cell
	for _, b := range m.Blocks {
		for _, p := range b.Properties() {
			out = append(out, m.Cell(b, p))
		}
	}
	return out
}

func (b *Block) model(property string) Finding {
	for _, a := range b.Models {
		if slices.Contains(a.Properties, property) {
			return a.Finding
		}
	}
	return Finding{Outcome: NotAsked}
}

func (b *Block) simulation(property string) Finding {
	f := Finding{Outcome: NotAsked, Text: b.Why}
	if b.Simulated != nil {
		f = b.Simulated.finding(b.Subject, b.Class, property)
	}
	if d, ok := b.Shown[property]; ok && f.Outcome != Violated {
		f.Outcome, f.Text, f.Evidence = Violated, d.Reason, d.Command
	}
	return f
}

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
// no run shows. A property that one half was not asked about is not compared.
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
