package replay

import (
	"fmt"
	"slices"

	"purgelab/impl/engine"
	"purgelab/impl/engine/tagged"
	"purgelab/impl/observe"
	"purgelab/impl/replica"
	"purgelab/impl/transfer"
	"purgelab/model/op"
)

// This file is the leader that offers a state, as far as there is one.

// applyAll has the replica apply a log that is committed.
func (d *driver) applyAll(log []op.Request) error {
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

// known lets who watches see the leader apply the first n ops of the log.
func (d *driver) known(n int) error {
	if l := d.coming.leader; l != nil && n > len(l.log) {
		return l.applyAll(slices.Clone(d.log[:n]))
	}
	return nil
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

// offering is a replica that has applied all ops up to n, and offers its state.
func (d *driver) offering(n int) (*transfer.Sender, *transfer.Manifest, error) {
	fail := func(err error) (*transfer.Sender, *transfer.Manifest, error) {
		return nil, nil, fmt.Errorf("replica that offers op %d: %w", n, err)
	}
	from, err := newDriver(d.design, 0)
	if err != nil {
		return fail(err)
	}
	if err := from.boot(); err != nil {
		return fail(err)
	}
	if err := from.applyAll(d.log[:n]); err != nil {
		return fail(err)
	}
	if now, err := readTagged(from.disk); err != nil {
		return fail(err)
	} else if integer(now.folders[now.present].ckpt["applied"]) < n { // else the purge has saved one
		if err := from.until(replica.Save, "Checkpoint"); err != nil {
			return fail(err)
		}
	}
	e, _, err := tagged.Open(engine.Options{
		FS: from.disk.FS(), Dir: dir, Identity: identity, Defects: d.defects, HighestOp: func() op.Number { return op.Number(n) + 1 },
	})
	if err != nil {
		return fail(err)
	}
	s := transfer.NewSender(transfer.SenderOptions{ChunkBytes: 1, Defects: d.defects})
	m, err := s.Offer(leader, e, func(n op.Number) (uint64, error) { return termOf(n), nil })
	if err != nil {
		return fail(err)
	}
	return s, m, nil
}
