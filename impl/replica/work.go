package replica

import (
	"purgelab/impl/consensus"
	"purgelab/impl/defect"
	"purgelab/impl/raftlog"
	"purgelab/model/op"
)

// stage is where the batch between Ready and Advance stands.
type stage uint8

const (
	idle stage = iota
	written
	syncing // by whoever drives this replica
)

// work does one piece: a stage of the consensus pipeline or a step of
// materializing, by turns when both have something to do, and one phase of the
// reads that can move.
func (r *Replica) work() error {
	r.askReads()
	consensusWork, localWork := r.hasConsensusWork(), r.hasLocalWork()
	var err error
	if consensusWork && !(localWork && r.localTurn) {
		r.localTurn = true
		err = r.consensusStage()
	} else if localWork {
		r.localTurn = false
		err = r.localStep()
	}
	if err != nil {
		return err
	}
	return r.readStep()
}

func (r *Replica) hasWork() bool {
	if r.sealed || r.copy != nil {
		return !r.sealed && r.copyWork()
	}
	return r.hasConsensusWork() || r.hasLocalWork() || r.readable() ||
		len(r.reads.fresh) > 0
}

func (r *Replica) hasConsensusWork() bool {
	return r.stage == written || r.stage == idle && r.node.HasReady()
}

func (r *Replica) hasLocalWork() bool { return r.canApply() || r.canTidy() || r.canTransfer() }

func (r *Replica) canApply() bool {
	return r.pause == 0 && (r.purge != nil && r.cleanLater == 0 && (r.purge.task != nil || r.mayEndInLog()) || r.applied < r.committed && !r.blocked)
}

func (r *Replica) canTidy() bool {
	return r.later == 0 && (r.checkpoint != nil || r.reclaim || r.trim || r.unlink || r.homes || r.check || r.mayCheckpoint())
}

// canTransfer: a transfer can go on.
func (r *Replica) canTransfer() bool {
	return r.sealing() && r.later == 0 && r.stage == idle || r.sender != nil && r.sender.Work()
}

// consensusStage takes a batch from raft to Advance in two stages: write and
// send; sync, and send what promises that something is durable. One sync covers
// all that came in one batch: that is group commit.
func (r *Replica) consensusStage() error {
	if r.stage == idle {
		b, ok := r.node.Ready()
		if !ok {
			return nil
		}
		r.batch = b
		if b.State != nil || len(b.Entries) > 0 {
			if err := r.jr.Append(b.State, b.Entries); err != nil {
				return err
			}
			if err := r.jr.Append(b.After, nil); err != nil {
				return err
			}
			r.journaled(b.Entries)
		}
		r.send(b.Early)
		if b.MustSync && r.cfg.SyncBeside {
			r.stage, r.out.Sync = syncing, r.jr.BeginSync()
			r.commitEarlier()
			return nil
		}
		if r.stage = written; b.MustSync {
			return nil
		}
	} else if r.batch.MustSync {
		if err := r.jr.Sync(); err != nil {
			return err
		}
		r.out.Synced = true
	}
	return r.endBatch()
}

// commitEarlier hands over what the batch says is committed of batches before it:
// that is durable here already, and is materialized during the sync. A change of
// membership is in force only after it, and must not be materialized before.
func (r *Replica) commitEarlier() {
	for i := range r.batch.Committed {
		e := &r.batch.Committed[i]
		if e.Type == raftlog.ConfChange || len(r.batch.Entries) > 0 && e.Op >= r.batch.Entries[0].Op {
			return
		}
		r.committed = e.Op + r.line.shift
	}
}

// synced goes on after a sync that was made beside other steps.
func (r *Replica) synced(err error) error {
	if r.stage != syncing {
		panic("replica: a sync ended that nobody asked for")
	}
	if err := r.jr.EndSync(err); err != nil {
		return err
	}
	r.localTurn = false // the disk waits for the next batch
	return r.endBatch()
}

// endBatch sends what had to wait, and hands over what is committed.
func (r *Replica) endBatch() error {
	b := r.batch
	r.stage, r.batch = idle, consensus.Batch{}
	r.send(b.Late)
	if n := len(b.Committed); n > 0 {
		r.committed = b.Committed[n-1].Op + r.line.shift
	}
	for _, rd := range b.Reads {
		r.readRoundDone(rd.Ctx, rd.Index+r.line.shift)
	}
	return r.changed(r.node.Advance())
}

// localStep takes one step of materializing. Whatever is begun is finished
// first: a checkpoint before a purge, a purge before the ops after it. A
// checkpoint that waits after a failure is given up for a purge. What the disk
// refuses is tried again after a pause; see trouble.go.
func (r *Replica) localStep() error {
	switch {
	case r.sealing() && r.later == 0 && r.stage == idle:
		return r.sealStep()

	case r.checkpoint != nil && r.later == 0:
		if err := r.saveStep(); err != nil || r.later > 0 {
			return err
		}
		// Ops may be materialized between the steps of a checkpoint.
		if r.purge == nil && r.canApply() {
			return r.again(&r.pause, r.applySome())
		}
		return nil

	case r.purge != nil && r.canApply():
		if r.cleaning() {
			return r.cleanOrApply()
		}
		if r.purge.deferred && r.purge.task == nil && r.applied < r.committed {
			return r.again(&r.pause, r.applySome())
		}
		r.checkpoint = nil
		r.out.Synced = true
		return r.again(&r.pause, r.purgeStep())

	case r.canApply():
		return r.again(&r.pause, r.applySome())

	case r.sender != nil && r.sender.Work():
		return r.serveStep()

	case r.later > 0:

	case r.mayCheckpoint():
		return r.beginSaving()

	case r.trim || r.unlink:
		return r.trimStep()

	case r.homes:
		return r.homeStep()

	case r.reclaim:
		return r.removeStep()

	case r.check:
		more, err := r.eng.Check()
		if err != nil {
			return r.again(&r.later, err)
		}
		r.check = more
	}
	return nil
}

func (r *Replica) request(q Request) {
	switch {
	case q.Incarnation > r.cfg.Incarnation || r.applied < r.line.baseLast():
		// The namesake that it means exists, or will soon; this one will be gone.
		r.answer(q.Token, op.Reply{Code: op.NotReady})
	case !r.leading:
		r.answer(q.Token, op.Reply{Code: op.NotLeader})
	case !r.serving || r.stuck():
		r.answer(q.Token, op.Reply{Code: op.NotReady})
	case q.Incarnation != 0 && q.Incarnation < r.cfg.Incarnation && !r.cfg.Defects.Has(defect.IncarnationIgnored):
		// Whatever it asks for, it is told where the log stands now: that is a read.
		r.reads.fresh = append(r.reads.fresh, &read{token: q.Token, req: q.Op, stale: true})
	case !r.valid(q.Op):
		reply := op.Reply{Code: op.BadRequest}
		if q.Op.Kind == op.DeleteRecords {
			reply.Position.Offset = -1
		}
		r.answer(q.Token, reply)
	case q.Op.Kind == op.Purge && q.Op.Expected != nil && r.cfg.Design == ResetRecord:
		// Each replica would compare at an instant of its own.
		r.answer(q.Token, op.Reply{Code: op.PolicyViolation})
	case r.refusesDuringReset(q.Op):
		r.answer(q.Token, op.Reply{Code: op.Transient})
	case q.Op.Kind == op.Purge && r.cfg.Design.Intents():
		r.awaitPurge(q)
	case q.Op.Mutates():
		if r.holds(q.Op) {
			r.hold(q)
			return
		}
		r.admit(q)
	default:
		r.reads.fresh = append(r.reads.fresh, &read{token: q.Token, req: q.Op})
	}
}

// valid refuses what no state could make legal.
func (r *Replica) valid(req *op.Request) bool {
	byIntent := req.Kind == op.Purge && r.cfg.Design.Intents()
	if (req.Session == 0) != (req.Sequence == 0) && req.Mutates() && req.Kind != op.Register && !byIntent {
		return false
	}
	switch req.Kind {
	case op.Append:
		return len(req.Payloads) > 0
	case op.Poll:
		return req.Max > 0
	case op.Purge:
		return req.Intent > 0 || !byIntent
	case op.Register, op.StoreBookmark, op.DeleteBookmark, op.GetBookmark, op.ListOffsets, op.DeleteRecords:
		return true
	}
	return false
}

// propose hands a request to consensus. An error means that it was not proposed
// and has no effect.
func (r *Replica) propose(req *op.Request) (uint64, error) {
	r.counter++
	c := &command{Origin: r.origin, Number: r.counter, Time: op.Timestamp(r.now), Request: *req}
	c.Request.Incarnation = 0 // it is this one, or none was named
	if r.cfg.Defects != 0 {
		c.Hint = r.hint(req)
	}
	data := encodeCommand(c)
	if r.cfg.Policy.of(req) == Replicated {
		data = append([]byte{replicatedMark}, data...)
	}
	if err := r.node.Propose(data); err != nil {
		return 0, err
	}
	r.proposals = append(r.proposals, proposal{data, c})
	return r.counter, nil
}

// hint is what two defects decide at proposal: the offset of an append, and one
// more than the bookmark of an auto-commit poll.
func (r *Replica) hint(req *op.Request) op.Offset {
	if req.Kind == op.Append {
		return r.eng.Facts().End
	}
	if req.Kind == op.Poll {
		if from, count, refusal, err := plan(r.eng, req); err == nil && refusal == nil && count > 0 {
			return from + op.Offset(count)
		}
	}
	return 0
}

// readyToLead tells whether this leader has materialized an entry of its own
// term: only then does it know all that was committed before it.
func (r *Replica) readyToLead() bool {
	own := r.node.Status().OwnTermEntry
	return r.leading && own > 0 && r.applied >= own+r.line.shift
}
