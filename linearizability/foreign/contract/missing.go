package contract

import (
	"fmt"
	"slices"

	"purgelab/linearizability/foreign"
	"purgelab/linearizability/history"
	"purgelab/model"
	"purgelab/model/op"
)

// NotJudged is a promise that a history does not tell enough to be held against,
// or that the caller gave up.
type NotJudged struct {
	Promise string `json:"promise"`
	Why     string `json:"why"`
}

func (n NotJudged) String() string { return n.Promise + ": " + n.Why }

// note adds that single answers were left out.
func note(list []NotJudged, dropped int) []NotJudged {
	if dropped == 0 {
		return list
	}
	return append(list, NotJudged{"single answers", fmt.Sprintf("%d are refusals, or do not tell enough", dropped)})
}

// given lists the weaker promises that were allowed.
func (c *Contract) given() []NotJudged {
	var out []NotJudged
	for _, o := range c.Options {
		if c.allows(o) {
			out = append(out, NotJudged{o.Name, "allowed: " + o.Says})
		}
	}
	return out
}

// has tells whether an answered operation of the history has something.
func has(ops []foreign.Op, what func(*foreign.Op) bool) bool {
	return slices.ContainsFunc(ops, func(o foreign.Op) bool { return o.Outcome == history.Answered && what(&o) })
}

// missing lists what a history does not tell to a machine of this package.
func (c *Contract) missing(ops []foreign.Op) []NotJudged {
	out := []NotJudged{}
	add := func(told bool, promise, why string) {
		if !told {
			out = append(out, NotJudged{promise, why})
		}
	}
	if c.machine != queue {
		add(has(ops, func(o *foreign.Op) bool { return tellsPosition(*o) }), "positions", "no answer tells one, so only order and loss are judged")
	}
	add(has(ops, func(o *foreign.Op) bool { return o.F == foreign.Poll && len(o.Answer.Records) > 0 }), "order and loss", "no poll returned a message")
	add(!has(ops, func(o *foreign.Op) bool { return o.F == foreign.Poll && o.Ask.Max == nil }), "complete polls", "a poll does not tell how many records it wanted")
	add(has(ops, func(o *foreign.Op) bool { return o.F == foreign.Purge }), "purge", "no purge was answered")
	if c.machine != dense && !c.stream.perCursor {
		add(!has(ops, func(o *foreign.Op) bool { return o.F == foreign.Purge && o.Answer.Count == nil }), "count of a purge", "a purge does not tell how many messages it removed")
	}
	if c.machine == dense {
		add(false, "timestamps", "without positions they are not compared")
	}
	return append(out, c.given()...)
}

// missing lists what was lost in a translation.
func (t *translation) missing() []NotJudged {
	var out []NotJudged
	if t.unplaced > 0 {
		out = append(out, withoutPlace(t.unplaced))
	}
	return note(out, t.unbounded)
}

// missingDense lists what a history does not tell to package model.
func (c *Contract) missingDense(ops []history.Op) []NotJudged {
	out := []NotJudged{}
	any := func(what func(*op.Request, *op.Reply) bool) bool {
		return slices.ContainsFunc(ops, func(o history.Op) bool {
			return (o.Outcome == history.Answered || o.Outcome == history.Accepted) && what(o.Request, o.Reply)
		})
	}
	add := func(told bool, promise, why string) {
		if !told {
			out = append(out, NotJudged{promise, why})
		}
	}
	if c.numbering == model.Restart {
		add(any(func(_ *op.Request, a *op.Reply) bool { return a.Position.Incarnation != 0 }), "generations", "no answer tells one: offsets alone are judged")
	}
	add(any(func(_ *op.Request, a *op.Reply) bool {
		return a.Timestamp != 0 || slices.ContainsFunc(a.Records, func(r op.Record) bool { return r.Timestamp != 0 })
	}), "timestamps", "no answer tells one")
	add(any(func(r *op.Request, _ *op.Reply) bool { return r.Session != 0 }), "retries", "no request is numbered, so not that a repeat is executed once")
	add(any(func(r *op.Request, _ *op.Reply) bool { return r.Kind == op.Purge || r.Kind == op.DeleteRecords }), "purge", "no purge was answered")
	add(any(func(_ *op.Request, a *op.Reply) bool { return len(a.Records) > 0 }), "order and loss", "no poll returned a message")
	return append(out, c.given()...)
}
