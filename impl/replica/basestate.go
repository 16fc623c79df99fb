package replica

import (
	"errors"
	"fmt"
	"slices"

	"purgelab/impl/consensus"
	"purgelab/impl/corrupt"
	"purgelab/impl/engine"
	"purgelab/impl/journal"
	"purgelab/impl/observe"
	"purgelab/impl/raftlog"
	"purgelab/impl/transfer"
	"purgelab/model/op"
)

// A chosen log that was compacted is a state and the ops after it, and so is the base
// then. The machine that has it moves its last checkpoint into the directory of the
// new incarnation, and copies the ops above. The others get a checkpoint from whoever
// has the base, by a transfer, and the ops between it and the end of the base. That
// checkpoint may be a later one, with ops of the new incarnation in it: then there are
// none between, and the log of the incarnation begins above it.
//
//	<home>/gen-<G>, marker    the state, whole before base-log begins
//	<dir>/base-log/start      the op that it is as of
//	<home>/journal/start      the same, if it is an op of the new incarnation

// first is the op of the line from which on the chosen log has all.
func (o *oldLog) first() op.Number {
	if o.base != nil && o.jr.First() == journal.Bootstrap+1 && o.base.Last() >= o.base.First() {
		return o.base.First()
	}
	return o.jr.First() + o.shift
}

// openState opens the state of the chosen log, where the log is not whole.
func (o *oldLog) openState(was *Config) (err error) {
	if o.first() == journal.Bootstrap+1 {
		return nil
	}
	if o.eng, err = was.openStateAt(was.home(), o.jr.Last()+o.shift); err != nil {
		return err
	}
	if err := o.export(); err != nil {
		return err
	}
	s := &o.segments[len(o.segments)-1]
	s.Agreed = max(s.Agreed, o.state.Point().Applied) // it was committed
	return nil
}

// openKept opens the state of the member that this machine was before. It cannot prove
// that its log holds all that it acknowledged, but a checkpoint holds what was applied,
// and that was committed.
func (c *Config) openKept(segments []segment) (*oldLog, error) {
	if c.member.Kept == "" {
		return nil, nil
	}
	was := *c
	was.member.Home = c.member.Kept
	o := &oldLog{segments: slices.Clone(segments), shift: segments[len(segments)-1].Last - 1}
	if shown, err := was.showsAt(was.home()); err != nil || !shown.Intact {
		return nil, err
	}
	var err error
	if o.jr, _, err = journal.Open(journal.Options{FS: c.FS, Dir: was.journalDir(), Identity: was.identity(), FileBytes: c.JournalBytes}); err == nil {
		if o.eng, err = was.openStateAt(was.home(), o.jr.Last()+o.shift); err == nil {
			err = o.export()
		}
	}
	if err != nil {
		return nil, errors.Join(err, o.close())
	}
	return o, nil
}

// export holds the last checkpoint, and finds its term.
func (o *oldLog) export() (err error) {
	if o.state, err = o.eng.Export(); err != nil {
		return err
	}
	o.term = 1
	if n := o.state.Point().Applied; n > o.shift+journal.Bootstrap {
		o.term, err = o.jr.Term(n - o.shift)
	}
	return err
}

// openStateAt opens the engine in a home and checks all messages: nobody goes on from a
// state that is damaged.
func (c *Config) openStateAt(home string, last op.Number) (engine.Engine, error) {
	e, _, err := openEngine(c, engine.Options{
		FS: c.FS, Dir: home, Identity: c.identity(), SegmentBytes: c.SegmentBytes, HighestOp: func() op.Number { return last },
	})
	if err != nil {
		return nil, err
	}
	if err := checkAll(e); err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}

// stateShown tells whether the engine in a home has the state that the log there goes
// on from, if the log, or the base before it, is not whole.
func (c *Config) stateShown(home string, jr *journal.Journal) (bool, error) {
	segments, whole, err := c.readBase()
	if err != nil {
		return false, unread(err)
	}
	needs, shift := op.Number(0), op.Number(0)
	if whole {
		shift = segments[len(segments)-1].Last - 1
		if needs, err = journal.Begins(c.FS, c.Dir+"/base-log", c.identity()); err != nil {
			return false, unread(err)
		}
	}
	if jr.First() > journal.Bootstrap+1 {
		needs = jr.First() - 1 + shift
	}
	if needs <= journal.Bootstrap {
		return true, nil
	}
	e, err := c.openStateAt(home, jr.Last()+shift)
	if err != nil {
		return false, unread(err)
	}
	defer e.Close()
	return e.Facts().Applied >= needs, nil
}

// damage is why the files of this member can show nothing, if they are damaged.
func (c *Config) damage() error {
	jr, _, err := journal.Open(journal.Options{FS: c.FS, Dir: c.journalDir(), Identity: c.identity(), FileBytes: c.JournalBytes})
	if err == nil {
		defer jr.Close()
		var e engine.Engine
		if e, err = c.openStateAt(c.home(), jr.Last()); err == nil {
			e.Close()
		}
	}
	if errors.Is(err, corrupt.ErrCorrupt) {
		return err
	}
	return nil
}

// StatelessError means that a base begins with a state, and that the home of the
// member, which was used or not, does not hold it.
type StatelessError struct {
	Used          bool
	Applied, Base op.Number
}

func (e *StatelessError) Error() string {
	return fmt.Sprintf("suspect: the base goes on from the state as of op %d, that of op %d is here", e.Base, e.Applied)
}

// hasState refuses an engine that has not the state that the base goes on from.
func (r *Replica) hasState(f *engine.Facts) error {
	if l := r.line.base; l != nil && f.Applied < l.First()-1 {
		return &StatelessError{Used: r.rep.Journal.Frames > 0, Applied: f.Applied, Base: l.First() - 1}
	}
	return nil
}

// manifest of the state of the chosen log, as one of this incarnation: its members are
// those that it begins with.
func (c *Config) manifest(o *oldLog) (*transfer.Manifest, error) {
	m := &transfer.Manifest{Term: o.term, Point: *o.state.Point()}
	p := &m.Point
	p.Incarnation = c.Incarnation
	p.Bookmarks = slices.Clone(p.Bookmarks)
	for i := range p.Bookmarks {
		p.Bookmarks[i].Position.Incarnation = c.Incarnation
	}
	was := &Replica{cfg: *c, line: &line{}}
	if err := was.decodeExtra(p.Extra); err != nil {
		return nil, err
	}
	was.members = consensus.Membership{}
	for _, id := range c.Members {
		was.members.Voters = append(was.members.Voters, memberID(id))
	}
	was.moved = true
	p.Extra = was.encodeExtra()
	return m, nil
}

// needsState: the ops of the base are not to be had from the beginning on, and no
// state is here.
func (c *copying) needsState() bool {
	if c.stateOnly {
		return !c.stated
	}
	return c.log.First() == journal.Bootstrap+1 && c.log.Last() == journal.Bootstrap
}

// beginState begins to pull the state that the base goes on from.
func (r *Replica) beginState(m *transfer.Manifest) error {
	c := &r.cfg
	if err := removeAll(c.FS, c.journalDir()); err != nil {
		return err
	}
	own := transfer.Own{Incarnation: c.Incarnation, Committed: journal.Bootstrap, Agrees: c.Design.Agrees(), Defects: c.Defects}
	p, err := transfer.Begin(transfer.PullOptions{
		Engine: engine.Options{FS: c.FS, Dir: c.home(), Identity: c.identity(), SegmentBytes: c.SegmentBytes, Defects: c.Defects},
		Import: c.importer(), Window: c.Transfer.Window,
	}, m, own)
	r.copy.pull = p
	return err
}

// stateStep moves a chunk of a state that is here, or writes the rest of one that is.
func (r *Replica) stateStep() error {
	c := r.copy
	if c.old != nil {
		if more, err := c.pull.Move(c.old.state, max(r.cfg.Transfer.ChunkBytes, transfer.DefaultChunkBytes)); more || err != nil {
			return err
		}
	}
	done, _, err := c.pull.Step()
	if err != nil || !done {
		return err
	}
	r.out.Synced = true
	m := c.pull.Manifest()
	c.pull.Close()
	c.pull = nil
	n, last := m.Point.Applied, c.segments[len(c.segments)-1].Last
	if n > last {
		own := n - (last - 1)
		if err := journal.Begin(r.cfg.FS, r.cfg.journalDir(), r.cfg.identity(), own, m.Term, raftlog.State{Term: m.Term, Commit: own}); err != nil {
			return err
		}
		n = last
	}
	if c.stated = true; c.stateOnly {
		return nil
	}
	if err := c.log.Close(); err != nil {
		return err
	}
	if err := journal.Begin(r.cfg.FS, r.cfg.Dir+"/base-log", r.cfg.identity(), n, m.Term, raftlog.State{Term: m.Term, Commit: n}); err != nil {
		return err
	}
	c.log, err = r.cfg.openBaseLog()
	return err
}

// askState asks whoever has the base for a state, or for what is missing of it.
func (r *Replica) askState() {
	c := r.copy
	c.later = askTicks
	q := &transfer.Request{}
	if c.pull != nil {
		if q = c.pull.Ask(true); q == nil {
			return
		}
	}
	r.sendState(c.from, q)
}

func (r *Replica) sendState(to int, q *transfer.Request) {
	r.sendTransfer(to, &transfer.Message{Request: q})
	r.out.Messages[len(r.out.Messages)-1].Base = &BasePart{}
}

// takeState takes a message of the transfer of a state.
func (r *Replica) takeState(m *Message) error {
	c, t := r.copy, m.Transfer
	if t.Request != nil { // it has none to give
		r.emitState(observe.Event{Action: "RefuseTransfer", Kind: string(transfer.Recovering)})
		return nil
	}
	if m.From != c.from {
		return nil
	}
	switch {
	case t.Offer != nil && c.pull == nil && t.CheckOffer() != nil:
		return r.stateRefused(t.CheckOffer())
	case t.Offer != nil && c.pull == nil && c.stateOnly && t.Offer.Point.Applied < c.log.First()-1:
		c.dropState() // there are no ops between
	case t.Offer != nil && c.pull == nil && c.needsState():
		if err := r.beginState(t.Offer); err != nil {
			return r.stateRefused(err)
		}
		p := &t.Offer.Point
		r.emitState(observe.Event{Action: "StageManifest", Op: p.Applied, Term: t.Offer.Term, Kind: "begun", Generation: p.Generation, Boundary: p.Boundary})
	case t.Chunk != nil && c.pull != nil:
		stored, err := c.pull.Take(t.Chunk)
		if err != nil {
			return r.stateRefused(err)
		}
		if stored {
			c.patience, c.vain, c.baseless = 0, 0, false
		}
	case t.Drop != nil && c.pull != nil && t.Drop.Offer == c.pull.Manifest().ID():
		c.dropState()
	}
	if c.pull != nil {
		if q := c.pull.Ask(false); q != nil {
			c.later = askTicks
			r.sendState(c.from, q)
		}
	}
	return nil
}

// emitState reports a step; there are no facts yet.
func (r *Replica) emitState(e observe.Event) {
	if r.cfg.Sink != nil {
		e.Time, e.Replica, e.Partition, e.Incarnation = r.now, r.cfg.ID, r.cfg.Partition, r.cfg.Incarnation
		r.cfg.Sink.Observe(e)
	}
}

// stateRefused ends a pull over a refusal; an error of the disk stops this replica.
func (r *Replica) stateRefused(err error) error {
	reason, ok := transfer.Refused(err)
	if !ok {
		return err
	}
	r.log.Debug("state of the base refused", "replica", r.cfg.ID, "partition", r.cfg.Partition, "error", err)
	r.emitState(observe.Event{Action: "RefuseTransfer", Kind: string(reason)})
	if !reason.Again() {
		r.copy.dropState()
	}
	return nil
}

// dropState ends a pull; what is stored stays.
func (c *copying) dropState() {
	if c.pull != nil {
		c.pull.Close()
		c.pull = nil
	}
	c.from = 0
}

// copiedState reports that this replica began with a state.
func (r *Replica) copiedState() {
	n := r.eng.Facts().Applied
	if !r.cfg.copied || n <= journal.Bootstrap {
		return
	}
	r.emit(observe.Event{Action: "CopyState", Op: n})
}

// copiedBegun tells that an incarnation began where this replica's state ends, and has
// ops in the base: whoever replays the base says so when it passes there, and nobody may
// have said it before, if the first of these ops was committed only as a part of the base.
func (r *Replica) copiedBegun() {
	if !r.cfg.copied {
		return
	}
	for k := range r.line.began {
		if last := r.line.segments[k].Last; last == r.applied && last < r.line.baseLast() {
			r.emitBegan(&r.line.began[k])
		}
	}
}

// restart forgets what was copied: it does not fit what there is to be had.
func (r *Replica) restartCopy() error {
	c := r.copy
	c.dropState()
	if err := c.log.Close(); err != nil {
		return err
	}
	var err error
	if c.log, err = r.cfg.newBaseLog(); err != nil {
		return fmt.Errorf("base: begin anew: %w", err)
	}
	return nil
}
