package replay

import (
	"purgelab/impl/observe"
	"purgelab/impl/replica"
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
}

func takeBoot(d *driver, _ *behaviours.Act) error { return d.boot() }

func takeNothing(*driver, *behaviours.Act) error { return nil }

// given brings op n of the specification, which is the next one or known.
func (d *driver) given(a *behaviours.Act, o map[string]any) error {
	n := integer(a.With["n"])
	if n == len(d.log)+1 {
		r, err := request(n, o)
		if err != nil {
			return err
		}
		d.log = append(d.log, r)
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
	if diff := differ("reply", untimed(a.With["r"]), replyOf(q, reply)); diff != nil {
		return diff
	}
	return nil
}
