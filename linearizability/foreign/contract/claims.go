package contract

import (
	"context"
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

// Claims are what a history says, as operations of docs/contract.md.
type Claims struct {
	Ops []history.Op
	// Wrongs are violations that the operations do not show any more: at most one of
	// each partition.
	Wrongs  []check.Result
	missing []NotJudged
	// empty: some polls got nothing and do not tell where, which Ops does not say.
	empty bool
}

// Claims translates a history that is judged by package model; ok is false for another one,
// of which no order is a proof.
func (c *Contract) Claims(h *History) (claims *Claims, ok bool, err error) {
	if !c.isDense(h) {
		return nil, false, nil
	}
	d := &Claims{Ops: h.Ours}
	if h.Foreign != nil {
		t, wrongs, err := c.translate(h)
		if err != nil {
			return nil, true, err
		}
		d.Ops, d.Wrongs, d.missing = t.ops, wrongs, t.missing()
		d.empty = t.empty > 0 && !c.allows(shortPolls)
	}
	var missing []NotJudged
	d.Ops, missing = c.settle(d.Ops)
	d.missing = append(d.missing, missing...)
	if c.numbering == model.Continue {
		d.Ops = tagged(d.Ops)
	}
	d.Ops = c.weaken(d.Ops)
	return d, !d.empty, nil
}

// Semantics are what package model is told of the contract.
func (c *Contract) Semantics() model.Semantics { return model.Semantics{Numbering: c.numbering} }

func (c *Contract) isDense(h *History) bool {
	return c.machine == dense && (h.Foreign == nil || slices.ContainsFunc(h.Foreign, tellsPosition))
}

// judgeDense judges by package model.
func (c *Contract) judgeDense(ctx context.Context, h *History, o Options) (*Report, error) {
	d, _, err := c.Claims(h)
	if err != nil {
		return nil, err
	}
	rep := &Report{NotJudged: d.missing}
	for _, n := range c.missingDense(d.Ops) {
		if !slices.ContainsFunc(d.missing, func(m NotJudged) bool { return m.Promise == n.Promise }) {
			rep.NotJudged = append(rep.NotJudged, n)
		}
	}
	rep.Total, rep.Partitions, err = check.Check(ctx, d.Ops, check.Options{Semantics: c.Semantics(), Timeout: o.Timeout, HTML: o.HTML})
	if len(d.Wrongs) == 0 && !d.empty {
		return rep, err
	}
	for _, w := range d.Wrongs {
		rep.replace(w)
	}
	if d.empty {
		err = errors.Join(err, c.judgeEmpty(ctx, h, rep, o))
	}
	rep.Total = verdict.Result{Verdict: verdict.Pass, Property: check.Property}
	rep.settle()
	return rep, err
}

// of is the result on a partition; nil: there is none.
func (rep *Report) of(p op.Partition) *check.Result {
	i := slices.IndexFunc(rep.Partitions, func(r check.Result) bool { return r.Partition == p })
	if i < 0 {
		return nil
	}
	return &rep.Partitions[i]
}

// replace puts a result in the place of the one on the same partition, whose figures stay.
func (rep *Report) replace(w check.Result) {
	r := rep.of(w.Partition)
	if r == nil {
		rep.Partitions = append(rep.Partitions, w)
		return
	}
	w.Operations, w.Unknown, w.Steps = max(w.Operations, r.Operations), max(w.Unknown, r.Unknown), r.Steps+w.Steps
	*r = w
}

// judgeEmpty holds polls that got nothing, and do not tell where, against what else there is:
// package model knows an answer by its position, so the partition is judged once more as a
// log without numbers, or, where numbers go on for ever, with those that are told.
func (c *Contract) judgeEmpty(ctx context.Context, h *History, rep *Report, o Options) error {
	again := *c
	if c.numbering == model.Continue {
		again.machine = stream
	}
	var failed error
	for _, part := range partitions(h.Foreign) {
		before := rep.of(part[0].Partition)
		if !slices.ContainsFunc(part, gotNothing) || before != nil && before.Verdict == verdict.Fail {
			continue
		}
		if c.numbering == model.Restart {
			part = withoutPositions(part)
		}
		r, _, err := again.judgePartition(ctx, part, o)
		failed = errors.Join(failed, err)
		switch {
		case before == nil, r.Verdict == verdict.Fail:
			rep.replace(r)
		case r.Verdict == verdict.Undecided && before.Verdict == verdict.Pass:
			r.Reason = fmt.Sprintf("right but for the polls that got nothing and do not tell where: %s", r.Reason)
			rep.replace(r)
		default:
			before.Order = nil // it does not show those polls
		}
	}
	return failed
}

// gotNothing tells whether an operation is a poll that got nothing though it wanted something,
// and does not tell where.
func gotNothing(o foreign.Op) bool {
	return o.F == foreign.Poll && o.Outcome == history.Answered && o.Answer.Code == op.OK && o.Answer.Records != nil &&
		len(o.Answer.Records) == 0 && o.Answer.Position == nil && o.Ask.Max != nil && o.Ask.Strategy != op.AtOffset
}

// withoutPositions are the operations as those of a system that tells none.
func withoutPositions(ops []foreign.Op) []foreign.Op {
	out := slices.Clone(ops)
	for i := range out {
		a := &out[i].Answer
		a.Position = nil
		a.Records = slices.Clone(a.Records)
		for k := range a.Records {
			a.Records[k].At = nil
		}
	}
	return out
}
