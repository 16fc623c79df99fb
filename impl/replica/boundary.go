package replica

import (
	"fmt"

	"purgelab/impl/engine"
	"purgelab/impl/raftlog"
	"purgelab/model/op"
)

// UnmatchedError means that a purge was begun here at an op of the log that is not that
// purge: the boundary is one of another log, and the state cannot be used. Nobody can
// tell which of the two is wrong, so nothing is filtered by it, and nothing repaired.
type UnmatchedError struct {
	Marker engine.Marker
	Got    string // what is there
}

func (e *UnmatchedError) Error() string {
	return fmt.Sprintf("suspect: %v: want the purge to generation %d at op %d, got %s", e.Marker, e.Marker.Generation, e.Marker.Boundary, e.Got)
}

// matches refuses a purge that was begun and is not in the log where it says. A reset
// record is a floor, and no op of the log.
func (r *Replica) matches(f *engine.Facts) error {
	if f.Pending == nil || r.cfg.Design == ResetRecord {
		return nil
	}
	if f.Pending.Boundary <= f.Applied {
		return &UnmatchedError{*f.Pending, fmt.Sprintf("the state as of op %d", f.Applied)}
	}
	es, err := r.entries(f.Pending.Boundary, f.Pending.Boundary+1)
	if err != nil {
		return err
	}
	e, got := &es[0], "an op that asks for nothing"
	if e.Type == raftlog.Normal && len(e.Data) > 0 {
		c, err := decodeCommand(e.Op, e.Data)
		if err != nil {
			return err
		}
		q := &c.Request
		if q.Kind == op.Purge && q.Intent == f.Pending.Generation {
			return nil
		}
		if got = q.Kind.String(); q.Kind == op.Purge {
			got = fmt.Sprintf("that to generation %d", q.Intent)
		}
	}
	return &UnmatchedError{*f.Pending, got}
}
