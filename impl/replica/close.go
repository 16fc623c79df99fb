package replica

import (
	"errors"
	"fmt"

	"purgelab/impl/journal"
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
	if r.copy != nil {
		return r.copy.close()
	}
	if r.sender != nil {
		r.sender.Close()
		r.sender = nil
	}
	if r.eng != nil {
		r.eng.Close()
	}
	var base *journal.Journal
	if r.line != nil {
		base, r.line.base = r.line.base, nil
	}
	var err error
	for _, jr := range []*journal.Journal{r.jr, base} {
		if jr != nil {
			err = errors.Join(err, jr.Close())
		}
	}
	return err
}

// close lets all files go that the copy of a base has open.
func (c *copying) close() error {
	c.dropState()
	err := c.old.close()
	if c.log != nil {
		err = errors.Join(err, c.log.Close())
	}
	c.log, c.old = nil, nil
	return err
}

// close lets the chosen log go, as far as it is open.
func (o *oldLog) close() (err error) {
	if o == nil {
		return nil
	}
	if o.state != nil {
		o.state.Release()
	}
	if o.eng != nil {
		o.eng.Close()
	}
	for _, jr := range []*journal.Journal{o.base, o.jr} {
		if jr != nil {
			err = errors.Join(err, jr.Close())
		}
	}
	return err
}
