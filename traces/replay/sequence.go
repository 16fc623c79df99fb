package replay

import (
	"fmt"

	"purgelab/impl/replica"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/crashfs"
	"purgelab/model/op"
	"purgelab/traces/behaviours"
)

// This file has op numbers begin anew under the design reset-record: all machines lose power
// under a policy that syncs no journal, or the partition is created again.

// begun is the call with which a boot has begun them, the second one of this name.
const begun vfs.Label = "replica.sequence.dirsync"

// volatile tells whether a loss of power is one of all machines, and begins them anew.
func (d *driver) volatile() bool {
	return (&replica.Config{Design: d.design, Policy: d.policy}).Volatile()
}

// takeBeginSequence takes the power, and has a boot begin op numbers anew, which is stopped
// when it has.
func takeBeginSequence(d *driver, a *behaviours.Act) error {
	if !d.volatile() {
		return &unfit{fmt.Sprintf("op numbers begin anew under no policy such as %+v", d.policy)}
	}
	d.opening, d.image = nil, nil
	d.powerLoss(func(crashfs.Change) bool { return false })
	made := 0
	d.disk.Arm(func(label vfs.Label, _ string) crashfs.Action {
		if label == begun {
			if made++; made == 2 {
				return crashfs.CrashAfter
			}
		}
		return crashfs.Continue
	})
	_, err := d.open(d.disk) // it is stopped
	d.disk.Arm(nil)
	if !d.disk.Crashed() {
		return fmt.Errorf("%w: %w", &missing{a.Action}, err)
	}
	d.disk.ProcessCrash()
	d.beginAnew()
	return nil
}

// beginAnew: what the log held is gone.
func (d *driver) beginAnew() { d.log, d.committed, d.parted, d.cut = nil, 0, unparted, 0 }

// takeRecreate deletes the partition and creates it again. Whatever is left of the files
// of its namesake lies beside its own: that they can be removed nobody promises.
func takeRecreate(d *driver, _ *behaviours.Act) error {
	d.opening = nil
	d.processCrash()
	d.beginAnew()
	d.intent = 0 // that was to purge the other one
	d.place = d.next()
	return d.make(d.disk.FS())
}

// PurgedTo is the generation that the records of the replica show, which is down.
func (v *Drive) PurgedTo() (op.Generation, error) {
	return replica.PurgedTo(&replica.Config{ID: self, Cluster: v.d.identity.Cluster, FS: v.d.disk.FS(), Dir: v.d.dir})
}
