package replica

import (
	"purgelab/impl/observe"
	"purgelab/model/op"
)

// Job is one kind of disk work. By itself a replica does what localStep finds next;
// whoever has to lead it through a behaviour of the specification asks for the one
// that the behaviour takes next. What it does is the same.
type Job uint8

const (
	// NextJob: whatever is next.
	NextJob Job = iota
	// Agree takes a stage of consensus.
	Agree
	// ApplyOne materializes the next op that is committed, or takes up the purge that
	// it is.
	ApplyOne
	// PurgeOn takes the next step of the purge that was taken up.
	PurgeOn
	// Save takes a step of the checkpoint under way, or begins one.
	Save
	// Remove removes one thing that no state needs.
	Remove
	// ReadOn takes reads a phase further.
	ReadOn
	// Stage writes the rest of a state that is fetched, a step at a time, and does not
	// install it.
	Stage
	// Install does the same, and installs it once it is whole.
	Install
	// Clear removes one thing that is in no home.
	Clear
	// Give sends a chunk of a state that is offered and asked for.
	Give
	// Trim compacts the journal up to what is durable and nobody needs who is offered
	// something, or removes a file that it has left behind.
	Trim
)

// do is one piece of one kind of work. What is not to be done now is left alone.
func (r *Replica) do(j Job) error {
	switch {
	case j == Agree && r.hasConsensusWork():
		return r.consensusStage()
	case j == ApplyOne && r.applied < r.committed && !r.blocked:
		return r.again(&r.pause, r.applyUpTo(1))
	case j == PurgeOn && r.purge != nil:
		r.checkpoint = nil
		r.out.Synced = true
		return r.again(&r.pause, r.purgeStep())
	case j == Save && r.checkpoint != nil:
		return r.saveStep()
	case j == Save && r.covers():
		return r.beginSaving()
	case j == Remove:
		return r.removeStep()
	case j == ReadOn:
		return r.readStep()
	case j == Stage && r.sealing():
		_, err := r.stageStep()
		return err
	case j == Install && r.sealing() && r.stage == idle:
		return r.sealStep()
	case j == Clear && r.homes:
		return r.homeStep()
	case j == Give && r.sender != nil && r.sender.Work():
		return r.serveStep()
	case j == Trim && (r.trim || r.unlink):
		return r.trimStep()
	}
	return nil
}

// Look takes in a read of a client as one for which this replica has proved that it
// leads, and that it has materialized all that was committed.
func (r *Replica) Look(q Request) {
	r.reads.add(&read{token: q.Token, req: q.Op, phase: planning, index: r.applied})
}

// Command is the data of the log entry that a request becomes when a leader proposes
// it at a time. Nobody here waits for what becomes of it.
func Command(req *op.Request, at op.Timestamp) []byte {
	return encodeCommand(&command{Time: at, Request: *req})
}

// saveStep takes a step of the checkpoint under way.
func (r *Replica) saveStep() error {
	done, did, err := r.checkpoint.Step()
	if err != nil {
		return r.again(&r.later, err)
	}
	r.out.Synced = true
	if done {
		r.checkpoint, r.reclaim = nil, true
		r.snapshot(r.saving)
		r.emit(observe.Event{Action: did, Op: r.saving})
	}
	return nil
}

// beginSaving begins a checkpoint of what is materialized.
func (r *Replica) beginSaving() error {
	if err := r.syncBeforeSnapshot(r.applied); err != nil {
		return err
	}
	r.since = 0
	r.checkpoint, r.saving = r.eng.Checkpoint(r.encodeExtra()), r.applied
	return nil
}

// removeStep removes one thing that no state needs.
func (r *Replica) removeStep() error {
	did, err := r.eng.Reclaim()
	if err != nil {
		return r.again(&r.later, err)
	}
	if r.reclaim = did.More; did.Folder || did.Segment {
		r.emit(observe.Event{Action: "Reclaim", Generation: did.Generation, Offset: did.Lowest})
	}
	return nil
}
