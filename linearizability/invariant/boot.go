package invariant

import (
	"sort"

	"purgelab/impl/consensus"
	"purgelab/impl/engine"
	"purgelab/impl/observe"
	"purgelab/impl/replica"
	"purgelab/impl/sim"
	"purgelab/model/op"
)

// Subject is a replica as the checker reads it.
type Subject = sim.Member

// Acknowledged notes that a replica promised to keep its log up to an op.
func (c *Checker) Acknowledged(id int, part op.Partition, upTo op.Number) {
	c.parts[part].replicas[id].acked = upTo
}

// Voted notes that a replica gave its vote in a term.
func (c *Checker) Voted(id int, part op.Partition, term uint64) {
	c.parts[part].replicas[id].voted = term
}

// Booted compares a disk after a boot with what its replica did and promised
// before. m is the replica just opened.
func (c *Checker) Booted(at int64, id int, part op.Partition, m Subject) {
	p := c.parts[part]
	r := &p.replicas[id]
	c.now = at
	v := m.View()
	if !p.concerns(&v) {
		return
	}
	f := v.Facts
	another := v.Member != r.member && !r.copied
	if another {
		c.keeps(p, r, id, &v)
		*r = replicaState{} // what the one before did and promised is its own
	}
	if r.home != "" && v.Home != r.home || another && f.Applied > 1 {
		// A crash came between an install, or the copy of a state, and the word of it.
		c.has(p, r, &observe.Event{Replica: id, Op: f.Applied, Generation: f.Generation, Start: f.Start, End: f.End})
	}
	r.member, r.copied, r.home = v.Member, false, v.Home
	r.up, r.last = true, f.Applied
	if promised := min(r.acked, p.committed); v.Last < promised {
		c.report(p, id, "AckDurable", "the journal ends at op %d after the boot, op %d was acknowledged and committed", v.Last, promised)
	}
	if v.Term < r.voted {
		c.report(p, id, "AckDurable", "boots in term %d, had given its vote in term %d", v.Term, r.voted)
	}
	if c.resets != nil {
		c.resetBooted(p, id, &v)
		c.resets[p.id].replicas[id].member = m
		c.agree(p, id, m, &v)
		return
	}
	if f.Generation < r.gen {
		c.report(p, id, "GenerationMonotone", "boots in generation %d, had completed %d", f.Generation, r.gen)
	}
	if f.Generation > r.switched {
		c.report(p, id, "NoErrorNoAdvance", "boots in generation %d, but no step switched to it", f.Generation)
	}
	if f.Generation > 0 {
		// The completion may have become durable at a crash that hid it.
		r.gen = max(r.gen, f.Generation)
		if p.boundary(f.Generation) == 0 {
			if asked := p.fact(f.Boundary).asked; asked.kind != "purge" || asked.gen != f.Generation {
				c.report(p, id, "GenerationMonotone", "boots in generation %d, which is not committed", f.Generation)
			}
			c.note(p, f.Boundary, effect{kind: "purge", gen: f.Generation})
		}
		if f.Applied < f.Boundary {
			c.report(p, id, "BoundaryScope", "boots with op %d applied in generation %d, whose boundary is op %d", f.Applied, f.Generation, f.Boundary)
		}
	}
	// Op 1 is the bootstrap, which nobody applies.
	if m := f.Pending; m != nil && max(r.applied, 1)+1 < m.Boundary {
		c.report(p, id, "NoErrorNoAdvance", "a purge at op %d had begun, but only op %d was applied", m.Boundary, r.applied)
	}
	for _, b := range m.Bookmarks() {
		if b.Op > p.committed && b.Position.Incarnation == f.Incarnation {
			c.report(p, id, "CommittedOnlyDurable", "bookmark %s of op %d is on the disk, committed is op %d", b.Key, b.Op, p.committed)
		}
	}
	c.agree(p, id, m, &v)
}

// keeps: who joins its group anew may have forgotten what need not be synced, and nothing
// else; of a disk that was replaced nothing is there.
func (c *Checker) keeps(p *part, r *replicaState, id int, v *replica.View) {
	if !c.sound || v.Kept == 0 {
		return
	}
	for n := v.Kept + 1; n <= min(r.acked, p.committed); n++ {
		if f := p.fact(n); !c.mayLose(f) {
			c.report(p, id, "AckDurable", "the disk shows the log up to op %d, op %d, %+v, was acknowledged and committed, and had to be synced", v.Kept, n, f.asked)
		}
	}
}

// Stepped looks at a replica in between.
func (c *Checker) Stepped(at int64, id int, part op.Partition, m Subject) {
	c.now = at
	if v := m.View(); c.parts[part].concerns(&v) {
		c.agree(c.parts[part], id, m, &v)
	}
}

// agree: messages, bookmarks and purge records of a replica belong to one era,
// and its bookmarks are those of the ops it has applied.
func (c *Checker) agree(p *part, id int, m Subject, v *replica.View) {
	f := &v.Facts
	if b := p.boundary(f.Generation); b != 0 && b != f.Boundary {
		c.report(p, id, "BoundaryAgreement", "the boundary of generation %d is op %d here, op %d elsewhere", f.Generation, f.Boundary, b)
	}
	if c.resets != nil {
		c.resetUnfailed(p, id, v)
	}
	bookmarks := m.Bookmarks()
	for _, b := range bookmarks {
		at := b.Position
		switch {
		case at.Incarnation != f.Incarnation:
			c.report(p, id, "IncarnationIsolation", "bookmark %s of %s in incarnation %d", at, b.Key, f.Incarnation)
		case at.Generation != f.Generation:
			c.report(p, id, "NoResurrectedBookmark", "bookmark %s of %s in generation %d", at, b.Key, f.Generation)
		case c.resets != nil && f.Generation > 0 && b.Op <= f.Boundary:
			c.report(p, id, "NoResurrectedBookmark", "bookmark %s of %s is of op %d, the floor of generation %d is op %d", at, b.Key, b.Op, f.Generation, f.Boundary)
		case v.Serving && at.Offset >= f.End:
			c.report(p, id, "BookmarkBound", "bookmark %s of %s, the end is %d", at, b.Key, f.End)
		}
	}
	if !v.Serving || v.Purging || f.Applied < 2 || int(f.Applied) >= len(p.ops) || p.ops[f.Applied].did.kind == "" {
		return
	}
	c.bookmarksAsOf(p, id, f.Applied, bookmarks)
}

// bookmarksAsOf compares bookmarks with the account as of an op.
func (c *Checker) bookmarksAsOf(p *part, id int, n op.Number, got []engine.BookmarkEntry) {
	since := op.Number(0)
	for _, u := range p.purges {
		if u.op <= n {
			since = max(since, u.op)
		}
	}
	here := 0
	for _, b := range got {
		m, ok := last(p.keys[b.Key], n)
		switch {
		case !ok || !m.present || m.op < since:
			c.report(p, id, "NoResurrectedBookmark", "bookmark %s of %s is visible after op %d, which had ended it", b.Position, b.Key, n)
		case m.offset != b.Position.Offset:
			c.report(p, id, "HistoryAgreement", "bookmark of %s is %d after op %d, op %d stored %d", b.Key, b.Position.Offset, n, m.op, m.offset)
		default:
			here++
		}
	}
	want := 0
	for _, marks := range p.keys { //purgelab:unordered only a sum is taken
		if m, ok := last(marks, n); ok && m.present && m.op > since {
			want++
		}
	}
	if here < want {
		c.report(p, id, "AckDurable", "%d of %d bookmarks are there after op %d", here, want, n)
	}
}

// last is the newest mark at or below op n.
func last(marks []mark, n op.Number) (mark, bool) {
	i := sort.Search(len(marks), func(i int) bool { return marks[i].op > n })
	if i == 0 {
		return mark{}, false
	}
	return marks[i-1], true
}

// Rest compares the replicas of a partition when all have come to rest: the same
// records and the same bookmarks, and every message that a client knows.
func (c *Checker) Rest(at int64, part op.Partition, ms []Subject) {
	p := c.parts[part]
	c.now = at
	var first []op.Record
	for i, m := range ms {
		if m == nil {
			continue // stopped for good
		}
		v := m.View()
		if !p.concerns(&v) {
			continue
		}
		f := v.Facts
		c.agree(p, i+1, m, &v)
		recs, err := m.Records(f.Start, int(f.End-f.Start))
		if err != nil {
			c.report(p, i+1, "NoHiddenFresh", "reading %d..%d: %v", f.Start, f.End, err)
			continue
		}
		if len(recs) != int(f.End-f.Start) {
			c.report(p, i+1, "NoHiddenFresh", "%d records between start %d and end %d", len(recs), f.Start, f.End)
		}
		for j, rec := range recs {
			where := op.Position{Incarnation: f.Incarnation, Generation: f.Generation, Offset: f.Start + op.Offset(j)}
			c.seen(p, i+1, where, rec.Payload)
			if c.resets == nil && first != nil && j < len(first) && first[j] != rec {
				c.report(p, i+1, "OffsetUnique", "%s holds %.20s here, %.20s elsewhere", where, rec.Payload, first[j].Payload)
			}
		}
		if first == nil {
			first = recs
		}
		if c.resets != nil && v.Role == consensus.Leader {
			for _, b := range m.Bookmarks() {
				if next := b.Position; next.Generation == f.Generation {
					next.Offset++
					c.covers(p, i+1, b.Key, m, f.Start, next)
				}
			}
		}
		if want := p.clients.end(f.Generation); f.End < want {
			c.report(p, i+1, "AckDurable", "the end is %d, messages up to offset %d of generation %d were acknowledged or read", f.End, want-1, f.Generation)
		}
	}
}
