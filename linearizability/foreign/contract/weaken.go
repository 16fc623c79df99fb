package contract

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"purgelab/linearizability/check"
	"purgelab/linearizability/foreign"
	"purgelab/linearizability/history"
	"purgelab/linearizability/verdict"
	"purgelab/model"
	"purgelab/model/op"
)

// weaken rewrites operations of docs/contract.md so that they claim no more than
// what is promised.
func (c *Contract) weaken(ops []history.Op) []history.Op {
	if !c.allows(shortPolls) && !c.allows(accepted) && !c.allows(staleReads) {
		return ops
	}
	var out []history.Op
	for _, o := range ops {
		answered := o.Outcome == history.Answered && o.Reply.Code == op.OK
		switch {
		case c.allows(staleReads) && o.Outcome == history.Answered && lags(o.Request):
			continue
		case c.allows(accepted) && answered && o.Request.Kind == op.Purge:
			r := *o.Request
			r.Intent = o.Reply.Position.Generation
			o.Outcome, o.Request = history.Accepted, &r
		case c.allows(shortPolls) && answered && o.Request.Kind == op.Poll && o.Reply.Count < o.Request.Max:
			if o.Reply.Count == 0 {
				continue
			}
			r := *o.Request
			r.Max = o.Reply.Count
			o.Request = &r
		}
		out = append(out, o)
	}
	return out
}

// lags tells whether a request may be answered by a replica that is behind: one about the
// range, or a poll that is not a consumer's.
func lags(r *op.Request) bool {
	return r.Kind == op.ListOffsets || r.Kind == op.Poll && r.Strategy != op.Next && !r.AutoCommit
}

// tagged gives bare offsets the only generation that there is where numbering goes
// on for ever. With it much more is known of unknown outcomes.
func tagged(ops []history.Op) []history.Op {
	only := func(p *op.Position) { *p = op.Position{Incarnation: 1, Offset: p.Offset} }
	for i := range ops {
		if o := &ops[i]; o.Request.At.Incarnation != 0 || o.Request.Expected != nil || o.Reply != nil && o.Reply.Position.Incarnation != 0 {
			return ops
		}
	}
	out := slices.Clone(ops)
	for i := range out {
		r := *out[i].Request
		if r.Bare && r.At.Offset >= 0 {
			only(&r.At)
			r.Bare = false
		}
		out[i].Request = &r
		if out[i].Reply == nil {
			continue
		}
		a := *out[i].Reply
		switch {
		case slices.Contains(bounded, a.Code):
			a.Position.Offset = -1
			only(&a.Position)
		case a.Code != op.OK && a.Code != op.Gone || r.Kind == op.GetBookmark && !a.Found || r.Kind == op.ListOffsets && !a.Found:
		case r.Kind != op.StoreBookmark && r.Kind != op.DeleteBookmark && r.Kind != op.Register:
			only(&a.Position)
		}
		out[i].Reply = &a
	}
	return out
}

// translate makes operations of docs/contract.md, and finds what is wrong with
// them that the translation would hide: gaps within a poll, and consumers that do
// not go on where they were.
func (c *Contract) translate(h *History) (*translation, []check.Result, error) {
	var wrongs []check.Result
	var all []foreign.Op
	for _, part := range partitions(h.Foreign) {
		_, w := learn(part, c.numbering == model.Restart)
		places := placesOf(part)
		if w == nil {
			w = skipped(part, places)
		}
		if c.allows(holes) {
			part = places.close(part)
		}
		if w == nil {
			w = gap(part)
		}
		if w != nil {
			wrongs = append(wrongs, check.Result{
				Result:    verdict.Result{Verdict: verdict.Fail, Property: check.Property, Reason: w.reason},
				Partition: part[0].Partition, Line: w.line,
			})
		}
		all = append(all, part...)
	}
	slices.SortStableFunc(all, func(x, y foreign.Op) int { return cmp.Compare(x.Call, y.Call) })
	t, err := c.dense(all)
	if e := (*foreign.Error)(nil); errors.As(err, &e) {
		e.File = h.Path
	}
	return t, wrongs, err
}

// places are the positions of the messages of a partition that anybody tells, in
// their order.
type places []foreign.Position

func placesOf(ops []foreign.Op) places {
	var out places
	for i := range ops {
		if o := &ops[i]; o.Outcome == history.Answered {
			at, _ := named(o)
			for _, p := range at {
				if p != nil {
					out = append(out, *p)
				}
			}
		}
	}
	slices.SortFunc(out, foreign.Position.Compare)
	return slices.Compact(out)
}

// below counts the messages below a position.
func (l places) below(p foreign.Position) int {
	i, _ := slices.BinarySearchFunc(l, p, foreign.Position.Compare)
	return i
}

// close renumbers positions without the holes: a message gets the number of those
// below it. An append that nobody tells of has no number, and shows in nothing.
func (l places) close(ops []foreign.Op) []foreign.Op {
	rank := func(p *foreign.Position) *foreign.Position {
		if p == nil || p.Offset < 0 || p.Entry() {
			return p
		}
		q := *p
		q.Offset = int64(l.below(*p))
		return &q
	}
	bound := func(n *int64) *int64 {
		if n == nil {
			return nil
		}
		m := int64(l.below(*foreign.At(*n)))
		return &m
	}
	seen := map[op.Payload]bool{}
	for i := range ops {
		if ops[i].Outcome == history.Answered {
			_, payloads := named(&ops[i])
			for _, p := range payloads {
				seen[p] = true
			}
		}
	}
	var out []foreign.Op
	for _, o := range ops {
		if o.F == foreign.Append && o.Outcome == history.Unknown && !slices.ContainsFunc(o.Ask.Payloads, func(p op.Payload) bool { return seen[p] }) {
			continue
		}
		if at := o.Ask.At; at != nil && l.below(*at) == len(l) {
			o.Answer.Start = nil // it may be a hole or the end: a refusal cannot be judged
		}
		o.Ask.At, o.Answer.Position = rank(o.Ask.At), rank(o.Answer.Position)
		o.Answer.Start, o.Answer.End = bound(o.Answer.Start), bound(o.Answer.End)
		o.Answer.Records = slices.Clone(o.Answer.Records)
		for k := range o.Answer.Records {
			o.Answer.Records[k].At = rank(o.Answer.Records[k].At)
		}
		out = append(out, o)
	}
	return out
}

// gap finds a poll whose records do not stand side by side.
func gap(ops []foreign.Op) *wrong {
	for i := range ops {
		o := &ops[i]
		if o.F != foreign.Poll || o.Outcome != history.Answered {
			continue
		}
		at, _ := named(o)
		for k := 1; k < len(at); k++ {
			if at[k-1] == nil || at[k] == nil || *at[k] == at[k-1].Next() {
				continue
			}
			return &wrong{o.Line, fmt.Sprintf("line %d: the poll returned %s at %s right after %s at %s", o.Line,
				o.Answer.Records[k].Payload, at[k], o.Answer.Records[k-1].Payload, at[k-1])}
		}
	}
	return nil
}

// skipped finds a consumer that keeps its assignment and went back, or passed over
// a message; that may be right if something removed messages.
func skipped(ops []foreign.Op, l places) *wrong {
	for i := range ops {
		o := &ops[i]
		if o.Before == nil || len(o.Answer.Records) == 0 || o.Answer.Records[0].At == nil {
			continue
		}
		first := *o.Answer.Records[0].At
		if first.Compare(*o.Before) <= 0 {
			return &wrong{o.Line, fmt.Sprintf("line %d: the consumer was at %s, and its next poll began at %s", o.Line, o.Before, first)}
		}
		next := l.below(o.Before.Next())
		if l[next].Compare(first) < 0 && !slices.ContainsFunc(ops, removes) {
			return &wrong{o.Line, fmt.Sprintf("line %d: the consumer was at %s, and its next poll began at %s: it passed over %s", o.Line, o.Before, first, l[next])}
		}
	}
	return nil
}

func removes(o foreign.Op) bool { return o.F == foreign.Purge || o.F == foreign.DeleteRecords }
