package replay

import (
	"purgelab/impl/observe"
	"purgelab/impl/replica"
	"purgelab/impl/vfs/crashfs"
	"purgelab/traces/behaviours"
)

// Row says how the driver takes an action of the specification, and where the
// implementation does it.
type Row struct {
	Action observe.Action
	Call   string // of the driver
	Code   string // place in the implementation
	Note   string // where one is not one
	take   func(*driver, *behaviours.Act) error
}

// Design is how one purge design is replayed.
type Design struct {
	Name string
	Rows []Row
	// want is a state of the specification as an implementation can show it, and disk is
	// what the implementation's shows of the variables that are on the disk.
	want func(state map[string]any) map[string]any
	disk func(*driver) (map[string]any, error)
}

// Table is all designs.
var Table = []Design{
	{"ordered", orderedRows, wantOrdered, (*driver).orderedDisk},
	{"advance", advanceRows, wantAdvance, (*driver).advanceDisk},
	{"reset-record", resetRows, wantReset, (*driver).resetDisk},
}

var orderedRows = []Row{
	{"Boot", "open the replica on its disk", "impl/replica: Open", "", takeBoot},
	{"Serve", "none", "impl/replica: checkServing", "It serves as soon as it may, in the step that leads there; `up` is compared as if the specification did.", takeNothing},
	{"Materialize", "bring op `n` if it is not in the journal; tell that it is committed; apply one op", "impl/replica: apply, materialize", "A journal write, its sync and the commit are part of it.", takeMaterialize},
	{"PurgeBegin", "bring op `n`, apply it, take steps of the purge", "impl/engine/tagged: Task.begin", "Begun already: none, since the marker is the same.", takePurgeBegin},
	{"PurgeSwitch", "take steps of the purge", "impl/engine/tagged: Task.change", "After a boot the marker is written again first. Switched already: none, since the folder is the same.", takePurgeSwitch},
	{"PurgeComplete", "take steps of the purge", "impl/engine/tagged: Task.complete", "After a boot marker and folder are made again first.", takePurgeComplete},
	{"PurgeDuplicate", "bring op `n`, apply it", "impl/replica: applyPurge", "", takePurgeDuplicate},
	{"Checkpoint", "take steps of a checkpoint", "impl/engine/tagged: Task.record", "The syncs before the record are steps of their own.", takeCheckpoint},
	{"Reclaim", "remove one thing until a folder is gone", "impl/engine/tagged: Reclaim", "One step for each file, and for the folder; bookmark logs and segments that the specification leaves out go on the way.", takeReclaimFolder},
	{"ProcessCrash", "end the program, keep the cache", "impl/vfs/crashfs: ProcessCrash", "", takeProcessCrash},
	{"PowerLoss", "end the program; of what is not synced keep the first `s` batches and `b` bookmarks of the folder that a boot will open, marker `m`, and the removals of folders but those of `back`", "impl/vfs/crashfs: PowerLossKeeping", "Journal and folders left behind are kept whole.", takePowerLossOrdered},
	{"Answer", "put read `q` in as one that need not wait for the leader, take its phases", "impl/replica: advanceRead", "The proof of leadership, and its wait, are the group's matter.", takeAnswer},
	{"CommitElsewhere", "none", "impl/replica: consensusStage", "The op is brought when the replica materializes it.", takeCommitElsewhere},
	{"Compact", "take steps of trimming", "impl/replica: trimStep", "Every op is in a file of its own, and the last one in the one that is being written, so who leads is elected anew first. Of the home before an install nothing is dropped.", takeCompact},
	{"StageManifest", "offer the state as of op `n`", "impl/replica: offered, beginPull", "The state is that of another replica, which was brought all ops up to `n`.", takeStageManifest},
	{"RefuseTransfer", "offer the state as of op `n`", "impl/transfer: Own.Fresh; impl/replica: fresh", "", takeRefuseTransfer},
	{"StageChunk", "bring the chunk that the replica asked for", "impl/transfer: Pull.Take", "After a boot the offer is made again first. The last chunk is synced in the same step: a crash that comes next finds the disk before that.", takeStageChunk},
	{"SyncPiece", "none", "impl/segment: Intake.sync", "In the step of the last chunk; after a boot when the offer is made again.", takeSyncPiece},
	{"StageState", "take steps of staging", "impl/engine/tagged: imported", "", takeStageState},
	{"CommitInstall", "take steps of staging, and install", "impl/replica: install", "The boot that follows is in the same step: a loss of power that comes next finds the disk before that.", takeCommitInstall},
	{"DropTransfer", "have the disk refuse the next call of the transfer; remove what is staged", "impl/replica: refused, homeStep", "One that was overtaken is dropped by the replica itself.", takeDropTransfer},
}

func takeBoot(d *driver, _ *behaviours.Act) error {
	if d.coming.installed != nil { // in the step that installed
		d.r, d.coming.installed = d.coming.installed, nil
		d.coming.tell(d.sink)
		return nil
	}
	return d.boot()
}

// take takes an action by its row. An image of the disk counts for the next one only.
func (d *driver) take(r *Row, a *behaviours.Act) error {
	was := d.image
	err := r.take(d, a)
	if d.image == was {
		d.image = nil
	}
	return err
}

// stopped is the disk as a crash would find it now.
func (d *driver) stopped() *crashfs.Disk {
	if d.image != nil {
		return d.image
	}
	return d.disk
}

func takeNothing(*driver, *behaviours.Act) error { return nil }

// given brings op n of the specification, which is the next one or known.
func (d *driver) given(a *behaviours.Act, o map[string]any) error {
	n := integer(a.With["n"])
	if n == len(d.log)+1 {
		r, err := request(n, o)
		if err != nil {
			return err
		}
		d.propose(r)
	}
	return d.commit(n)
}

func takeMaterialize(d *driver, a *behaviours.Act) error {
	if err := d.given(a, a.With["o"].(map[string]any)); err != nil {
		return err
	}
	return d.once(replica.ApplyOne, "Materialize")
}

// once has one piece of work done, which must show the action.
func (d *driver) once(j replica.Job, action observe.Action) error {
	done, err := d.work(j, action)
	if err == nil && !done {
		err = &missing{action}
	}
	return err
}

func (d *driver) givenPurge(a *behaviours.Act) error {
	return d.given(a, map[string]any{"k": "purge", "g": a.With["g"]})
}

func takePurgeBegin(d *driver, a *behaviours.Act) error {
	if d.purged.begun() {
		return nil
	}
	if err := d.takeUp(a); err != nil {
		return err
	}
	return d.until(replica.PurgeOn, "PurgeBegin")
}

// takeUp has the replica come to its purge.
func (d *driver) takeUp(a *behaviours.Act) error {
	if d.r.View().Purging {
		return nil
	}
	if err := d.givenPurge(a); err != nil {
		return err
	}
	_, err := d.work(replica.ApplyOne, "")
	return err
}

func takePurgeSwitch(d *driver, a *behaviours.Act) error {
	if d.purged.switched() {
		return nil
	}
	if err := d.takeUp(a); err != nil {
		return err
	}
	return d.until(replica.PurgeOn, "PurgeSwitch")
}

func takePurgeComplete(d *driver, a *behaviours.Act) error {
	if err := d.takeUp(a); err != nil {
		return err
	}
	return d.until(replica.PurgeOn, "PurgeComplete")
}

func takePurgeDuplicate(d *driver, a *behaviours.Act) error {
	if err := d.givenPurge(a); err != nil {
		return err
	}
	return d.once(replica.ApplyOne, "PurgeDuplicate")
}

func takeCheckpoint(d *driver, _ *behaviours.Act) error {
	return d.until(replica.Save, "Checkpoint")
}

func takeReclaimFolder(d *driver, a *behaviours.Act) error {
	for {
		seen := len(d.events)
		if err := d.until(replica.Remove, "Reclaim"); err != nil {
			return err
		}
		for _, e := range d.events[seen:] {
			if e.Action == "Reclaim" && int(e.Generation) == integer(a.With["g"]) {
				return nil
			}
		}
	}
}

func takeProcessCrash(d *driver, _ *behaviours.Act) error {
	d.processCrash()
	return nil
}

// takeAnswer asks a read: what the client gets is compared, too.
func takeAnswer(d *driver, a *behaviours.Act) error {
	q, err := question(a.With["q"].(map[string]any))
	if err != nil {
		return err
	}
	reply, err := d.read(q)
	if err != nil {
		return err
	}
	if diff := differ("reply", untimed(a.With["r"], nil), replyOf(q, reply)); diff != nil {
		return diff
	}
	return nil
}
