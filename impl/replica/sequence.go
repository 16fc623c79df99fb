package replica

import (
	"fmt"
	"strings"

	"purgelab/impl/defect"
	"purgelab/impl/engine"
	"purgelab/impl/engine/flat"
	"purgelab/impl/record"
	"purgelab/model/op"
)

// This file is what the design reset-record does when a machine lost power under a
// policy that does not sync all before it acknowledges. Its source keeps no journal
// then: op numbers begin anew under the same incarnation, and messages and
// bookmarks are gone; only the two records of its purges are left. That is sound
// if power fails on all machines of the group together, and at no other time.
//
// The floor in purge.reset was measured in op numbers that are used again now, so
// it is dropped with them. The source first kept it, and so does a variant: then
// fresh ops are taken for purged ones.
//
// All of this is about the home of the member; after a transfer it is not the
// directory of the partition.
//
// The record of the boot goes last: until it is gone every boot does this again. So
// that record is looked at before anything else in the home: a part of the journal
// may be gone, and what is left of one looks damaged.

// outlasting is what outlives an op sequence: these records, and the base that the
// incarnation goes on from, which was synced.
var outlasting = []string{"purge.reset", "purge.gen", "boot", "member", "base", "base-log/"}

// beginSequence removes everything but these records.
func (c *Config) beginSequence() error {
	fail := func(err error) error { return fmt.Errorf("begin op numbers anew: %w", err) }
	home := c.home()
	names, err := c.FS.List(home)
	if err != nil {
		return fail(err)
	}
next:
	for _, name := range names {
		for _, kept := range outlasting {
			if name == kept {
				continue next
			}
		}
		if err := removeAll(c.FS, home+"/"+strings.TrimSuffix(name, "/")); err != nil {
			return fail(err)
		}
	}
	if err := c.FS.SyncDir("replica.sequence.dirsync", home); err != nil {
		return fail(err)
	}
	if !c.Variants.KeepFloor && !c.Defects.Has(defect.FloorKeptAcrossSequences) {
		if err := flat.DropFloor(c.flatOptions()); err != nil {
			return fail(err)
		}
	}
	if err := removeAll(c.FS, home+"/boot"); err != nil {
		return fail(err)
	}
	if err := c.FS.SyncDir("replica.sequence.dirsync", home); err != nil {
		return fail(err)
	}
	return nil
}

// sequenceLost is the UncleanError of a home whose op numbers must begin anew, or why
// nobody knows; nil for any other.
func (c *Config) sequenceLost() error {
	if !c.Volatile() {
		return nil
	}
	was, answer, err := c.readBoot()
	if answer != record.Value || err != nil {
		return err
	}
	return c.unclean(was)
}

func (c *Config) flatOptions() flat.Options {
	return flat.Options{Options: engine.Options{FS: c.FS, Dir: c.home(), Identity: c.identity()}}
}

// Volatile tells whether op numbers begin anew when the group loses power.
func (c *Config) Volatile() bool { return c.Design == ResetRecord && c.Policy.forgetful() }

// PurgedTo is the generation whose reset the disk of a replica of the design
// reset-record records, 0 without one.
func PurgedTo(c *Config) (op.Generation, error) {
	was := *c
	if was.Incarnation == 0 {
		was.Incarnation = 1
	}
	if err := was.findMember(); err != nil {
		return 0, err
	}
	return flat.PurgedTo(was.flatOptions())
}
