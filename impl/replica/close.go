package replica

import (
	"errors"
	"fmt"
)

// Close ends the replica cleanly: all that it wrote to its journal is durable.
// Nothing may be asked of it any more.
func (r *Replica) Close() error {
	err := r.jr.Sync()
	if err = errors.Join(err, r.Release()); err != nil {
		return fmt.Errorf("replica %d: close: %w", r.cfg.ID, stopped(err))
	}
	return nil
}

// Release lets all files go and syncs nothing, as the end of a process does.
func (r *Replica) Release() error {
	r.eng.Close()
	return r.jr.Close()
}
