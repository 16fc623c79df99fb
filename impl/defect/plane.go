package defect

// Defects of the metadata plane and of those who carry its intents out.
const (
	// IntentForgotten: a replica that begins to lead forgets the intents that it
	// has learned before.
	IntentForgotten Set = iota + 40
	// TwoOutstanding: a leader proposes the next purge although it has not seen
	// what became of the one before.
	TwoOutstanding
	// TopicFailsTogether: a purge of a topic of which one partition is gone is
	// refused for all of them.
	TopicFailsTogether
	// IntentRepeated: a repeated command for a purge gets another generation.
	IntentRepeated
	// NamesakeBookmarks: the files of a deleted partition stay, and the one that is
	// created again under its name loads the bookmarks in them.
	NamesakeBookmarks
	// PlaneForgets: a replica of the plane whose disk was replaced goes on as the
	// member that it was, with nothing.
	PlaneForgets
	// SettledAtProposal: a leader that has proposed a purge does not propose it again, though
	// it lost its leadership and the proposal was dropped.
	SettledAtProposal
	// FewShown: the next incarnation begins when all have answered, though the disks of a
	// majority are gone, and no operator has said so.
	FewShown
	// SuspectsUnheard: what a suspect shows of the log does not count when the next
	// incarnation is to begin.
	SuspectsUnheard
)

func init() {
	names["intent-forgotten"] = IntentForgotten
	names["two-outstanding"] = TwoOutstanding
	names["topic-fails-together"] = TopicFailsTogether
	names["intent-repeated"] = IntentRepeated
	names["namesake-bookmarks"] = NamesakeBookmarks
	names["plane-forgets"] = PlaneForgets
	names["settled-at-proposal"] = SettledAtProposal
	names["few-shown"] = FewShown
	names["suspects-unheard"] = SuspectsUnheard
}
