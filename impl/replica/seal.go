package replica

import (
	"errors"
	"fmt"

	"purgelab/impl/corrupt"
	"purgelab/impl/journal"
	"purgelab/impl/record"
	"purgelab/impl/vfs"
	"purgelab/model/op"
)

// A sealed replica has stopped for good: its incarnation is to end. That is a record
// before it says what it holds, so that it never goes on after a restart at which
// the plane's replica of its machine may not know it yet.

// seal stops this replica. What it will say that it holds it reads from the disk
// first: the log may be damaged there, and nobody has noticed.
func (r *Replica) seal() error {
	if r.jr != nil {
		if err := r.jr.Sync(); err != nil {
			return err
		}
	}
	var err error
	if r.word, err = r.cfg.lastWord(nil); err != nil {
		return err
	}
	if err := record.Write(r.cfg.FS, "replica.seal", r.cfg.Dir+"/sealed", r.cfg.identity(), nil); err != nil {
		return fmt.Errorf("seal: %w", err)
	}
	err = r.Release()
	r.jr, r.eng, r.sealed = nil, nil, true
	return err
}

// isSealed reads whether the incarnation has ended here.
func (c *Config) isSealed() (bool, error) {
	_, answer, err := record.Read(c.FS, c.Dir+"/sealed", c.identity())
	if answer == record.Damaged {
		return true, nil // there was one
	}
	return answer == record.Value, err
}

// openSealed is a replica that only tells what it holds. found is what reading the
// record member came to.
func openSealed(cfg Config, found error) (*Replica, error) {
	word, err := cfg.lastWord(found)
	if err != nil {
		return nil, fmt.Errorf("replica %d: %w", cfg.ID, stopped(err))
	}
	return &Replica{cfg: cfg, log: cfg.Logger, sealed: true, joining: cfg.member.Joining, word: word}, nil
}

// Standing is what the metadata plane must know of a replica.
type Standing struct {
	// Suspect: its member lost its memory, and it has not joined again. Sealed: it
	// has stopped for good. Evidence is what it can show of the log that the group
	// may have to go on from.
	Suspect, Sealed bool
	Evidence        Evidence
	// Copied: what it can show is only what it has got from others since, or it cannot
	// tell.
	Copied bool
	// Of is the incarnation whose log Evidence is of, if it is an older one: it never
	// had the base of its own.
	Of op.Incarnation
	// Baseless: the log that the incarnation goes on from was here, and is not to be had
	// any more.
	Baseless bool
}

// Standing of this replica.
func (r *Replica) Standing() Standing {
	if r.sealed {
		s := r.word
		s.Suspect, s.Sealed = r.joining, true
		return s
	}
	s := Standing{Suspect: r.joining, Evidence: r.cfg.member.Evidence, Baseless: r.copy != nil && r.copy.baseless}
	if !r.joining && r.jr != nil {
		s.Evidence = r.shows()
	}
	return s
}

// shows is what the log of this member shows.
func (r *Replica) shows() Evidence {
	last := r.jr.Last()
	term, err := r.jr.Term(last)
	return Evidence{Intact: err == nil, Term: term, Last: last}
}

// showsAt is what the journal in a member's folder shows: nothing if it is damaged or
// not there. An error means that the disk could not be read, so nobody knows.
func (c *Config) showsAt(home string) (Evidence, error) {
	if _, err := c.FS.List(home + "/journal"); err != nil {
		return Evidence{}, unread(err)
	}
	jr, _, err := journal.Open(journal.Options{FS: c.FS, Dir: home + "/journal", Identity: c.identity(), FileBytes: c.JournalBytes})
	if err != nil {
		return Evidence{}, unread(err)
	}
	defer jr.Close()
	if good, err := c.stateShown(home, jr); err != nil || !good {
		return Evidence{}, err
	}
	last := jr.Last()
	term, err := jr.Term(last)
	return Evidence{Intact: err == nil, Term: term, Last: last}, nil
}

// unread passes on an error that says nothing about what the disk holds.
func unread(err error) error {
	if errors.Is(err, vfs.ErrCrashed) || vfs.Failed(err) && !errors.Is(err, corrupt.ErrCorrupt) {
		return err
	}
	return nil
}
