package defect

// Defects of a deletion of records.
const (
	// WholeBatchDeleted: a deletion that ends inside a batch takes the whole batch.
	WholeBatchDeleted Set = iota + 80
	// EarliestFromRecords: the start is that of the first batch that is stored.
	EarliestFromRecords
	// DeleteMovesBookmarks: a deletion sets every bookmark to the last message.
	DeleteMovesBookmarks
)

func init() {
	names["whole-batch-deleted"] = WholeBatchDeleted
	names["earliest-from-records"] = EarliestFromRecords
	names["delete-moves-bookmarks"] = DeleteMovesBookmarks
}
