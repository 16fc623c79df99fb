package guarantee

import (
	"slices"

	"purgelab/linearizability/faults"
)

// Matrix is all that was found. It is the same whenever it is computed by the same
// program, however often it was interrupted.
type Matrix struct {
	Runs   int // of each subject under each class
	Blocks []*Block
}

// Block is one subject under one class of faults.
type Block struct {
	Subject
	Class faults.Class `json:"class"`
	// Simulated is nil if the class is not run: see Unasked.
	Simulated *Simulated `json:"simulated,omitempty"`
	// Shown are the properties that a plan which is kept shows to be violated.
	Shown map[string]Directed `json:"shown,omitempty"`
	// Models that were asked, with the faults of the class; of what is violated
	// without any fault those under no faults tell.
	Models []*Model `json:"-"`
}

// Directed is the run of a plan that is kept.
type Directed struct {
	Command string `json:"command"`
	Reason  string `json:"reason"`
}

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
// under every class, by the same evidence: nothing says that a fault must take effect.
func (m *Matrix) Cell(b *Block, property string) Cell {
	c := Cell{Subject: b.Subject, Class: b.Class, Property: property}
	if c.Why = Unasked(b.Subject, b.Class); c.Why != "" {
		c.TLC.Outcome, c.Simulation.Outcome = NotAsked, NotAsked
		return c
	}
	c.TLC, c.Simulation = b.model(property), b.simulation(property)
	plain := m.Block(b.Subject, faults.None)
	if plain == nil || plain == b {
		return c
	}
	if f := plain.model(property); f.Outcome == Violated {
		c.TLC = f
	}
	if f := plain.simulation(property); f.Outcome == Violated {
		c.Simulation = f
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

func (b *Block) simulation(property string) Finding {
	f := Finding{Outcome: NotAsked}
	if b.Simulated != nil {
		f = b.Simulated.finding(b.Subject, b.Class, property)
	}
	if d, ok := b.Shown[property]; ok && f.Outcome != Violated {
		f.Outcome, f.Text, f.Evidence = Violated, d.Reason, d.Command
	}
	return f
}

// prune forgets what a reader finds elsewhere: what is violated without faults under
// every class, and a kept plan where drawn faults show the same.
func (m *Matrix) prune() {
	for _, b := range m.Blocks {
		plain := m.Block(b.Subject, faults.None)
		known := func(p string) bool {
			return plain != nil && plain != b && plain.simulation(p).Outcome == Violated
		}
		if b.Simulated != nil {
			for _, p := range b.Properties() {
				if known(p) {
					delete(b.Simulated.Red, p)
				}
			}
		}
		for _, p := range b.Properties() {
			_, drawn := Sighting{}, false
			if b.Simulated != nil {
				_, drawn = b.Simulated.Red[p]
			}
			if drawn || known(p) {
				delete(b.Shown, p)
			}
		}
	}
}

// subjects and classes are those of the blocks, in their order.
func (m *Matrix) subjects() []Subject {
	var out []Subject
	for _, b := range m.Blocks {
		if !slices.Contains(out, b.Subject) {
			out = append(out, b.Subject)
		}
	}
	return out
}

func (m *Matrix) classes() []faults.Class {
	var out []faults.Class
	for _, b := range m.Blocks {
		if !slices.Contains(out, b.Class) {
			out = append(out, b.Class)
		}
	}
	return out
}
