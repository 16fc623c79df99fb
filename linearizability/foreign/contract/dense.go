package contract

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"purgelab/linearizability/foreign"
	"purgelab/linearizability/history"
	"purgelab/model"
	"purgelab/model/op"
)

var denseFunctions = []string{
	foreign.Append, foreign.Poll, foreign.StoreBookmark, foreign.DeleteBookmark, foreign.GetBookmark,
	foreign.ListOffsets, foreign.DeleteRecords, foreign.Purge,
}

// translation makes operations of docs/contract.md of foreign ones.
type translation struct {
	numbering model.Numbering
	keys      map[string]uint32
	ops       []history.Op
	tagged    bool // some position names its generation
	unplaced  int  // changes that were acknowledged without a position
	unbounded int  // other answers without a position, and refusals without bounds
	empty     int  // polls that got nothing, and do not tell where
}

// dense translates the operations of a history that tells positions.
func (c *Contract) dense(ops []foreign.Op) (*translation, error) {
	t := &translation{numbering: c.numbering, keys: map[string]uint32{}}
	known := map[op.Partition]map[op.Payload]*foreign.Position{}
	for i := range ops {
		o := &ops[i]
		if known[o.Partition] == nil {
			known[o.Partition] = map[op.Payload]*foreign.Position{}
		}
		at, payloads := named(o)
		for k, p := range payloads {
			if at[k] != nil {
				if before, ok := known[o.Partition][p]; ok && (before == nil || *before != *at[k]) {
					known[o.Partition][p] = nil // sent twice: which one is meant is not known
				} else {
					known[o.Partition][p] = at[k]
				}
				t.tagged = t.tagged || at[k].Incarnation != 0
			}
		}
	}
	for i := range ops {
		if err := t.add(&ops[i], known[ops[i].Partition]); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (t *translation) add(o *foreign.Op, known map[op.Payload]*foreign.Position) error {
	bad := func(name string, err error) error {
		return &foreign.Error{Line: o.Line, Column: o.Column, Err: fmt.Errorf("%s: %w", name, err)}
	}
	kind, err := op.ParseKind(o.F)
	if err != nil {
		return bad("f", err)
	}
	r := &op.Request{Kind: kind, Partition: o.Partition}
	out := history.Op{Process: o.Process, Request: r, Outcome: o.Outcome, Call: o.Call, Return: o.Return, Line: o.Line}
	r.Payloads, r.Strategy, r.Reset, r.AutoCommit, r.Which = o.Ask.Payloads, o.Ask.Strategy, o.Ask.Reset, o.Ask.AutoCommit, o.Ask.Which
	r.Key = t.key(o.Ask.Key)
	if at := o.Ask.At; at != nil {
		if r.At, err = t.position(*at); err != nil {
			return bad("at", err)
		}
		r.Bare = r.At.Incarnation == 0 || r.At.Offset < 0
	}
	if kind == op.Poll {
		if r.Max = noMax; o.Ask.Max != nil {
			r.Max = *o.Ask.Max
		}
	}
	if o.Outcome != history.Answered {
		t.ops = append(t.ops, out)
		return nil
	}
	if out.Reply, err = t.reply(o, known); err != nil {
		return bad("position", err)
	}
	got := len(o.Answer.Records)
	none := kind == op.Poll && o.Answer.Code == op.OK && !o.Unread() && got == 0
	switch {
	case none && o.Ask.Max == nil, kind == op.ListOffsets && r.Which == op.OffsetForTimestamp:
		return nil // it tells nothing
	case out.Reply == nil && none:
		t.empty++
		return nil
	case out.Reply == nil && unmoved(o):
		t.unbounded++
		return nil
	case out.Reply == nil: // nobody tells where: the search may guess
		out.Outcome, out.Return = history.Unknown, history.Never
		t.unplaced++
	}
	if got > 0 && (out.Reply == nil || r.Max == noMax) {
		r.Max = uint32(got)
	}
	if out.Reply != nil {
		byPlace(&out)
	}
	t.ops = append(t.ops, out)
	return nil
}

// unmoved tells whether an operation that was answered changed nothing.
func unmoved(o *foreign.Op) bool {
	switch o.F {
	case foreign.Poll:
		return !o.Ask.AutoCommit || slices.Contains(bounded, o.Answer.Code)
	case foreign.GetBookmark, foreign.ListOffsets:
		return true
	}
	return slices.Contains(bounded, o.Answer.Code)
}

// named keys count from here, above those that have a number of their own.
const firstNamed = 1 << 31

// key is consumer-<number> or group-<number>, or any other name, which gets a
// number.
func (t *translation) key(name string) op.Key {
	if name == "" {
		return op.Key{}
	}
	kind, id, _ := strings.Cut(name, "-")
	if n, err := strconv.ParseUint(id, 10, 31); err == nil && (kind == "consumer" || kind == "group") {
		k := op.Key{ID: uint32(n)}
		if kind == "group" {
			k.Kind = op.Group
		}
		return k
	}
	if _, ok := t.keys[name]; !ok {
		t.keys[name] = firstNamed + uint32(len(t.keys))
	}
	return op.Key{ID: t.keys[name]}
}

// position translates one. Where numbering goes on for ever a number says all,
// and stands for a position of the only generation; else it stays bare.
func (t *translation) position(p foreign.Position) (op.Position, error) {
	switch {
	case p.Entry():
		return op.Position{}, fmt.Errorf("want a number or i<incarnation>:g<generation>:<offset>, got the entry %s of a ledger", p)
	case p.Bare() && t.numbering == model.Continue:
		return op.Position{Incarnation: 1, Offset: op.Offset(p.Offset)}, nil
	}
	return op.Position{Incarnation: p.Incarnation, Generation: p.Generation, Offset: op.Offset(p.Offset)}, nil
}

// bounded are the answers that tell start and end.
var bounded = []op.Code{op.OffsetOutOfRange, op.InvalidOffset, op.StaleGeneration, op.StaleIncarnation, op.Mismatch}

// reply translates an answer; nil: it tells too little to be judged.
func (t *translation) reply(o *foreign.Op, known map[op.Payload]*foreign.Position) (*op.Reply, error) {
	a := &o.Answer
	r := &op.Reply{Code: a.Code, Count: uint32(len(a.Records))}
	if a.Timestamp != nil {
		r.Timestamp = *a.Timestamp
	}
	if o.Unread() {
		return nil, nil
	}
	p := a.Position
	if o.F == foreign.Poll && a.Code == op.OK && p == nil && len(a.Records) == 0 && o.Ask.Strategy == op.AtOffset {
		p = o.Ask.At // where it found nothing
	}
	for i, m := range a.Records {
		rec := op.Record{Payload: m.Payload}
		if m.Timestamp != nil {
			rec.Timestamp = *m.Timestamp
		}
		r.Records = append(r.Records, rec)
		if i == 0 && p == nil {
			if p = m.At; p == nil {
				p = known[m.Payload]
			}
		}
	}
	if o.F == foreign.Append && p == nil {
		if p = known[o.Ask.Payloads[0]]; p == nil {
			return nil, nil
		}
	}
	if slices.Contains(bounded, a.Code) {
		if a.Start == nil || a.End == nil {
			return nil, nil
		}
		r.Start, r.End = op.Offset(*a.Start), op.Offset(*a.End)
		if p == nil {
			p = foreign.At(-1)
		}
	}
	if r.Found = p != nil; a.Found != nil {
		r.Found = *a.Found
	}
	if (o.F == foreign.GetBookmark || o.F == foreign.ListOffsets) && a.Code == op.OK && p == nil && a.Found == nil {
		return nil, nil
	}
	if p == nil && t.needed(o, r) {
		return nil, nil
	}
	var err error
	if p != nil {
		r.Position, err = t.position(*p)
	}
	return r, err
}

// needed tells whether an answer without a position cannot be compared.
func (t *translation) needed(o *foreign.Op, r *op.Reply) bool {
	if r.Code != op.OK {
		return false
	}
	switch o.F {
	case foreign.Poll, foreign.DeleteRecords:
		return true
	case foreign.Purge: // a bare one has no generation to tell
		return t.numbering == model.Continue || t.tagged
	case foreign.GetBookmark, foreign.ListOffsets:
		return r.Found
	}
	return false
}
