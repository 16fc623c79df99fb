// Package history is the record of what clients asked and were told: the
// input of the linearizability check, and a file format that other systems
// can write (docs/history.md).
//
// A history is a list of events, one JSON object a line:
//
//	{"process":0,"type":"invoke","f":"append","value":{"payloads":["a"]},"time":1,"partition":0}
//	{"process":0,"type":"ok","f":"append","value":{"position":"i1:g0:0"},"time":2,"partition":0}
//
// An operation begins with invoke and ends with ok (an answer that the check
// judges, error codes of the contract included), fail (it had no effect and
// never will), or info (nobody knows: it may take effect once, later, or
// never). No end at all means the same as info. Times are unique and rise, so
// that the order of two events is never in doubt.
package history

import (
	"fmt"
	"math"

	"purgelab/model/op"
)

// Type is the kind of an event.
type Type uint8

const (
	Invoke Type = iota
	OK
	Fail
	Info
)

var typeNames = [...]string{"invoke", "ok", "fail", "info"}

func (t Type) String() string { return typeNames[t] }

func parseType(s string) (Type, error) {
	for i, n := range typeNames {
		if n == s {
			return Type(i), nil
		}
	}
	return 0, fmt.Errorf("want one of invoke, ok, fail, info, got %q", s)
}

// Event is one line of a history.
type Event struct {
	Process   int
	Type      Type
	Kind      op.Kind
	Time      int64
	Partition op.Partition

	// Request of an Invoke, else nil.
	Request *op.Request
	// Reply of OK; of Fail if a reply came with it; else nil.
	Reply *op.Reply
	// Accepted: the OK of a purge whose intent is committed, and which therefore
	// takes effect once, at this or any later time. Reply is the answer that it
	// will have then, if no expectation prevents it.
	Accepted bool
	// Partial: the Reply lacks what an answer of its kind tells, as that of another
	// system may; then it says nothing of that, for what is not written reads as 0.
	Partial bool
	// Intent that a purge turned out to have, if it was not known at the
	// invocation: on any end of it. 0: none.
	Intent op.Generation
	// Again says that more than one copy of the request was sent: on any end.
	Again bool
	// Note says in words why the outcome is Fail or Info. It is not judged.
	Note string
	// Line of the file, from 1; 0 if the event was not read from one.
	Line int
}

// Outcome of an operation.
type Outcome uint8

const (
	// Unknown: the operation may have taken effect, may yet, or never will.
	Unknown Outcome = iota
	// Answered: Reply is what the client was told.
	Answered
	// NoEffect: it had no effect and never will.
	NoEffect
	// Accepted: it takes effect once, at any time after its call. Reply is what
	// the client would be told then, if it expects nothing.
	Accepted
)

func (o Outcome) String() string {
	return [...]string{"unknown", "answered", "no effect", "accepted"}[o]
}

// Never is the return time of an operation that did not return.
const Never = math.MaxInt64

// Op is one operation: an invocation with its end.
type Op struct {
	Process int
	Request *op.Request
	Reply   *op.Reply // nil unless Answered or Accepted
	Outcome Outcome
	Again   bool // more than one copy was sent
	Partial bool // the Reply lacks what an answer of its kind tells
	Call    int64
	Return  int64 // Never, if Unknown
	Line    int   // of the invocation: its number among the events, from 1
}

// Judged tells whether a code is an answer that the contract defines from the
// state; the others only promise that nothing happened.
func Judged(c op.Code) bool {
	switch c {
	case op.Transient, op.NotLeader, op.NotReady, op.UnknownPartition, op.PolicyViolation, op.StorageError:
		return false
	}
	return true
}
