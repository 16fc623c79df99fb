package replica

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"purgelab/impl/observe"
	"purgelab/impl/transfer"
	"purgelab/impl/vfs"
	"purgelab/model/op"
)

// The files of a member are in its home: its journal, and what its engine has. A
// transfer fills another one, <dir>/h<number>, and the record member, which names the
// home, is its instant: whoever boots finds the old state, or the new one. All that
// is in no home that is needed goes, one thing at a time.

// homeNumber is the number of a folder that a transfer fills, or has filled.
func homeNumber(name string) (n uint64, ok bool) {
	digits, ok := strings.CutPrefix(strings.TrimSuffix(name, "/"), "h")
	n, err := strconv.ParseUint(digits, 10, 64)
	return n, ok && err == nil
}

// laterHome is the home that an entry of the directory of the partition is: of a member
// after the first one, or of a transfer. The first member has no folder of its own.
func laterHome(name string) (home string, ok bool) {
	home, folder := strings.CutSuffix(name, "/")
	_, filled := homeNumber(name)
	return home, folder && (filled || strings.HasPrefix(home, "m") && home != "marker")
}

// allHomes are all that there may be on the disk.
func (c *Config) allHomes() ([]string, error) {
	names, err := c.FS.List(c.Dir)
	if unread(err) != nil {
		return nil, err
	}
	homes := []string{ownHome}
	for _, name := range names {
		if later, ok := laterHome(name); ok {
			homes = append(homes, later)
		}
	}
	return homes, nil
}

// nextHome is a name that no home on the disk has.
func (c *Config) nextHome() (string, error) {
	names, err := c.FS.List(c.Dir)
	last := uint64(0)
	for _, name := range names {
		if n, ok := homeNumber(name); ok {
			last = max(last, n)
		}
	}
	return fmt.Sprintf("h%d", last+1), err
}

// cleanStaging removes from the folder that a transfer fills what is not the engine's. It
// may have been a home before, and what is left of its journal must not be taken for a
// part of the new one, nor come back.
func (c *Config) cleanStaging() error {
	dir := c.Dir + "/" + c.staging
	names, err := c.FS.List(dir)
	if errors.Is(err, vfs.ErrNotExist) {
		return nil
	}
	removed := false
	for _, name := range names {
		if name != "journal/" && !strings.HasPrefix(name, "boot") {
			continue
		}
		removed = true
		err = errors.Join(err, removeAll(c.FS, dir+"/"+strings.TrimSuffix(name, "/")))
	}
	if err == nil && removed {
		err = c.FS.SyncDir("transfer.home.clean", dir)
	}
	return err
}

// needs tells whether an entry of the directory of the partition must stay.
func (c *Config) needs(name string) bool {
	if strings.HasPrefix(name, "member") || strings.HasPrefix(name, "base") || name == "sealed" {
		return true
	}
	if home, ok := laterHome(name); ok {
		return home == c.member.Home || home == c.member.Kept || home == c.staging
	}
	return c.member.Home == ownHome || c.member.Kept == ownHome
}

// homeStep removes one thing that is in no home.
func (r *Replica) homeStep() error {
	names, err := r.cfg.FS.List(r.cfg.Dir)
	if err != nil {
		return r.again(&r.later, err)
	}
	for _, name := range names {
		if !r.cfg.needs(name) {
			return r.again(&r.later, transfer.ReclaimOne(r.cfg.FS, r.cfg.Dir+"/"+name))
		}
	}
	r.homes = false
	r.emit(observe.Event{Action: "ReclaimOld"})
	return nil
}

// staged is a home that is, or was, being filled, with the state as of an op.
type staged struct {
	name       string
	op         op.Number
	generation op.Generation
}

// passed tells whether a state is of no use any more: this replica has come to its op, or
// has purged more.
func (r *Replica) passed(s staged) bool {
	return r.committed >= s.op || r.eng.Facts().Generation > s.generation
}

// forgetStaged lets what is staged go.
func (r *Replica) forgetStaged() { r.staged, r.cfg.staging, r.homes = staged{}, "", true }

// findStaged finds what a transfer before this boot left: of the last one what can
// be gone on with.
func (r *Replica) findStaged() error {
	names, err := r.cfg.FS.List(r.cfg.Dir)
	if err != nil {
		return err
	}
	r.homes = r.cfg.Compact.On()
	last := ""
	for _, name := range names {
		plain := strings.TrimSuffix(name, "/")
		n, ok := homeNumber(name)
		r.homes = r.homes || ok
		if was, _ := homeNumber(last); ok && n > was && plain != r.cfg.member.Home && plain != r.cfg.member.Kept {
			last = plain
		}
	}
	if last == "" {
		return nil
	}
	m, err := transfer.Staged(r.cfg.FS, r.cfg.Dir+"/"+last, r.cfg.identity())
	if err != nil {
		return err
	}
	if m == nil {
		return nil
	}
	if s := (staged{last, m.Point.Applied, m.Point.Generation}); !r.passed(s) {
		r.staged, r.cfg.staging = s, last
	}
	return nil
}
