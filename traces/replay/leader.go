package replay

import (
	"reflect"

	"go.etcd.io/raft/v3/raftpb"

	"purgelab/impl/replica"
	"purgelab/model/op"
	"purgelab/traces/behaviours"
)

// This file is the leader that the driver speaks for: what its log holds, and what of that
// it brings. One that is elected in its place has a term of its own, and may lack what was
// not committed.

// firstTerm is that of the first one. The bootstrap is of the term before.
const firstTerm = 2

// proposal is an op of the log, with the term in which it was proposed.
type proposal struct {
	op.Request
	term uint64
}

// unparted: the journal of the replica holds nothing that the log has not.
const unparted = int(^uint(0) >> 1)

// propose adds an op to the log.
func (d *driver) propose(r op.Request) { d.log = append(d.log, proposal{r, d.term}) }

// replaces has another leader come, whose log has ops up to n. What the replica holds above
// that is dropped when it is brought something else in its place.
func (d *driver) replaces(n int) {
	d.log, d.parted = d.log[:n], min(d.parted, n)
	d.term++
}

// agreed adds what is committed as op n: the one that the log has, or another one, which
// another leader proposed.
func (d *driver) agreed(n int, r op.Request) error {
	switch same := n <= len(d.log) && reflect.DeepEqual(d.log[n-1].Request, r); {
	case n <= d.committed && !same:
		return errCommitted
	case n > len(d.log):
		d.propose(r)
	case !same:
		d.replaces(n - 1)
		d.propose(r)
	}
	d.committed = max(d.committed, n)
	return nil
}

// shared is up to which op of the log the journal of the replica has it.
func (d *driver) shared() int { return min(int(d.r.View().Last)-1, d.parted) }

// commit makes op n of the specification known to be committed, and brings it if the
// replica does not have it.
func (d *driver) commit(n int) error {
	if err := d.agree(); err != nil {
		return err
	}
	d.committed = max(d.committed, min(n, len(d.log)))
	if v := d.r.View(); d.shared() < n {
		return d.deliver(n, n)
	} else if int(v.Committed) >= n+1 {
		return nil
	}
	return d.hear(&raftpb.Message{Type: raftpb.MsgHeartbeat.Enum(), Commit: ptr(uint64(n + 1))})
}

// deliver brings all ops up to n that the replica does not have, of which those up to
// committed are.
func (d *driver) deliver(n, committed int) error {
	from := d.shared()
	if from > len(d.log) {
		return errLeads
	}
	if n > from {
		if err := d.has(n, 0); err != nil {
			return err
		}
	}
	m := &raftpb.Message{Type: raftpb.MsgApp.Enum(), Index: ptr(uint64(from + 1)), LogTerm: ptr(d.termOf(op.Number(from + 1))), Commit: ptr(uint64(committed + 1))}
	for i := from; i < n; i++ {
		e := &d.log[i]
		m.Entries = append(m.Entries, &raftpb.Entry{Index: ptr(uint64(i + 2)), Term: ptr(e.term), Type: raftpb.EntryNormal.Enum(), Data: replica.Command(&e.Request, 1)})
	}
	if n > d.parted {
		d.parted = unparted
	}
	d.cut = 0
	return d.hear(m)
}

// takeCut has another leader come that lacks what is above op n.
func takeCut(d *driver, a *behaviours.Act) error {
	n, last := integer(a.With["n"]), int(d.r.View().Last)-1
	held := n < d.parted && n < len(d.log) // the log has what is to be cut
	switch {
	case n >= last:
		return d.has(n, -1)
	case held && n < d.committed:
		return errCommitted
	case held:
		d.replaces(n)
	}
	d.cut = last - n
	return nil
}

// succeeds has another leader come that has the same log, and lets the replica hear of it.
func (d *driver) succeeds() error {
	d.term++
	return d.heartbeat()
}

func (d *driver) heartbeat() error {
	return d.hear(&raftpb.Message{Type: raftpb.MsgHeartbeat.Enum(), Commit: ptr[uint64](0)})
}

// hear brings a message of the leader.
func (d *driver) hear(m *raftpb.Message) error {
	m.Term = ptr(d.term)
	return d.tell(m)
}

// termOf is the term of op n of the implementation.
func (d *driver) termOf(n op.Number) uint64 {
	if n <= 1 {
		return firstTerm - 1
	}
	return d.log[n-2].term
}
