package traces

import (
	"fmt"

	"purgelab/impl/observe"
)

// standing is where a purge stands before each of its steps, in the words of the
// specification.
var standing = map[observe.Action]string{
	UnlinkSegments: "reset", SyncSegments: "unlinked", ResetRecord: "empty",
	UnlinkBookmarks: "clean", SyncBookmarks: "clean", PurgeComplete: "cleaned",
}

// resetReason words what is particular to one replica of this design; the rest is
// as in ordered.
func resetReason(s step, f facts) string {
	if f.text("up") == "down" {
		if s.Action != Boot {
			return "the replica is down"
		}
		return resetBootReason(s, f)
	}
	stands, next := f.text("purge", "step"), f.number("now", "applied")+1
	floor, journal := f.number("now", "boundary"), f.number("journal")
	switch want, step := standing[s.Action]; {
	case step && stands != want:
		return fmt.Sprintf("the purge stands at %q, this step comes at %q", stands, want)
	case step && s.Action != ResetRecord &&
		(int64(s.Generation) != f.number("purge", "g") || int64(s.Op) != f.number("purge", "floor")):
		return fmt.Sprintf("the purge under way is of generation %d with floor op %d, the event says %d and %d", f.number("purge", "g"), f.number("purge", "floor"), s.Generation, s.Op)
	case s.Action == ResetRecord && int64(s.Op) != f.number("purge", "floor"):
		return fmt.Sprintf("floor op %d: when the purge began the journal ended at op %d", s.Op, f.number("purge", "floor"))
	}
	switch s.Action {
	case Journal:
		if int64(s.Op) <= journal {
			return fmt.Sprintf("op %d replaces what the journal holds up to op %d: that takes a second leader, and there were %d", s.Op, journal, s.Count)
		}
		return fmt.Sprintf("op %d: the journal ends at op %d", s.Op, journal)
	case ResetFrontier:
		switch {
		case stands != "none":
			return fmt.Sprintf("a purge of generation %d is under way", f.number("purge", "g"))
		case int64(s.Generation) <= f.number("now", "gen"):
			return fmt.Sprintf("generation %d: %d is reset already", s.Generation, f.number("now", "gen"))
		case f.text("held", "k") != "none":
			return fmt.Sprintf("what was held during the purge before is not released: %s", f.op("held"))
		case int64(s.Op) != journal:
			return fmt.Sprintf("floor op %d: the journal ends at op %d", s.Op, journal)
		}
	case Serve:
		switch {
		case f.text("resetting") == "TRUE":
			return "messages are being reset: nothing is served before that is over"
		case f.text("pending") == "TRUE":
			return fmt.Sprintf("bookmarks are not cleaned up for generation %d", f.number("now", "gen"))
		}
	case StepFails, SyncFails, RecordNotSynced, Hold:
		return "no purge is under way"
	case Release, Refuse:
		return fmt.Sprintf("%s of %s: the first change that is held is %s", s.Kind, s.Key, f.op("held"))
	case Filtered, Materialize:
		switch filtered := s.Action == Filtered; {
		case f.text("resetting") == "TRUE":
			return "messages are being reset: nothing is applied before that is over"
		case int64(s.Op) == next && filtered && int64(s.Op) > floor:
			return fmt.Sprintf("op %d is filtered: the floor is op %d", s.Op, floor)
		case int64(s.Op) == next && !filtered && int64(s.Op) <= floor:
			return fmt.Sprintf("op %d is materialized: the floor is op %d", s.Op, floor)
		case !filtered && f.text("pending") == "TRUE" && (s.Kind == "store" || s.Kind == "delete"):
			return fmt.Sprintf("%s is changed while bookmarks are cleaned up for generation %d", s.Key, f.number("now", "gen"))
		case int64(s.Op) == next && int64(s.Op) > journal:
			return fmt.Sprintf("op %d: the journal ends at op %d", s.Op, journal)
		}
	}
	return localReason(s, f)
}

func resetBootReason(s step, f facts) string {
	d := func(name string) int64 { return f.number("disk", name) }
	switch {
	case s.Kind != f.text("disk", "kind"):
		return fmt.Sprintf("the purge of generation %d is %s on the disk, the event says %s", d("gen"), f.text("disk", "kind"), s.Kind)
	case int64(s.Op) != d("boundary"):
		return fmt.Sprintf("the floor is op %d, the disk holds op %d", s.Op, d("boundary"))
	case int64(s.Last) != f.number("journal"):
		return fmt.Sprintf("the journal ends at op %d, it should at op %d", s.Last, f.number("journal"))
	}
	return foundReason(s, f, d("marks"))
}

// resetGroupReason words what is particular to a group of this design.
func resetGroupReason(s step, f facts) string {
	applied, floor := f.number("now", "applied"), f.number("now", "boundary")
	if why := toldReason(s, f); why != "" {
		return why
	}
	switch {
	case s.Action == Commit && f.text("leads", "up") == "FALSE":
		return fmt.Sprintf("replica %d, which leads, is down", f.number("leads", "r"))
	case f.text("up") == "FALSE" && s.Action != Boot:
		return "the replica is down"
	case s.Action == ResetRecord && int64(s.Generation) <= f.number("now", "gen"):
		return fmt.Sprintf("generation %d: %d is reset already", s.Generation, f.number("now", "gen"))
	case s.Action == ResetRecord && int64(s.Op) < applied:
		return fmt.Sprintf("floor op %d: op %d was in the journal and is applied", s.Op, applied)
	case s.Action == Filtered && int64(s.Op) == applied+1 && int64(s.Op) > floor:
		return fmt.Sprintf("op %d is filtered: the floor is op %d", s.Op, floor)
	case s.Action == Materialize && int64(s.Op) == applied+1 && int64(s.Op) <= floor:
		return fmt.Sprintf("op %d is materialized: the floor is op %d", s.Op, floor)
	case (s.Action == Materialize || s.Action == Filtered) && int64(s.Op) == applied+1 && s.Kind != f.text("next", "k"):
		return fmt.Sprintf("op %d did %s: it was committed, and executed elsewhere, as %s", s.Op, s.Kind, f.op("next"))
	}
	return groupReason(s, f)
}
