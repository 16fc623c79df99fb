package replica

import (
	"errors"
	"slices"

	"purgelab/impl/engine"
	"purgelab/impl/observe"
	"purgelab/impl/transfer"
	"purgelab/model/op"
)

// This file is the leader's side of a transfer: it offers the last durable checkpoint
// to members that need more than the log has, and sends its messages in chunks,
// bounded in each tick. What it offers it holds: the log above it stays, too, until the
// member that has installed it has caught up with the log.

// idleTicks is how long something stays for a member that makes no use of it.
const idleTicks = 2 * fetchTicks * fetchTries

// TransferOptions bound what a transfer takes.
type TransferOptions struct {
	// ChunkBytes, Window and Budget are those of package transfer: of a chunk, chunks
	// asked for at a time, and bytes that leave in a tick.
	ChunkBytes, Window, Budget int
}

// serve answers a request of a member: for a manifest, or for chunks.
// Who copies the base gets a state from whoever has the base, however that one stands:
// the checkpoint holds what was committed, the base goes on from it or from an op before,
// and whoever copies the two promises nothing beyond the base.
func (r *Replica) serve(by *Message, q *transfer.Request) error {
	to, member, must := by.From, by.Member, op.Number(0)
	if copies := by.Base != nil && len(r.line.segments) > 0; !copies {
		must = r.committed
		if held := r.sender != nil && r.sender.Holds(member); !held {
			if err := r.standing().Check(); err != nil {
				return r.notOffered(err)
			}
		}
		if !r.leading {
			return nil
		}
	}
	r.node.Fetching(member)
	if r.sender == nil {
		r.sender = transfer.NewSender(transfer.SenderOptions{
			ChunkBytes: r.cfg.Transfer.ChunkBytes, Budget: r.cfg.Transfer.Budget,
			IdleTicks: idleTicks, Defects: r.cfg.Defects,
		})
	}
	if q.Offer != 0 {
		if m := r.sender.Request(member, q); m != nil {
			r.sendTransfer(to, m)
		}
		return nil
	}
	m := r.sender.Manifest(member)
	if m == nil {
		var err error
		if m, err = r.sender.Offer(member, r.eng, r.termOf); err != nil {
			return r.notOffered(err)
		}
		r.tooLarge = false
		r.emit(observe.Event{Action: "OfferTransfer", Op: m.Point.Applied, Term: m.Term, Generation: m.Point.Generation, Boundary: m.Point.Boundary, Last: must})
	}
	r.sendTransfer(to, &transfer.Message{Offer: m, ID: m.ID()})
	return nil
}

// notOffered handles that there is nothing to offer: not before the next checkpoint, or not
// by this replica.
func (r *Replica) notOffered(err error) error {
	reason, refused := transfer.Refused(err)
	if !refused && !errors.Is(err, engine.ErrNoPoint) {
		return r.again(&r.later, err)
	}
	tell := r.log.Debug
	if reason == transfer.TooLarge && !r.tooLarge { // nobody can catch up until it is smaller
		tell, r.tooLarge = r.log.Warn, true
	}
	tell("transfer not offered", "replica", r.cfg.ID, "partition", r.cfg.Partition, "error", err)
	if refused {
		r.emit(observe.Event{Action: "RefuseTransfer", Kind: string(reason)})
	} else if r.checkpoint == nil {
		r.since = max(r.since, r.cfg.CheckpointOps)
	}
	return nil
}

// standing says whether this replica may offer its state. It need not have committed
// anything in its term: whoever it is offered to may be needed for that, and what a
// checkpoint holds was committed before.
func (r *Replica) standing() transfer.Standing {
	return transfer.Standing{Suspect: r.joining, Serving: r.serving, Applied: r.applied, Must: r.committed}
}

// termOf is the term of an op of the line.
func (r *Replica) termOf(n op.Number) (uint64, error) { return r.jr.Term(r.own(n)) }

// serveStep sends one chunk.
func (r *Replica) serveStep() error {
	to, m, err := r.sender.Next()
	if err != nil {
		return r.again(&r.later, err)
	}
	if m != nil {
		r.node.Fetching(to)
		r.sendTransfer(machineOf(to), m)
	}
	return nil
}

// catching is a member that has installed what it was offered, and goes on from there
// by the log, which stays above what it has until it has all that a checkpoint covers.
type catching struct {
	member uint64
	has    op.Number // of the log's own numbers
	behind op.Number // how many ops of the log it lacked when it was closest
	left   int       // ticks until it is given up, if it does not come closer
}

// installed lets an offer go: the member that it was made to has it.
func (r *Replica) installed(member uint64) {
	if r.leading {
		has := r.own(r.sender.Manifest(member).Point.Applied)
		r.catching = slices.DeleteFunc(r.catching, func(x catching) bool { return x.member == member })
		r.catching = append(r.catching, catching{member: member, has: has, behind: r.jr.Last() - has, left: idleTicks})
	}
	r.sender.Drop(member)
	r.trim = r.cfg.Compact.On()
	r.node.Fetched(member, true)
}

// tickCatching looks how far members have come that catch up. One that is down, or
// slower than the log grows, is given up: it must not hold the log for ever.
func (r *Replica) tickCatching() {
	var rest []catching
	for _, x := range r.catching {
		match, ok := r.node.Match(x.member)
		x.has = max(x.has, match)
		if behind := r.jr.Last() - x.has; behind < x.behind {
			x.behind, x.left = behind, idleTicks
		}
		caughtUp := ok && match >= r.own(r.durable)
		if x.left--; !caughtUp && x.left > 0 {
			rest = append(rest, x)
		}
		r.trim = r.cfg.Compact.On()
	}
	r.catching = rest
}

// tickServe lets offers go that nobody works on.
func (r *Replica) tickServe() {
	if r.sender == nil {
		return
	}
	r.tickCatching()
	for _, to := range r.sender.Tick() {
		r.node.Fetched(to, false)
		r.trim = r.cfg.Compact.On()
	}
}

// stopServing ends all offers: this replica does not lead any more.
func (r *Replica) stopServing() {
	if r.sender != nil {
		r.sender.Close()
		r.sender, r.catching, r.trim = nil, nil, r.cfg.Compact.On()
	}
}
