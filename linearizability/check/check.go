// Package check judges recorded histories: is there an order of the
// operations, each at one instant between its call and its return, in which a
// partition that follows docs/contract.md gives exactly the recorded answers?
//
// Partitions are independent, so each is judged on its own. An operation whose outcome
// is unknown may take effect at any instant after its call, or never. First comes the
// judge (linearizability/judge), which takes time in proportion to the history: it
// finds an order and proves it, or a reason why there is none. Where it finds neither,
// porcupine searches over the sequential model, from the last quiescent cut up to which
// all that the partition may be is known. That is exponential at worst, so it has
// limits, in steps and in memory (the same on every machine) and in time; a search
// that meets a limit is undecided, which is not a pass.
package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/anishathalye/porcupine"

	"purgelab/linearizability/history"
	"purgelab/linearizability/judge"
	"purgelab/linearizability/verdict"
	"purgelab/model"
	"purgelab/model/op"
)

// Property is the name of what the check checks.
const Property = "Linearizable"

// DefaultMaxSteps is some seconds of work. DefaultMaxBytes is more than any history
// needs that is judged within it, and less than a small machine has.
const (
	DefaultMaxSteps = 3_000_000
	DefaultMaxBytes = 3 << 30
)

// GCPercent is for programs that judge histories of millions of operations: how much may
// be allocated before garbage is collected, in percent of what is in use. Most of that is
// the history, which stays. By Go's own 100 a million operations need 930 MiB, by 40 they
// need 750, and a tenth more processor time, most of it beside the judge.
const GCPercent = 40

// Options of a check. The zero value is usable.
type Options struct {
	Semantics model.Semantics
	// Timeout bounds the time per partition; 0: none but the context's.
	Timeout time.Duration
	// MaxSteps bounds the steps of the model per partition; 0: DefaultMaxSteps.
	MaxSteps int64
	// MaxBytes bounds what the search keeps per partition; 0: DefaultMaxBytes.
	MaxBytes int64
	// HTML, if not nil, opens the place for porcupine's page of a partition
	// whose history is not linearizable: of the operations that are wrong together, or,
	// where they are not known, of what was called until no order was left.
	HTML func(op.Partition) (io.WriteCloser, error)
}

// Result is the verdict on one partition.
type Result struct {
	verdict.Result
	Partition  op.Partition `json:"partition"`
	Operations int          `json:"operations"` // judged, unknown outcomes included
	Unknown    int          `json:"unknown"`    // outcomes that the search had to guess
	Steps      int64        `json:"steps"`      // of the model
	// Line of the operation that no order explains; 0 if there is none.
	Line int `json:"line,omitempty"`
	// Class of the violation, the promise that it breaks, and the operations that show
	// it, one a line, if the judge found a reason.
	Class   judge.Class `json:"class,omitempty"`
	Promise string      `json:"promise,omitempty"`
	Quoted  []string    `json:"quoted,omitempty"`
	// Order that proves a pass, if the judge found it.
	Order []model.Placed `json:"-"`
}

// Check judges the operations of all partitions: the worst verdict, with the
// reason of the first partition that has it, and the result per partition, sorted.
// The error is not nil only if a page could not be written.
func Check(ctx context.Context, ops []history.Op, o Options) (verdict.Result, []Result, error) {
	total := verdict.Result{Verdict: verdict.Pass, Property: Property}
	var all []Result
	var failed error
	judged := 0
	for _, p := range history.Partitions(ops) {
		r, err := checkPartition(ctx, p, ops, o)
		failed = errors.Join(failed, err)
		all = append(all, r)
		judged += r.Operations
		if worst := verdict.Worst(total.Verdict, r.Verdict); worst != total.Verdict {
			total = r.Result
			total.Reason = fmt.Sprintf("partition %d: %s", p, r.Reason)
		}
	}
	if judged == 0 && total.Verdict == verdict.Pass {
		total.Verdict, total.Reason = verdict.Undecided, "the history has no operation that can be judged"
	}
	return total, all, failed
}

func checkPartition(ctx context.Context, partition op.Partition, ops []history.Op, o Options) (Result, error) {
	list := Operations(ops, partition)
	found := judge.Judge(o.Semantics, list)
	if found.Order == nil && found.Reason == nil {
		return search(ctx, partition, list, found.GaveUp, o)
	}
	r := Result{Result: verdict.Result{Property: Property}, Partition: partition, Steps: int64(len(found.Order)), Order: found.Order}
	r.Operations, r.Unknown = found.Judged, found.Unknown
	if why := found.Reason; why != nil {
		r.Verdict, r.Reason, r.Shown = verdict.Fail, why.String(), why.Shown(list)
		r.Class, r.Promise = why.Class, why.Promise()
		for _, s := range r.Shown {
			r.Quoted = append(r.Quoted, s.String())
		}
		r.Line = list[why.Decisive()].Line
		if o.HTML == nil {
			return r, nil
		}
		var shown []model.Operation
		for _, i := range why.Ops {
			shown = append(shown, list[i])
		}
		p := model.Prepare(o.Semantics, shown, model.Limits{Steps: DefaultMaxSteps, Bytes: DefaultMaxBytes})
		return r, writePage(p.Model(ctx), p.Operations, &r, o)
	}
	r.Verdict = verdict.Pass
	return r, nil
}

// search asks porcupine, since the judge gave up.
func search(ctx context.Context, partition op.Partition, list []model.Operation, gaveUp error, o Options) (Result, error) {
	if o.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.Timeout)
		defer cancel()
	}
	if o.MaxSteps == 0 {
		o.MaxSteps = DefaultMaxSteps
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	p := model.Prepare(o.Semantics, list, model.Limits{Steps: o.MaxSteps, Bytes: o.MaxBytes})
	r := Result{
		Result:    verdict.Result{Property: Property},
		Partition: partition, Operations: len(p.Operations), Unknown: p.Unknowns(),
	}
	refuted := p.Cut(ctx)
	m := p.Model(ctx)
	found := porcupine.CheckOperationsTimeout(m, p.Operations, 0)
	r.Steps = p.Steps()
	if found == porcupine.Ok && refuted {
		panic(fmt.Sprintf("check: porcupine finds an order of a part that has none, from line %v on", p.Operations[0].Metadata))
	}
	if found == porcupine.Ok {
		r.Verdict = verdict.Pass
		return r, nil
	}
	if why := p.Interrupted(); why != "" {
		r.Verdict, r.Reason = verdict.Undecided, why
		if n := r.Operations - len(p.Operations); n > 0 {
			r.Reason += fmt.Sprintf(", from line %v on: the %d operations before have an order", p.Operations[0].Metadata, n)
		}
		if gaveUp != nil {
			r.Reason += fmt.Sprintf("; no order found by the judge, which gave up at %v", gaveUp)
		}
		return r, nil
	}
	r.Verdict = verdict.Fail
	return r, explain(ctx, p, &r, o)
}

// explain searches again, keeping the longest orders, which costs more.
func explain(ctx context.Context, p *model.Problem, r *Result, o Options) error {
	m := p.Model(ctx)
	_, info := porcupine.CheckOperationsVerbose(m, p.Operations, 0)
	var longest []int
	for _, order := range info.PartialLinearizations()[0] {
		if len(order) > len(longest) || len(order) == len(longest) && before(order, longest) {
			longest = order
		}
	}
	stuck, ok := p.Explain(longest)
	if !ok {
		r.Reason = "no order found"
		return nil
	}
	r.Reason = stuck.Reason
	r.Line, _ = p.Operations[stuck.At].Metadata.(int)
	if o.HTML == nil {
		return nil
	}
	return writePage(p.Model(ctx), p.Until(p.Operations[stuck.At].Return), r, o)
}

// writePage writes porcupine's page of some operations.
func writePage(m porcupine.Model, ops []porcupine.Operation, r *Result, o Options) error {
	_, info := porcupine.CheckOperationsVerbose(m, ops, 0)
	w, err := o.HTML(r.Partition)
	if err != nil {
		return fmt.Errorf("check: page of partition %d: %w", r.Partition, err)
	}
	if err := errors.Join(porcupine.Visualize(m, info, w), w.Close()); err != nil {
		return fmt.Errorf("check: page of partition %d: %w", r.Partition, err)
	}
	return nil
}

// before orders equally long orders, so that the same history gets the same
// explanation: porcupine hands them out in the order of a map.
func before(a, b []int) bool {
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}

// Operations selects what the model judges of one partition: all but what is
// known to have had no effect.
func Operations(ops []history.Op, partition op.Partition) []model.Operation {
	judged := func(o *history.Op) bool { return o.Request.Partition == partition && o.Outcome != history.NoEffect }
	n := 0
	for i := range ops {
		if judged(&ops[i]) {
			n++
		}
	}
	out := make([]model.Operation, 0, n)
	for i := range ops {
		o := &ops[i]
		if !judged(o) {
			continue
		}
		m := model.Operation{Client: o.Process, Request: o.Request, Call: o.Call, Return: o.Return, Line: o.Line, Again: o.Again}
		if o.Outcome == history.Answered {
			m.Reply = o.Reply
		} else if o.Outcome == history.Accepted && o.Request.Expected == nil {
			m.Promise = o.Reply // with an expectation it may come to nothing
		}
		out = append(out, m)
	}
	return out
}
