package replica

import (
	"purgelab/impl/observe"
	"purgelab/model/op"
)

// A checkpoint is a snapshot: what it covers can be had without the journal, which
// may drop it. So what a boot replays, and what a journal takes of a disk, follows
// what came after the last checkpoint, and not history.

// Compaction says when the journal drops ops that a checkpoint covers. The zero value
// means never.
type Compaction struct {
	// Ops and Bytes: it is compacted once it holds more than these; 0 is no limit.
	Ops   int
	Bytes int64
	// Keep ops below the checkpoint stay, for replicas that are a little behind.
	Keep int
}

// On tells whether anything is ever dropped.
func (c *Compaction) On() bool { return c.Ops > 0 || c.Bytes > 0 }

// snapshot notes that the state as of op n is durable.
func (r *Replica) snapshot(n op.Number) {
	r.durable = n
	r.trim = r.cfg.Compact.On()
}

// syncBeforeSnapshot makes the journal durable up to op n, which a checkpoint is about to
// hold: a state without the log that ends in it would be of no use to a new
// incarnation, which goes on from a log.
func (r *Replica) syncBeforeSnapshot(n op.Number) error {
	if !r.cfg.Compact.On() || !r.cfg.Policy.forgetful() || r.jr.Synced() >= r.own(n) {
		return nil
	}
	r.out.Synced = true
	return r.jr.Sync()
}

// mayEndInLog tells whether a checkpoint can be begun now: not during a sync of the
// journal that runs beside.
func (r *Replica) mayEndInLog() bool {
	return r.stage != syncing || !r.cfg.Compact.On() || !r.cfg.Policy.forgetful()
}

// excess tells up to which op of the journal's own numbers it should be compacted now.
func (r *Replica) excess() (n op.Number, due bool) {
	keep := op.Number(r.cfg.Compact.Keep) + r.line.shift
	if r.durable <= keep {
		return 0, false
	}
	n = r.durable - keep
	if r.sender != nil {
		if low, any := r.sender.Lowest(); any {
			n = min(n, r.own(low))
		}
	}
	for _, x := range r.catching {
		n = min(n, x.has)
	}
	c, first := &r.cfg.Compact, r.jr.First()
	full := c.Ops > 0 && int(r.jr.Last()-first)+1 > c.Ops || c.Bytes > 0 && r.jr.Bytes() > c.Bytes
	return n, full && n >= first
}

// trimStep compacts the journal, or that of the base, or removes one of the files that
// they do not need any more.
func (r *Replica) trimStep() error {
	if !r.trim {
		log := r.jr
		if !log.Reclaimable() && r.baseLeft() {
			log = r.line.base
		}
		if _, err := log.Reclaim(); err != nil {
			return r.again(&r.later, err)
		}
		r.unlink = r.jr.Reclaimable() || r.baseLeft()
		return nil
	}
	if r.baseCovered() {
		return r.clearBase()
	}
	n, due := r.excess()
	if due {
		first := r.jr.First()
		dropped, err := r.jr.Compact(n)
		if err != nil {
			return r.again(&r.later, err)
		}
		if r.unlink, r.out.Synced = r.unlink || dropped, dropped; r.jr.First() > first { // else files went that held no op
			r.emit(observe.Event{Action: "Compact", Op: r.jr.First() - 1 + r.line.shift})
		}
	}
	r.trim = false
	return nil
}
