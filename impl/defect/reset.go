package defect

// Defects of the design reset-record.
const (
	// RetryResetsAgain: a purge whose messages are reset, and whose cleanup is
	// not done, resets them again when it is retried.
	RetryResetsAgain Set = 1 << (iota + 40)
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
)

func init() {
	names["retry-resets-again"] = RetryResetsAgain
	names["complete-before-cleanup"] = CompleteBeforeCleanup
	names["bookmark-no-dirsync"] = BookmarkNoDirSync
	names["held-dropped"] = HeldDropped
	names["floor-not-kept"] = FloorNotKept
	names["floor-kept-across-sequences"] = FloorKeptAcrossSequences
}
