// Package model is the sequential truth: what one partition answers when its
// operations happen one at a time. docs/contract.md lists every case; the
// package follows it and nothing else, and shares no code with the
// implementation, which it judges.
//
//	Semantics.Step(state, request, choice) → state', reply
//
// A State never changes: Step returns a new one that shares what it can with
// the old, so that a search can hold millions. States that come from one another
// belong to one goroutine. What the contract leaves open
// (the timestamp of an append, the generation of a purge without an intent,
// the number of a session, whether a range was still readable) comes in as a
// Choice; a judge takes it from the answer that it judges.
//
// Replay proves an order of a recorded history of one partition, wherever that order
// comes from (replay.go; withheld.go and table.go say what of a history is judged).
//
// The last part of the package turns a history into a search by porcupine. There an operation whose outcome is unknown may
// take effect at any instant after its call, or never:
//
//	problem.go    the history as operations of porcupine
//	resolve.go    what the whole history tells about unknown outcomes
//	search.go     the states of the search, and one step of it
//	bookmarks.go  what a bookmark may be, kept apart per key
//	unknown.go    which unknown outcomes can matter, and what they may do
//	kept.go       what the history tells about new incarnations
//	trail.go      from which states the next one may have gone on
//	succeed.go    the states in which it may begin
//	explain.go    why a history has no order
//	limits.go     when a search must end without a verdict
//
// The pruning in these files is checked against a search without any, on
// random small histories (linearizability/check, TestAgreesWithNaive,
// TestNewIncarnationsAgreeWithNaive), and the contract against the specification
// (TestModelIsSpec).
package model
