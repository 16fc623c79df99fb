// Package guarantee computes what a purge guarantees: for each design, variant
// and policy, under each class of faults, whether each named property holds. Two
// halves answer independently and are compared:
//
//	TLC         a bounded model of the design with the faults of the class
//	simulation  a stated number of seeded runs of the implementation
//
// A property that a design violates by nature is no bug of it: the matrix lists
// it, with the evidence that shows it, and everything else that judges runs asks
// the list. What a half was not asked is said to be "not asked", and never counts
// as holding.
//
//	guarantee.go  the words: subjects, cells, findings
//	subjects.go   the rows, as data
package guarantee

import (
	"strings"

	"purgelab/linearizability/faults"
)

// Subject is a row: what is judged. An empty Variant is the design as it is.
type Subject struct {
	Design    string `json:"design"`
	Variant   string `json:"variant,omitempty"`
	Positions string `json:"positions"` // tagged or bare
	Messages  string `json:"messages"`  // persisted or replicated
	Bookmarks string `json:"bookmarks"` // persisted or replicated
	// Replicas is 1 where there is a single one; else there are as many as the class
	// takes: see Settings.
	Replicas int `json:"replicas,omitempty"`
}

// Name is the subject in a few words; what is usual is left out.
func (s Subject) Name() string {
	name := s.Design
	if s.Variant != "" {
		name += ", " + strings.ReplaceAll(s.Variant, ",", ", ")
	}
	if s.Positions == "bare" {
		name += ", bare positions"
	}
	switch {
	case s.Messages == "replicated" && s.Bookmarks == "replicated":
		name += ", replicated"
	case s.Messages == "replicated":
		name += ", messages replicated"
	case s.Bookmarks == "replicated":
		name += ", bookmarks replicated"
	}
	if s.Replicas == 1 {
		name += ", one replica"
	}
	return name
}

// Outcome of one property in one half of a cell.
type Outcome string

const (
	Holds     Outcome = "holds"
	Violated  Outcome = "violated"
	Undecided Outcome = "undecided"
	// NotAsked: this half cannot express the property or the class, or was left
	// out. It is a dash in the table and is not compared.
	NotAsked Outcome = "not asked"
	// NotMet: no fault of the class took effect in any run, so nothing is known of
	// it. It is not a pass.
	NotMet Outcome = "not met"
)

// Finding is what one half says of one property.
type Finding struct {
	Outcome Outcome `json:"outcome"`
	// Runs that were made, or distinct states that TLC found.
	Runs int `json:"runs,omitempty"`
	// Evidence of a violation: the command that shows it, or the model and the
	// number of steps.
	Evidence string `json:"evidence,omitempty"`
	// Text says what is seen there; of what was not asked, why.
	Text string `json:"text,omitempty"`
}

// Cell is one property of one subject under one class of faults.
type Cell struct {
	Subject
	Class    faults.Class `json:"class"`
	Property string       `json:"property"`
	// Why neither half was asked, if the class is not run.
	Why        string  `json:"why,omitempty"`
	TLC        Finding `json:"tlc"`
	Simulation Finding `json:"simulation"`
}

// Violated: one half at least shows it.
func (c *Cell) Violated() bool { return c.TLC.Outcome == Violated || c.Simulation.Outcome == Violated }
