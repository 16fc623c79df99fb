package guarantee

import "purgelab/linearizability/faults"

// Rows that the answers speak of.
var (
	theOrdered           = Subject{"ordered", "", "tagged", persisted, persisted, 0}
	theOrderedBare       = Subject{"ordered", "", "bare", persisted, persisted, 0}
	theOrderedReplicated = Subject{"ordered", "", "tagged", replicated, replicated, 0}
	theAdvance           = Subject{"advance", "", "tagged", persisted, persisted, 0}
	theAdvanceBare       = Subject{"advance", "", "bare", persisted, persisted, 0}
	theReset             = Subject{"reset-record", "", "tagged", persisted, persisted, 0}
	theResetBare         = Subject{"reset-record", "", "bare", persisted, persisted, 0}
	theTagged            = Subject{"reset-record", "tagged-bookmarks", "tagged", persisted, persisted, 0}
	theRetrySync         = Subject{"reset-record", "retry-sync", "tagged", persisted, persisted, 0}
	theResetAlone        = Subject{"reset-record", "", "tagged", persisted, persisted, 1}
	theVolatileAlone     = Subject{"reset-record", "", "tagged", replicated, replicated, 1}
	theKeepFloorAlone    = Subject{"reset-record", "keep-floor", "tagged", replicated, replicated, 1}
)

var (
	noFaults = []faults.Class{faults.None}
	power    = []faults.Class{faults.PowerOne, faults.PowerMinority, faults.PowerMajority, faults.PowerAll}
	allDown  = []faults.Class{faults.PowerAll}
	topics   = []faults.Class{faults.Topic}
)

// progress is what a client with a position of another era can break.
var progress = []string{"NoLateProgress", "NextContract"}

// Answers to the three questions. Each sentence is checked against its cells whenever
// the page is written.
var Answers = []Question{
	{"Must offsets restart at zero after a purge, or may numbering continue and only the start advance?", []Claim{
		{"Numbering may continue: where a purge is a deletion of all records, every property holds under every class of faults.",
			[]Ref{{Subject: theAdvance, Outcome: Holds}}},
		{"That is so for clients that send bare offsets as well: an offset never means another message, so late progress does no harm.",
			[]Ref{{Subject: theAdvanceBare, Outcome: Holds}}},
		{"Numbering may begin anew, too, if the purge is ordered in the log and a position says of which generation it is.",
			[]Ref{{Subject: theOrdered, Outcome: Holds}}},
		{"With bare offsets it may not: without any fault, what a client read before the purge is stored as progress after it, and fresh messages are skipped.",
			[]Ref{{Subject: theOrderedBare, Classes: noFaults, Properties: progress, Outcome: Violated}}},
		{"No design that begins anew escapes this; the order of the purge in the log does not help, and tags on stored bookmarks do not, because the offset is wrong before it is stored.",
			[]Ref{{Subject: theResetBare, Classes: noFaults, Properties: progress, Outcome: Violated},
				{Subject: Subject{"reset-record", "tagged-bookmarks", "bare", persisted, persisted, 0}, Classes: noFaults, Properties: progress, Outcome: Violated}}},
	}},
	{"Would one committed generation, shared by messages and bookmarks, give a clearer recovery contract?", []Claim{
		{"Yes, if the boundary is committed with it: then all replicas discard the same ops, and messages and bookmarks of one era are found together after every fault.",
			[]Ref{{Subject: theOrdered, Properties: []string{"BoundaryAgreement", "HistoryAgreement", "NoHiddenFresh", "NoResurrectedMessage", "NoResurrectedBookmark", "Linearizable"}, Outcome: Holds}}},
		{"A committed generation alone does not: where each replica takes the end of its own journal for the boundary, replicas disagree on what a purge removed without any fault, fresh messages are missing on some, and purged ones are there on others.",
			[]Ref{{Subject: theReset, Classes: noFaults, Properties: []string{"BoundaryAgreement", "NoHiddenFresh", "NoResurrectedMessage", "OffsetUnique"}, Outcome: Violated}}},
		{"Bookmarks that carry the generation change nothing of that.",
			[]Ref{{Subject: theTagged, Classes: noFaults, Properties: []string{"BoundaryAgreement", "NoHiddenFresh", "NoResurrectedMessage", "OffsetUnique"}, Outcome: Violated}}},
		{"What they do give is that a bookmark which a cleanup left behind, or a power loss brought back, is not taken for one of the new era.",
			[]Ref{{Subject: theTagged, Properties: []string{"NoResurrectedBookmark"}, Outcome: Holds}}},
		{"Without them that depends on every sync being honest: a replica that repeats a failed sync in the same boot brings old bookmarks back.",
			[]Ref{{Subject: theRetrySync, Properties: []string{"NoResurrectedBookmark"}, Outcome: Violated, Somewhere: true}}},
	}},
	{"What does a successful purge guarantee after restart or power loss, under each durability policy, per partition?", []Claim{
		{"Ordered in the log and persisted: once applied it stays applied, nothing of the old era comes back, and nothing that was acknowledged after it is lost, whichever machines lose power.",
			[]Ref{{Subject: theOrdered, Classes: power, Properties: []string{"GenerationMonotone", "NoResurrectedMessage", "NoResurrectedBookmark", "NoFreshLoss", "NoHiddenFresh", "AckDurable"}, Outcome: Holds}}},
		{"Ordered in the log and replicated: a minority may lose power without any harm. When a majority does, the partition goes on in a new incarnation: what was acknowledged last may be lost, as the policy says, and what is left is one history of messages, bookmarks and purges, never a blend.",
			[]Ref{{Subject: theOrderedReplicated, Outcome: Holds}}},
		{"With the one kept and the other not, each is as its own policy says.",
			[]Ref{{Subject: Subject{"ordered", "", "tagged", replicated, persisted, 0}, Outcome: Holds},
				{Subject: Subject{"ordered", "", "tagged", persisted, replicated, 0}, Outcome: Holds}}},
		{"As a deletion of records and persisted: the same, of one era.",
			[]Ref{{Subject: theAdvance, Classes: power, Properties: []string{"StartMonotone", "NoResurrectedMessage", "NoFreshLoss", "AckDurable"}, Outcome: Holds}}},
		{"By a record of each replica, persisted: each replica keeps what it did itself, in the order that recovery needs, but the partition does not keep to it: who leads next may have removed less, or more.",
			[]Ref{{Subject: theReset, Properties: []string{"CompletionLast", "RetryIdempotent", "NoErrorNoAdvance"}, Outcome: Holds},
				{Subject: theReset, Classes: power, Properties: []string{"NoResurrectedMessage", "NoHiddenFresh"}, Outcome: Violated}}},
		{"A single replica agrees with itself: there the same design keeps every property.",
			[]Ref{{Subject: theResetAlone, Outcome: Holds}}},
		{"By a record of each replica, replicated: when all lose power the op numbers that the record is measured in are gone. Kept, it hides messages that are appended afterwards, even on a single replica; dropped with them, it does not.",
			[]Ref{{Subject: theKeepFloorAlone, Classes: allDown, Properties: []string{"NoHiddenFresh"}, Outcome: Violated},
				{Subject: theVolatileAlone, Classes: allDown, Outcome: Holds}}},
		{"One journal for both keeps no promise that only one of them was made: what needs no sync takes with it what was promised to stay.",
			[]Ref{{Subject: Subject{"reset-record", "", "tagged", persisted, replicated, 1}, Classes: allDown, Properties: []string{"AckDurable"}, Outcome: Violated},
				{Subject: Subject{"reset-record", "", "tagged", replicated, persisted, 1}, Classes: allDown, Properties: []string{"AckDurable"}, Outcome: Violated}}},
		{"Per partition: the purge of a topic is one purge for each of its partitions. A crash in between leaves some purged and some not, and those follow.",
			[]Ref{{Subject: theOrdered, Classes: topics, Outcome: Holds}}},
	}},
}
