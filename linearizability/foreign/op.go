// Package foreign reads histories that other systems left: operations as those
// systems know them, from three formats (docs/foreign.md).
//
//	purgelab  JSON lines, the events of docs/history.md, with a few fields more
//	jepsen    what Jepsen's kafka workload leaves, as EDN or JSON
//	csv       a table with one operation a row
//
// An Op says what one of them told; what it did not tell is nil. Which contract
// the answers are held against is decided elsewhere, in foreign/contract; this
// package only knows what can be written down.
package foreign

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"purgelab/linearizability/history"
	"purgelab/model/op"
)

// The operations that a history of another system may have; the names are those
// of docs/history.md where it has them.
const (
	Append         = "append"
	Poll           = "poll"
	StoreBookmark  = "store-bookmark"
	DeleteBookmark = "delete-bookmark"
	GetBookmark    = "get-bookmark"
	ListOffsets    = "list-offsets"
	DeleteRecords  = "delete-records"
	Purge          = "purge"
	// Settle tells a queue that delivered messages are done with; Return, that
	// they are to be delivered again.
	Settle = "settle"
	Return = "return"
)

// Functions lists them.
var Functions = []string{Append, Poll, StoreBookmark, DeleteBookmark, GetBookmark, ListOffsets, DeleteRecords, Purge, Settle, Return}

// Op is one operation: what was asked, and what is known of its end.
type Op struct {
	Process   int
	F         string
	Partition op.Partition
	Ask       Ask
	Answer    Answer // if Answered
	Outcome   history.Outcome
	// Call < Return; no two operations share an instant. Return is history.Never
	// if the outcome is unknown.
	Call, Return int64
	Line, Column int // of the invocation, from 1
	// Before is the last record that the same consumer got before this poll, if
	// nothing came between that lets it go on elsewhere.
	Before *Position
}

// Ask is what was asked. Fields that were not written are nil or empty.
type Ask struct {
	Payloads   []op.Payload // of append, settle, return
	Key        string       // the consumer, cursor or queue's consumer
	At         *Position    // of poll by offset, store-bookmark, delete-records, purge
	Strategy   op.Strategy  // of poll
	Reset      op.Reset
	Max        *uint32
	AutoCommit bool
	Which      op.Which // of list-offsets
	Subject    string   // of append, poll and purge: what the message is about
	Keep       *uint32  // of purge: how many of the newest stay
}

// Answer is what was told. Fields that were not written are nil.
type Answer struct {
	Code       op.Code
	Position   *Position
	Records    []Record // of poll: not nil, if it tells that nothing was got
	Count      *uint32  // of purge: how many messages it removed
	Found      *bool
	Timestamp  *op.Timestamp
	Start, End *int64
}

// Unread tells whether nobody knows what a poll got that was answered.
func (o *Op) Unread() bool {
	return o.F == Poll && o.Outcome == history.Answered && o.Answer.Code == op.OK && o.Answer.Records == nil
}

// Record is a message that was read.
type Record struct {
	At        *Position
	Payload   op.Payload
	Timestamp *op.Timestamp
}

// Position names a message as a system does: by a number; by incarnation,
// generation and offset, i1:g0:5; or by ledger and entry, 12:5.
type Position struct {
	Incarnation op.Incarnation // 0: it has none
	Generation  op.Generation
	Ledger      int64 // noLedger: it has none
	Offset      int64
}

const noLedger = -1

// At is the position of a system that only counts.
func At(offset int64) *Position { return &Position{Ledger: noLedger, Offset: offset} }

// Bare tells whether the position is only a number.
func (p Position) Bare() bool { return p.Ledger == noLedger && p.Incarnation == 0 }

// Entry tells whether it names a ledger.
func (p Position) Entry() bool { return p.Ledger != noLedger }

// Next is the position right after it, in the same ledger or generation.
func (p Position) Next() Position {
	p.Offset++
	return p
}

// Compare orders the positions of one system.
func (p Position) Compare(q Position) int {
	return cmp.Or(cmp.Compare(p.Incarnation, q.Incarnation), cmp.Compare(p.Generation, q.Generation), cmp.Compare(p.Ledger, q.Ledger), cmp.Compare(p.Offset, q.Offset))
}

func (p Position) String() string {
	switch {
	case p.Incarnation != 0:
		return fmt.Sprintf("i%d:g%d:%d", p.Incarnation, p.Generation, p.Offset)
	case p.Entry():
		return fmt.Sprintf("%d:%d", p.Ledger, p.Offset)
	}
	return strconv.FormatInt(p.Offset, 10)
}

// ParsePosition reads what String prints.
func ParsePosition(s string) (Position, error) {
	if strings.HasPrefix(s, "i") {
		p, err := op.ParsePosition(s)
		return Position{p.Incarnation, p.Generation, noLedger, int64(p.Offset)}, err
	}
	p := Position{Ledger: noLedger}
	rest := s
	var errs [2]error
	if ledger, entry, ok := strings.Cut(s, ":"); ok {
		p.Ledger, errs[0] = strconv.ParseInt(ledger, 10, 64)
		rest = entry
		if p.Ledger < 0 {
			errs[0] = strconv.ErrRange
		}
	}
	p.Offset, errs[1] = strconv.ParseInt(rest, 10, 64)
	if errs[0] != nil || errs[1] != nil {
		return Position{}, fmt.Errorf("position %q: want a number, <ledger>:<entry> or i<incarnation>:g<generation>:<offset>", s)
	}
	return p, nil
}

// Error says why a history cannot be read, and where.
type Error struct {
	File         string
	Line, Column int // from 1; columns count bytes
	Err          error
}

func (e *Error) Error() string { return fmt.Sprintf("%s:%d:%d: %v", e.File, e.Line, e.Column, e.Err) }
func (e *Error) Unwrap() error { return e.Err }
