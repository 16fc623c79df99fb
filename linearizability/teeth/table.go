package teeth

import "purgelab/linearizability/faults"

// Sets of layers.
var (
	all         = []Layer{Spec, History, Trace, Boot}
	seen        = []Layer{Spec, Trace, Boot}    // by replicas, hardly ever by clients
	told        = []Layer{Spec, History, Boot}  // by clients too, and not in a trace
	sessions    = []Layer{Spec, History}        // replicas agree on the mistake
	journals    = []Layer{Spec, Boot}           // below what a trace tells; nobody is served any more
	runs        = []Layer{History, Boot}        // there is no model of it
	played      = []Layer{History, Trace, Boot} // the same, and a trace shows it
	steps       = []Layer{Trace, Boot}          // the same, and clients see nothing wrong
	bounds      = []Layer{Spec, History, Trace} // replicas agree on it, and not on what was asked
	answers     = []Layer{History, Trace}       // the same, and there is no model of it
	onlyHistory = []Layer{History}              // replicas agree on it
	onlySpec    = []Layer{Spec}                 // no switch in the implementation
	onlyBoot    = []Layer{Boot}                 // clients are not served, or see nothing wrong
	onlyScript  = []Layer{Scenario}             // too rare to be met by drawn faults, or nobody else looks at it
)

// transfers are the defects that show only where state is moved to replicas that are
// behind.
var transfers = []string{"boundary-not-rebased", "install-before-sync", "old-generation-bookmarks-transferred", "older-offer-accepted", "sessions-not-transferred",
	"purge-races-install", "deleted-travels", "stale-pull-kept", "older-generation-installed"}

// Table is every named defect. Names of package defect are switches of the
// implementation; those of the specification have the same names, and some more.
var Table = []Tooth{
	{"ack-before-sync", "ordered", "CommittedPrefixSafe", journals, []string{"AckDurable"}, faults.PowerOff},
	{"ack-carried", "ordered", "AckDurable", journals, []string{"CommittedPrefixSafe"}, faults.All},
	{"anyone-leads", "ordered", "CommittedPrefixSafe", onlySpec, nil, faults.None},
	{"apply-past-purge", "ordered", "NoHiddenFresh", all, []string{"BoundaryAgreement"}, faults.PowerOff},
	{"bookmark-generation-ignored", "ordered", "NoResurrectedBookmark", all, []string{"BookmarkBound", "HistoryAgreement"}, faults.PowerOff},
	{"bookmark-unbounded", "ordered", "BookmarkBound", played, nil, faults.Network},
	{"boundary-not-rebased", "ordered", "BoundaryAgreement", steps, []string{"HistoryAgreement"}, faults.All},
	{"boundary-outlives", "ordered", "NoHiddenFresh", sessions, []string{"LatestMonotone", "OffsetUnique"}, faults.PowerAll},
	{"checkpoint-before-sync", "ordered", "NoFreshLoss", journals, []string{"AckDurable", "NoStuckReplica"}, faults.PowerOff},
	{"checksum-ignored", "ordered", "OffsetUnique", runs, nil, faults.Storage},
	{"commit-clamped", "ordered", "AckDurable", journals, []string{"CommittedPrefixSafe", "NoStuckReplica"}, faults.PowerMinority},
	{"compact-past-checkpoint", "ordered", "AckDurable", seen, []string{"NoStuckReplica"}, faults.PowerOff},
	{"complete-early", "ordered", "CompletionLast", seen, []string{"NoErrorNoAdvance"}, faults.PowerOff},
	{"completion-started-over", "ordered", "NoStuckReplica", onlyScript, nil, faults.None},
	{"duplicate-purge-wipes", "ordered", "NoFreshLoss", all, []string{"RetryIdempotent"}, faults.PowerOff},
	{"few-shown", "ordered", "AckDurable", onlyScript, nil, faults.None},
	{"future-bookmarks", "ordered", "NextContract", seen, []string{"NoStuckReplica"}, faults.Process},
	{"incarnation-ignored", "ordered", "IncarnationIsolation", onlyHistory, nil, faults.Network},
	{"install-before-sync", "ordered", "AckDurable", onlyBoot, []string{"InstallAtomic", "NoStuckReplica"}, faults.PowerOff},
	{"intent-forgotten", "ordered", "PurgeEventuallyApplied", onlyBoot, nil, faults.Network},
	{"intent-repeated", "ordered", "RetryIdempotent", runs, nil, faults.Network},
	{"join-once", "ordered", "NoStuckReplica", onlyBoot, nil, faults.Memory},
	{"journal-roll-no-dirsync", "ordered", "AckDurable", onlyBoot, []string{"CommittedPrefixSafe"}, faults.PowerOff},
	{"local-boundary", "ordered", "BoundaryAgreement", all, []string{"NoErrorNoAdvance", "GenerationMonotone"}, faults.PowerOff},
	{"lost-disk-unnoticed", "ordered", "CommittedPrefixSafe", onlyBoot, []string{"AckDurable", "GenerationMonotone", "NoStuckReplica"}, faults.Memory},
	{"marker-no-dirsync", "ordered", "GenerationMonotone", seen, []string{"AckDurable"}, faults.PowerOff},
	{"namesake-bookmarks", "ordered", "IncarnationIsolation", runs, []string{"NoResurrectedBookmark"}, faults.Network},
	{"no-first-entry", "ordered", "NoStuckReplica", onlySpec, nil, faults.None},
	{"offset-at-proposal", "ordered", "OffsetUnique", runs, []string{"SessionOnce"}, faults.Network},
	{"old-generation-bookmarks-transferred", "ordered", "NoResurrectedBookmark", steps, []string{"HistoryAgreement", "BookmarkBound"}, faults.All},
	{"older-offer-accepted", "advance", "OfferFreshness", steps, []string{"NoRewindInstall", "NoStuckReplica", "AckDurable"}, faults.All},
	{"plane-forgets", "ordered", "AckDurable", onlyBoot, []string{"RetryIdempotent", "NoStuckReplica"}, faults.Memory},
	{"purge-races-install", "ordered", "NoResurrectedMessage", seen, []string{"OfferFreshness", "NoRewindInstall", "NoStuckReplica"}, faults.Process},
	{"reclaim-not-resumed", "ordered", "SpaceReclaimed", onlyScript, nil, faults.None},
	{"recovered-not-synced", "ordered", "AckDurable", onlyScript, nil, faults.None},
	{"repeat-executed", "ordered", "SessionOnce", runs, nil, faults.Network},
	{"replay-below-boundary", "ordered", "NoResurrectedMessage", all, []string{"BoundaryScope"}, faults.PowerOff},
	{"sessions-lost-at-purge", "ordered", "SessionOnce", sessions, nil, faults.Network},
	{"sessions-not-transferred", "ordered", "HistoryAgreement", steps, []string{"SessionOnce"}, faults.All},
	{"settled-at-proposal", "ordered", "PurgeEventuallyApplied", journals, []string{"NoStuckReplica"}, faults.Network},
	{"staged-rename-without-sync", "ordered", "AckDurable", onlyScript, nil, faults.None},
	{"stale-auto-commit", "ordered", "NoLateProgress", all, []string{"BookmarkBound"}, faults.Network},
	{"stale-pull-kept", "ordered", "NoStuckReplica", journals, nil, faults.All},
	{"stale-read", "ordered", "NoPhantomEmpty", told, []string{"NoHiddenFresh"}, faults.All},
	{"suspect-acks", "ordered", "AckDurable", journals, []string{"CommittedPrefixSafe", "NoStuckReplica"}, faults.PowerMinority},
	{"suspect-votes", "ordered", "AckDurable", journals, []string{"CommittedPrefixSafe", "NoStuckReplica"}, faults.PowerMinority},
	{"sync-retried", "ordered", "AckDurable", onlyBoot, []string{"NoStuckReplica"}, faults.SyncError},
	{"suspects-unheard", "ordered", "NoStuckReplica", onlyBoot, nil, faults.PowerAll},
	{"topic-fails-together", "ordered", "SiblingsIndependent", onlyBoot, nil, faults.Network},
	{"two-incarnations", "ordered", "AckDurable", seen, []string{"CommittedPrefixSafe", "NoStuckReplica"}, faults.PowerAll},
	{"two-outstanding", "ordered", "OnePurgeOutstanding", onlyBoot, nil, faults.Network},
	{"vote-before-sync", "ordered", "CommittedPrefixSafe", onlyBoot, []string{"AckDurable"}, faults.PowerOff},
	{"delete-moves-bookmarks", "advance", "NextContract", played, []string{"NoResurrectedBookmark", "HistoryAgreement"}, faults.Network},
	{"deleted-travels", "advance", "PurgedNeverTravels", onlyBoot, nil, faults.All},
	{"deletion-not-replayed", "advance", "HistoryAgreement", played, []string{"NoResurrectedBookmark"}, faults.All},
	{"earliest-from-records", "advance", "EarliestIsStart", answers, nil, faults.Network},
	{"end-from-records", "advance", "LatestMonotone", runs, nil, faults.Network},
	{"read-moved", "advance", "NextContract", onlyHistory, nil, faults.Network},
	{"start-not-replayed", "advance", "HistoryAgreement", played, []string{"StartMonotone"}, faults.All},
	{"start-not-stored", "advance", "StartMonotone", sessions, nil, faults.Network},
	{"whole-batch-deleted", "advance", "StartMonotone", bounds, []string{"NoFreshLoss"}, faults.Network},
	{"advanced-on-failure", "reset-record", "NoErrorNoAdvance", all, []string{"CompletionLast"}, faults.Storage},
	{"bookmark-no-dirsync", "reset-record", "NoResurrectedBookmark", all, nil, faults.All},
	{"commit-during-cleanup", "reset-record", "HeldCommits", steps, nil, faults.All},
	{"complete-before-cleanup", "reset-record", "CompletionLast", all, nil, faults.All},
	{"completion-failure-ignored", "reset-record", "NextContract", seen, []string{"NoStuckReplica"}, faults.Cleanup},
	{"damaged-record-absent", "reset-record", "GenerationMonotone", played, nil, faults.Damaged},
	{"dirsync-failure-ignored", "reset-record", "NoResurrectedBookmark", all, []string{"NextContract"}, faults.Cleanup},
	{"floor-kept-across-incarnations", "reset-record", "IncarnationIsolation", all, []string{"NoHiddenFresh", "BoundaryScope"}, faults.Network},
	{"floor-kept-across-sequences", "reset-record", "NoHiddenFresh", all, nil, faults.PowerAll},
	{"floor-not-kept", "reset-record", "BoundaryScope", all, []string{"NoResurrectedMessage"}, faults.All},
	{"held-dropped", "reset-record", "HeldCommits", seen, nil, faults.All},
	{"held-reordered", "reset-record", "HeldCommits", seen, nil, faults.All},
	{"older-generation-installed", "reset-record", "GenerationMonotone", seen, []string{"NoStuckReplica"}, faults.All},
	{"retry-resets-again", "reset-record", "RetryIdempotent", all, nil, faults.All},
	{"unlink-failure-ignored", "reset-record", "NoResurrectedBookmark", played, []string{"NextContract"}, faults.Cleanup},
}
