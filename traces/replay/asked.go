package replay

import (
	"errors"
	"slices"

	"purgelab/impl/observe"
	"purgelab/traces/behaviours"
)

// This file says what an action asks for before the driver takes it: that the replica that
// it is of runs, or does not.

var (
	errDown = errors.New("it is of a replica that is down")
	errUp   = errors.New("it is of a replica that runs")
	errBoot = errors.New("it is of a replica whose boot is under way")
)

// whileDown are actions that are nobody's business who is down, inBoot those of a cleanup
// that a boot ends.
var (
	whileDown = []observe.Action{"PowerLoss", "CommitElsewhere"}
	inBoot    = []observe.Action{"UnlinkBookmarks", "SyncBookmarks", "PurgeComplete", "ProcessCrash"}
)

// able says why the replica, as it is, can take no such action, whatever it does.
func (d *driver) able(a *behaviours.Act) error {
	switch boots := a.Action == "Boot"; {
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

// ofDown are actions of a replica that is down.
var ofDown = []observe.Action{"Boot", "Rejoin"}

// able says why the replica that an action of a group is of can take no such action.
func (g *group) able(a *behaviours.Act) error {
	if a.With["r"] == nil {
		return nil // it is of whoever leads, or of nobody
	}
	switch down := g.of(a).r == nil; {
	case down && !slices.Contains(ofDown, a.Action):
		return errDown
	case !down && slices.Contains(ofDown, a.Action):
		return errUp
	}
	return nil
}
