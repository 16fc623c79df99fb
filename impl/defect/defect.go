// Package defect names the bugs that can be switched on, by name, through a
// replica's configuration. Each one is a rule left out, read at exactly one
// place in the code; off, it costs one comparison. A check that does not
// catch the defect made for it is itself defective.
package defect

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// Set is what is switched on: one of the defects, or none, which is the zero value.
type Set uint8

// The defects. The comment of each says which rule is left out.
const (
	// LocalBoundary: the boundary of a purge is the highest op that this
	// replica's journal holds, not the op number of the purge itself.
	LocalBoundary Set = iota + 1
	// DuplicatePurgeWipes: a purge of a generation already applied wipes again.
	DuplicatePurgeWipes
	// MarkerNoDirSync: the marker is renamed into place, its directory not synced.
	MarkerNoDirSync
	// BookmarkGenerationIgnored: at boot bookmarks of older generations are loaded.
	BookmarkGenerationIgnored
	// ReplayBelowBoundary: a complete marker does not stop ops at or below its
	// boundary from being materialized again.
	ReplayBelowBoundary
	// SessionsLostAtPurge: a purge forgets the session table.
	SessionsLostAtPurge
	// StaleAutoCommit: the bookmark that an auto-commit poll raises is computed
	// when the poll is proposed and stored whatever generation it meets.
	StaleAutoCommit
	// ApplyPastPurge: ops after the purge are materialized before it is complete.
	ApplyPastPurge
	// AckBeforeSync: a follower acknowledges entries before they are synced.
	AckBeforeSync
	// VoteBeforeSync: a vote is sent before term and vote are synced.
	VoteBeforeSync
	// StaleRead: a leader answers reads before an entry of its own term is applied.
	StaleRead
	// OffsetAtProposal: the offset of an append is assigned when it is proposed.
	OffsetAtProposal
	// BookmarkUnbounded: a bookmark at or above the end is stored.
	BookmarkUnbounded
	// StartNotStored: a deletion of records answers the new start and does not
	// store it.
	StartNotStored
	// EndFromRecords: the end is answered from the newest record that is stored,
	// as 0 if there is none.
	EndFromRecords
	// StartNotReplayed: a deletion of records moves the start only where it was
	// proposed, and not when it is replayed there.
	StartNotReplayed
	// DeletionNotReplayed: a bookmark is deleted only where that was proposed, and
	// not when it is replayed there.
	DeletionNotReplayed
	// RepeatExecuted: a repeat of a session's last request is executed again.
	RepeatExecuted
	// ReadMoved: a poll below the start is read from the start instead of being
	// refused.
	ReadMoved
	// IncarnationIgnored: a request to a partition that was deleted is taken by
	// the one that has its name now.
	IncarnationIgnored
	// JournalRollNoDirSync: a new file of the journal is synced, its name is not.
	JournalRollNoDirSync
	// ReclaimNotResumed: what a crash or a failed unlink left of older generations, or
	// below the start, is not removed before the next purge or deletion.
	ReclaimNotResumed
)

var names = map[string]Set{
	"local-boundary":              LocalBoundary,
	"duplicate-purge-wipes":       DuplicatePurgeWipes,
	"marker-no-dirsync":           MarkerNoDirSync,
	"bookmark-generation-ignored": BookmarkGenerationIgnored,
	"replay-below-boundary":       ReplayBelowBoundary,
	"sessions-lost-at-purge":      SessionsLostAtPurge,
	"stale-auto-commit":           StaleAutoCommit,
	"apply-past-purge":            ApplyPastPurge,
	"ack-before-sync":             AckBeforeSync,
	"vote-before-sync":            VoteBeforeSync,
	"stale-read":                  StaleRead,
	"offset-at-proposal":          OffsetAtProposal,
	"bookmark-unbounded":          BookmarkUnbounded,
	"start-not-stored":            StartNotStored,
	"end-from-records":            EndFromRecords,
	"start-not-replayed":          StartNotReplayed,
	"deletion-not-replayed":       DeletionNotReplayed,
	"repeat-executed":             RepeatExecuted,
	"read-moved":                  ReadMoved,
	"incarnation-ignored":         IncarnationIgnored,
	"journal-roll-no-dirsync":     JournalRollNoDirSync,
	"reclaim-not-resumed":         ReclaimNotResumed,
}

// Names lists the defects, sorted.
func Names() []string {
	var out []string
	for n := range names {
		out = append(out, n)
	}
	sort.Strings(out)
	return out
}

// Parse reads one name; the empty string is none.
func Parse(name string) (Set, error) {
	if name == "" {
		return 0, nil
	}
	if d, ok := names[name]; ok {
		return d, nil
	}
	return 0, fmt.Errorf("defect %q: want one of %s", name, strings.Join(Names(), ", "))
}

// Has tells whether it is one of these that is switched on.
func (s Set) Has(these ...Set) bool { return slices.Contains(these, s) }
