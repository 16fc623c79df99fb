package traces

import (
	"encoding/json"
	"fmt"
	"strings"

	"purgelab/traces/tlc"
)

// Explain says in a few lines what was rejected:
//
//	FILE:112: no action of Ordered explains this event
//	  event    {"t":160,"replica":1,…}
//	  reason   base offset 4: the end is 3
//	  state    up      serve
//	           now     applied=11 gen=2 start=0 end=3 …
//	  enabled  Checkpoint, Materialize, PowerLoss, ProcessCrash
//	  piece    partition 0, replica 1: 45 steps explained before it
func (r Rejection) Explain(file string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "  %s:%d: no action of %s explains this event\n", file, r.Line, r.Spec)
	line := func(name, text string) { fmt.Fprintf(&b, "    %-8s %s\n", name, text) }
	event, err := json.Marshal(r.Event)
	if err != nil {
		event = []byte(err.Error())
	}
	line("event", string(event))
	line("reason", r.Reason)
	for i, s := range stateLines(r.State) {
		line([]string{"state", ""}[min(i, 1)], s)
	}
	line("enabled", strings.Join(r.Enabled, ", "))
	line("piece", fmt.Sprintf("%s: %d steps explained before it", r.Piece, r.Matched))
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
