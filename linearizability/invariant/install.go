package invariant

import "purgelab/impl/observe"

// Installs lists the properties that a run with transfers of state checks besides.
var Installs = []string{"NoRewindInstall", "OfferFreshness"}

// installed: a replica has the state as of an op, which others have materialized. It
// is above all that it had, and the same as theirs; what it does next is the op after.
func (c *Checker) installed(p *part, r *replicaState, e *observe.Event) {
	got := state{e.Generation, e.Start, e.End}
	f := p.fact(e.Op)
	if f.term == 0 {
		c.report(p, e.Replica, "OfferFreshness", "installs the state as of op %d, which nobody committed", e.Op)
	} else if f.term != e.Term {
		c.report(p, e.Replica, "OfferFreshness", "installs the state as of op %d of term %d, which is of term %d elsewhere", e.Op, e.Term, f.term)
	}
	if e.Op <= r.last {
		c.report(p, e.Replica, "OfferFreshness", "installs the state as of op %d, had that as of op %d", e.Op, r.last)
	}
	if before := p.ops[r.last].after; p.ops[r.last].did.kind != "" && (got.gen < before.gen || got.gen == before.gen && (got.end < before.end || got.start < before.start)) {
		c.report(p, e.Replica, "NoRewindInstall", "installs g%d %d..%d of op %d, had g%d %d..%d of op %d", got.gen, got.start, got.end, e.Op, before.gen, before.start, before.end, r.last)
	}
	if f.did.kind != "" {
		c.compare(p, e, f.after, got, "by who materialized it")
	}
	r.last, r.applied = e.Op, max(r.applied, e.Op)
	r.gen, r.switched = max(r.gen, e.Generation), max(r.switched, e.Generation)
}
