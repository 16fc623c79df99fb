package replica

import (
	"errors"
	"fmt"
	"strings"

	"github.com/fxamacker/cbor/v2"

	"purgelab/impl/corrupt"
	"purgelab/impl/defect"
	"purgelab/impl/engine/tagged"
	"purgelab/impl/journal"
	"purgelab/impl/record"
	"purgelab/impl/vfs"
	"purgelab/model/op"
)

// A member is an identity in the group, and lives as long as the memory of it: a
// replica that cannot prove that it holds all that it acknowledged renounces it,
// and joins under another one. Which member a machine is now is a record, and so is
// the boot of the machine that ran it:
//
//	<dir>/member        which one, and where its files are: of the first in <dir> itself
//	<dir>/m<id>/        files of a later one
//	<home>/boot         under a policy that does not sync all
//
// Format makes the first one when the replica is created, and nobody does so later: a
// disk without it was never used, so it is not the one that the replica had.
//
// The number of a member names its machine in the low byte; the first member of a
// machine is the machine's number itself.
type memberID = uint64

func machineOf(id memberID) int { return int(id & 0xff) }

// memberRecord is the value of the record member.
type memberRecord struct {
	_    struct{} `cbor:",toarray"`
	ID   memberID
	Home string // of its files; relative to the directory of the partition
	// Kept are the files of a member before it that may be needed, since this one
	// is not a voter yet; Evidence says what they hold.
	Kept     string
	Joining  bool
	Evidence Evidence
}

// Evidence is what the disk of a member that cannot go on, or must not, can show
// of the log: everything up to op Last, whose term is Term. Intact is false if it
// can show nothing.
type Evidence struct {
	_      struct{} `cbor:",toarray"`
	Intact bool
	Term   uint64
	Last   op.Number
}

// Above tells whether e shows more than o: a later term, or more of the same.
func (e Evidence) Above(o Evidence) bool {
	if e.Intact != o.Intact {
		return e.Intact
	}
	return e.Term > o.Term || e.Term == o.Term && e.Last > o.Last
}

// UncleanError means that the machine lost power under a member that was not
// stopped before, and that need not have synced what it acknowledged.
type UncleanError struct{ Boot, Was uint64 }

func (e *UncleanError) Error() string {
	return fmt.Sprintf("suspect: boot %d of the machine follows boot %d, in which this member was not stopped", e.Boot, e.Was)
}

// LostError means that the files of a member are not there.
type LostError struct{ Machine int }

func (e *LostError) Error() string {
	return fmt.Sprintf("suspect: the disk of machine %d is not the one that it had", e.Machine)
}

// RemovedError means that a member was removed before it was a voter.
type RemovedError struct{ Member uint64 }

func (e *RemovedError) Error() string {
	return fmt.Sprintf("suspect: member %x was removed while it joined", e.Member)
}

// bootRecord is the value of the record boot.
type bootRecord struct {
	_     struct{} `cbor:",toarray"`
	Boot  uint64
	Clean bool
}

// ownHome is the home of the first member of a machine: the directory itself.
const ownHome = "."

func (c *Config) home() string {
	if c.member.Home == ownHome {
		return c.Dir
	}
	return c.Dir + "/" + c.member.Home
}

// Format makes the disk of a replica that is being created: before it is opened for the
// first time, and never again. Dir is there. A disk that is formatted stays as it is.
func Format(cfg Config) error {
	if cfg.Incarnation == 0 {
		cfg.Incarnation = 1
	}
	_, answer, err := record.Read(cfg.FS, cfg.Dir+"/member", cfg.identity())
	if answer == record.Absent {
		cfg.member = memberRecord{ID: memberID(cfg.ID), Home: ownHome}
		err = cfg.writeMember()
	}
	if err != nil {
		return fmt.Errorf("replica %d: format: %w", cfg.ID, err)
	}
	return nil
}

// findMember reads which member this machine is.
func (c *Config) findMember() error {
	c.member = memberRecord{ID: memberID(c.ID), Home: ownHome}
	b, answer, err := record.Read(c.FS, c.Dir+"/member", c.identity())
	switch answer {
	case record.Absent:
		if c.Defects.Has(defect.LostDiskUnnoticed) {
			return nil
		}
		if err := c.isForeign(); err != nil {
			return err
		}
		return &LostError{c.ID}
	case record.Value:
		return decodeRecord(c.Dir+"/member", b, &c.member)
	}
	return err
}

// isForeign is the error of a disk that another replica has used: whoever says that
// the own one is gone need not have put an empty one in.
func (c *Config) isForeign() error {
	if _, err := c.FS.List(c.journalDir()); err != nil {
		return unread(err)
	}
	jr, _, err := journal.Open(journal.Options{FS: c.FS, Dir: c.journalDir(), Identity: c.identity(), FileBytes: c.JournalBytes})
	if err == nil {
		return jr.Close()
	}
	var foreign *record.ForeignError
	if errors.As(err, &foreign) {
		return err
	}
	return unread(err)
}

func (c *Config) writeMember() error {
	return record.Write(c.FS, "replica.member", c.Dir+"/member", c.identity(), mustEncode(&c.member))
}

// checkBoot refuses a member that ran in a boot of the machine that ended without
// it being stopped, and notes this boot. Under a policy that syncs all no boot is
// noted.
func (c *Config) checkBoot(used bool) error {
	if !c.Policy.forgetful() {
		return nil
	}
	now := bootRecord{Boot: c.BootID}
	was, answer, err := c.readBoot()
	switch answer {
	case record.Value:
		if err != nil || was == now && now.Boot != 0 {
			return err
		}
		if err := c.unclean(was); err != nil {
			return err
		}
	case record.Absent:
		if used {
			return &UncleanError{now.Boot, 0}
		}
	default:
		return err
	}
	return record.Write(c.FS, "replica.boot", c.home()+"/boot", c.identity(), mustEncode(&now))
}

// readBoot reads the last boot of the machine that this member ran in.
func (c *Config) readBoot() (was bootRecord, answer record.Answer, err error) {
	file := c.home() + "/boot"
	b, answer, err := record.Read(c.FS, file, c.identity())
	if answer == record.Value {
		err = decodeRecord(file, b, &was)
	}
	return was, answer, err
}

// unclean refuses a member that ran in an earlier boot, or in one that nobody knows, and
// was not stopped in it.
func (c *Config) unclean(was bootRecord) error {
	if was.Boot == c.BootID && was.Boot != 0 || was.Clean {
		return nil
	}
	if c.Defects.Has(defect.SuspectVotes, defect.SuspectAcks, defect.CommitClamped) {
		c.forgot = true
		return nil
	}
	return &UncleanError{c.BootID, was.Boot}
}

// suspicious tells whether an error of a boot means that the memory of the member
// is gone, so that it must be renounced. A foreign disk is refused instead, and a
// disk that cannot be read is tried again.
func suspicious(err error) bool {
	var foreign *record.ForeignError
	if errors.As(err, &foreign) {
		return false
	}
	var (
		unclean   *UncleanError
		lost      *LostError
		forgotten *ForgottenError
	)
	var stateless *StatelessError
	var removed *RemovedError
	var unmatched *UnmatchedError
	var mismatch *tagged.MarkerMismatchError
	return errors.As(err, &unmatched) || errors.As(err, &mismatch) || errors.As(err, &stateless) || errors.As(err, &removed) || errors.As(err, &unclean) || errors.As(err, &lost) || errors.As(err, &forgotten) ||
		isSuspect(err) || errors.Is(err, corrupt.ErrCorrupt)
}

// renounce makes this machine another member, which has nothing and must join. The
// files of the one before, which show e and are in home, stay until it has, or those of
// the one before that, if they show more.
func (c *Config) renounce(e Evidence, home string) error {
	was := c.member
	next := memberRecord{Joining: true, Kept: home, Evidence: e}
	if was.Kept != "" && !e.Above(was.Evidence) {
		next.Kept, next.Evidence = was.Kept, was.Evidence
	}
	for next.ID = was.ID; next.ID == was.ID; {
		next.ID = memberID(c.Rand.Uint32()>>8)<<8 | memberID(c.ID)
	}
	next.Home = fmt.Sprintf("m%x", next.ID)
	c.member = next
	if err := removeAll(c.FS, c.home()); err != nil {
		return err
	}
	if err := c.FS.Mkdir("replica.member.mkdir", c.home()); err != nil {
		return err
	}
	if err := c.FS.SyncDir("replica.member.mkdir.dirsync", c.Dir); err != nil {
		return err
	}
	return c.writeMember()
}

// joined notes that this member is a voter, and lets what was kept go.
func (c *Config) joined() error {
	c.member.Joining, c.member.Kept, c.member.Evidence = false, "", Evidence{}
	if err := c.writeMember(); err != nil {
		return err
	}
	names, err := c.FS.List(c.Dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if c.needs(name) {
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
	names, err := fs.List(path)
	if err == nil {
		for _, name := range names {
			if err := removeAll(fs, path+"/"+strings.TrimSuffix(name, "/")); err != nil {
				return err
			}
		}
	}
	if err := fs.Remove("replica.member.remove", path); err != nil && !errors.Is(err, vfs.ErrNotExist) {
		return err
	}
	return nil
}

func mustEncode(v any) []byte {
	b, err := encMode.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("replica: encode %T: %v", v, err)) // none has a type that cannot be encoded
	}
	return b
}

func decodeRecord(file string, b []byte, v any) error {
	if err := cbor.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%s: %w: %w", file, corrupt.ErrCorrupt, err)
	}
	return nil
}

// Stop makes everything durable that this replica acknowledged, and notes that it
// did: a loss of power after it makes nobody suspect. The replica must not be used
// any more.
func (r *Replica) Stop() error {
	if r.sealed || r.copy != nil {
		return nil // nothing that it acknowledged is not durable
	}
	if err := r.jr.Sync(); err != nil {
		return err
	}
	if !r.cfg.Policy.forgetful() {
		return nil
	}
	b := mustEncode(&bootRecord{Boot: r.cfg.BootID, Clean: true})
	return record.Write(r.cfg.FS, "replica.stop", r.cfg.home()+"/boot", r.cfg.identity(), b)
}
