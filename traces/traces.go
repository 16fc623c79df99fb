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
//	local  the events of one replica of one partition against the module of
//	       its design: every durable step and every crash point
//	group  the events of all replicas of one partition against the module of
//	       the group: one agreed log, the durable steps of a purge folded into
//	       one, and what clients were answered
//
// What is particular to a purge design is in a value of type design, one file
// each: the schema of its events and the modules that judge them. Split cuts a
// trace into pieces, module.go writes them down as a constant TLA+ module, and
// Validate lets TLC search for an explanation of each. A piece that has none is rejected with the first line that no action
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

// Header is the first line of a trace.
type Header struct {
	Format     string `json:"format"`
	Version    int    `json:"version"`
	Design     string `json:"design"`
	Replicas   int    `json:"replicas"`
	Partitions int    `json:"partitions"`
	// Variant of the design, a list with commas; Messages and Bookmarks are
	// durability policies, empty is persisted.
	Variant   string `json:"variant,omitempty"`
	Messages  string `json:"messages,omitempty"`
	Bookmarks string `json:"bookmarks,omitempty"`
	// Silent are the ways in which a disk lost a write and said nothing: no
	// specification has such a disk, so what it does not explain says nothing of replicas.
	Silent []string `json:"silent,omitempty"`
	// Events is how many there are, 0 if nobody counted: a file that has fewer lost its
	// end.
	Events int `json:"events,omitempty"`
	// Replay is the line that makes the run again that left the trace.
	Replay string `json:"replay,omitempty"`
	// Settings are those of the run that left the trace, as it printed them;
	// nothing here reads them.
	Settings json.RawMessage `json:"settings,omitempty"`
}

// Line is an event with its place in the file.
type Line struct {
	Number int `json:"line"`
	observe.Event
}

// Trace is a file, read.
type Trace struct {
	Name   string // of the file, for messages
	Header Header
	Lines  []Line
}

// Actions that several designs have; each design has its own besides.
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
	Rejoin         observe.Action = "Rejoin"
	ChangeMembers  observe.Action = "ChangeMembers"
	Joined         observe.Action = "Joined"
	NewIncarnation observe.Action = "NewIncarnation"
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
	// Of a local piece: the incarnation, 0 of the first, and how often the replica had
	// joined anew in it.
	Incarnation op.Incarnation
	Member      int
	Lines       []Line
}

// MarshalText names the piece in JSON.
func (p Piece) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

func (p Piece) String() string {
	if p.Level == Local {
		text := fmt.Sprintf("partition %d, replica %d", p.Partition, p.Replica)
		if p.Incarnation > 0 {
			text += fmt.Sprintf(" in incarnation %d", p.Incarnation)
		}
		if p.Member > 0 {
			text += fmt.Sprintf(" as member %d", p.Member+1)
		}
		return text
	}
	return fmt.Sprintf("partition %d, all replicas", p.Partition)
}
