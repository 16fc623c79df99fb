package replica

import (
	"purgelab/impl/defect"
	"purgelab/impl/observe"
	"purgelab/model/op"
)

// A read waits until this leader has proved that it still leads and has
// materialized every op committed when the read came. Then it goes through three
// phases, each a step of its own, so that a purge or a deletion may fall between
// any two of them: plan a range, read it, complete. A read whose era ended, or
// whose range was deleted, before it completes is planned again, except a poll
// with auto-commit: its range was fixed when it was applied, so it is Gone.
type phase uint8

const (
	waiting phase = iota
	planning
	reading
	completing
)

type read struct {
	token uint64
	req   *op.Request
	phase phase
	index op.Number // materialize up to here first
	era   op.Generation
	reply op.Reply
	fixed bool      // the range of an auto-commit poll
	stale bool      // the request means an incarnation that is over: only that is answered
	op    op.Number // that it is, 0 for other reads
}

// reads holds the reads in progress. Those that came since the last round wait
// in fresh; one round of proving leadership serves them all.
type reads struct {
	base, round uint64 // contexts are base+round: base is unique to this boot
	fresh       []*read
	rounds      []readRound // asked, not answered
	active      []*read
}

type readRound struct {
	ctx   uint64
	reads []*read
	age   int // ticks since it was asked
}

// readRetryTicks is after how many ticks a lost round is asked again.
const readRetryTicks = 10

func (q *reads) add(rd *read) { q.active = append(q.active, rd) }

// askReads begins a round for the reads that came since the last one.
func (r *Replica) askReads() {
	if len(r.reads.fresh) == 0 {
		return
	}
	if r.cfg.Defects.Has(defect.StaleRead) {
		for _, rd := range r.reads.fresh {
			rd.phase = planning
			r.reads.add(rd)
		}
		r.reads.fresh = nil
		return
	}
	r.reads.round++
	ctx := r.reads.base + r.reads.round
	r.reads.rounds = append(r.reads.rounds, readRound{ctx: ctx, reads: r.reads.fresh})
	r.reads.fresh = nil
	if err := r.node.ReadIndex(ctx); err != nil {
		r.log.Debug("read round refused", "error", err) // the timer asks again
	}
}

// readRoundDone moves the reads of a proved round on.
func (r *Replica) readRoundDone(ctx uint64, index op.Number) {
	for i, round := range r.reads.rounds {
		if round.ctx != ctx {
			continue
		}
		for _, rd := range round.reads {
			rd.index, rd.phase = index, planning
			r.reads.add(rd)
		}
		r.reads.rounds = append(r.reads.rounds[:i], r.reads.rounds[i+1:]...)
		return
	}
}

// retryReads asks again for rounds that the network lost.
func (r *Replica) retryReads() {
	for i := 0; i < len(r.reads.rounds); i++ {
		round := &r.reads.rounds[i]
		if round.age++; round.age >= readRetryTicks {
			r.reads.fresh = append(r.reads.fresh, round.reads...)
			r.reads.rounds = append(r.reads.rounds[:i], r.reads.rounds[i+1:]...)
			i--
		}
	}
}

// failReads refuses the reads of a leadership that ended. Reads change nothing,
// so the refusal is definite; a poll whose auto-commit was applied is not among
// those refused, it only reads on.
func (r *Replica) failReads() {
	refuse := func(rs []*read) {
		for _, rd := range rs {
			r.answer(rd.token, op.Reply{Code: op.NotLeader})
		}
	}
	refuse(r.reads.fresh)
	for _, round := range r.reads.rounds {
		refuse(round.reads)
	}
	r.reads.fresh, r.reads.rounds = nil, nil
	kept := r.reads.active[:0]
	for _, rd := range r.reads.active {
		if rd.fixed {
			kept = append(kept, rd)
		} else {
			refuse([]*read{rd})
		}
	}
	r.reads.active = kept
}

// readable tells whether some read can take a step.
func (r *Replica) readable() bool {
	for _, rd := range r.reads.active {
		if rd.index <= r.applied {
			return true
		}
	}
	return false
}

// readStep takes every read that can move one phase further.
func (r *Replica) readStep() error {
	kept := r.reads.active[:0]
	for i, rd := range r.reads.active {
		done := false
		if rd.index <= r.applied {
			var err error
			if done, err = r.advanceRead(rd); err != nil && retryable(err) {
				done, err = r.unreadable(rd, err), nil
			}
			if err != nil {
				r.reads.active = append(kept, r.reads.active[i:]...)
				return err
			}
		}
		if !done {
			kept = append(kept, rd)
		}
	}
	r.reads.active = kept
	return nil
}

func (r *Replica) advanceRead(rd *read) (done bool, err error) {
	f := r.eng.Facts()
	switch rd.phase {
	case planning:
		if rd.stale {
			r.answer(rd.token, bounded(f, op.StaleIncarnation))
			return true, nil
		}
		if rd.req.Kind != op.Poll {
			reply, err := lookUp(r.eng, rd.req)
			if err != nil {
				return false, err
			}
			if r.cfg.Defects.Has(defect.EndFromRecords) && rd.req.Which == op.LatestOffset && f.Start == f.End && reply.Position.Offset == f.End {
				reply.Position.Offset = 0
			}
			r.served(rd, reply)
			return true, nil
		}
		from, count, refusal, err := plan(r.eng, rd.req)
		if err != nil {
			return false, err
		}
		if refusal != nil && r.movesBelowStart(rd.req, refusal) {
			from, count, refusal = f.Start, uint32(min(op.Offset(rd.req.Max), f.End-f.Start)), nil
		}
		if refusal != nil {
			r.served(rd, *refusal)
			return true, nil
		}
		rd.era, rd.reply = f.Generation, op.Reply{Position: position(f, from), Count: count}
		if rd.phase = reading; count == 0 {
			r.served(rd, rd.reply)
			return true, nil
		}

	case reading:
		if r.lostRange(rd) {
			return r.replan(rd), nil
		}
		if rd.reply.Records, err = r.eng.Read(rd.reply.Position.Offset, int(rd.reply.Count)); err != nil {
			return false, err
		}
		rd.phase = completing

	case completing:
		if r.lostRange(rd) {
			return r.replan(rd), nil
		}
		r.served(rd, rd.reply)
		return true, nil
	}
	return false, nil
}

// lostRange tells whether a purge or a deletion has taken the planned range.
func (r *Replica) lostRange(rd *read) bool {
	f := r.eng.Facts()
	return rd.era != f.Generation || rd.reply.Position.Generation != f.Generation || rd.reply.Position.Offset < f.Start
}

// replan sends a read back to its first phase; a fixed range is Gone instead.
func (r *Replica) replan(rd *read) (done bool) {
	rd.reply.Records = nil
	if !rd.fixed {
		rd.phase = planning
		return false
	}
	rd.reply.Code = op.Gone
	r.served(rd, rd.reply)
	return true
}

// served answers a read and reports what the client saw.
func (r *Replica) served(rd *read, reply op.Reply) {
	r.answering = rd.op
	r.answer(rd.token, reply)
	r.answering = 0
	if r.cfg.Sink == nil {
		return
	}
	ev := observe.Event{Action: "Answer", Kind: rd.req.Kind.String(), Offset: reply.Position.Offset, Count: int(reply.Count)}
	if rd.req.Kind == op.GetBookmark || rd.req.Kind == op.Poll && rd.req.Strategy == op.Next {
		ev.Key = rd.req.Key.String()
	}
	if reply.Code != op.OK {
		ev.Kind = reply.Code.String()
	}
	r.emit(ev)
}
