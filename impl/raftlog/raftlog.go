// Package raftlog holds the two shapes that consensus decides and a journal
// stores, so that neither needs to know the other.
package raftlog

import "purgelab/model/op"

// EntryType says what an entry's data is.
type EntryType uint8

const (
	// Normal data is a command of the replica, or empty: what a new leader
	// writes first.
	Normal EntryType = iota
	// ConfChange data is a change of membership.
	ConfChange
)

// Entry is one op of the replicated log.
type Entry struct {
	Op   op.Number
	Term uint64
	Type EntryType
	Data []byte
}

// State is what a replica must remember of its promises. Term and Vote must be
// durable before a message that depends on them leaves; Commit is a hint.
type State struct {
	Term   uint64
	Vote   uint64
	Commit op.Number
}

// Log is a replica's journal as consensus reads it. The log begins with a
// bootstrap: op 1 of term 1, which has no entry; First is 2 until a prefix was
// dropped.
type Log interface {
	// First is the lowest op that Entries can return, Last the highest stored
	// one, First()-1 if there is none.
	First() op.Number
	Last() op.Number
	// Term of an op from First()-1 to Last().
	Term(op.Number) (uint64, error)
	// Entries with lo <= op < hi, at least one, then as many as fit maxBytes.
	Entries(lo, hi op.Number, maxBytes int) ([]Entry, error)
	// State last appended.
	State() State
}
