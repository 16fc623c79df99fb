package replay

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"purgelab/impl/observe"
	"purgelab/traces/behaviours"
)

// This file says what has to be written of an action, and what of that is none.

// parameters are those without which an action cannot be taken: o is an op, q a read, the
// others are NAME=VALUE.
var parameters = map[observe.Action]string{
	"Boot": "", "Serve": "", "ProcessCrash": "", "PowerLoss": "keep", "Answer": "q", "ListOffsets": "start end", "Checkpoint": "", "Reclaim": "", "Compact": "n",
	"Materialize": "n o", "PurgeBegin": "n g", "PurgeSwitch": "n g", "PurgeComplete": "g", "PurgeDuplicate": "n g",
	"Journal": "n o", "Cut": "n", "BeginSequence": "", "Recreate": "", "Filtered": "n", "ResetFrontier": "g", "UnlinkSegments": "", "SyncSegments": "", "ResetRecord": "", "UnlinkBookmarks": "",
	"SyncBookmarks": "", "StepFails": "step", "SyncFails": "step", "RetryPurge": "", "Hold": "o", "Release": "",
	"CommitElsewhere": "o", "StageManifest": "n", "RefuseTransfer": "n", "StageChunk": "", "SyncPiece": "", "StageState": "", "CommitInstall": "", "DropTransfer": "",
}

// groupParameters are those of a group.
var groupParameters = map[observe.Action]string{
	"RequestPurge": "g", "Reconcile": "r g", "Propose": "n o", "Commit": "n", "BecomeLeader": "r n commit", "Materialize": "r n",
	"PurgeComplete": "r n", "PurgeDuplicate": "r n", "Answer": "r q", "ProcessCrash": "r", "PowerLoss": "r", "Boot": "r", "Rejoin": "r", "NewIncarnation": "",
	"OfferTransfer": "r n", "Compact": "n", "StageManifest": "r", "RefuseTransfer": "r", "StageChunk": "r batches", "CommitInstall": "r",
	"DropTransfer": "r", "DropOffer": "r",
	// Of AgreedLog.
	"ProposeAt": "r n v", "Receive": "r n", "SyncJournal": "r", "CommitBy": "n by", "LosePower": "r n", "ReplaceDisk": "r", "Stop": "r", "Return": "r", "Elect": "r by",
}

// resetGroupParameters are those of a group of reset-record.
var resetGroupParameters = map[observe.Action]string{
	"Propose": "n o", "StoreProgress": "n o", "Receive": "r n commit", "Commit": "n", "RequestPurge": "g", "Apply": "r n", "PurgeLocally": "r g",
	"Answer": "r q", "BecomeLeader": "r", "ProcessCrash": "s", "PowerLoss": "s", "Boot": "r",
	"OfferTransfer": "r n", "StageManifest": "r", "CommitInstall": "r", "DropTransfer": "r",
}

// Parameters are those of all actions through which a replica is led by words, or a group.
func Parameters(design string, group bool) map[observe.Action]string {
	switch {
	case !group:
		return parameters
	case design == "reset-record":
		return resetGroupParameters
	}
	return groupParameters
}

// lacks says which parameter an action does not have of those that it needs.
func lacks(a *behaviours.Act, needs string) error {
	for _, name := range strings.Fields(needs) {
		switch {
		case a.With[name] != nil:
		case name == "o":
			return fmt.Errorf("%s: want an op, one of %v", a.Action, slices.Sorted(maps.Keys(opWords)))
		case name == "q":
			return fmt.Errorf("%s: want a read, one of %v", a.Action, slices.Sorted(maps.Keys(readWords)))
		default:
			return fmt.Errorf("%s: want %s=…", a.Action, name)
		}
	}
	return nil
}

// asWords are parameters that are no numbers.
var asWords = []string{"keep", "step", "k", "without", "s", "by", "v"}

// highest is more than any behaviour counts.
const highest = 9999

// counting reads a number: a parameter, or a field of an op. Below 0 are the end, as an
// offset, and no generation of a bookmark.
func counting(name, word string, least int) (float64, error) {
	n, err := strconv.Atoi(word)
	if err != nil || n < least || n > highest {
		return 0, fmt.Errorf("%s %q: want a number from %d to %d", name, word, least, highest)
	}
	return float64(n), nil
}

// replicaOf reads r1 to rn.
func replicaOf(name, word string, n int) (int, error) {
	if n == 0 {
		return 0, fmt.Errorf("%s %q: there is one replica, which is not named", name, word)
	}
	i, err := strconv.Atoi(strings.TrimPrefix(word, "r"))
	if err != nil || !strings.HasPrefix(word, "r") || i < 1 || i > n {
		return 0, fmt.Errorf("%s %q: want r1 to r%d", name, word, n)
	}
	return i, nil
}

// meant says why the implementation has no such op or read.
func meant(a *behaviours.Act) error {
	if o, ok := a.With["o"].(map[string]any); ok && (o["k"] != "other" || a.Action != "Propose") {
		if _, err := request(1, o); err != nil {
			return err
		}
	}
	if q, ok := a.With["q"].(map[string]any); ok {
		if _, err := question(q); err != nil {
			return err
		}
	}
	return nil
}
