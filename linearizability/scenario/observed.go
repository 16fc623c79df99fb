package scenario

import (
	"fmt"
	"strings"

	"purgelab/linearizability/history"
	"purgelab/model/op"
)

// Observed is the history as a report tells it: what was recorded, with the answers
// of the lines that begin with !! or ~~ in the place of those that came. ok tells
// whether any answer to a client is another one.
func (r *Result) Observed() (events []history.Event, ok bool, err error) {
	events = append(events, r.History...)
	asked := map[int]*op.Request{} // by process
	requests := make([]*op.Request, len(events))
	stamps := map[op.Payload]op.Timestamp{}
	for i, e := range events {
		if e.Type == history.Invoke {
			asked[e.Process] = e.Request
			continue
		}
		q := asked[e.Process]
		requests[i] = q
		if e.Type == history.OK && q.Kind == op.Append {
			for _, p := range q.Payloads {
				stamps[p] = e.Reply.Timestamp
			}
		}
		if e.Type == history.OK { // of one whose append was never answered
			for _, x := range e.Reply.Records {
				stamps[x.Payload] = x.Timestamp
			}
		}
	}
	for i, step := range r.Scenario.Steps {
		text := step.Seen
		if step.Wrong != step.Want {
			text = step.Wrong
		}
		at := r.places[i]
		if text == "" || at < 0 || events[at].Type == history.Info {
			continue
		}
		e := &events[at]
		if text == "unknown" {
			e.Type, e.Reply, e.Note = history.Info, nil, "gave up"
			continue
		}
		reply, err := parseReply(text, requests[at], e.Reply, stamps)
		if err != nil {
			return nil, false, fmt.Errorf("%s:%d: %w", r.Scenario.File, step.Line, err)
		}
		ok = true
		e.Type, e.Reply = history.OK, reply
		if !history.Judged(reply.Code) {
			e.Type, e.Reply, e.Note = history.Fail, nil, reply.Code.String()
		}
	}
	return events, ok, nil
}

// parseReply reads what world.words prints of a reply to q. What the words do not
// tell is as in the reply that came, if one came: the era above all.
func parseReply(text string, q *op.Request, came *op.Reply, stamps map[op.Payload]op.Timestamp) (*op.Reply, error) {
	a := &op.Reply{Position: op.Position{Incarnation: 1}}
	if came != nil {
		a.Position = came.Position
	}
	bad := func() (*op.Reply, error) { return nil, fmt.Errorf("answer %q: not one to %s", text, q.Kind) }
	name, rest, bounded := strings.Cut(text, ", start ")
	if code, err := op.ParseCode(name); err == nil && code != op.OK {
		if a.Code = code; bounded {
			a.Position.Offset = -1
		} else {
			a.Position = op.Position{}
		}
		if _, err := fmt.Sscanf(rest, "%d, end %d", &a.Start, &a.End); bounded && err != nil {
			return bad()
		}
		return a, nil
	}
	var n, m op.Offset
	switch q.Kind {
	case op.Append:
		if came == nil {
			return bad()
		}
		a.Timestamp = came.Timestamp
		if _, err := fmt.Sscan(strings.Split(text, "..")[0], &n); err != nil {
			return bad()
		}
		a.Position.Offset = n
	case op.Poll:
		if _, err := fmt.Sscanf(text, "nothing at %d", &n); err == nil {
			a.Position.Offset = n
			return a, nil
		}
		where, list, ok := strings.Cut(text, ": ")
		if !ok {
			return bad()
		}
		if _, err := fmt.Sscan(strings.Split(where, "..")[0], &n); err != nil {
			return bad()
		}
		for _, p := range strings.Fields(list) {
			a.Records = append(a.Records, op.Record{Payload: op.Payload(p), Timestamp: stamps[op.Payload(p)]})
		}
		a.Position.Offset, a.Count = n, uint32(len(a.Records))
	case op.GetBookmark:
		if a.Found = text != "none"; !a.Found {
			a.Position = op.Position{}
			return a, nil
		}
		if _, err := fmt.Sscan(text, &n); err != nil {
			return bad()
		}
		if a.Position.Incarnation == 0 {
			a.Position.Incarnation = 1
		}
		a.Position.Offset = n
	case op.ListOffsets:
		if _, err := fmt.Sscan(text, &n); err != nil {
			return bad()
		}
		a.Position.Offset, a.Found = n, true
	case op.DeleteRecords, op.Purge:
		if _, err := fmt.Sscanf(text, "generation %d", &m); err == nil {
			a.Position.Generation, a.Position.Offset = op.Generation(m), 0
		} else if _, err := fmt.Sscanf(text, "start %d", &n); err == nil {
			a.Position.Offset = n
		} else {
			return bad()
		}
	default:
		if text != "ok" {
			return bad()
		}
		if came != nil {
			a.Session = came.Session
		}
	}
	return a, nil
}
