package report

import (
	"fmt"
	"strings"

	"purgelab/linearizability/history"
	"purgelab/model/op"
)

// Operations makes the client lanes of a timeline from a recorded history,
// whose times are thousandths of a millisecond. An operation of unknown outcome
// ends where its client gave up; one without any end lasts to the end of the
// history.
func Operations(events []history.Event) []Operation {
	var out []Operation
	open := map[int]int{} // process → index in out
	for _, e := range events {
		if e.Type == history.Invoke {
			open[e.Process] = len(out)
			out = append(out, Operation{
				Process: e.Process, Partition: int(e.Partition), Name: e.Kind.String(),
				Start: e.Time / 1000, End: -1, Outcome: "open", Generation: -1,
				Detail: requestWords(e.Request),
			})
			continue
		}
		i, ok := open[e.Process]
		if !ok {
			continue // an end without a beginning is for the parser to refuse
		}
		delete(open, e.Process)
		o := &out[i]
		o.End, o.Outcome = e.Time/1000, e.Type.String()
		if e.Reply != nil {
			o.Detail += "\n→ " + replyWords(e.Reply)
			if e.Type == history.OK && e.Reply.Position.Incarnation > 0 {
				o.Generation = int(e.Reply.Position.Generation)
			}
		}
		if e.Note != "" {
			o.Detail += "\n" + e.Note
		}
	}
	if len(events) > 0 {
		end := events[len(events)-1].Time / 1000
		for i := range out {
			if out[i].End < 0 {
				out[i].End = end
			}
		}
	}
	colour(out)
	return out
}

// colour gives an answer without a position of its own, such as "ok" to a
// stored bookmark, the generation that its client saw last before it.
func colour(ops []Operation) {
	seen := map[[2]int]int{}
	for i := range ops {
		o := &ops[i]
		who := [2]int{o.Process, o.Partition}
		if o.Generation >= 0 {
			seen[who] = o.Generation
		} else if g, ok := seen[who]; ok && o.Outcome == "ok" {
			o.Generation = g
		}
	}
}

// requestWords says what was asked.
func requestWords(r *op.Request) string {
	var w []string
	add := func(format string, args ...any) { w = append(w, fmt.Sprintf(format, args...)) }
	switch r.Kind {
	case op.Append:
		add("%d payloads from %q", len(r.Payloads), first(r.Payloads))
	case op.Poll:
		add("%s, at most %d", r.Strategy, r.Max)
		switch r.Strategy {
		case op.Next:
			add("as %s, reset %s", r.Key, r.Reset)
		case op.AtOffset:
			add("at %s", place(r))
		case op.AtTimestamp:
			add("from %d ms", r.Timestamp)
		}
		if r.AutoCommit {
			add("auto-commit")
		}
	case op.StoreBookmark:
		add("%s at %s", r.Key, place(r))
	case op.DeleteBookmark, op.GetBookmark:
		add("%s", r.Key)
	case op.ListOffsets:
		add("%s", r.Which)
	case op.DeleteRecords:
		add("below %s", place(r))
	case op.Purge:
		if r.Intent > 0 {
			add("to generation %d", r.Intent)
		}
	}
	if r.Expected != nil {
		add("if at %s", *r.Expected)
	}
	if r.Sequence > 0 {
		add("session %d, request %d", r.Session, r.Sequence)
	}
	return strings.Join(w, ", ")
}

func first(p []op.Payload) op.Payload {
	if len(p) == 0 {
		return ""
	}
	return p[0]
}

func place(r *op.Request) string {
	if r.Bare {
		return fmt.Sprintf("offset %d", r.At.Offset)
	}
	return r.At.String()
}

// replyWords says what was answered.
func replyWords(r *op.Reply) string {
	text := r.Code.String()
	if r.Position.Incarnation > 0 {
		text += " " + r.Position.String()
	}
	if r.Count > 0 || len(r.Records) > 0 {
		text += fmt.Sprintf(", %d records", max(int(r.Count), len(r.Records)))
		if len(r.Records) > 0 {
			text += fmt.Sprintf(" from %q", r.Records[0].Payload)
		}
	}
	if r.Code != op.OK && (r.Start != 0 || r.End != 0) {
		text += fmt.Sprintf(", start %d, end %d", r.Start, r.End)
	}
	if r.Session > 0 {
		text += fmt.Sprintf(", session %d", r.Session)
	}
	return text
}
