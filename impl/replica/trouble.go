package replica

import (
	"errors"
	"fmt"

	"purgelab/impl/corrupt"
	"purgelab/impl/engine"
	"purgelab/impl/record"
	"purgelab/impl/vfs"
	"purgelab/model/op"
)

// What a replica does about a disk that fails:
//
//	a step of a purge, of a checkpoint or   it is taken again after a pause, and
//	of a reclaim, or a write of an op       what it makes is made in a new file;
//	                                        Applied stays where it is
//	a read for a client                     the client is told to ask again
//	the journal, or a sync of messages,     *DiskError: the replica stops, and its
//	bookmarks or a directory                machine must be restarted, so that no
//	                                        cache shows what the disk lost
//	damage                                  corrupt.Error: the replica stops for good
//
// A boot reads no message that a checkpoint holds; they are checked, some at a
// time, when there is nothing else to do, and by every read. So who stops over damage leaves a
// note, and the boot after it checks all messages before it goes on: what is damaged is
// refused then, and what was only read wrongly is not.
//
// While Applied stands still, consensus goes on, except that a leader that cannot
// follow what it commits abstains, so that another one can lead.

// DiskError stops a replica whose disk failed so that nobody knows what is
// durable. The machine must be restarted before the replica is opened again: a
// restart of the process alone may find in a cache what a failed sync has lost,
// and would acknowledge it.
type DiskError struct{ Err error }

func (e *DiskError) Error() string { return fmt.Sprintf("disk failed: %v", e.Err) }

func (e *DiskError) Unwrap() error { return e.Err }

// stopped classifies the error that ends a replica.
func stopped(err error) error {
	if vfs.Failed(err) && !errors.Is(err, corrupt.ErrCorrupt) {
		return &DiskError{err}
	}
	return err
}

// retryable tells the errors after which the same step may be taken again: the
// disk refused, and everything is as before.
func retryable(err error) bool {
	return vfs.Failed(err) && !errors.Is(err, vfs.ErrUnsure) && !errors.Is(err, corrupt.ErrCorrupt)
}

// retryTicks is the pause before a failed step is taken again.
const retryTicks = 10

// again puts off what failed, or passes on what cannot be taken again.
func (r *Replica) again(wait *int, err error) error {
	if err == nil || !retryable(err) {
		return err
	}
	r.log.Warn("disk failed, will try again", "replica", r.cfg.ID, "partition", r.cfg.Partition, "error", err)
	*wait = retryTicks
	return nil
}

// unreadable ends a read whose records could not be read. It changed nothing, so
// the client may ask again; that of an auto-commit poll must, under the same
// number, to get the same range.
func (r *Replica) unreadable(rd *read, err error) (done bool) {
	r.log.Warn("cannot read", "replica", r.cfg.ID, "partition", r.cfg.Partition, "error", err)
	if !rd.fixed {
		r.answer(rd.token, op.Reply{Code: op.Transient})
	}
	return true
}

// stuckTimeouts is how many election timeouts Applied may stand still in a
// leader.
const stuckTimeouts = 4

// watchProgress counts down the pauses and watches Applied.
func (r *Replica) watchProgress() {
	r.pause, r.later, r.cleanLater = max(0, r.pause-1), max(0, r.later-1), max(0, r.cleanLater-1)
	if r.applied == r.committed || r.applied != r.stoodAt {
		r.still, r.stoodAt = 0, r.applied
	} else {
		r.still++
	}
	r.node.Abstain(r.stuck())
}

// stuck: committed ops are waiting and none was materialized for long.
func (r *Replica) stuck() bool { return r.still >= stuckTimeouts*r.cfg.ElectionTicks }

func (c *Config) doubtFile() string { return c.home() + "/doubt" }

// doubt leaves the note that damage was met. If that fails the damage is met again.
func (r *Replica) doubt(err error) {
	if r.eng == nil || !errors.Is(err, corrupt.ErrCorrupt) {
		return
	}
	if e := record.Write(r.cfg.FS, "replica.doubt", r.cfg.doubtFile(), r.cfg.identity(), nil); e != nil {
		r.log.Warn("cannot note that damage was met", "replica", r.cfg.ID, "partition", r.cfg.Partition, "error", e)
	}
}

// settleDoubt checks all messages if the run before met damage.
func (r *Replica) settleDoubt() error {
	c := &r.cfg
	_, answer, err := record.Read(c.FS, c.doubtFile(), c.identity())
	if answer != record.Value && answer != record.Damaged {
		return err
	}
	if err := checkAll(r.eng); err != nil {
		return err
	}
	if err := c.FS.Remove("replica.doubt.remove", c.doubtFile()); err != nil && !errors.Is(err, vfs.ErrNotExist) {
		return err
	}
	return nil
}

// checkAll reads all messages that an engine took on trust.
func checkAll(e engine.Engine) error {
	for {
		if more, err := e.Check(); !more || err != nil {
			return err
		}
	}
}
