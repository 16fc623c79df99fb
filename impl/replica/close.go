package replica

import (
	"errors"
	"fmt"
)

// Close is Stop, and then lets all files go.
func (r *Replica) Close() error {
	if err := errors.Join(r.Stop(), r.Release()); err != nil {
		return fmt.Errorf("replica %d: close: %w", r.cfg.ID, stopped(err))
	}
	return nil
}

// Release lets all files go and syncs nothing, as the end of a process does.
func (r *Replica) Release() error {
	if r.eng == nil {
		return nil
	}
	if r.sender != nil {
		r.sender.Close()
		r.sender = nil
	}
	r.eng.Close()
	err := r.jr.Close()
	if r.line.base != nil {
		err = errors.Join(err, r.line.base.Close())
	}
	return err
}
