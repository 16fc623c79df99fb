package replica

import (
	"errors"

	"purgelab/impl/corrupt"
	"purgelab/impl/vfs"
	"purgelab/model/op"
)

// A machine keeps what it has of older incarnations until it has the base of the
// present one. If that base is lost before anybody else has a copy, the present
// incarnation never comes to life: it is sealed as any other, and whoever has no base
// shows what he had before. So the next one goes on from the next best log, and never
// from parts of two: it has directories of its own.

// Past is an older incarnation, and where a replica of it is on this disk if there is
// one.
type Past struct {
	Incarnation op.Incarnation
	Dir         string
}

// past is the configuration of a replica of an older incarnation.
func (c *Config) past(p Past) Config {
	was := *c
	was.Dir, was.Incarnation, was.Base = p.Dir, p.Incarnation, nil
	return was
}

// begun tells whether what is in the directory is a replica, and no copy of a base that
// never became whole.
func (c *Config) begun() (bool, error) {
	if _, whole, err := c.readBase(); whole || err != nil {
		return whole, unread(err)
	}
	_, err := c.FS.List(c.Dir + "/base-log")
	return errors.Is(err, vfs.ErrNotExist), unread(err)
}

// LastWord is what a replica would say that it holds if it were sealed as its disk is.
func LastWord(cfg Config) (Standing, error) { return cfg.lastWord(cfg.findMember()) }

// lastWord is what this machine shows, of the latest incarnation that it was in. found
// is what reading the record member came to.
func (c *Config) lastWord(found error) (Standing, error) {
	if c.Base == nil {
		return c.remains(found)
	}
	_, whole, err := c.readBase()
	switch {
	case whole && err == nil:
		return c.remains(found)
	case unread(err) != nil:
		return Standing{}, err
	}
	// Whoever cannot tell whether he had this base cannot tell what he acknowledged.
	doubtful := err != nil || found != nil || c.member.Joining
	for _, p := range c.Base.Past {
		was := c.past(p)
		found := was.findMember()
		if unread(found) != nil {
			return Standing{}, found
		}
		if good, err := was.begun(); err != nil {
			return Standing{}, err
		} else if good {
			s, err := was.remains(found)
			if err != nil || s.Evidence.Intact {
				s.Of, s.Copied = p.Incarnation, s.Copied || doubtful
				return s, err
			}
		}
		doubtful = doubtful || errors.Is(found, corrupt.ErrCorrupt) || was.member.Joining
	}
	return Standing{}, nil
}

// remains is what the homes in the directory show. If the record that names them is
// damaged all are searched, and nobody knows whose memory it is.
func (c *Config) remains(found error) (s Standing, err error) {
	var lost *LostError
	if errors.As(found, &lost) {
		return s, nil
	}
	was := *c
	if found == nil && c.member.Kept != "" {
		was.member.Home = c.member.Kept
		e, err := was.showsAt(was.home())
		if err != nil {
			return s, err
		}
		if e == c.member.Evidence { // it was not damaged since
			s.Evidence = e
		}
	}
	homes := []string{c.member.Home}
	if found != nil {
		if homes, err = c.allHomes(); err != nil {
			return s, err
		}
	}
	for _, was.member.Home = range homes {
		e, err := was.showsAt(was.home())
		if err != nil {
			return s, err
		}
		if e.Above(s.Evidence) {
			s.Copied = found != nil || c.member.Joining && !s.Evidence.Intact
			s.Evidence = e
		}
	}
	return s, nil
}
