package guarantee

import "purgelab/linearizability/faults"

// Rows that the answers speak of.
var (
	theOrdered        = Subject{"ordered", "", "tagged", persisted, persisted, 0}
	theOrderedBare    = Subject{"ordered", "", "bare", persisted, persisted, 0}
	theOrderedAlone   = Subject{"ordered", "", "tagged", persisted, persisted, 1}
	theAdvance        = Subject{"advance", "", "tagged", persisted, persisted, 0}
	theAdvanceBare    = Subject{"advance", "", "bare", persisted, persisted, 0}
	theReset          = Subject{"reset-record", "", "tagged", persisted, persisted, 0}
	theResetBare      = Subject{"reset-record", "", "bare", persisted, persisted, 0}
	theTagged         = Subject{"reset-record", "tagged-bookmarks", "tagged", persisted, persisted, 0}
	theRetrySync      = Subject{"reset-record", "retry-sync", "tagged", persisted, persisted, 0}
	theResetAlone     = Subject{"reset-record", "", "tagged", persisted, persisted, 1}
	theVolatileAlone  = Subject{"reset-record", "", "tagged", replicated, replicated, 1}
	theKeepFloorAlone = Subject{"reset-record", "keep-floor", "tagged", replicated, replicated, 1}
)

var (
	noFaults = []faults.Class{faults.None}
	power    = []faults.Class{faults.PowerOne, faults.PowerMinority, faults.PowerMajority, faults.PowerAll}
	most     = []faults.Class{faults.PowerMajority, faults.PowerAll}
	allDown  = []faults.Class{faults.PowerAll}
	restarts = []faults.Class{faults.OneProcess, faults.LeaderChange, faults.Retry}
	topics   = []faults.Class{faults.Topic}
)

// ofPurge is what a purge is for, and that nothing else goes with it.
var ofPurge = []string{"GenerationMonotone", "NoResurrectedMessage", "NoResurrectedBookmark", "NoFreshLoss", "NoHiddenFresh", "AckDurable"}

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
		{"Ordered in the log, with both policies persisted: once applied it stays applied, nothing of the old era comes back, and nothing that was acknowledged is lost, whichever machines lose power, be there several or one.",
			[]Ref{{Subject: theOrdered, Classes: power, Properties: ofPurge, Outcome: Holds, Lost: Nothing},
				{Subject: theOrderedAlone, Classes: allDown, Properties: ofPurge, Outcome: Holds, Lost: Nothing}}},
		{"A restart of processes, a new leader or a purge that is asked for again cost nothing under any policy.",
			[]Ref{{Subject: theOrdered, Classes: restarts, Outcome: Holds, Lost: Nothing},
				{Subject: theOrdered.under(policies[1]), Classes: restarts, Outcome: Holds, Lost: Nothing},
				{Subject: theOrdered.under(policies[2]), Classes: restarts, Outcome: Holds, Lost: Nothing},
				{Subject: theOrdered.under(policies[3]), Classes: restarts, Outcome: Holds, Lost: Nothing}}},
		{"Both replicated: when a majority loses power, at once or one machine before another is back, the partition goes on in a new incarnation from what one of its machines has. Of what was acknowledged, the last may be lost, a purge among it, and what is left is one history of messages, bookmarks and purges, never a blend.",
			[]Ref{{Subject: theOrdered.under(policies[3]), Classes: most, Outcome: Holds, Lost: Some}}},
		{"Messages replicated, bookmarks persisted: a purge is as durable as the stricter of the two, and stays; messages that were acknowledged after the last bookmark may be lost, and no bookmark is.",
			[]Ref{{Subject: theOrdered.under(policies[1]), Classes: most, Outcome: Holds, Lost: Some}}},
		{"Messages persisted, bookmarks replicated: a purge stays, and so does each message; of bookmarks the last may be lost.",
			[]Ref{{Subject: theOrdered.under(policies[2]), Classes: most, Outcome: Holds, Lost: Some}}},
		{"A single replica that acknowledges before it syncs goes on in a new incarnation, too, by the same rules.",
			[]Ref{{Subject: theOrderedAlone.under(policies[3]), Classes: allDown, Outcome: Holds, Lost: Some}}},
		{"As a deletion of records it is the same in each column: the start does not go back but with an incarnation that lost the deletion.",
			[]Ref{{Subject: theAdvance, Classes: power, Outcome: Holds, Lost: Nothing},
				{Subject: theAdvance.under(policies[1]), Classes: most, Outcome: Holds, Lost: Some},
				{Subject: theAdvance.under(policies[2]), Classes: most, Outcome: Holds},
				{Subject: theAdvance.under(policies[3]), Classes: most, Outcome: Holds, Lost: Some}}},
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
		{"Per partition: the purge of a topic is one purge for each of its partitions, and each is as said above, whatever becomes of the others. A crash in between leaves some purged and some not, and those follow, under every policy.",
			[]Ref{{Subject: theOrdered, Classes: topics, Outcome: Holds, Lost: Nothing},
				{Subject: theOrdered.under(policies[1]), Classes: topics, Outcome: Holds},
				{Subject: theOrdered.under(policies[2]), Classes: topics, Outcome: Holds},
				{Subject: theOrdered.under(policies[3]), Classes: topics, Outcome: Holds}}},
		{"By a record of each replica not even that is so: after a crash in between, clients of one partition are told of another start, and skip messages.",
			[]Ref{{Subject: theReset, Classes: topics, Properties: []string{"StartMonotone", "NextContract", "GenerationMonotone"}, Outcome: Violated}}},
	}},
}
