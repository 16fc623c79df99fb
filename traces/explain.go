package traces

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"purgelab/traces/tlc"
)

// Explain says in a few lines what was rejected:
//
//	FILE:112: no action of Ordered explains this event
//	  event    {"t":160,"replica":1,…}
//	  nearest  Ordered!Materialize(op 12, k append, o 4, n 1, ap 12, st 0, en 5, g 2)
//	  reason   base offset 4: the end is 3
//	  state    up      serve
//	           now     applied=11 gen=2 start=0 end=3 …
//	  enabled  Checkpoint, Materialize, PowerLoss, ProcessCrash
//	  piece    partition 0, replica 1: 45 steps explained before it, the last one Materialize of line 110
//	  replay   purgelab run --seed 7 --faults all
func (r Rejection) Explain(file string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "  %s:%d: no action of %s explains this event\n", file, r.Line, r.Spec)
	line := func(name, text string) { fmt.Fprintf(&b, "    %-8s %s\n", name, text) }
	event, err := json.Marshal(r.Event)
	if err != nil {
		event = []byte(err.Error())
	}
	line("event", string(event))
	line("nearest", r.Nearest)
	line("reason", r.Reason)
	for i, s := range stateLines(r.State) {
		line([]string{"state", ""}[min(i, 1)], s)
	}
	line("enabled", strings.Join(r.Enabled, ", "))
	piece := fmt.Sprintf("%s: %d steps explained before it", r.Piece, r.Matched)
	if r.Matched > 0 {
		piece += fmt.Sprintf(", the last one %s of line %d", r.Last.Action, r.Last.Number)
	}
	line("piece", piece)
	if r.Replay != "" {
		line("replay", r.Replay)
	}
	return b.String()
}

// stateLines prints the state one field a line.
func stateLines(state tlc.Value) []string {
	var out []string
	for i, k := range state.Keys {
		out = append(out, fmt.Sprintf("%-7s %s", k.Text, fieldText(state.Items[i])))
	}
	return out
}

// fieldText prints a record as a=1 b=2, anything else as TLC does.
func fieldText(v tlc.Value) string {
	if v.Shape != tlc.Record {
		return strings.Trim(v.String(), `"`)
	}
	var parts []string
	for i, k := range v.Keys {
		text := strings.Trim(v.Items[i].String(), `"`)
		if k.Text == "bm" {
			text = bookmarksText(v.Items[i])
		}
		parts = append(parts, k.Text+"="+text)
	}
	return strings.Join(parts, " ")
}

// bookmarksText prints the bookmarks that are set: {consumer-1:4 group-2:0}.
func bookmarksText(v tlc.Value) string {
	var parts []string
	for i, k := range v.Keys {
		if o, ok := v.Items[i].Field("o"); ok && o.Text != "-1" {
			parts = append(parts, strings.Trim(k.Text, `"`)+":"+o.Text)
		}
	}
	return "{" + strings.Join(parts, " ") + "}"
}

// nearest is the action of the specification that the step is, with what the trace
// module reads of it: what it is called there, docs/traces.md says.
func (s *step) nearest(j *judge) string {
	name, ok := s.action(j)
	if !ok {
		name = j.root + "!" + string(s.Action) // of the trace module only
	}
	var parts []string
	for _, f := range s.reads {
		switch {
		case f == "k":
			parts = append(parts, "k "+s.Kind)
		case f == "key":
			if s.Key != "" {
				parts = append(parts, "key "+s.Key)
			}
		case f == "does":
			parts = append(parts, "does "+s.Does)
		default:
			parts = append(parts, fmt.Sprintf("%s %d", f, s.number(f)))
		}
	}
	return name + "(" + strings.Join(parts, ", ") + ")"
}

// shown are the facts after a step, by name.
var shown = map[string]string{"applied": "ap", "gen": "g", "start": "st", "end": "en"}

// shows tells whether the trace module compares a fact after the step. Of some actions
// the generation is a parameter and not that of the era.
func (s *step) shows(fact string) bool {
	if fact == "gen" {
		switch s.Action {
		case PurgeBegin, PurgeSwitch, PurgeDuplicate, Reclaim, ResetFrontier, Commit:
			return false
		}
	}
	return slices.Contains(s.reads, shown[fact])
}

// after is what the action of a step leads to from the state before it, if it can
// happen: most leave the facts as they are.
func (f facts) after(s step) (out struct{ applied, gen, start, end int64 }) {
	out.applied, out.gen = f.number("now", "applied"), f.number("now", "gen")
	out.start, out.end = f.number("now", "start"), f.number("now", "end")
	switch s.Action {
	case Materialize:
		out.applied = int64(s.Op)
		switch s.Kind {
		case "append":
			out.end += int64(s.Count)
		case "advance":
			out.start = int64(s.Offset)
		}
	case Rejoin:
		out.applied, out.gen, out.start, out.end = firstOp, 0, 0, 0
	case Filtered, PurgeDuplicate:
		out.applied = int64(s.Op)
	case PurgeComplete:
		if f.text("purge", "step") != "" {
			break // of reset-record: the messages were reset before
		}
		out.applied, out.gen, out.start, out.end = int64(s.Op), int64(s.Generation), 0, 0
	case ResetRecord:
		out.gen, out.start, out.end = int64(s.Generation), 0, 0
	}
	return out
}
