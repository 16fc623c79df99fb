package replay

import (
	"fmt"
	"slices"

	"purgelab/impl/observe"
	"purgelab/traces/behaviours"
)

// This file says what an action asks for before the driver takes it: that the replica that
// it is of runs, or does not, and that there is what it is about.

// unfit is what is wrong with an action as it is asked for, whatever a replica does.
type unfit struct{ text string }

func (u *unfit) Error() string { return u.text }

var (
	errDown  = &unfit{"it is of a replica that is down"}
	errUp    = &unfit{"it is of a replica that runs"}
	errLeads = &unfit{"the replica leads, and has ops that nobody else knows"}
	errAll   = &unfit{"all machines lose power together: that is a BeginSequence"}
	errBoot  = &unfit{"it is of a replica whose boot is under way"}

	errNamesake = &unfit{"who offers states is of the partition before this one was created again"}

	errCommitted = &unfit{"it is committed, and another op is to take its place"}
)

// has is an error if the log does not have op n, nor may more be added to it.
func (d *driver) has(n, more int) error {
	if n < 1 || n > len(d.log)+more {
		return &unfit{fmt.Sprintf("it is of op %d, the log has %d", n, len(d.log))}
	}
	return nil
}

// whileDown are actions that are nobody's business who is down, inBoot those of a cleanup
// that a boot ends.
var (
	whileDown = []observe.Action{"PowerLoss", "CommitElsewhere", "BeginSequence", "Recreate"}
	inBoot    = []observe.Action{"UnlinkBookmarks", "SyncBookmarks", "PurgeComplete", "ProcessCrash"}
)

// able says why the replica, as it is, can take no such action, whatever it does.
func (d *driver) able(a *behaviours.Act) error {
	switch boots := a.Action == "Boot"; {
	case a.Action == "PowerLoss" && d.volatile():
		return errAll
	case NeedsLeader(a) && d.place != firstPlace:
		return errNamesake
	case slices.Contains(whileDown, a.Action):
	case d.opening != nil && !slices.Contains(inBoot, a.Action):
		return errBoot
	case d.opening != nil:
	case d.r == nil && !boots:
		return errDown
	case d.r != nil && boots:
		return errUp
	}
	return nil
}

// ofDown are actions of a replica that is down; ofAny those of one that may run or not.
var (
	ofDown = []observe.Action{"Boot", "Rejoin", "Return"}
	ofAny  = []observe.Action{"LosePower", "ReplaceDisk"}
)

// wantsDown tells whether an action is of a replica that is down. In AgreedLog who rejoins
// runs already.
func (g *group) wantsDown(a observe.Action) bool {
	return slices.Contains(ofDown, a) && !(g.agreed != nil && a == "Rejoin")
}

// able says why the replica that an action of a group is of can take no such action.
func (g *group) able(a *behaviours.Act) error {
	if a.With["r"] == nil || slices.Contains(ofAny, a.Action) {
		return nil // it is of whoever leads, or of nobody
	}
	switch down := g.of(a).r == nil; {
	case down && !g.wantsDown(a.Action):
		return errDown
	case !down && g.wantsDown(a.Action):
		return errUp
	}
	return nil
}
