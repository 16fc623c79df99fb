package invariant

import (
	"strings"

	"purgelab/impl/observe"
	"purgelab/model/op"
)

// Observe implements observe.Sink.
func (c *Checker) Observe(e observe.Event) {
	p := c.of(&e)
	if p == nil {
		return
	}
	r := &p.replicas[e.Replica]
	c.now = e.Time
	if c.resets != nil {
		c.observeReset(p, &e)
		if e.Action != "BecomeLeader" && e.Action != "Commit" {
			return
		}
	}
	switch e.Action {
	case "BecomeLeader":
		if who, ok := p.leaders[e.Term]; ok {
			c.report(p, e.Replica, "CommittedPrefixSafe", "leads in term %d, in which replica %d led", e.Term, who)
		}
		p.leaders[e.Term] = e.Replica
	case "Boot":
		c.booting(p, r, &e)
	case "Rejoin":
		if c.sound && c.promises == [2]bool{true, true} {
			c.report(p, e.Replica, "AckDurable", "the disk does not hold any more what it had synced: it joins its group anew")
		}
	case "NewIncarnation":
		c.begun(p, &e)
	case "Commit":
		c.commit(p, &e)
	case "Materialize":
		c.materialized(p, r, &e)
	case "PurgeDuplicate":
		c.duplicate(p, r, &e)
	case "PurgeSwitch":
		r.switched = max(r.switched, e.Generation)
	case "PurgeComplete":
		c.completed(p, r, &e)
	case "CommitInstall":
		c.installed(p, r, &e)
	case "CopyState":
		c.copied(p, r, &e)
	case "ProcessCrash", "PowerLoss":
		r.up = false
	}
}

// commit: an op number means one thing for ever, on every replica.
func (c *Checker) commit(p *part, e *observe.Event) {
	f := p.fact(e.Op)
	asked := request{e.Kind, e.Key, e.Offset, e.Count, 0}
	if e.Kind == "purge" {
		asked.gen = e.Generation
	}
	if f.term == 0 {
		f.term, f.asked, f.asks = e.Term, asked, e.Asks
		p.committed = max(p.committed, e.Op)
		c.proposed(p, e)
		return
	}
	if f.term != e.Term || f.asked != asked || f.asks != e.Asks {
		c.report(p, e.Replica, "CommittedPrefixSafe", "op %d is %+v of term %d here, %+v of term %d elsewhere", e.Op, asked, e.Term, f.asked, f.term)
	}
}

// proposed: a leader that has proposed a purge waits until it knows what became of
// it, and then it is settled; so it never proposes it twice.
func (c *Checker) proposed(p *part, e *observe.Event) {
	if e.Kind != "purge" || p.before != nil {
		return // terms of the incarnation before are others
	}
	x := proposal{e.Generation, e.Term}
	if before, ok := p.proposed[x]; ok && before != e.Op {
		c.report(p, e.Replica, "OnePurgeOutstanding", "op %d is the purge of generation %d by the leader of term %d, and so is op %d", e.Op, x.gen, x.term, before)
	}
	p.proposed[x] = e.Op
}

// inOrder: after a boot each op takes effect once, in order, none skipped.
func (c *Checker) inOrder(p *part, r *replicaState, e *observe.Event) {
	want := r.last + 1
	switch {
	case e.Op > want:
		c.report(p, e.Replica, "NoHiddenFresh", "op %d took effect after op %d: those between are hidden", e.Op, r.last)
	case e.Op < want && p.boundary(e.Generation) >= e.Op:
		c.report(p, e.Replica, "BoundaryScope", "op %d took effect again although the boundary of generation %d is op %d", e.Op, e.Generation, p.boundary(e.Generation))
	case e.Op < want:
		c.report(p, e.Replica, "RetryIdempotent", "op %d took effect again after op %d", e.Op, r.last)
	}
	r.last = max(r.last, e.Op)
	r.applied = max(r.applied, e.Op)
}

// settle compares the state after op n with the one before it plus the effect,
// and with what other replicas have.
func (c *Checker) settle(p *part, e *observe.Event, did effect) {
	f := p.fact(e.Op)
	got := state{e.Generation, e.Start, e.End}
	if before := p.ops[e.Op-1]; e.Op > 2 && before.did.kind != "" {
		c.compare(p, e, before.after.plus(did), got, "by the op before it")
		if did.kind == "append" && e.Offset != before.after.end {
			c.report(p, e.Replica, "OffsetUnique", "op %d appends at offset %d, the end was %d", e.Op, e.Offset, before.after.end)
		}
	}
	if f.did.kind == "" {
		f.did, f.after = did, got
		c.note(p, e.Op, did)
		if did.kind == "store" {
			c.executedStore(p, e, got.gen, false)
		}
		return
	}
	if f.did != did {
		c.report(p, e.Replica, "HistoryAgreement", "op %d did %+v here, %+v elsewhere", e.Op, did, f.did)
	}
	c.compare(p, e, f.after, got, "by another replica")
}

func (s state) plus(did effect) state {
	switch did.kind {
	case "append":
		s.end += op.Offset(did.count)
	case "advance":
		s.start = did.offset
	case "purge":
		s = state{gen: did.gen}
	}
	return s
}

// compare names the difference by what it means to a reader.
func (c *Checker) compare(p *part, e *observe.Event, want, got state, by string) {
	name := ""
	switch {
	case want == got:
		return
	case got.gen < want.gen:
		name = "GenerationMonotone"
	case got.gen > want.gen:
		name = "HistoryAgreement"
	case got.end < want.end || got.start > want.start:
		name = "NoFreshLoss"
	case got.end > want.end:
		name = "NoResurrectedMessage"
	default:
		name = "StartMonotone"
	}
	c.report(p, e.Replica, name, "after op %d: g%d %d..%d, but g%d %d..%d %s", e.Op, got.gen, got.start, got.end, want.gen, want.start, want.end, by)
}

// note keeps what an op did to bookmarks.
func (c *Checker) note(p *part, n op.Number, did effect) {
	switch did.kind {
	case "store", "delete":
		k, ok := parseKey(did.key)
		if !ok {
			return
		}
		p.keys[k] = append(p.keys[k], mark{op: n, present: did.kind == "store", offset: did.offset})
	case "purge":
		if p.boundary(did.gen) != 0 {
			return // known from a boot: the crash hid the completion
		}
		p.purges = append(p.purges, purge{did.gen, n})
	}
}

func (c *Checker) materialized(p *part, r *replicaState, e *observe.Event) {
	if f := p.fact(e.Op); f.asked.kind == "purge" {
		c.report(p, e.Replica, "BoundaryAgreement", "op %d is the purge of generation %d, but was passed without one", e.Op, f.asked.gen)
	}
	c.inOrder(p, r, e)
	c.settle(p, e, effect{e.Kind, e.Key, e.Offset, e.Count, 0})
}

// duplicate: a purge that is settled already changes nothing.
func (c *Checker) duplicate(p *part, r *replicaState, e *observe.Event) {
	c.inOrder(p, r, e)
	f := p.fact(e.Op)
	now := state{p.ops[e.Op-1].after.gen, e.Start, e.End} // the event names the intent's generation
	if before := p.ops[e.Op-1]; before.did.kind != "" && (before.after.start != now.start || before.after.end != now.end) {
		c.report(p, e.Replica, "RetryIdempotent", "purge of generation %d again at op %d: %d..%d became %d..%d", e.Generation, e.Op, before.after.start, before.after.end, e.Start, e.End)
	}
	if f.did.kind == "" {
		f.did, f.after = effect{kind: "duplicate"}, now
	} else if f.did.kind != "duplicate" {
		c.report(p, e.Replica, "RetryIdempotent", "op %d changed nothing here, but did %+v elsewhere", e.Op, f.did)
	}
}

// completed: a purge takes effect at its own op, once, with everything below it
// materialized and the switch done.
func (c *Checker) completed(p *part, r *replicaState, e *observe.Event) {
	if e.Generation <= r.gen {
		c.report(p, e.Replica, "RetryIdempotent", "purge of generation %d completed again at op %d", e.Generation, e.Op)
	}
	if f := p.fact(e.Op); f.term != 0 && (f.asked.kind != "purge" || f.asked.gen != e.Generation) {
		c.report(p, e.Replica, "BoundaryAgreement", "purge of generation %d completed at op %d, which is %+v", e.Generation, e.Op, f.asked)
	}
	if b := p.boundary(e.Generation); b != 0 && b != e.Op {
		c.report(p, e.Replica, "BoundaryAgreement", "purge of generation %d completed at op %d, elsewhere at op %d", e.Generation, e.Op, b)
	}
	if r.switched < e.Generation {
		c.report(p, e.Replica, "CompletionLast", "purge of generation %d completed before the switch to it", e.Generation)
	}
	r.gen = max(r.gen, e.Generation)
	c.inOrder(p, r, e)
	c.settle(p, e, effect{kind: "purge", gen: e.Generation})
}

func parseKey(s string) (op.Key, bool) {
	kind, id, ok := strings.Cut(s, "-")
	k := op.Key{}
	if kind == "group" {
		k.Kind = op.Group
	}
	for _, d := range id {
		k.ID = k.ID*10 + uint32(d-'0')
	}
	return k, ok
}
