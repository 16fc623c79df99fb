package invariant

import (
	"slices"

	"purgelab/impl/observe"
	"purgelab/model/op"
)

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
	c.has(p, r, e)
	r.home = e.Key
}

// copied: a replica of a new incarnation begins with the state as of an op, which was
// made in the one before, or by others of this one.
func (c *Checker) copied(p *part, r *replicaState, e *observe.Event) {
	if p.before != nil && len(p.ops) <= 2 {
		from := p.before
		if a := p.aside; a != nil && int(e.Op) < len(a.ops) && a.ops[e.Op].did.kind != "" && a.ops[e.Op].after == (state{e.Generation, e.Start, e.End}) {
			from = a // who made it had what the log before held beyond its commit
		}
		p.inherit(from, e.Op)
	}
	*r = replicaState{copied: true}
	c.has(p, r, e)
}

// booting: a replica boots. If nothing was heard of it in this incarnation, and what it
// has is no beginning, it copied that, and a crash came before it could say so.
func (c *Checker) booting(p *part, r *replicaState, e *observe.Event) {
	if p.incarnation > 1 && r.member == 0 && !r.copied && e.Applied > 1 {
		x := *e
		x.Op = e.Applied
		c.copied(p, r, &x)
	}
}

// has: a replica has the state as of an op, which is that of others.
func (c *Checker) has(p *part, r *replicaState, e *observe.Event) {
	if f := p.fact(e.Op); f.did.kind != "" {
		c.compare(p, e, f.after, state{e.Generation, e.Start, e.End}, "by who materialized it")
	}
	r.last, r.applied = e.Op, max(r.applied, e.Op)
	r.gen, r.switched = max(r.gen, e.Generation), max(r.switched, e.Generation)
}

// inherit takes what is known of the ops up to n from the account before: they are
// not done again.
func (p *part) inherit(old *part, n op.Number) {
	p.ops = slices.Clone(old.ops[:min(len(old.ops), int(n)+1)])
	p.committed = min(old.committed, n)
	for k, marks := range old.keys { //purgelab:unordered each key is by itself
		i := slices.IndexFunc(marks, func(m mark) bool { return m.op > n })
		if i < 0 {
			i = len(marks)
		}
		p.keys[k] = slices.Clone(marks[:i])
	}
	for _, u := range old.purges {
		if u.op <= n {
			p.purges = append(p.purges, u)
		}
	}
	for who := range old.stores {
		for k, list := range old.stores[who] { //purgelab:unordered each key is by itself
			p.stores[who][k] = slices.DeleteFunc(slices.Clone(list), func(x stored) bool { return x.op > n })
		}
	}
}
