package defect

// Defects of the design reset-record.
const (
	// RetryResetsAgain: a purge whose messages are reset, and whose cleanup is
	// not done, resets them again when it is retried.
	RetryResetsAgain Set = iota + 60
	// CompleteBeforeCleanup: the purge is recorded as complete before the
	// bookmarks are gone.
	CompleteBeforeCleanup
	// BookmarkNoDirSync: folders of bookmarks are not synced after the unlinks.
	BookmarkNoDirSync
	// HeldDropped: a change of a bookmark that was held during a cleanup is
	// forgotten when it ends.
	HeldDropped
	// FloorNotKept: a boot forgets the floor, so replay fills the new era with
	// ops of the old.
	FloorNotKept
	// FloorKeptAcrossSequences: the floor outlives the op numbers that it was
	// measured in, and hides fresh ops.
	FloorKeptAcrossSequences
	// CompletionFailureIgnored: a purge counts as complete although the write of its
	// completion failed.
	CompletionFailureIgnored
	// UnlinkFailureIgnored: the cleanup passes over what it cannot remove.
	UnlinkFailureIgnored
	// DirsyncFailureIgnored: the failed sync of a folder of bookmarks is passed over.
	DirsyncFailureIgnored
	// CommitDuringCleanup: a poll with auto-commit is taken while bookmarks are
	// cleaned up.
	CommitDuringCleanup
)

// And some more.
const (
	// DamagedRecordAbsent: a record that is damaged counts as one that is not there.
	DamagedRecordAbsent Set = iota + 70
	// HeldReordered: changes of bookmarks that were held are let go last first.
	HeldReordered
	// AdvancedOnFailure: the generation is raised before the record of the reset is
	// written, and stays so if that fails.
	AdvancedOnFailure
	// FloorKeptAcrossIncarnations: a partition that is created again uses the floor
	// that its namesake, which was deleted, has left.
	FloorKeptAcrossIncarnations
)

func init() {
	names["retry-resets-again"] = RetryResetsAgain
	names["complete-before-cleanup"] = CompleteBeforeCleanup
	names["bookmark-no-dirsync"] = BookmarkNoDirSync
	names["held-dropped"] = HeldDropped
	names["floor-not-kept"] = FloorNotKept
	names["floor-kept-across-sequences"] = FloorKeptAcrossSequences
	names["completion-failure-ignored"] = CompletionFailureIgnored
	names["unlink-failure-ignored"] = UnlinkFailureIgnored
	names["dirsync-failure-ignored"] = DirsyncFailureIgnored
	names["commit-during-cleanup"] = CommitDuringCleanup
	names["damaged-record-absent"] = DamagedRecordAbsent
	names["held-reordered"] = HeldReordered
	names["advanced-on-failure"] = AdvancedOnFailure
	names["floor-kept-across-incarnations"] = FloorKeptAcrossIncarnations
}
