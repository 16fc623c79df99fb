package replica

import (
	"errors"
	"fmt"
	"slices"

	"purgelab/impl/corrupt"
	"purgelab/impl/engine"
	"purgelab/impl/journal"
	"purgelab/impl/raftlog"
	"purgelab/impl/record"
	"purgelab/impl/transfer"
	"purgelab/model/op"
)

// Before a replica of a new incarnation does anything it copies the base: the log
// that the metadata plane chose, with the base of that.
//
//	<dir>/base-log/   the ops of the base, by their number on the line; a journal
//	<dir>/base        the segments of the base; written when the log is whole and
//	                  durable, and from then on this is a replica like any other
//
// The machine that has the chosen log copies it from there, the others from whoever
// has the base already. A crash leaves a part of the copy, which goes on. If that is
// damaged it is begun anew: nothing was promised yet.

// Base says what an incarnation goes on from.
type Base struct {
	// From is the incarnation before that anybody lived in. Its log up to op Last, of term Term, is on
	// Machine, if that is not 0: then nothing is left.
	From    op.Incarnation
	Machine int
	Term    uint64
	Last    op.Number
	// Forced: an operator did not wait for all machines.
	Forced bool
	// Past are the incarnations before, the latest first; From is one of them.
	Past []Past
}

// BasePart is a piece of the base on its way: entries from From on, or, without
// Segments, the request for it. Below First, if that is above op 2, the sender has no
// entries but a state.
type BasePart struct {
	From     op.Number
	First    op.Number
	Segments []segment
	Entries  []raftlog.Entry
}

// vainAsks is how often each machine is asked in vain before a copy is given up.
const vainAsks = 3

// askTicks is how long a request for a part may take before somebody else is asked.
const askTicks = 15

// copying is a replica that has no base yet.
type copying struct {
	log      *journal.Journal
	segments []segment // nil: not known yet
	old      *oldLog   // the chosen log, if it is here
	asked    int       // times
	later    int       // ticks
	vain     int       // requests since anybody had an answer
	// The chosen log was here, and is not, and nobody has a copy.
	baseless bool
	// A state on its way, from a machine if it is not here, and how often that was
	// asked in vain.
	pull     *transfer.Pull
	from     int
	patience int
	// The base is here, and the state is all that is missing: that of a member that
	// was renounced is not to be trusted. There is one now.
	stateOnly, stated bool
	intents           []Intent // learned meanwhile
}

// readBase reads the segments of a base that is whole; false if there is none.
func (c *Config) readBase() ([]segment, bool, error) {
	b, answer, err := record.Read(c.FS, c.Dir+"/base", c.identity())
	if answer != record.Value {
		return nil, false, err
	}
	var s []segment
	return s, true, decodeRecord(c.Dir+"/base", b, &s)
}

func (c *Config) openBaseLog() (*journal.Journal, error) {
	jr, _, err := journal.Open(journal.Options{FS: c.FS, Dir: c.Dir + "/base-log", Identity: c.identity(), FileBytes: c.JournalBytes})
	return jr, err
}

// newBaseLog drops what was copied. To make the folder again syncs that it is gone.
func (c *Config) newBaseLog() (*journal.Journal, error) {
	if err := removeAll(c.FS, c.Dir+"/base-log"); err != nil {
		return nil, err
	}
	return c.openBaseLog()
}

// openCopying begins, or goes on, to copy the base.
func openCopying(cfg Config) (_ *Replica, err error) {
	c := &copying{}
	if err = cfg.isForeign(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = c.close()
		}
	}()
	if c.segments, c.stateOnly, err = cfg.readBase(); err != nil {
		return nil, err
	}
	c.log, err = cfg.openBaseLog()
	if errors.Is(err, corrupt.ErrCorrupt) && !c.stateOnly {
		cfg.Logger.Warn("copy of the base is damaged, begun anew", "replica", cfg.ID, "partition", cfg.Partition, "error", err)
		c.log, err = cfg.newBaseLog()
	}
	if err != nil {
		return nil, err
	}
	if c.stateOnly {
		if c.old, err = cfg.openKept(c.segments); unread(err) != nil {
			return nil, err
		} // if it is damaged somebody else has a state
	} else if cfg.Base.Machine == 0 {
		c.segments = []segment{{Incarnation: cfg.Base.From, Last: 1, Agreed: 1}}
	} else if cfg.Base.Machine == cfg.ID {
		if c.old, err = cfg.openOld(); err == nil {
			c.segments = c.old.segments
		} else if len(cfg.Members) == 1 || unread(err) != nil {
			return nil, err
		} // else somebody has the base already
	}
	r := &Replica{cfg: cfg, log: cfg.Logger, copy: c, line: &line{}, joining: cfg.member.Joining}
	if c.old != nil && c.old.state != nil && c.needsState() {
		m := &transfer.Manifest{Term: c.old.term, Point: *c.old.state.Point()}
		if !c.stateOnly {
			m, err = cfg.manifest(c.old)
		}
		if err == nil {
			err = r.beginState(m)
		}
		if err != nil {
			return nil, err
		}
	}
	return r, nil
}

// oldLog is the chosen log, with its base.
type oldLog struct {
	segments []segment
	base, jr *journal.Journal
	shift    op.Number
	// Where the log is not whole: its engine, what that exports, and the term of that.
	eng   engine.Engine
	state engine.Export
	term  uint64
}

// openOld finds the chosen log among those that a replica of an incarnation before left
// on this disk.
func (c *Config) openOld() (*oldLog, error) {
	at := slices.IndexFunc(c.Base.Past, func(p Past) bool { return p.Incarnation == c.Base.From })
	if at < 0 {
		return nil, fmt.Errorf("base: incarnation %d has no directory", c.Base.From)
	}
	was := c.past(c.Base.Past[at])
	homes := []string{}
	switch err := was.findMember(); {
	case err == nil:
		homes = append(homes, was.member.Home, was.member.Kept)
	case errors.Is(err, corrupt.ErrCorrupt):
		if homes, err = was.allHomes(); err != nil {
			return nil, err
		}
	default:
		return nil, err
	}
	for _, home := range homes {
		if home == "" {
			continue
		}
		was.member.Home = home
		shown, err := was.showsAt(was.home())
		if err != nil {
			return nil, err
		}
		if shown != (Evidence{Intact: true, Term: c.Base.Term, Last: c.Base.Last}) {
			continue
		}
		old := &oldLog{}
		if err := old.open(&was); err != nil {
			return nil, errors.Join(err, old.close())
		}
		return old, nil
	}
	return nil, fmt.Errorf("base: no log of incarnation %d in %s ends at op %d of term %d", c.Base.From, was.Dir, c.Base.Last, c.Base.Term)
}

// open opens the log of the member was.
func (o *oldLog) open(was *Config) error {
	segments, whole, err := was.readBase()
	if err != nil {
		return err
	}
	if whole {
		if o.base, err = was.openBaseLog(); err != nil {
			return err
		}
		o.shift = segments[len(segments)-1].Last - 1
	}
	if o.jr, _, err = journal.Open(journal.Options{FS: was.FS, Dir: was.journalDir(), Identity: was.identity(), FileBytes: was.JournalBytes}); err != nil {
		return err
	}
	o.segments = append(segments, segment{
		Incarnation: was.Incarnation, Last: o.jr.Last() + o.shift,
		Agreed: min(o.jr.State().Commit, o.jr.Last()) + o.shift,
	})
	if err := o.openState(was); err != nil {
		return fmt.Errorf("base: the state that the log of incarnation %d goes on from: %w", was.Incarnation, err)
	}
	return nil
}

// entries of the line from an op on, as many as one part holds.
func (o *oldLog) entries(from op.Number) ([]raftlog.Entry, error) {
	if last := o.shift + 1; from <= last && o.base != nil {
		return o.base.Entries(from, last+1, applyBytes)
	}
	es, err := o.jr.Entries(from-o.shift, o.jr.Last()+1, applyBytes)
	es = slices.Clone(es)
	for i := range es {
		es[i].Op += o.shift
	}
	return es, err
}

// wants is the next op that is missing, false if nothing is.
func (c *copying) wants() (op.Number, bool) {
	next := c.log.Last() + 1
	if c.stateOnly {
		return next, !c.stated
	}
	return next, c.segments == nil || next <= c.segments[len(c.segments)-1].Last
}

// stepCopy takes an input while the base is not whole.
func (r *Replica) stepCopy(in Input) error {
	c := r.copy
	next, more := c.wants()
	switch {
	case in.Request != nil:
		r.out.Answers = append(r.out.Answers, Answer{Token: in.Request.Token, Reply: op.Reply{Code: op.NotReady}})
	case in.Intents != nil:
		c.intents = append(c.intents, in.Intents...)
	case in.Tick && c.old == nil && more:
		if c.later--; c.later > 0 {
			break
		}
		c.vain++
		c.baseless = r.cfg.Base.Machine == r.cfg.ID && c.vain > vainAsks*len(r.cfg.Members)
		if c.patience++; c.from != 0 && c.patience > fetchTries {
			c.dropState()
		}
		if c.from == 0 && c.stateOnly {
			c.from, c.patience = r.nextSource(), 0
		}
		if c.from != 0 {
			r.askState()
		} else {
			c.patience = 0
			r.askPart(next)
		}
	case in.Work && c.pull != nil:
		return r.stateStep()
	case in.Message != nil && in.Message.Incarnation == r.cfg.Incarnation && in.Message.Transfer != nil:
		return r.takeState(in.Message)
	case in.Work && c.old != nil && more:
		es, err := c.old.entries(next)
		if err != nil {
			return err
		}
		return c.log.Append(nil, es)
	case in.Work && !more:
		return r.endCopy()
	case in.Message != nil && in.Message.Incarnation == r.cfg.Incarnation && in.Message.Base != nil:
		p := in.Message.Base
		if p.Segments == nil || p.From != next || !more || c.pull != nil || c.stateOnly {
			return nil
		}
		c.segments, c.vain, c.baseless = p.Segments, 0, false
		if p.From < p.First {
			if !c.needsState() {
				return r.restartCopy()
			}
			c.from, c.patience = in.Message.From, 0
			r.askState()
			return nil
		}
		if len(p.Entries) > 0 {
			if err := c.log.Append(nil, p.Entries); err != nil {
				return err
			}
			c.asked-- // of the same again
		}
		if next, more := c.wants(); more {
			r.askPart(next)
		}
	}
	return nil
}

// askPart asks the machine that has the chosen log, and then the others in turn.
func (r *Replica) askPart(from op.Number) {
	r.copy.later = askTicks
	to := r.nextSource()
	r.out.Messages = append(r.out.Messages, Message{From: r.cfg.ID, To: to, Partition: r.cfg.Partition, Incarnation: r.cfg.Incarnation, Base: &BasePart{From: from}})
}

// nextSource is the machine to be asked next.
func (r *Replica) nextSource() int {
	c := r.copy
	at := slices.Index(r.cfg.Members, r.cfg.Base.Machine)
	to := r.cfg.Members[(max(at, 0)+c.asked)%len(r.cfg.Members)]
	c.asked++
	switch {
	case to == r.cfg.ID && (c.stateOnly || r.cfg.Base.Machine == r.cfg.ID):
		return r.nextSource()
	case to == r.cfg.ID:
		return r.cfg.Base.Machine
	}
	return to
}

// copyWork: something is left to do here.
func (r *Replica) copyWork() bool {
	_, more := r.copy.wants()
	return !more || r.copy.old != nil || r.copy.pull != nil && r.copy.pull.Left() == 0
}

// endCopy makes the base durable and becomes a replica like any other.
func (r *Replica) endCopy() error {
	c := r.copy
	if err := c.log.Sync(); err != nil {
		return err
	}
	if !c.stateOnly {
		if err := record.Write(r.cfg.FS, "replica.base", r.cfg.Dir+"/base", r.cfg.identity(), mustEncode(c.segments)); err != nil {
			return err
		}
	}
	r.out.Synced = true
	cfg := r.cfg
	cfg.copied = c.log.First() > journal.Bootstrap+1
	if err := c.close(); err != nil {
		return err
	}
	n, err := openMember(cfg)
	if err != nil {
		return err
	}
	n.cfg.copied = false
	n.now, n.out = r.now, r.out
	*r = *n
	r.learnIntents(c.intents)
	return nil
}

// sendPart gives a part of the base to a machine that copies it.
func (r *Replica) sendPart(to int, from op.Number) error {
	p := &BasePart{From: from, Segments: r.line.segments}
	if r.line.base != nil {
		p.First = r.line.base.First()
	}
	if last := r.line.baseLast(); p.First <= from && from <= last && r.line.base != nil {
		es, err := r.line.base.Entries(from, last+1, applyBytes)
		if err != nil {
			return err
		}
		p.Entries = es
	}
	if p.Segments != nil {
		r.out.Messages = append(r.out.Messages, Message{From: r.cfg.ID, To: to, Partition: r.cfg.Partition, Incarnation: r.cfg.Incarnation, Base: p})
	}
	return nil
}

// openLine finds out where a replica is on the line; facts are those of its engine
// before they are translated.
func (r *Replica) openLine() error {
	r.line = &line{present: r.cfg.Incarnation}
	if r.cfg.Base == nil {
		return nil
	}
	segments, whole, err := r.cfg.readBase()
	if err != nil {
		return err
	}
	if !whole {
		return fmt.Errorf("%s/base: want a record, got none", r.cfg.Dir)
	}
	l := r.line
	l.segments, l.shift, l.present = segments, segments[len(segments)-1].Last-1, segments[0].Incarnation
	if l.shift > 0 {
		l.base, err = r.cfg.openBaseLog()
	}
	return err
}

// translate lets the engine speak of the line.
func (r *Replica) translate(e engine.Engine) engine.Engine {
	if r.cfg.Base == nil {
		return e
	}
	return &lined{Engine: e, line: r.line, owner: r.cfg.Incarnation}
}

// baseIsGood tells whether the base of a suspect can still be used. One that cannot
// is dropped, and copied again.
func (c *Config) baseIsGood() (bool, error) {
	_, whole, err := c.readBase()
	if err == nil && whole {
		var jr *journal.Journal
		if jr, err = c.openBaseLog(); err == nil {
			// The state that it goes on from was in the home that is renounced.
			return jr.First() == journal.Bootstrap+1, jr.Close()
		}
	}
	if unread(err) != nil {
		return false, err
	}
	// If they come back they are found bad again.
	return false, errors.Join(removeAll(c.FS, c.Dir+"/base"), removeAll(c.FS, c.Dir+"/base-log"))
}
