package replay

import (
	"purgelab/impl/observe"
	"purgelab/impl/replica"
	"purgelab/impl/vfs/crashfs"
	"purgelab/traces/behaviours"
)

// How the actions of one replica are taken that are not of one design.

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
