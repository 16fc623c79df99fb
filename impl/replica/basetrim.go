package replica

// The log of the base goes like any other: once a checkpoint holds all that it leads to,
// nobody here needs an op of it, and who copies the base gets a state instead
// (basestate.go). What is left is where it ended. So with any number of incarnations a
// machine has at most the log of one base, until its first checkpoint.

// baseCovered tells whether the ops of the base may go.
func (r *Replica) baseCovered() bool {
	l := r.line
	return l.base != nil && r.cfg.member.Kept == "" && r.cfg.Compact.On() && r.durable >= l.baseLast() && l.base.First() <= l.base.Last()
}

// baseLeft tells whether the base left files that may go.
func (r *Replica) baseLeft() bool { return r.line.base != nil && r.line.base.Reclaimable() }

// clearBase drops the ops of the base.
func (r *Replica) clearBase() error {
	if err := r.line.base.Clear(); err != nil {
		return r.again(&r.later, err)
	}
	r.unlink, r.out.Synced = true, true
	return nil
}
