// Package model is the sequential truth: what one partition answers when its
// operations happen one at a time. docs/contract.md lists every case; the
// package follows it and nothing else, and shares no code with the
// implementation, which it judges.
//
//	Semantics.Step(state, request, choice) → state', reply
//
// A State never changes: Step returns a new one that shares what it can with
// the old, so that a search can hold millions. What the contract leaves open
// (the timestamp of an append, the generation of a purge without an intent,
// the number of a session, whether a range was still readable) comes in as a
// Choice; a judge takes it from the answer that it judges.
//
// The second half of the package turns a recorded history of one partition
// into a search by porcupine. There an operation whose outcome is unknown may
// take effect at any instant after its call, or never:
//
//	resolve.go   what the whole history tells about each unknown operation
//	search.go    the porcupine model: states, unknown effects, descriptions
package model
