package guarantee

import (
	"fmt"
	"slices"
	"strings"
)

// Model is what TLC says of one bounded model.
type Model struct {
	Name string `json:"name"`
	// States are the distinct ones of the run in which the rest holds.
	States   int                 `json:"states,omitempty"`
	Violated map[string]Shortest `json:"violated,omitempty"`
	// Rest of the properties holds or, if Open says why, is undecided.
	Rest []string `json:"rest,omitempty"`
	Open string   `json:"open,omitempty"`
}

// Shortest is a shortest way to a violation.
type Shortest struct {
	Steps  int    `json:"steps"`
	States int    `json:"states"` // distinct, until it was found
	Way    string `json:"way"`
}

// finding says it of one property; ok is false if the model does not express it.
func (m *Model) finding(property string) (f Finding, ok bool) {
	if w, violated := m.Violated[property]; violated {
		return Finding{Outcome: Violated, Runs: w.States, Evidence: fmt.Sprintf("%s, %d steps", m.Name, w.Steps), Text: w.Way}, true
	}
	switch {
	case !slices.Contains(m.Rest, property):
		return f, false
	case m.Open != "":
		return Finding{Outcome: Undecided, Evidence: m.Name, Text: m.Open}, true
	}
	return Finding{Outcome: Holds, Runs: m.States, Evidence: m.Name}, true
}

// model says it of all models of the block: a violation in one outweighs the rest,
// and what is open in one is not held by another.
func (b *Block) model(property string) Finding {
	out := Finding{Outcome: NotAsked}
	for _, m := range b.Models {
		f, ok := m.finding(property)
		switch {
		case !ok || out.Outcome == Violated:
		case f.Outcome == Violated, out.Outcome == NotAsked, f.Outcome == Undecided && out.Outcome == Holds:
			out = f
		case f.Outcome == Holds && out.Outcome == Holds:
			out.Runs += f.Runs
			if !strings.Contains(out.Evidence, f.Evidence) {
				out.Evidence += ", " + f.Evidence
			}
		}
	}
	return out
}
