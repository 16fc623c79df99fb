package replay

import (
	"fmt"
	"slices"

	"purgelab/impl/defect"
	"purgelab/impl/engine"
	"purgelab/impl/engine/flat"
	"purgelab/impl/engine/tagged"
	"purgelab/impl/observe"
	"purgelab/impl/replica"
	"purgelab/impl/transfer"
	"purgelab/model/op"
)

// This file is the leader that offers a state, as far as there is one.

// applyAll has the replica apply a log that is committed.
func (d *driver) applyAll(log []proposal) error {
	d.log = log
	if len(log) == 0 {
		return nil
	}
	if err := d.commit(len(log)); err != nil {
		return err
	}
	for v := d.r.View(); int(v.Facts.Applied) < len(log)+1; v = d.r.View() {
		job := replica.ApplyOne
		if v.Purging {
			job = replica.PurgeOn
		}
		if err := d.step(replica.Input{Work: true, Job: job}); err != nil {
			return err
		}
	}
	return nil
}

// elsewhere is told of the leader to who watches.
type elsewhere struct{ observe.Sink }

// Observe implements observe.Sink.
func (w elsewhere) Observe(e observe.Event) {
	e.Replica = leader
	w.Sink.Observe(e)
}

// known lets who watches see the leader come to a state. Its floor is where its journal
// ends when it purges, so under reset-record it waits for the offer that has one.
func (d *driver) known(x state) error {
	l := d.coming.leader
	if l == nil || x.op <= len(l.log) {
		return nil
	}
	l.term = d.term
	if l.r.View().Facts.Generation == 0 {
		if err := l.purgeAt(d.log, x); err != nil {
			return err
		}
	}
	return l.applyAll(slices.Clone(d.log[:x.op]))
}

// tellOffer tells who watches what the leader offers.
func (d *driver) tellOffer(m *transfer.Manifest) {
	if d.coming.leader == nil {
		return
	}
	p, f := &m.Point, d.coming.leader.r.View().Facts
	d.sink.Observe(observe.Event{
		Replica: leader, Action: "OfferTransfer", Op: p.Applied, Term: m.Term, Generation: p.Generation, Boundary: p.Boundary, Last: p.Applied,
		Applied: f.Applied, Start: f.Start, End: f.End,
	})
}

// offering is a replica that has come to a state, and offers it.
func (d *driver) offering(x state) (*transfer.Sender, *transfer.Manifest, error) {
	fail := func(err error) (*transfer.Sender, *transfer.Manifest, error) {
		return nil, nil, fmt.Errorf("replica that offers %+v: %v", x, err) // it is not the one that is led
	}
	from, err := newDriver(d.design, 0)
	if err != nil {
		return fail(err)
	}
	from.term = d.term
	if err := from.boot(); err != nil {
		return fail(err)
	}
	if err := from.purgeAt(d.log, x); err != nil {
		return fail(err)
	}
	for i := 1; i <= x.op; i++ {
		if i < x.op && d.log[i].Kind != op.Purge {
			continue
		}
		// It saves a checkpoint before each purge, and the last one.
		if err := from.applyAll(d.log[:i]); err != nil {
			return fail(err)
		}
		if saved, err := from.saved(); err != nil {
			return fail(err)
		} else if saved < i { // else the purge has saved one
			if err := from.until(replica.Save, "Checkpoint"); err != nil {
				return fail(err)
			}
		}
	}
	e, err := from.engine(x.op, d.defects)
	if err != nil {
		return fail(err)
	}
	s := transfer.NewSender(transfer.SenderOptions{ChunkBytes: 1, Defects: d.defects})
	m, err := s.Offer(leader, e, func(n op.Number) (uint64, error) { return d.termOf(n), nil })
	if err != nil {
		return fail(err)
	}
	return s, m, nil
}

// purgeAt has a replica of reset-record purge when its journal ends with the floor of a
// state. What is not committed of that may be any op.
func (d *driver) purgeAt(log []proposal, x state) error {
	if x.generation == 0 {
		return nil
	}
	if d.log = slices.Clone(log[:min(len(log), x.floor)]); x.floor > 0 {
		for len(d.log) < x.floor {
			d.propose(op.Request{Kind: op.Append, Payloads: []op.Payload{"not committed"}})
		}
		if err := d.deliver(x.floor, 0); err != nil {
			return err
		}
	}
	if err := d.step(replica.Input{Intents: []replica.Intent{{Generation: x.generation}}}); err != nil {
		return err
	}
	return d.until(replica.PurgeOn, "PurgeComplete")
}

// saved is the op of the last checkpoint.
func (d *driver) saved() (int, error) {
	if d.design == replica.ResetRecord {
		now, err := d.readFlat(d.disk)
		if err != nil {
			return 0, err
		}
		return integer(now.ckpt["applied"]), nil
	}
	now, err := d.readTagged(d.disk)
	if err != nil {
		return 0, err
	}
	return integer(now.folders[now.present].ckpt["applied"]), nil
}

// engine opens what is on the disk, of which the log ends with op n, with defects that
// the replica did not have.
func (d *driver) engine(n int, defects defect.Set) (engine.Engine, error) {
	o := engine.Options{
		FS: d.disk.FS(), Dir: d.dir, Identity: d.identity, Defects: defects, HighestOp: func() op.Number { return op.Number(n) + 1 },
	}
	if d.design == replica.ResetRecord {
		e, _, err := flat.Open(flat.Options{Options: o})
		return e, err
	}
	e, _, err := tagged.Open(o)
	return e, err
}
