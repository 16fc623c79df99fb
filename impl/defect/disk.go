package defect

// Defects of what is done about a disk.
const (
	// RecoveredNotSynced: a boot takes what it reads from the journal for durable,
	// and does not sync it.
	RecoveredNotSynced Set = iota + 50
	// CompletionStartedOver: when the completion of a purge could not be made
	// durable for certain, the folder that it names is made anew.
	CompletionStartedOver
	// ChecksumIgnored: a batch of messages is taken as it is, whatever its checksum.
	ChecksumIgnored
	// SyncRetried: a failed sync, of the journal or of a directory, is tried again, and
	// believed.
	SyncRetried
	// CheckpointBeforeSync: a checkpoint is recorded although the messages that it covers
	// are not synced.
	CheckpointBeforeSync
	// CompleteEarly: the marker says that a purge is complete before the folder that it
	// names is there.
	CompleteEarly
	// FutureBookmarks: a boot uses bookmarks of ops that it has yet to replay.
	FutureBookmarks
)

func init() {
	names["recovered-not-synced"] = RecoveredNotSynced
	names["completion-started-over"] = CompletionStartedOver
	names["checksum-ignored"] = ChecksumIgnored
	names["sync-retried"] = SyncRetried
	names["checkpoint-before-sync"] = CheckpointBeforeSync
	names["complete-early"] = CompleteEarly
	names["future-bookmarks"] = FutureBookmarks
}
