package invariant

import (
	"fmt"
	"slices"

	"purgelab/impl/observe"
	"purgelab/impl/replica"
	"purgelab/model/op"
)

// This file judges the design reset-record. Replicas purge at instants of their
// own, so there is no one state after an op: each replica is held to what it did
// itself, and against the others only where they execute the same op, or where a
// client was told. The design breaks several of these by nature:
//
//	BoundaryAgreement     the floors of one generation differ
//	NoHiddenFresh         an op that one replica executes in a generation is
//	                      filtered in it by another, or removed when that one
//	                      resets it
//	NoResurrectedMessage  a message that a client was told to be of a generation is
//	                      there in a newer one
//	OffsetUnique, SessionOnce, AckDurable
//	                      a position holds two messages, a message has two
//	                      positions in a generation, or a replica that is in the
//	                      generation has not got that far

// resetPart is the account of one partition.
type resetPart struct {
	floors   map[op.Generation]op.Number // the first one seen of each
	chosen   []choice
	executed [][]execution // by op number: appends
	replicas []resetReplica
}

// choice is the floor that a replica took when it purged: it had all ops up to there.
type choice struct {
	replica int
	gen     op.Generation
	floor   op.Number
}

// had is up to which op another replica than one had the log when it chose the floor that
// this one has got with a state; 0 if none chose it.
func (a *resetPart) had(id int, g op.Generation, floor op.Number) op.Number {
	if slices.ContainsFunc(a.chosen, func(x choice) bool { return x.replica != id && x.gen == g && x.floor == floor }) {
		return floor
	}
	return 0
}

// execution of an append on a replica.
type execution struct {
	replica  int
	gen      op.Generation
	filtered bool
}

// resetReplica is what one replica did.
type resetReplica struct {
	last    op.Number // last op that took effect since the boot
	now     state
	floor   op.Number
	synced  op.Generation // whose segments are durably gone
	reset   op.Generation // whose reset is recorded
	cleaned op.Generation // whose bookmarks are gone
	done    op.Generation // whose completion is recorded
	held    []change      // changes of bookmarks that wait
	found   op.Generation // whose reset the boot found, which finishes its cleanup at once
	kept    op.Number     // ops above were neither journaled nor committed at the boot, nor had by who chose its floor
	over    bool          // the purge they wait for has just ended
	member  Subject       // itself, to read from
	anew    bool          // op numbers have begun anew, so floors too
	staged  bool          // the state of another is whole on its disk: a boot may find it installed
}

// Design says which rules hold; without it those of ordered.
func (c *Checker) Design(d replica.Design) {
	c.resets = nil
	if d != replica.ResetRecord {
		return
	}
	for _, p := range c.parts {
		c.resets = append(c.resets, &resetPart{
			floors:   map[op.Generation]op.Number{},
			replicas: make([]resetReplica, len(p.replicas)),
		})
	}
}

// resetBooted compares a disk with what its replica did.
func (c *Checker) resetBooted(p *part, id int, v *replica.View) {
	a := c.resets[p.id]
	r := &a.replicas[id]
	f := &v.Facts
	if f.Generation < r.reset || f.Settled < r.done {
		c.report(p, id, "GenerationMonotone", "boots in generation %d, complete %d, had reset %d and completed %d", f.Generation, f.Settled, r.reset, r.done)
	}
	if f.Generation > r.reset && f.Generation > r.synced && !r.staged {
		c.report(p, id, "NoErrorNoAdvance", "boots in generation %d, but no step reset its messages", f.Generation)
	}
	if f.Generation == 0 && f.Boundary > 0 {
		c.report(p, id, "IncarnationIsolation", "boots with the floor op %d, and no generation was ever reset in incarnation %d", f.Boundary, f.Incarnation)
	}
	switch {
	case f.Generation != r.reset || r.reset == 0 || f.Boundary == r.floor || r.anew || r.staged:
		c.resetFloor(p, id, f.Generation, f.Boundary)
	case f.Boundary > r.floor:
		c.report(p, id, "RetryIdempotent", "generation %d was reset again: its floor was op %d, after the boot it is op %d", f.Generation, r.floor, f.Boundary)
	default:
		c.report(p, id, "BoundaryScope", "the floor of generation %d was op %d, after the boot it is op %d", f.Generation, r.floor, f.Boundary)
	}
	*r = resetReplica{
		last: f.Applied, now: state{f.Generation, f.Start, f.End}, floor: f.Boundary, kept: max(v.Last, p.committed, a.had(id, f.Generation, f.Boundary)),
		synced: max(r.synced, f.Generation), reset: f.Generation, cleaned: f.Settled, done: f.Settled,
	}
}

// change is one of a bookmark.
type change struct {
	kind, key string
	at        op.Offset // of a store
}

func changeOf(e *observe.Event) change { return change{e.Kind, e.Key, e.Offset} }

// String implements fmt.Stringer.
func (c change) String() string {
	if c.kind == "store" {
		return fmt.Sprintf("%s at %d", c.key, c.at)
	}
	return c.kind + " of " + c.key
}

// resetFloor: all replicas discard the same ops.
func (c *Checker) resetFloor(p *part, id int, g op.Generation, floor op.Number) {
	if g == 0 {
		return
	}
	a := c.resets[p.id]
	if first, ok := a.floors[g]; !ok {
		a.floors[g] = floor
	} else if first != floor {
		c.report(p, id, "BoundaryAgreement", "the floor of generation %d is op %d here, op %d elsewhere", g, floor, first)
	}
}

// observeReset takes the events that the design shares with no other.
func (c *Checker) observeReset(p *part, e *observe.Event) {
	a := c.resets[p.id]
	r := &a.replicas[e.Replica]
	if r.over && e.Action != "Release" && e.Action != "Refuse" && e.Action != "Answer" && e.Action != "Serve" {
		if len(r.held) > 0 {
			c.report(p, e.Replica, "HeldCommits", "%v was held during the cleanup of generation %d and forgotten", r.held[0], r.done)
		}
		r.over, r.held = false, nil
	}
	switch e.Action {
	case "Boot":
		r.found, r.over, r.held = e.Generation, false, nil
	case "ResetFrontier":
		if e.Generation <= r.reset {
			c.report(p, e.Replica, "RetryIdempotent", "resets generation %d again, whose messages were reset; the end was %d", e.Generation, r.now.end)
		}
		r.cleaned = min(r.cleaned, e.Generation-1)
	case "SyncSegments":
		r.synced = e.Generation
	case "ResetRecord":
		if r.synced < e.Generation {
			c.report(p, e.Replica, "CompletionLast", "the reset of generation %d is recorded before its segments are gone", e.Generation)
		}
		r.reset, r.floor, r.now, r.kept = e.Generation, e.Op, state{gen: e.Generation}, 0
		a.chosen = append(a.chosen, choice{e.Replica, e.Generation, e.Op})
		c.resetFloor(p, e.Replica, e.Generation, e.Op)
		c.removes(p, e.Replica, e.Generation, e.Op)
	case "SyncBookmarks":
		r.cleaned = e.Generation
	case "PurgeComplete":
		if r.reset != e.Generation && r.found != e.Generation || r.cleaned < e.Generation {
			c.report(p, e.Replica, "CompletionLast", "generation %d is recorded as complete; reset is %d, cleaned up %d", e.Generation, r.reset, r.cleaned)
		}
		r.done, r.over = e.Generation, true
	case "Filtered":
		c.resetOrder(p, r, e)
		if e.Op > r.floor {
			c.report(p, e.Replica, "BoundaryScope", "op %d is filtered, the floor is op %d", e.Op, r.floor)
		}
		c.resetCompare(p, r, e, effect{kind: "other"})
		if e.Kind == "append" {
			if r.kept != 0 && e.Op > r.kept {
				c.report(p, e.Replica, "NoHiddenFresh", "op %d is filtered in generation %d, but nobody had it when this replica booted with the floor", e.Op, r.now.gen)
			}
			c.resetExecuted(p, e.Op, execution{e.Replica, r.now.gen, true})
		}
		if e.Kind == "store" {
			c.executedStore(p, e, r.now.gen, true)
		}
	case "Materialize":
		c.resetOrder(p, r, e)
		did := effect{e.Kind, e.Key, e.Offset, e.Count, 0}
		c.resetCompare(p, r, e, did)
		if e.Kind == "other" {
			return
		}
		if e.Op <= r.floor {
			name := "NoResurrectedMessage"
			if e.Kind != "append" {
				name = "NoResurrectedBookmark"
			}
			c.report(p, e.Replica, name, "op %d takes effect in generation %d, whose floor is op %d", e.Op, r.now.gen, r.floor)
		}
		if e.Kind != "append" && e.Kind != "advance" && r.reset > r.done {
			c.report(p, e.Replica, "HeldCommits", "op %d changes the bookmark of %s during the cleanup of generation %d", e.Op, e.Key, r.reset)
		}
		switch e.Kind {
		case "append":
			c.resetExecuted(p, e.Op, execution{e.Replica, r.now.gen, false})
		case "store":
			c.executedStore(p, e, r.now.gen, false)
		}
	case "StageState", "StageManifest", "DropTransfer":
		r.staged = e.Action == "StageState"
	case "CommitInstall":
		c.resetInstalled(p, r, e)
	case "Hold":
		r.held = append(r.held, changeOf(e))
	case "Release", "Refuse": // into the log, or with an answer that promises no effect
		if len(r.held) == 0 || r.held[0] != changeOf(e) {
			c.report(p, e.Replica, "HeldCommits", "%v is let go, held are %v", changeOf(e), r.held)
			return
		}
		r.held = r.held[1:]
	}
}

// resetInstalled: a replica has the state of another, with its floor, and goes on from
// there. What it did itself is forgotten; a generation that it has left does not come
// back.
func (c *Checker) resetInstalled(p *part, r *resetReplica, e *observe.Event) {
	if e.Generation < r.reset {
		c.report(p, e.Replica, "GenerationMonotone", "installs generation %d as of op %d, had reset %d", e.Generation, e.Op, r.reset)
	}
	if e.Op <= r.last {
		c.report(p, e.Replica, "OfferFreshness", "installs the state as of op %d, had that of op %d", e.Op, r.last)
	}
	floor := r.member.View().Facts.Boundary
	if floor > e.Op && e.End > 0 { // else nothing is above it yet
		c.report(p, e.Replica, "BoundaryScope", "installs the state as of op %d with the floor op %d, measured in others", e.Op, floor)
	}
	c.resetFloor(p, e.Replica, e.Generation, floor)
	*r = resetReplica{
		last: e.Op, now: state{e.Generation, e.Start, e.End}, floor: floor, synced: e.Generation,
		reset: e.Generation, cleaned: e.Generation, done: e.Generation, held: r.held, member: r.member,
	}
}

// resetExecuted compares the execution of an append with that by other replicas.
func (c *Checker) resetExecuted(p *part, n op.Number, x execution) {
	a := c.resets[p.id]
	for int(n) >= len(a.executed) {
		a.executed = append(a.executed, nil)
	}
	for _, o := range a.executed[n] {
		if o == x {
			return // again, after a boot
		}
		r := &a.replicas[o.replica]
		switch {
		case o.replica == x.replica:
		case o.gen == x.gen && o.filtered && !x.filtered:
			c.report(p, x.replica, "NoHiddenFresh", "op %d is materialized in generation %d, replica %d filtered it there", n, x.gen, o.replica)
		case o.gen == x.gen && !o.filtered && x.filtered:
			c.report(p, x.replica, "NoHiddenFresh", "op %d is filtered in generation %d, replica %d materialized it there", n, x.gen, o.replica)
		case o.gen < x.gen && !o.filtered && !x.filtered && r.reset == x.gen && n <= r.floor:
			c.report(p, x.replica, "NoHiddenFresh", "op %d is materialized in generation %d, replica %d removed it when it reset that", n, x.gen, o.replica)
		}
	}
	a.executed[n] = append(a.executed[n], x)
}

// removes looks at the messages that a reset takes away: no other replica has
// executed them in the new generation.
func (c *Checker) removes(p *part, id int, g op.Generation, floor op.Number) {
	a := c.resets[p.id]
	for n := op.Number(0); n <= floor && int(n) < len(a.executed); n++ {
		mine, other := false, 0
		for _, x := range a.executed[n] {
			switch {
			case x.filtered:
			case x.replica == id:
				mine = mine || x.gen < g
			case x.gen == g:
				other = x.replica
			}
		}
		if mine && other != 0 {
			c.report(p, id, "NoHiddenFresh", "the reset of generation %d removes op %d, which replica %d materialized in it", g, n, other)
		}
	}
}

// resetOrder: after a boot each op takes effect once, in order, none skipped.
func (c *Checker) resetOrder(p *part, r *resetReplica, e *observe.Event) {
	switch {
	case e.Op > r.last+1:
		c.report(p, e.Replica, "NoHiddenFresh", "op %d took effect after op %d: those between are hidden", e.Op, r.last)
	case e.Op <= r.last:
		c.report(p, e.Replica, "RetryIdempotent", "op %d took effect again after op %d", e.Op, r.last)
	}
	r.last = max(r.last, e.Op)
}

// resetCompare: the state is the one before plus the effect.
func (c *Checker) resetCompare(p *part, r *resetReplica, e *observe.Event, did effect) {
	want, got := r.now.plus(did), state{e.Generation, e.Start, e.End}
	c.compare(p, e, want, got, "by the op before it")
	r.now = got
}

// resetUnfailed: no generation shows, in memory, that no step has reached.
func (c *Checker) resetUnfailed(p *part, id int, v *replica.View) {
	r := &c.resets[p.id].replicas[id]
	if g := max(r.reset, r.found); v.Facts.Generation > g {
		c.report(p, id, "NoErrorNoAdvance", "is in generation %d, but the last whose reset was recorded is %d", v.Facts.Generation, g)
	}
}
