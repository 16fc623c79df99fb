package consensus

import (
	"fmt"
	"runtime/debug"
)

// ErrPanic says that raft, or the code that drives it, found one of its
// invariants broken. It is always a bug or a broken promise of the disk.
type ErrPanic struct {
	Value any
	Stack []byte
}

func (e *ErrPanic) Error() string { return fmt.Sprintf("consensus: panic: %v", e.Value) }

// Recovered is n.Recovered, or for no n the panic itself.
func Recovered(n *Node, v any) error {
	if n == nil {
		return &ErrPanic{Value: v, Stack: debug.Stack()}
	}
	return n.Recovered(v)
}

// Recovered turns what a method of n panicked with into the error that stops
// the replica: that of the log, if reading it failed, since raft knows no other
// way to stop; an *ErrPanic otherwise. It is called from a deferred function,
// where v is what recover returned.
func (n *Node) Recovered(v any) error {
	if n.log.err != nil {
		return n.log.err
	}
	return &ErrPanic{Value: v, Stack: debug.Stack()}
}
