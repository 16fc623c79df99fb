// Package observe carries what a replica did to whoever watches: traces, the
// named invariants, the report. Observers only read; they draw no randomness
// and change nothing, so a run with and without them is the same run.
package observe

import "purgelab/model/op"

// Action names one step of a replica. The names are those of the specification's
// actions; docs/traces.md holds the tables action, fields, code place.
type Action string

// Event is one step of one replica. Unused fields are zero. All integers stay
// below 2^31, as TLC's do.
type Event struct {
	Time      int64        `json:"t"`         // simulated milliseconds
	Replica   int          `json:"replica"`   // 1-based
	Partition op.Partition `json:"partition"` // 0-based
	Action    Action       `json:"action"`
	// Incarnation of the replica if it goes on from another one, else 0. Ops are
	// then counted along the line of all of them.
	Incarnation op.Incarnation `json:"incarnation,omitempty"`

	Op         op.Number     `json:"op,omitempty"`   // the op concerned
	Term       uint64        `json:"term,omitempty"` // its term
	Kind       string        `json:"kind,omitempty"` // append, store, delete, advance, purge, other
	Generation op.Generation `json:"gen,omitempty"`  // of the era after the step, or of the purge
	Key        string        `json:"key,omitempty"`
	Offset     op.Offset     `json:"offset"` // bookmark value, cutoff, or base offset
	Count      int           `json:"count,omitempty"`
	// Asks is which request a Commit is of, 0 if of none. Traces leave it out: to the
	// specification a registration is an op like any other.
	Asks op.Kind `json:"-"`

	// Of what a boot found: the highest op that the disk gives evidence of, the
	// last op of the journal, and a generation whose reset was begun and is not
	// recorded. Last is also that of a journal written.
	Front     op.Number     `json:"front,omitempty"`
	Last      op.Number     `json:"last,omitempty"`
	Resetting op.Generation `json:"resetting,omitempty"`

	// Boundary, of a state that is offered or staged: the one that comes with it.
	Boundary op.Number `json:"boundary,omitempty"`
	// Peer is the machine that a state which is staged comes from. Traces leave it out:
	// to the specification it is as good as any other.
	Peer int `json:"-"`

	// State of the replica after the step.
	Applied op.Number `json:"applied"`
	Start   op.Offset `json:"start"`
	End     op.Offset `json:"end"`
}

// Sink receives events in the order of the steps. A nil Sink is allowed
// everywhere and costs one comparison.
type Sink interface{ Observe(Event) }
