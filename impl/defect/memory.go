package defect

// Defects of replicas that lose their memory, and of new incarnations.
const (
	// SuspectVotes: a member that cannot prove that it holds all that it acknowledged
	// goes on voting under its old identity.
	SuspectVotes Set = iota + 30
	// SuspectAcks: it goes on acknowledging.
	SuspectAcks
	// CommitClamped: it goes on as if nothing had happened; a commit index beyond the
	// end of its log is lowered to the end.
	CommitClamped
	// AckCarried: entries that an election carried over from an older
	// term are acknowledged before they are synced.
	AckCarried
	// TwoIncarnations: the next incarnation begins when a majority has said what it
	// holds, and once more, under the same number, when another one shows more.
	TwoIncarnations
	// BoundaryOutlives: the boundary of a purge is measured in the op numbers of a later
	// incarnation, too.
	BoundaryOutlives
	// LostDiskUnnoticed: a machine whose disk was replaced goes on as the member that it
	// was, with nothing.
	LostDiskUnnoticed
	// JoinOnce: a member that must join asks for it once, and does not ask again.
	JoinOnce
)

func init() {
	names["suspect-votes"] = SuspectVotes
	names["suspect-acks"] = SuspectAcks
	names["commit-clamped"] = CommitClamped
	names["ack-carried"] = AckCarried
	names["two-incarnations"] = TwoIncarnations
	names["boundary-outlives"] = BoundaryOutlives
	names["lost-disk-unnoticed"] = LostDiskUnnoticed
	names["join-once"] = JoinOnce
}
