// Package guards changes one guard of the specification at a time, and asks the checks of
// the project which of them notices: the mutation test of what ties specification, model
// and implementation together.
//
//	find.go    the guards of a module, found in its text
//	checks.go  who is asked: ties, and TLC on the models
//	ties.go    the tests that hold the specification to the model and to the implementation
//	samples.go ... and the samples of traces
//	ask.go     one change, made in a copy of the specification
//	walk.go    one change after the other, for every module
//	kept.go    what was answered before
//	page.go    what came of it, as a table
//	listed.go  changes that nobody has to notice, each with the reason
//
// A check counts only if it is green for the specification as it is.
package guards

import "fmt"

// Change is what is done to a guard.
type Change string

const (
	// Dropped: a condition of an action, of another conjunction or of a set is TRUE.
	Dropped Change = "dropped"
	// Turned: the condition of an IF is negated.
	Turned Change = "turned round"
	// Always: a property that models are held to is TRUE.
	Always Change = "always true"
)

// Guard is one of a module, with what is done to it.
type Guard struct {
	Module string `json:"module"` // without .tla
	Name   string `json:"name"`   // the definition that it is in
	Text   string `json:"text"`   // on one line, without comments
	Change Change `json:"change"`
	// from and to are where it stands in the text of the module, instead what comes
	// there.
	from, to int
	instead  string
}

// String names a guard for people.
func (g *Guard) String() string {
	return fmt.Sprintf("%s!%s: %s: %s", g.Module, g.Name, g.Text, g.Change)
}

// in is the text of its module with the change.
func (g *Guard) in(text string) string { return text[:g.from] + g.instead + text[g.to:] }
