package replica

import (
	"errors"
	"fmt"

	"github.com/hashicorp/go-hclog"

	"purgelab/impl/consensus"
	"purgelab/impl/defect"
	"purgelab/impl/engine"
	"purgelab/impl/journal"
	"purgelab/impl/observe"
	"purgelab/impl/raftlog"
	"purgelab/impl/vfs/durable"
	"purgelab/model/op"
)

// Report says what a boot found.
type Report struct {
	Journal journal.Report
	Engine  engine.Report
	// Suspect, if not nil, is why the member that this machine was could not go
	// on: what runs is another one, which must join.
	Suspect error
}

// Open boots a replica from its disk. If the disk is damaged, or proves that this
// member forgot what it promised, or cannot prove that it did not, the member is
// renounced, and the replica that comes back is a new one, with an empty log,
// which joins the group; nothing is repaired by guess. A disk of another replica
// is refused, and so is, with the error of journal, engine, record or consensus
// that says why, the damaged disk of a replica that is alone.
func Open(cfg Config) (*Replica, error) {
	if cfg.Incarnation == 0 {
		cfg.Incarnation = 1
	}
	if cfg.Logger == nil {
		cfg.Logger = hclog.NewNullLogger()
	}
	if cfg.Design != ResetRecord && !cfg.Defects.Has(defect.SyncRetried) { // that one's engine fences itself
		cfg.FS = durable.Fence(cfg.FS)
	}
	err := cfg.findMember()
	if sealed, e := cfg.isSealed(); e != nil {
		err = e
	} else if sealed {
		return openSealed(cfg, err)
	}
	if err == nil && cfg.Base != nil {
		var whole bool
		if _, whole, err = cfg.readBase(); err == nil && !whole {
			r, err := openCopying(cfg)
			if err != nil {
				return nil, fmt.Errorf("replica %d: %w", cfg.ID, stopped(err))
			}
			return r, nil
		}
	}
	if err == nil {
		err = cfg.Damaged
	}
	if err == nil {
		var r *Replica
		if r, err = openMember(cfg); err == nil {
			return r, nil
		}
	}
	var stateless *StatelessError
	if errors.As(err, &stateless) && !stateless.Used {
		// A member that is new has got no state yet.
		return openCopying(cfg)
	}
	var unclean *UncleanError
	if cfg.Volatile() && errors.As(err, &unclean) {
		if err = cfg.beginSequence(); err == nil {
			var r *Replica
			if r, err = openMember(cfg); err == nil {
				return r, nil
			}
		}
	}
	if !suspicious(err) || cfg.Design == ResetRecord {
		return nil, fmt.Errorf("replica %d: %w", cfg.ID, stopped(err))
	}
	e, home, unread := cfg.evidence()
	if unread != nil {
		return nil, fmt.Errorf("replica %d: %w", cfg.ID, stopped(unread))
	}
	if len(cfg.Members) == 1 && !e.Intact {
		return nil, fmt.Errorf("replica %d: %w", cfg.ID, stopped(errors.Join(err, cfg.damage())))
	}
	cfg.Logger.Warn("member is suspect", "replica", cfg.ID, "partition", cfg.Partition, "member", cfg.member.ID, "error", err)
	if e := cfg.renounce(e, home); e != nil {
		return nil, fmt.Errorf("replica %d: renounce a member: %w", cfg.ID, stopped(errors.Join(e, err)))
	}
	cfg.suspect = err
	open := openMember
	if cfg.Base != nil {
		good, err := cfg.baseIsGood()
		if err != nil {
			return nil, fmt.Errorf("replica %d: %w", cfg.ID, stopped(err))
		}
		if !good {
			open = openCopying
		}
	}
	r, err := open(cfg)
	if err != nil {
		return nil, fmt.Errorf("replica %d: %w", cfg.ID, stopped(err))
	}
	return r, nil
}

// openMember boots the member that the configuration names. If it cannot be, nothing is
// left open.
func openMember(cfg Config) (_ *Replica, err error) {
	r := &Replica{cfg: cfg, log: cfg.Logger, waiting: map[uint64]uint64{}, joining: cfg.member.Joining}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Release())
		}
	}()
	id := cfg.identity()
	if err := cfg.sequenceLost(); err != nil {
		return nil, err
	}
	if r.jr, r.rep.Journal, err = journal.Open(journal.Options{FS: cfg.FS, Dir: cfg.journalDir(), Identity: id, FileBytes: cfg.JournalBytes, Room: cfg.JournalRoom, Defects: cfg.Defects}); err != nil {
		return nil, err
	}
	if err := r.cfg.checkBoot(r.rep.Journal.Frames > 0); err != nil {
		return nil, err
	}
	if err := r.openLine(); err != nil {
		return nil, err
	}
	if r.eng, r.rep.Engine, err = openEngine(&cfg, engine.Options{
		FS: cfg.FS, Dir: cfg.home(), Identity: id, SegmentBytes: cfg.SegmentBytes, Defects: cfg.Defects, HighestOp: r.lastOp,
	}); err != nil {
		return nil, err
	}
	if err := r.settleDoubt(); err != nil {
		return nil, err
	}
	r.eng = r.translate(r.eng)
	f := r.eng.Facts()
	if f.Front > r.lastOp() && !cfg.Defects.Has(defect.CommitClamped) {
		return nil, &ForgottenError{Front: f.Front, Last: r.lastOp()}
	}
	if err := r.decodeExtra(r.eng.Extra()); err != nil {
		return nil, err
	}
	if r.joining && r.members.Voter(cfg.member.ID) && !r.members.Joint() {
		// It was taken in by an op that it got as a part of a checkpoint.
		if err := r.cfg.joined(); err != nil {
			return nil, err
		}
		r.joining = false
	}
	if err := r.hasState(&f); err != nil {
		return nil, err
	}
	if err := r.matches(&f); err != nil {
		return nil, err
	}
	r.line.said = f.Applied > r.line.baseLast()
	// The base was agreed on.
	r.applied, r.committed = f.Applied, max(f.Applied, r.line.baseLast())
	r.origin = cfg.Rand.Uint64()
	r.reads.base = cfg.Rand.Uint64() &^ 0xffffffff
	r.node, err = consensus.New(consensus.Config{
		ID: cfg.member.ID, Members: r.members, Log: bootLog{r.jr, r.own(f.Front)}, Applied: r.own(f.Applied), Persisted: cfg.Policy.persisted(), Forgot: r.cfg.forgot, Rand: cfg.Rand,
		HeartbeatTicks: cfg.HeartbeatTicks, ElectionTicks: cfg.ElectionTicks, Defects: cfg.Defects, Logger: cfg.Logger,
	})
	if err != nil {
		return nil, err
	}
	r.reclaim, r.unlink, r.check = true, r.jr.Reclaimable() || r.baseLeft(), r.rep.Engine.Segments.Unread > 0
	r.snapshot(f.Applied)
	if err := r.findStaged(); err != nil {
		return nil, err
	}
	// A crash may have come between the record of a new member and its first boot.
	if r.rep.Suspect = cfg.suspect; cfg.suspect != nil || r.joining && r.rep.Journal.Frames == 0 && r.jr.First() == 2 {
		r.emit(observe.Event{Action: "Rejoin"})
	}
	r.copiedState()
	r.booted()
	r.copiedBegun()
	if f.Resetting > 0 {
		r.learnIntent(Intent{Generation: f.Resetting})
	}
	r.passLine()
	r.checkServing()
	return r, nil
}

// lastOp is the last op of the line that is stored here.
func (r *Replica) lastOp() op.Number { return r.jr.Last() + r.line.shift }

// own is the number in this incarnation of an op of the line; that of the bootstrap
// if it is of an older one.
func (r *Replica) own(n op.Number) op.Number { return max(n, r.line.baseLast()) - r.line.shift }

// evidence is what the files of the members that this machine was can show, and the
// home of those that do; those that are kept are known already. Where all is synced
// before it is acknowledged a suspect is damaged, and what is left of it shows nothing.
func (c *Config) evidence() (best Evidence, home string, err error) {
	was := *c
	home = c.member.Home
	if !c.Policy.forgetful() {
		return best, home, nil
	}
	homes := []string{home}
	if home == ownHome { // the record itself may be what is damaged
		if homes, err = c.allHomes(); err != nil {
			return best, home, err
		}
	}
	for _, was.member.Home = range homes {
		e, err := was.showsAt(was.home())
		if err != nil {
			return best, home, err
		}
		if e.Above(best) {
			best, home = e, was.member.Home
		}
	}
	return best, home, nil
}

// ForgottenError means that the disk holds the effect of an op that the journal
// does not hold: the journal lost what this replica once acknowledged.
type ForgottenError struct{ Front, Last op.Number }

func (e *ForgottenError) Error() string {
	return fmt.Sprintf("suspect: op %d is materialized but the journal ends at op %d", e.Front, e.Last)
}

func isSuspect(err error) bool {
	var s *consensus.ErrSuspect
	return errors.As(err, &s)
}

// bootLog raises the saved commit to what the disk proves: an op is materialized,
// and a marker written, only after it was committed.
type bootLog struct {
	*journal.Journal
	front op.Number
}

func (l bootLog) State() raftlog.State {
	s := l.Journal.State()
	s.Commit = max(s.Commit, l.front)
	return s
}
