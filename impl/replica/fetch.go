package replica

import (
	"errors"
	"fmt"

	"purgelab/impl/defect"
	"purgelab/impl/engine"
	"purgelab/impl/journal"
	"purgelab/impl/observe"
	"purgelab/impl/record"
	messages "purgelab/impl/segment"
	"purgelab/impl/transfer"
	"purgelab/model/op"
)

// This file is how a replica goes on whose leader has dropped from its log what it
// needs next: it fetches a checkpoint (package transfer), and installs it.
//
//	leader                         this replica
//	  ── offer of raft ──────────►   ask for a manifest, again and again
//	  ◄─ request of offer 0 ──────
//	  ── manifest ───────────────►   refuse it, or stage it
//	  ◄─ request ─────────────────
//	  ── chunks ─────────────────►   stored
//	                                 sealed, a step at a time
//	                                 install: see below
//	  ◄─ drop ────────────────────   the leader lets the checkpoint go, and keeps the
//	                                 log above it until this replica has caught up
//
// Until the install this replica is a member like any other, with its old log and
// state: it votes, and it may be brought up to date in another way. An install is
// refused at the very end, too, if that has happened.
//
// The install is one durable record. Before it a journal is made in the new home that
// goes on above the op of the checkpoint, with the term and the vote of this member;
// in the step that makes the two nothing else happens, so no promise is given between
// them. After it the replica boots from the new home.

const (
	fetchTicks = 15 // between two requests without an answer
	fetchTries = 12 // requests without an answer until it gives up
)

// fetching is an offer that is worked on.
type fetching struct {
	from  uint64 // the member that made it
	later int    // ticks until it is asked again
	tries int    // that it was asked since it answered
	pull  *transfer.Pull
}

// offered takes an offer of raft.
func (r *Replica) offered(from uint64) {
	if r.fetch != nil && r.fetch.from == from {
		return
	}
	r.giveUp()
	r.fetch = &fetching{from: from}
	r.askFor()
}

// askFor asks for what is missing, or for a manifest.
func (r *Replica) askFor() {
	f := r.fetch
	q := &transfer.Request{}
	if f.pull != nil {
		if q = f.pull.Ask(true); q == nil {
			return // all is there
		}
	}
	f.later = fetchTicks
	f.tries++
	r.sendTransfer(machineOf(f.from), &transfer.Message{Request: q})
}

func (r *Replica) sendTransfer(to int, m *transfer.Message) {
	r.out.Messages = append(r.out.Messages, Message{
		From: r.cfg.ID, To: to, Partition: r.cfg.Partition, Incarnation: r.cfg.Incarnation, Member: r.cfg.member.ID, Transfer: m,
	})
}

// giveUp ends a fetch. What is stored stays, for the next one.
func (r *Replica) giveUp() {
	f := r.fetch
	if f == nil {
		return
	}
	r.fetch = nil
	if f.pull != nil {
		f.pull.Close()
		r.emit(observe.Event{Action: "DropTransfer", Op: f.pull.Manifest().Point.Applied})
	}
}

// giveUpStale ends a fetch of what nobody offers any more.
func (r *Replica) giveUpStale() {
	if !r.cfg.Defects.Has(defect.StalePullKept) {
		r.giveUp()
	}
}

// tickFetch asks again what was not answered, and gives up when nobody does, or
// somebody else leads. What is stored for no fetch goes when it is of no use any more.
func (r *Replica) tickFetch() {
	if r.staged.name != "" && r.fetch == nil && r.passed(r.staged) {
		r.forgetStaged()
	}
	f := r.fetch
	if f == nil {
		return
	}
	if lead := r.node.Status().Leader; lead != 0 && lead != f.from || f.tries >= fetchTries {
		r.giveUpStale()
		return
	}
	if f.later--; f.later <= 0 {
		r.askFor()
	}
}

// takeTransfer takes a message of a transfer.
func (r *Replica) takeTransfer(m *Message) error {
	t, f := m.Transfer, r.fetch
	switch {
	case t.Request != nil:
		return r.serve(m, t.Request)
	case t.Drop != nil && r.offers(m.Member, t.Drop.Offer):
		r.installed(m.Member)
		return nil
	case f == nil || m.Member != f.from:
		return nil
	case t.Drop != nil:
		if f.pull != nil && t.Drop.Offer == f.pull.Manifest().ID() { // it is not served any more
			r.giveUpStale()
			r.offered(m.Member)
		}
		return nil
	case t.Offer != nil && f.pull == nil:
		f.tries = 0
		if err := t.CheckOffer(); err != nil {
			return r.refused(err)
		}
		return r.beginPull(t.Offer)
	case t.Chunk != nil && f.pull != nil:
		stored, err := f.pull.Take(t.Chunk)
		if err != nil {
			return r.refused(err)
		}
		if stored {
			f.tries = 0
		}
		if q := f.pull.Ask(false); q != nil {
			f.later = fetchTicks
			r.sendTransfer(m.From, &transfer.Message{Request: q})
		}
	}
	return nil
}

// offers tells whether an offer is the one that is held for a member.
func (r *Replica) offers(member, offer uint64) bool {
	if r.sender == nil {
		return false
	}
	m := r.sender.Manifest(member)
	return m != nil && m.ID() == offer
}

// ownState is what this replica has, to be compared with a manifest.
func (r *Replica) ownState() transfer.Own {
	return transfer.Own{Incarnation: r.cfg.Incarnation, Committed: r.committed, Facts: r.eng.Facts(), Agrees: r.cfg.Design.Agrees(), Defects: r.cfg.Defects}
}

// fresh refuses a manifest of what this replica has, committed or not: its log goes on
// from there, and what it acknowledged of that is not forgotten.
func (r *Replica) fresh(m *transfer.Manifest) error {
	own := r.ownState()
	if err := own.Fresh(m); err != nil || r.cfg.Defects.Has(defect.OlderOfferAccepted) {
		return err
	}
	if held := r.has(m); held >= m.Point.Applied {
		return &transfer.Refusal{Reason: transfer.NotAbove, What: fmt.Sprintf("op of term %d", m.Term), Want: fmt.Sprintf("none of the log, which ends at %d", held), Got: m.Point.Applied}
	}
	return nil
}

// otherIncarnation looks at a message of another incarnation, which has no effect; an
// offer is refused in so many words.
func (r *Replica) otherIncarnation(m *Message) {
	r.log.Debug("message of another incarnation dropped", "from", m.From, "incarnation", m.Incarnation)
	if t := m.Transfer; t != nil && t.Offer != nil && t.CheckOffer() == nil {
		own := r.ownState()
		if reason, ok := transfer.Refused(own.Fresh(t.Offer)); ok {
			r.emit(observe.Event{Action: "RefuseTransfer", Kind: string(reason)})
		}
	}
}

// has is up to which op this replica has, in its log, what a manifest is of: all of
// the log if that has the op of the manifest.
func (r *Replica) has(m *transfer.Manifest) op.Number {
	n := m.Point.Applied - r.line.shift
	if term, err := r.jr.Term(n); err == nil && term == m.Term && n <= r.jr.Last() {
		return r.lastOp()
	}
	return r.committed
}

// beginPull begins to pull a manifest, into the home of an earlier pull if there is one.
func (r *Replica) beginPull(m *transfer.Manifest) error {
	if err := r.fresh(m); err != nil {
		return r.refused(err)
	}
	if err := (&Replica{cfg: r.cfg, line: &line{}}).decodeExtra(m.Point.Extra); err != nil {
		return r.refused(&transfer.Refusal{Reason: transfer.Contradiction, What: "what the checkpoint keeps", Want: "sessions and members", Got: err})
	}
	resume := r.staged.name != ""
	if !resume {
		name, err := r.cfg.nextHome()
		if err != nil {
			return r.refused(err)
		}
		r.staged.name, r.cfg.staging = name, name
	}
	r.staged.op, r.staged.generation = m.Point.Applied, m.Point.Generation
	if err := r.cfg.cleanStaging(); err != nil {
		return r.refused(err)
	}
	p, err := transfer.Begin(transfer.PullOptions{
		Engine: engine.Options{FS: r.cfg.FS, Dir: r.cfg.Dir + "/" + r.staged.name, Identity: r.cfg.identity(), SegmentBytes: r.cfg.SegmentBytes, Defects: r.cfg.Defects},
		Import: r.cfg.importer(), Window: r.cfg.Transfer.Window,
	}, m, r.ownState())
	if err != nil {
		return r.refused(err)
	}
	r.fetch.pull = p
	kind := "begun"
	if resume && p.Left() < m.Bytes()-messages.FirstByte {
		kind = "resumed"
	}
	r.emit(observe.Event{
		Action: "StageManifest", Op: m.Point.Applied, Term: m.Term, Generation: m.Point.Generation, Boundary: m.Point.Boundary,
		Kind: kind, Count: int(p.Left()), Last: r.has(m), Key: r.staged.name,
		Peer: machineOf(r.fetch.from),
	})
	if q := p.Ask(false); q != nil {
		r.fetch.later = fetchTicks
		r.sendTransfer(machineOf(r.fetch.from), &transfer.Message{Request: q})
	}
	return nil
}

// refused handles what ends a pull: a refusal, or a disk that fails. Where nobody
// knows what is stored, the replica stops; where nothing was, the home is given up.
func (r *Replica) refused(err error) error {
	if reason, ok := transfer.Refused(err); ok {
		r.log.Debug("transfer refused", "replica", r.cfg.ID, "partition", r.cfg.Partition, "error", err)
		r.emit(observe.Event{Action: "RefuseTransfer", Kind: string(reason)})
		if !reason.Again() {
			r.giveUp()
		}
		return nil
	}
	r.giveUp()
	r.forgetStaged()
	return r.again(&r.later, err)
}

// sealing: all messages are there, and the rest must be written.
func (r *Replica) sealing() bool {
	return r.fetch != nil && r.fetch.pull != nil && r.fetch.pull.Left() == 0
}

// stageStep takes a step of writing the rest of a pull; done tells whether all of it is
// there.
func (r *Replica) stageStep() (done bool, err error) {
	done, did, err := r.fetch.pull.Step()
	if err != nil {
		return false, r.refused(err)
	}
	r.out.Synced = true
	if did != "" {
		r.emit(observe.Event{Action: did, Op: r.fetch.pull.Manifest().Point.Applied})
	}
	return done, nil
}

// sealStep writes the rest of a pull, a step at a time, and installs it.
func (r *Replica) sealStep() error {
	if done, err := r.stageStep(); !done || err != nil || r.stage != idle {
		return err
	}
	m := r.fetch.pull.Manifest()
	if err := r.fresh(m); err != nil && !r.cfg.Defects.Has(defect.PurgeRacesInstall) {
		r.forgetStaged()
		return r.refused(err)
	}
	return r.install(m)
}

// install makes the staged home the present one, and boots from it. Once the record
// that names the home is being written nobody knows which one counts, so whatever goes
// wrong then stops this replica: its next boot reads what it says.
func (r *Replica) install(m *transfer.Manifest) error {
	f, cfg, held := r.fetch, r.cfg, r.has(m)
	n := m.Point.Applied - r.line.shift
	state := r.jr.State()
	state.Commit = n
	if m.Term > state.Term { // it has not voted in a term that it had not heard of
		state.Term, state.Vote = m.Term, 0
	}
	f.pull.Close()
	err := journal.Begin(cfg.FS, cfg.Dir+"/"+r.staged.name+"/journal", cfg.identity(), n, m.Term, state)
	if errors.Is(err, record.ErrNotSynced) {
		return err
	} else if err != nil {
		return r.refused(err)
	}
	cfg.member.Home = r.staged.name
	if err := cfg.writeMember(); err != nil {
		return fmt.Errorf("install of op %d: %w", m.Point.Applied, err)
	}
	intents, suspect := r.intents, r.rep.Suspect
	if err := r.Release(); err != nil {
		return err
	}
	cfg.suspect, cfg.staging = nil, ""
	var boot told
	if cfg.Sink != nil {
		cfg.Sink = &boot
	}
	next, err := openMember(cfg)
	if err != nil {
		return fmt.Errorf("after an install of op %d: %w", m.Point.Applied, err)
	}
	next.now, next.out, next.rep.Suspect, next.cfg.Sink = r.now, r.out, suspect, r.cfg.Sink
	*r = *next
	r.homes = true
	r.emit(observe.Event{Action: "CommitInstall", Op: m.Point.Applied, Term: m.Term, Last: held, Key: cfg.member.Home})
	for _, e := range boot {
		e.Time = r.now
		r.cfg.Sink.Observe(e)
	}
	r.learnIntents(intents)
	r.sendTransfer(machineOf(f.from), &transfer.Message{Drop: &transfer.Drop{Offer: m.ID()}})
	return nil
}

// told are events that are told later: what a boot found, after what came before it.
type told []observe.Event

// Observe implements observe.Sink.
func (k *told) Observe(e observe.Event) { *k = append(*k, e) }
