package meta

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fxamacker/cbor/v2"

	"purgelab/impl/consensus"
	"purgelab/impl/corrupt"
	"purgelab/impl/defect"
	"purgelab/impl/journal"
	"purgelab/impl/record"
	"purgelab/impl/vfs"
)

// A replica of the plane whose disk is not the one that it had, or is damaged, may
// have forgotten what it promised. It gives up its identity in the group and joins
// it again under another one, with an empty log, as a replica of a partition does.
// Which one it has is a record, which Format makes when the plane is created and
// never later, so that a disk without it is known to be another one:
//
//	<dir>/member        which member this is, and where its files are
//	<dir>/journal/      files of the first one
//	<dir>/m<id>/        files of a later one
//
// What comes next:
//
//	joiner                     leader
//	  ── Join, now and then ─────►  add it as a learner, which counts for nothing
//	  ◄──────── the log ──────────
//	                               when it has what is committed, one change: it
//	                               becomes a voter, what this machine was before is
//	                               removed
//
// A Join may come late, of a member that this replica gave up in the meantime, and take
// the place of the one that it is now. Who was removed never belongs again: if it asks,
// the leader sends its Join back, and it becomes yet another member.
//
// Until then the state here is that of any moment in the past: see Joining. Its
// machine must not take it for what exists.
type memberID = uint64

// The low byte of a member's number is that of its machine; the first member of a
// machine has the machine's number itself.
func machineOf(id memberID) int { return int(id & 0xff) }

const ownHome = "." // of the first member: the directory itself

// memberRecord is the value of the record member.
type memberRecord struct {
	_       struct{} `cbor:",toarray"`
	ID      memberID
	Home    string // of its files; relative to the directory
	Joining bool   // it is no voter yet
}

// LostError means that the disk holds nothing of a replica that was there before.
type LostError struct{ ID int }

func (e *LostError) Error() string {
	return fmt.Sprintf("suspect: the disk of replica %d is not the one that it had", e.ID)
}

// Format makes the disk of a replica of a plane that is being created. It is called
// once for each, before any of them is opened.
func Format(cfg Config) error {
	cfg.member = memberRecord{ID: memberID(cfg.ID), Home: ownHome}
	if err := cfg.writeMember(); err != nil {
		return fmt.Errorf("meta %d: format: %w", cfg.ID, err)
	}
	return nil
}

func (c *Config) identity() record.Identity {
	return record.Identity{Cluster: c.Cluster, Partition: OwnPartition, Replica: uint32(c.ID), Incarnation: 1}
}

// home is where the files of the member are.
func (c *Config) home() string {
	if c.member.Home == ownHome {
		return c.Dir
	}
	return c.Dir + "/" + c.member.Home
}

// findMember reads which member this is.
func (c *Config) findMember() error {
	c.member = memberRecord{ID: memberID(c.ID), Home: ownHome}
	file := c.Dir + "/member"
	b, answer, err := record.Read(c.FS, file, c.identity())
	switch {
	case answer == record.Absent && c.Defects.Has(defect.PlaneForgets):
		return Format(*c)
	case answer == record.Absent:
		return &LostError{c.ID}
	case answer != record.Value:
		return err
	}
	if err := cbor.Unmarshal(b, &c.member); err != nil {
		return fmt.Errorf("%s: %w: %w", file, corrupt.ErrCorrupt, err)
	}
	return nil
}

func (c *Config) writeMember() error {
	b, err := encMode.Marshal(&c.member)
	if err != nil {
		panic(fmt.Sprintf("meta: encode the member: %v", err)) // its type can be encoded
	}
	return record.Write(c.FS, "meta.member", c.Dir+"/member", c.identity(), b)
}

// RemovedError means that a member was removed before it was a voter.
type RemovedError struct{ Member uint64 }

func (e *RemovedError) Error() string {
	return fmt.Sprintf("suspect: member %x was removed while it joined", e.Member)
}

// suspicious tells whether an error of a boot means that the memory of the member is
// gone. A disk of another replica is refused instead, and one that cannot be read is
// tried again.
func suspicious(err error) bool {
	var (
		foreign *record.ForeignError
		lost    *LostError
		removed *RemovedError
		suspect *consensus.ErrSuspect
	)
	if errors.As(err, &foreign) {
		return false
	}
	return errors.As(err, &lost) || errors.As(err, &removed) || errors.As(err, &suspect) || errors.Is(err, corrupt.ErrCorrupt)
}

// renounce makes this replica another member, which has nothing and must join.
func (c *Config) renounce() error {
	was := c.member.ID
	for c.member.ID == was {
		c.member.ID = memberID(c.Rand.Uint32()>>8)<<8 | memberID(c.ID)
	}
	c.member.Home, c.member.Joining = fmt.Sprintf("m%x", c.member.ID), true
	if err := c.FS.Mkdir("meta.member.mkdir", c.home()); err != nil {
		return err
	}
	if err := c.FS.SyncDir("meta.member.mkdir.dirsync", c.Dir); err != nil {
		return err
	}
	return c.writeMember()
}

// joined notes that this member is a voter, and lets the files of those before go.
func (c *Config) joined() error {
	c.member.Joining = false
	if err := c.writeMember(); err != nil {
		return err
	}
	return c.removeOthers()
}

// removeOthers removes what is not of the present member. A power loss may bring it
// back, so a boot does it as well.
func (c *Config) removeOthers() error {
	names, err := c.FS.List(c.Dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		own := name == c.member.Home+"/" || c.member.Home == ownHome && name == "journal/" || strings.HasPrefix(name, "member")
		if own {
			continue
		}
		if err := removeAll(c.FS, c.Dir+"/"+strings.TrimSuffix(name, "/")); err != nil {
			return err
		}
	}
	return nil
}

// removeAll removes a file, or a folder with everything in it, if it is there.
func removeAll(fs vfs.FS, path string) error {
	if names, err := fs.List(path); err == nil {
		for _, name := range names {
			if err := removeAll(fs, path+"/"+strings.TrimSuffix(name, "/")); err != nil {
				return err
			}
		}
	}
	if err := fs.Remove("meta.member.remove", path); err != nil && !errors.Is(err, vfs.ErrNotExist) {
		return err
	}
	return nil
}

// Joining tells whether this replica lost its memory and is no voter yet. Its state
// then may be older than what it, or its machine, once knew.
func (m *Machine) Joining() bool { return m.cfg.member.Joining }

// Suspect is why the replica is not the member that it was before this boot; nil if
// it is.
func (m *Machine) Suspect() error { return m.suspect }

// join asks to be taken in. It is repeated: nobody may have led.
func (m *Machine) join() {
	if !m.Joining() {
		return
	}
	if m.joinLater--; m.joinLater > 0 {
		return
	}
	m.joinLater = consensus.JoinPause(m.asked)
	m.asked++
	for _, to := range m.cfg.Members {
		if to != m.cfg.ID {
			m.out.Messages = append(m.out.Messages, Message{From: m.cfg.ID, To: to, Join: m.cfg.member.ID})
		}
	}
}

// takeJoin takes a Join, or its own one that came back.
func (m *Machine) takeJoin(id memberID) error {
	if machineOf(id) != m.cfg.ID {
		m.admit(id)
		return nil
	}
	if !m.Joining() || id != m.cfg.member.ID {
		return nil
	}
	if err := m.jr.Close(); err != nil {
		return err
	}
	cfg := m.cfg
	cfg.Damaged = &RemovedError{id}
	next, err := Open(cfg)
	if err != nil {
		return err
	}
	next.out, next.local = m.out, m.local
	*m = *next
	m.cfg.Damaged = nil
	return nil
}

// admit proposes the change that comes next for a replica that joins, unless another one
// is under way.
func (m *Machine) admit(id memberID) {
	now, st := m.node.Members(), m.node.Status()
	if !m.leading || st.OwnTermEntry == 0 || m.applied < st.OwnTermEntry {
		return
	}
	if slices.Contains(now.Gone, id) {
		m.out.Messages = append(m.out.Messages, Message{From: m.cfg.ID, To: machineOf(id), Join: id})
		return
	}
	if now.Joint() || now.Voter(id) {
		return
	}
	c := consensus.Change{Add: id, Learner: true}
	if now.Has(id) {
		if match, ok := m.node.Match(id); !ok || match < st.Commit {
			return
		}
		c.Learner = false
	}
	for _, list := range [][]uint64{now.Voters, now.Learners} {
		for _, x := range list {
			// What this machine was before: a voter until this one is.
			if machineOf(x) == machineOf(id) && x != id && !(c.Learner && now.Voter(x)) {
				c.Remove = append(c.Remove, x)
			}
		}
	}
	// What comes to nothing is asked for again.
	_ = m.node.ProposeChange(c)
}

// changed takes in the changes of membership that are in force now.
func (m *Machine) changed(list []consensus.Changed) error {
	for _, ch := range list {
		if m.Joining() && ch.Members.Voter(m.cfg.member.ID) && !ch.Members.Joint() {
			if err := m.cfg.joined(); err != nil {
				return fmt.Errorf("member %d joined: %w", m.cfg.member.ID, err)
			}
		}
	}
	return nil
}

// Proved lists the bytes of the journal whose damage a boot must refuse. Of the
// configuration who the replica is, its disk and its folder count.
func Proved(cfg Config) ([]corrupt.Span, error) {
	if err := cfg.findMember(); err != nil {
		return nil, err
	}
	return journal.Proved(cfg.FS, cfg.home()+"/journal", cfg.identity())
}
