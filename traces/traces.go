// Package traces records what replicas did and asks the specification whether
// it could have happened.
//
// A trace is a file of lines, each one JSON object: a header, then one event
// per step of a replica, in the order of the steps. The names of events are
// those of the specification's actions. docs/traces.md holds the schema; Rules
// is the same table as data, and the reader refuses whatever is not in it.
//
// A trace is judged on two levels, as the specification is written on two:
//
//	local  the events of one replica of one partition against Ordered.tla:
//	       every durable step and every crash point
//	group  the events of all replicas of one partition against
//	       OrderedGroup.tla: one agreed log, the durable steps of a purge
//	       folded into one, and what clients were answered
//
// Split cuts a trace into these pieces, module.go writes them down as a
// constant TLA+ module, and Validate lets TLC search for an explanation of
// each. A piece that has none is rejected with the first line that no action
// explains.
package traces

import (
	"encoding/json"
	"fmt"

	"purgelab/impl/observe"
	"purgelab/model/op"
)

// Format and Version head every file.
const (
	Format  = "purgelab-trace"
	Version = 1
)

// specified is the design whose traces a specification judges, unspecified are
// those whose traces can be written and read only.
const specified = "ordered"

var unspecified = []string{"advance", "reset-record"}

// Header is the first line of a trace.
type Header struct {
	Format     string `json:"format"`
	Version    int    `json:"version"`
	Design     string `json:"design"`
	Replicas   int    `json:"replicas"`
	Partitions int    `json:"partitions"`
	// Settings are those of the run that left the trace, as it printed them;
	// nothing here reads them.
	Settings json.RawMessage `json:"settings,omitempty"`
}

// Line is an event with its place in the file.
type Line struct {
	Number int
	observe.Event
}

// Trace is a file, read.
type Trace struct {
	Name   string // of the file, for messages
	Header Header
	Lines  []Line
}

// Actions of a trace. Those of the local level are steps of Ordered.tla, the
// others, and Materialize and the crashes again, of OrderedGroup.tla.
const (
	Materialize    observe.Action = "Materialize"
	PurgeBegin     observe.Action = "PurgeBegin"
	PurgeSwitch    observe.Action = "PurgeSwitch"
	PurgeComplete  observe.Action = "PurgeComplete"
	PurgeDuplicate observe.Action = "PurgeDuplicate"
	Checkpoint     observe.Action = "Checkpoint"
	Reclaim        observe.Action = "Reclaim"
	ProcessCrash   observe.Action = "ProcessCrash"
	PowerLoss      observe.Action = "PowerLoss"
	Boot           observe.Action = "Boot"
	Serve          observe.Action = "Serve"
	BecomeLeader   observe.Action = "BecomeLeader"
	Commit         observe.Action = "Commit"
	Answer         observe.Action = "Answer"
)

// Level is one of the two ways in which events are judged.
type Level string

const (
	Local Level = "local"
	Group Level = "group"
)

// Piece is the part of a trace that is judged on its own.
type Piece struct {
	Level     Level
	Partition op.Partition
	Replica   int // of a local piece
	Replicas  int // of the partition
	Lines     []Line
}

// MarshalText names the piece in JSON.
func (p Piece) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

func (p Piece) String() string {
	if p.Level == Local {
		return fmt.Sprintf("partition %d, replica %d", p.Partition, p.Replica)
	}
	return fmt.Sprintf("partition %d, all replicas", p.Partition)
}
