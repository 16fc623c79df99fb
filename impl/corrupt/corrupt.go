// Package corrupt is the one error for bytes on a disk that contradict what
// must be there. It ends serving: nobody repairs by guess.
package corrupt

import (
	"errors"
	"fmt"
)

// ErrCorrupt matches every *Error under errors.Is.
var ErrCorrupt = errors.New("corrupt")

// Error names the place and the two values that disagree.
type Error struct {
	File   string
	Offset int64  // of the field or frame in the file
	What   string // the thing that has two values
	Want   any
	Got    any
}

func (e *Error) Error() string {
	return fmt.Sprintf("corrupt: %s at byte %d: %s: want %v, got %v", e.File, e.Offset, e.What, e.Want, e.Got)
}

// Is makes errors.Is(err, ErrCorrupt) true.
func (e *Error) Is(target error) bool { return target == ErrCorrupt }

// Span is bytes of a file, from From up to To, whose damage must be refused:
// something else on the disk shows that they were durable.
type Span struct {
	File     string
	From, To int64
	Of       Kind
}

// Kind is what bytes of a disk hold.
type Kind string

// The kinds.
const (
	Journal   Kind = "journal"
	Messages  Kind = "messages"
	Bookmarks Kind = "bookmarks"
	Record    Kind = "record"
)
