package traces

import (
	"fmt"
	"strconv"
	"strings"

	"purgelab/traces/tlc"
)

// facts reads numbers and words out of the state that the specification told.
type facts struct{ state tlc.Value }

func (f facts) text(path ...string) string {
	v := f.state
	for _, p := range path {
		next, ok := v.Field(p)
		if !ok {
			return ""
		}
		v = next
	}
	return strings.Trim(v.String(), `"`)
}

// op words an op of the specification, which is a record there.
func (f facts) op(path string) string {
	v, _ := f.state.Field(path)
	o := facts{v}
	return opText(o.text("k"), o.text("key"), o.number("n"), o.number("o"), o.number("g"))
}

func opText(kind, key string, count, offset, gen int64) string {
	switch kind {
	case "none":
		return "nothing"
	case "append":
		return fmt.Sprintf("append of %d", count)
	case "store":
		return fmt.Sprintf("store of %s at offset %d", key, offset)
	case "delete":
		return "delete of " + key
	case "advance":
		return fmt.Sprintf("advance to offset %d", offset)
	case "purge", "settle":
		return fmt.Sprintf("%s of generation %d", kind, gen)
	}
	return kind
}

func (f facts) number(path ...string) int64 {
	n, err := strconv.ParseInt(f.text(path...), 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// explain compares the event with the state before it and says in one line what
// does not fit. It only words TLC's answer: a rejection stands whatever is
// found here.
func (j *judge) explain(s step, state tlc.Value) string {
	why := j.reason(s, facts{state})
	if s.Unseen && s.Incarnation > 0 && (s.Action == NewIncarnation || s.Action == Propose) {
		return fmt.Sprintf("incarnation %d begins: %s", s.Incarnation, why)
	}
	if s.Unseen {
		return fmt.Sprintf("the boot after this crash shows the effect of %s, which was not reported before: %s", s.Action, why)
	}
	return why
}

func localReason(s step, f facts) string {
	down := f.text("up") == "down"
	next := f.number("now", "applied") + 1
	switch {
	case s.Ended:
		return "the replica had gone on in a later incarnation: this one has ended"
	case s.Action == Boot && !down:
		return "the replica is running already"
	case s.Action == Boot:
		return bootReason(s, f)
	case down && s.Action != CopyState:
		return "the replica is down"
	case isMove(s):
		return moveReason(s, f)
	case s.Action == Serve && f.text("up") == "serve":
		return "the replica serves already"
	case s.Action == Serve && f.number("front") > f.number("now", "applied"):
		return fmt.Sprintf("applied op %d is below op %d, of which the disk gives evidence", f.number("now", "applied"), f.number("front"))
	case s.Action == Checkpoint && int64(s.Op) <= f.number("disk", "applied"):
		return fmt.Sprintf("op %d is checkpointed already", f.number("disk", "applied"))
	case s.Action == Checkpoint && int64(s.Op) >= next:
		return fmt.Sprintf("op %d is not applied, the last one is %d", s.Op, next-1)
	case s.Action == PurgeSwitch, s.Action == PurgeComplete:
		return purgeReason(s, f)
	case s.Op == 0:
	case int64(s.Op) != next:
		return fmt.Sprintf("op %d: the next op to apply is %d", s.Op, next)
	case s.Action == Materialize && f.text("next", "k") == "purge" && f.text("marker", "st") == "begun":
		return fmt.Sprintf("the purge of op %d to generation %d is begun and not complete", f.number("marker", "p"), f.number("marker", "g"))
	case s.Action == PurgeBegin && int64(s.Generation) <= f.number("now", "settled"):
		return fmt.Sprintf("generation %d: %d is settled already", s.Generation, f.number("now", "settled"))
	case f.text("next", "k") != "any" && f.text("next", "k") != kindOf(s):
		return fmt.Sprintf("op %d was materialized before as %s", s.Op, f.op("next"))
	}
	if s.Action == Materialize {
		if why := effectReason(s, f); why != "" {
			return why
		}
	}
	return stateReason(s, f)
}

// kindOf is the kind of op that the step is an effect of.
func kindOf(s step) string {
	if s.Action == Materialize {
		return s.Kind
	}
	return "purge"
}

func bootReason(s step, f facts) string {
	if f.text("marker", "st") != s.Kind || s.Kind != "none" && f.number("marker", "p") != int64(s.Op) {
		return fmt.Sprintf("the marker on the disk is %s of op %d, the event says %s of op %d", f.text("marker", "st"), f.number("marker", "p"), s.Kind, s.Op)
	}
	return foundReason(s, f, int64(len(bookmarks(f, "disk"))))
}

// foundReason compares what a boot shows with what the disk holds.
func foundReason(s step, f facts, marks int64) string {
	for _, c := range []struct {
		name       string
		have, want int64
	}{
		{"gen", int64(s.Generation), f.number("disk", "gen")},
		{"applied", int64(s.Applied), f.number("disk", "applied")},
		{"start", int64(s.Start), f.number("disk", "start")},
		{"end", int64(s.End), f.number("disk", "end")},
	} {
		if c.want != c.have {
			return fmt.Sprintf("%s is %d, what the disk holds says %d", c.name, c.have, c.want)
		}
	}
	switch front := f.number("front"); {
	case int64(s.Count) != marks:
		return fmt.Sprintf("%d bookmarks are loaded, the disk holds %d", s.Count, marks)
	case s.Front != 0 && int64(s.Front) != front:
		return fmt.Sprintf("the disk gives evidence of op %d, it should of op %d", s.Front, front)
	}
	return "the disk says otherwise"
}

// bookmarks are the owners of those that are set in a part of the state.
func bookmarks(f facts, part string) []string {
	now, _ := f.state.Field(part)
	bm, _ := now.Field("bm")
	var out []string
	for i, k := range bm.Keys {
		if (facts{bm.Items[i]}).number("o") >= 0 {
			out = append(out, strings.Trim(k.Text, `"`))
		}
	}
	return out
}

func purgeReason(s step, f facts) string {
	st, p, g := f.text("marker", "st"), f.number("marker", "p"), f.number("marker", "g")
	if st != "begun" || p != int64(s.Op) || g != int64(s.Generation) {
		return fmt.Sprintf("the marker is %s of op %d and generation %d, the event says op %d and generation %d", st, p, g, s.Op, s.Generation)
	}
	if s.Action == PurgeComplete && (s.Applied != s.Op || s.Start != 0 || s.End != 0) {
		return stateText(s) + fmt.Sprintf(", a fresh generation has applied=%d start=0 end=0", s.Op)
	}
	return "the new generation's folder is not there"
}

func effectReason(s step, f facts) string {
	start, end, offset := f.number("now", "start"), f.number("now", "end"), int64(s.Offset)
	switch {
	case s.Kind == "append" && offset != end:
		return fmt.Sprintf("base offset %d: the end is %d", offset, end)
	case s.Kind == "store" && offset >= end:
		return fmt.Sprintf("bookmark at offset %d: the end is %d", offset, end)
	case s.Kind == "delete" && bookmark(s, f) < 0:
		return fmt.Sprintf("%s has no bookmark to delete", s.Key)
	case s.Kind == "advance" && (offset <= start || offset > end):
		return fmt.Sprintf("start moves to %d: it is %d and the end %d", offset, start, end)
	}
	return ""
}

// answerReason: a read that does not fit the replica that answered it.
func answerReason(s step, f facts) string {
	start, end := f.number("now", "start"), f.number("now", "end")
	if int64(s.Applied) == f.number("now", "applied") && int64(s.Start) == start && int64(s.End) == end {
		switch s.Kind {
		case "poll":
			return fmt.Sprintf("%d records from offset %d answered: the start is %d and the end %d", s.Count, s.Offset, start, end)
		case "get-bookmark":
			holds := "none, which is told as 0"
			if o := bookmark(s, f); o >= 0 {
				holds = fmt.Sprint(o)
			}
			return fmt.Sprintf("bookmark of %s answered as %d, the replica holds %s", s.Key, s.Offset, holds)
		case "list-offsets":
			return fmt.Sprintf("offset %d listed: the start is %d and the end %d", s.Offset, start, end)
		case "gone":
			return fmt.Sprintf("%d records from offset %d are gone: they were planned, so there were some", s.Count, s.Offset)
		}
		return fmt.Sprintf("refused (%s) with offset %d: a refusal has none, -1", s.Kind, s.Offset)
	}
	return stateReason(s, f)
}

// bookmark is the offset that the specification holds for the step's key.
func bookmark(s step, f facts) int64 {
	now, _ := f.state.Field("now")
	bm, _ := now.Field("bm")
	for i, k := range bm.Keys {
		if strings.Trim(k.Text, `"`) == s.Key {
			return facts{bm.Items[i]}.number("o")
		}
	}
	return -1
}

// stateReason: the action could happen, but not lead to what the event shows. Where it
// is known what it leads to, the first fact that differs is named, with both values.
func stateReason(s step, f facts) string {
	want := f.after(s)
	for _, c := range []struct {
		name       string
		have, want int64
	}{
		{"applied", int64(s.Applied), want.applied},
		{"gen", int64(s.Generation), want.gen},
		{"start", int64(s.Start), want.start},
		{"end", int64(s.End), want.end},
	} {
		if c.want != c.have && s.shows(c.name) {
			return fmt.Sprintf("%s is %d after it, %s leads to %d", c.name, c.have, s.Action, c.want)
		}
	}
	return fmt.Sprintf("the event shows %s, before it were applied=%d gen=%d start=%d end=%d",
		stateText(s), f.number("now", "applied"), f.number("now", "gen"), f.number("now", "start"), f.number("now", "end"))
}

func stateText(s step) string {
	return fmt.Sprintf("applied=%d gen=%d start=%d end=%d", s.Applied, s.Generation, s.Start, s.End)
}

func groupReason(s step, f facts) string {
	next := f.number("now", "applied") + 1
	up := f.text("up") == "TRUE"
	if why := toldReason(s, f); why != "" {
		return why
	}
	switch {
	case s.Ended:
		return "its incarnation has ended"
	case s.Action == NewIncarnation && s.Unseen:
		return beginReason(s, f)
	case (s.Action == ChangeMembers || s.Action == Joined) && int64(s.Op) < next && up && int64(s.Applied) == next-1:
		return fmt.Sprintf("op %d changes the membership: the replica has applied op %d", s.Op, next-1)
	case s.Action == ChangeMembers && f.text("op", "k") != "other" && f.text("op", "k") != "none":
		return fmt.Sprintf("op %d changes the membership: it is %s", s.Op, f.op("op"))
	case s.Action == ChangeMembers && int64(s.Applied) != next-1:
		return stateReason(s, f)
	case s.Action == ChangeMembers:
		return fmt.Sprintf("op %d makes %d voters: to another replica it made another number", s.Op, s.Count)
	case s.Action == Commit && !s.Old && int64(s.Op) != f.number("commit")+1:
		return fmt.Sprintf("op %d: the next op to commit is %d", s.Op, f.number("commit")+1)
	case s.Action == Commit && (int64(s.Applied) != next-1 || int64(s.Start) != f.number("now", "start") || int64(s.End) != f.number("now", "end")):
		return stateReason(s, f)
	case s.Action == Commit:
		return fmt.Sprintf("committed as %s, materialized as %s", opText(s.Kind, s.Key, int64(s.Count), int64(s.Offset), int64(s.Generation)), f.op("op"))
	case (s.Action == Boot || s.Action == Rejoin) && up:
		return "the replica is running already"
	case s.Action == Rejoin:
		return stateReason(s, f)
	case s.Action == Boot && f.text("suspect") == "TRUE":
		return "it lost power and may have forgotten what it acknowledged: it comes back as a new member only"
	case s.Action == Boot && int64(s.Applied) < f.number("now", "boundary"):
		return fmt.Sprintf("boots at op %d: its era began with op %d", s.Applied, f.number("now", "boundary"))
	case s.Action == Boot && int64(s.Applied) >= next:
		return fmt.Sprintf("boots at op %d: it had applied %d", s.Applied, next-1)
	case s.Action == Boot:
		return stateReason(s, f)
	case !up && s.Action != CopyState:
		return "the replica is down"
	case isMove(s):
		return moveReason(s, f)
	case s.Action == Answer:
		return answerReason(s, f)
	case s.Action == NewIncarnation && int64(s.Agreed.Incarnation) != int64(s.Last):
		return fmt.Sprintf("incarnation %d goes on from incarnation %d: the one before it is %d", s.Count, s.Agreed.Incarnation, s.Last)
	case s.Action == NewIncarnation && int64(s.Op) != next-1:
		return fmt.Sprintf("incarnation %d goes on from op %d: the last one applied is %d", s.Count, s.Op, next-1)
	case s.Action == NewIncarnation && (int64(s.Applied) == next-1 && int64(s.Start) == f.number("now", "start") && int64(s.End) == f.number("now", "end")):
		return fmt.Sprintf("incarnation %d goes on from op %d and agrees with the one before up to %s: another replica told otherwise", s.Count, s.Op, s.Key)
	case s.Action == Joined:
		if f.text("joining") != "TRUE" {
			return fmt.Sprintf("op %d lets the replica vote: it is no new member", s.Op)
		}
		return fmt.Sprintf("op %d lets the replica vote: it changed no membership", s.Op)
	case s.Action == BecomeLeader && f.text("joining") == "TRUE":
		return "the replica has not joined yet"
	case s.Action == BecomeLeader && f.holds("led", int64(s.Term)):
		return fmt.Sprintf("term %d has a leader already", s.Term)
	case s.Action == BecomeLeader:
		return stateReason(s, f)
	case s.Op == 0:
	case int64(s.Op) != next:
		return fmt.Sprintf("op %d: the next op to apply is %d", s.Op, next)
	case int64(s.Op) > f.number("commit"):
		return fmt.Sprintf("op %d is not committed, the last one is %d", s.Op, f.number("commit"))
	case s.Action == PurgeComplete && int64(s.Generation) <= f.number("now", "settled"):
		return fmt.Sprintf("generation %d: %d is settled already", s.Generation, f.number("now", "settled"))
	case f.text("next", "k") != kindOf(s) && !(s.Action == PurgeDuplicate && f.text("next", "k") == "settle"):
		return fmt.Sprintf("op %d was told before as %s", s.Op, f.op("next"))
	}
	if s.Action == Materialize {
		if why := effectReason(s, f); why != "" {
			return why
		}
	}
	return stateReason(s, f)
}

// beginReason: an incarnation that cannot go on as it does.
func beginReason(s step, f facts) string {
	if floor := f.number("floor"); s.Kind != "forced" && int64(s.Last) < floor {
		return fmt.Sprintf("it goes on with ops up to %d of the one before: what is persisted came up to op %d", s.Last, floor)
	}
	return fmt.Sprintf("it agrees with the one before up to %s: that is not in what it goes on with, ops up to %d", s.Agreed, s.Last)
}
