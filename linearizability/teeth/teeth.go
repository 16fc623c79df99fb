// Package teeth switches known bugs on, one at a time, and demands that the
// checks made for them turn red; and that they are not red without. A check that
// nothing has been seen to trip is not known to check anything.
//
//	table.go   the named defects, as data: the one table there is
//	hunt.go    layers boot and history: seeds are run until one is red
//	trace.go   layer trace: TLC judges traces of runs that met the bug, and names the
//	           condition that it breaks, see conditions.go
//	spec.go    layer spec: TLC on the model in which the rule is left out
//	script.go  layer scenario: scripts that name the bug
//	reasons.go what the judge calls the defects that clients see
//	matrix.go  all of it, and the kill matrix: defect × layer
//	print.go   the matrix as text, and document.go as docs/defects.md has it
//
// A defect is caught in a layer by a red that names a property which the table
// gives it. Any other red is as bad as none: it shows something that nobody
// understands. What could not be decided was not caught, and is said to be
// undecided.
//
// Without a defect each layer has to hold: the same seeds are run and judged
// again, their traces are validated, and the models of the same modules pass.
package teeth

import (
	"fmt"
	"slices"
	"strings"

	"purgelab/linearizability/faults"
	"purgelab/linearizability/run"
)

// Layer is a way to find a bug.
type Layer string

// The layers, in the order in which the matrix shows them.
const (
	// Spec: TLC finds that the model with the bug violates the property.
	Spec Layer = "spec"
	// History: what clients saw in a simulated run is not linearizable.
	History Layer = "history"
	// Trace: TLC finds that the specification does not allow what replicas did.
	Trace Layer = "trace"
	// Boot: a named invariant does not hold on replicas, after boots above all.
	Boot Layer = "boot"
	// Scenario: a script that retells how it went wrong goes wrong that way.
	Scenario Layer = "scenario"
)

// Layers lists them.
var Layers = []Layer{Spec, History, Trace, Boot, Scenario}

// Tooth is one named defect.
type Tooth struct {
	// Name is that of the switch in package defect, or in spec/manifest.json.
	Name   string
	Design string
	// Property is the promise that it breaks, by its name in the specification or in
	// package invariant.
	Property string
	// Must are the layers that have to catch it. In the others it is not looked
	// for: either they cannot see it, or nothing there switches it on.
	Must []Layer
	// Also are properties that may be seen violated before, or instead: the same
	// harm seen earlier, later or from another side.
	Also []string
	// Faults are those of the runs in which it shows.
	Faults faults.Class
}

// must tells whether the layer has to catch the defect.
func (t *Tooth) must(l Layer) bool { return slices.Contains(t.Must, l) }

// names tells whether the property is one that the defect is known to break.
func (t *Tooth) names(property string) bool {
	return property == t.Property || slices.Contains(t.Also, property)
}

// settings of a run that looks for the defect. A reset record keeps its promises
// only where the replica is alone: among several each chooses its own floor; but only
// among several is there a state to be moved.
// Incarnations meet only where partitions are created again, siblings in a topic
// of several, an intent is forgotten only if no client waits for it, and state is
// moved only where logs are compacted.
func (t *Tooth) settings(seed uint64) run.Settings {
	s := run.Settings{Seed: seed, Design: t.Design, Faults: string(t.Faults), Defect: t.Name, NoTrace: true}
	moved := slices.Contains(transfers, t.Name)
	if t.Design == "reset-record" && !moved {
		s.Replicas = 1
	}
	switch t.Faults {
	case faults.SyncError: // where others hold it, too, what is lost is soon there again
		s.Replicas = 1
	}
	switch t.Faults { // of power that take what need not be durable
	case faults.PowerMinority:
		s.Replicas = 5
		fallthrough
	case faults.PowerAll:
		s.Messages, s.Bookmarks = "replicated", "replicated"
	}
	if moved {
		s.CompactOps = 4
	}
	if t.Name == "compact-past-checkpoint" { // seldom enough that there is something between
		s.CompactOps = 60
	}
	switch t.Property {
	case "IncarnationIsolation":
		s.Recreate = 4
	case "SiblingsIndependent":
		s.Recreate, s.Partitions, s.PurgeAck = 4, 3, "accepted"
	case "PurgeEventuallyApplied":
		s.PurgeAck = "accepted"
	}
	return s
}

// Select picks teeth by name; without names, all.
func Select(table []Tooth, names []string) ([]Tooth, error) {
	if len(names) == 0 {
		return table, nil
	}
	var all []string
	for _, t := range table {
		all = append(all, t.Name)
	}
	var out []Tooth
	for _, name := range names {
		i := slices.Index(all, name)
		if i < 0 {
			slices.Sort(all)
			return nil, fmt.Errorf("defect %q: want one of %s", name, strings.Join(all, ", "))
		}
		out = append(out, table[i])
	}
	return out, nil
}

// Outcome is what came of one defect in one layer.
type Outcome string

const (
	Caught    Outcome = "caught"
	Missed    Outcome = "missed"
	Undecided Outcome = "undecided"
	// Other: red, but by a property that the table does not name.
	Other Outcome = "red by another property"
	// NotExpected: the layer does not have to catch it, and was not asked.
	NotExpected Outcome = "not expected"
)

// Cell is one place of the kill matrix.
type Cell struct {
	Defect  string  `json:"defect"`
	Layer   Layer   `json:"layer"`
	Outcome Outcome `json:"outcome"`
	// Property that is violated; of the layer trace, the action that the
	// specification does not allow there.
	Property string `json:"property,omitempty"`
	// Condition of the specification that is broken, as the reason names it; of the layer
	// trace alone.
	Condition string `json:"condition,omitempty"`
	// Runs made, or traces judged, until it was caught or given up.
	Runs int `json:"runs,omitempty"`
	// States that TLC generated until then.
	States int64  `json:"states,omitempty"`
	Reason string `json:"reason,omitempty"`
	Replay string `json:"replay,omitempty"` // the command that shows it again
}

// start is the cell of a layer that is about to look, if it is among those asked
// for and has to catch the defect.
func start(t *Tooth, l Layer, layers []Layer) Cell {
	c := Cell{Defect: t.Name, Layer: l}
	if !t.must(l) || !slices.Contains(layers, l) {
		c.Outcome = NotExpected
	}
	return c
}

// red ends the search of a layer.
func (c *Cell) red(named bool, property, reason, replay string) {
	c.Outcome, c.Property, c.Reason, c.Replay = Caught, property, reason, replay
	if !named {
		c.Outcome = Other
	}
}

// interrupted begins the reason of a cell that was cut off.
const interrupted = "interrupted: "

// cutOff tells that an interrupt came before the answer.
func (c *Cell) cutOff() bool {
	return c.Outcome == Undecided && strings.HasPrefix(c.Reason, interrupted)
}

// fail ends it without an answer.
func (c *Cell) fail(reason string) {
	c.Outcome, c.Reason = Undecided, reason
}
