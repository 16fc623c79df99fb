package defect

// Defects of a transfer of state.
const (
	// InstallBeforeSync: messages that arrived are not synced before the install is
	// committed.
	InstallBeforeSync Set = iota + 90
	// StagedRenameWithoutSync: records of the new state are renamed into place, and
	// their directories are not synced before the install is committed.
	StagedRenameWithoutSync
	// SessionsNotTransferred: what a replica remembers of its clients is left out of
	// the state that it offers.
	SessionsNotTransferred
	// OldGenerationBookmarksTransferred: bookmarks of older generations travel with
	// the present ones.
	OldGenerationBookmarksTransferred
	// OlderOfferAccepted: an offer is taken whatever the receiver has committed.
	OlderOfferAccepted
	// BoundaryNotRebased: the receiver keeps its own boundary with the state of
	// another replica.
	BoundaryNotRebased
	// PurgeRacesInstall: whether a state is above all that the receiver has is asked
	// before it is pulled, and not again before it is installed.
	PurgeRacesInstall
	// DeletedTravels: what was deleted since an offer was made still leaves with it.
	DeletedTravels
	// OlderGenerationInstalled: a state is installed whatever generation the receiver has
	// come to, if only its op is a higher one.
	OlderGenerationInstalled
	// StalePullKept: what nobody offers any more is not given up.
	StalePullKept
)

func init() {
	names["install-before-sync"] = InstallBeforeSync
	names["staged-rename-without-sync"] = StagedRenameWithoutSync
	names["sessions-not-transferred"] = SessionsNotTransferred
	names["old-generation-bookmarks-transferred"] = OldGenerationBookmarksTransferred
	names["older-offer-accepted"] = OlderOfferAccepted
	names["boundary-not-rebased"] = BoundaryNotRebased
	names["purge-races-install"] = PurgeRacesInstall
	names["deleted-travels"] = DeletedTravels
	names["older-generation-installed"] = OlderGenerationInstalled
	names["stale-pull-kept"] = StalePullKept
}
