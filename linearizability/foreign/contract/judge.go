package contract

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"

	"purgelab/linearizability/check"
	"purgelab/linearizability/foreign"
	"purgelab/linearizability/history"
	"purgelab/linearizability/verdict"
	"purgelab/model/op"
)

// History is what was read from a file: operations of docs/contract.md, or of
// another contract.
type History struct {
	Path    string
	Ours    []history.Op
	Foreign []foreign.Op
}

// Len is the number of its operations.
func (h *History) Len() int { return len(h.Ours) + len(h.Foreign) }

// Read reads a file that is to be judged by the contract.
func (c *Contract) Read(path string, format foreign.Format) (*History, error) {
	f, err := history.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	found, r := foreign.Detect(f)
	if format == foreign.Auto {
		format = found
	}
	if format == foreign.Purgelab && c.machine == dense {
		return c.readOurs(path, r)
	}
	ops, err := foreign.Read(path, format, r)
	if err == nil {
		err = c.accepts(path, ops)
	}
	return &History{Path: path, Foreign: ops}, err
}

// readOurs reads the events of docs/history.md. If an answer does not tell its position, or
// if they have what only another system knows, it reads them once more, as those of one.
func (c *Contract) readOurs(path string, r io.Reader) (*History, error) {
	ops, bad := history.ReadOps(path, r)
	if bad == nil && !c.allows(staleReads) && !c.gapsOf(ops).wide() {
		return &History{Path: path, Ours: ops}, nil
	}
	f, err := history.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	_, again := foreign.Detect(f)
	theirs, err := foreign.Read(path, foreign.Purgelab, again)
	if err == nil {
		err = c.accepts(path, theirs)
	}
	switch {
	case err == nil:
		return &History{Path: path, Foreign: theirs}, nil
	case bad == nil:
		return &History{Path: path, Ours: ops}, nil
	}
	return nil, bad
}

// wide tells whether a position is lacking that others of its history tell, or all are.
func (g *gaps) wide() bool { return g.partial || g.nameless && (g.tagged || !g.bare) }

func tellsPosition(o foreign.Op) bool {
	at, _ := named(&o)
	return o.Answer.Position != nil || slices.ContainsFunc(at, func(p *foreign.Position) bool { return p != nil })
}

// accepts refuses what the contract has no word for.
func (c *Contract) accepts(path string, ops []foreign.Op) error {
	for i := range ops {
		o := &ops[i]
		bad := func(format string, args ...any) error {
			return &foreign.Error{File: path, Line: o.Line, Column: o.Column, Err: fmt.Errorf(format, args...)}
		}
		switch {
		case !slices.Contains(c.functions, o.F):
			return bad("f: want one of %v under %s, got %s", c.functions, c.Name, o.F)
		case o.F == foreign.Purge && o.Ask.Keep != nil && o.Ask.At != nil:
			return bad("keep, at: want one of them on a purge, got both")
		case o.F == foreign.Purge && (o.Ask.Keep != nil || o.Ask.At != nil || o.Ask.Subject != "") && !(c.machine == stream && !c.stream.perCursor):
			return bad("keep, at, subject: want none of them on a purge under %s, got one", c.Name)
		}
	}
	return nil
}

// Options of a judgement.
type Options struct {
	Timeout time.Duration // per partition; 0: none but the context's
	// HTML, if not nil, opens the place for porcupine's page of a partition.
	HTML func(op.Partition) (io.WriteCloser, error)
}

// Report is a judgement.
type Report struct {
	Total      verdict.Result
	Partitions []check.Result
	NotJudged  []NotJudged
}

// Judge judges a history. The error is not nil only if a page could not be
// written, or if an operation cannot be read as one of the contract.
func (c *Contract) Judge(ctx context.Context, h *History, o Options) (*Report, error) {
	if c.isDense(h) {
		return c.judgeDense(ctx, h, o)
	}
	rep := &Report{Total: verdict.Result{Verdict: verdict.Pass, Property: check.Property}, NotJudged: c.missing(h.Foreign)}
	var failed error
	for _, part := range partitions(h.Foreign) {
		r, dropped, err := c.judgePartition(ctx, part, o)
		failed = errors.Join(failed, err)
		rep.Partitions = append(rep.Partitions, r)
		rep.NotJudged = note(rep.NotJudged, dropped)
	}
	rep.settle()
	return rep, failed
}

// settle makes the total of the partitions.
func (rep *Report) settle() {
	judged := 0
	for _, r := range rep.Partitions {
		judged += r.Operations
		if worst := verdict.Worst(rep.Total.Verdict, r.Verdict); worst != rep.Total.Verdict {
			rep.Total = r.Result
			rep.Total.Reason = fmt.Sprintf("partition %d: %s", r.Partition, r.Reason)
		}
	}
	if judged == 0 && rep.Total.Verdict == verdict.Pass {
		rep.Total.Verdict, rep.Total.Reason = verdict.Undecided, "the history has no operation that can be judged"
	}
}

// partitions divides operations, in the order of the partitions' numbers.
func partitions(ops []foreign.Op) [][]foreign.Op {
	var numbers []op.Partition
	parts := map[op.Partition][]foreign.Op{}
	for _, o := range ops {
		if parts[o.Partition] == nil {
			numbers = append(numbers, o.Partition)
		}
		parts[o.Partition] = append(parts[o.Partition], o)
	}
	slices.Sort(numbers)
	var out [][]foreign.Op
	for _, n := range numbers {
		out = append(out, parts[n])
	}
	return out
}

// judgePartition searches an order of one partition's operations; dropped counts
// those that were not judged.
func (c *Contract) judgePartition(ctx context.Context, ops []foreign.Op, o Options) (check.Result, int, error) {
	r := check.Result{Result: verdict.Result{Property: check.Property}, Partition: ops[0].Partition}
	if c.allows(holes) {
		ops = placesOf(ops).close(ops)
	}
	told, w := learn(ops, false)
	p := &plan{contract: c, told: told, keys: cursors(ops)}
	for i := range ops {
		p.add(&ops[i])
	}
	r.Operations, r.Unknown = p.judged, len(p.unknown)
	switch {
	case told.twice != "":
		r.Reason = told.twice
		return r, p.dropped, nil
	case w != nil:
		r.Verdict, r.Line, r.Reason = verdict.Fail, w.line, w.reason
		return r, p.dropped, nil
	}
	if o.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.Timeout)
		defer cancel()
	}
	s := &search{machine: c.build(ops, told), items: p.items, unknowns: p.unknown}
	found := porcupine.CheckOperationsTimeout(s.model(ctx), s.operations(), 0)
	r.Steps = s.steps
	switch {
	case found == porcupine.Ok:
		r.Verdict = verdict.Pass
		return r, p.dropped, nil
	case s.over != "":
		r.Reason = s.over
		return r, p.dropped, nil
	}
	r.Verdict = verdict.Fail
	return r, p.dropped, s.explain(ctx, &r, o)
}

// explain searches again, keeping the longest order, and says what the operation
// that comes next would have had to answer.
func (s *search) explain(ctx context.Context, r *check.Result, o Options) error {
	m := s.model(ctx)
	_, info := porcupine.CheckOperationsVerbose(m, s.operations(), 0)
	var longest []int
	for _, order := range info.PartialLinearizations()[0] {
		if len(order) > len(longest) || len(order) == len(longest) && slices.Compare(order, longest) < 0 {
			longest = order
		}
	}
	done := make([]bool, len(s.items))
	at := s.start()
	for _, i := range longest {
		done[i] = true
		if next := s.step(at, s.items[i]); next != nil {
			at = next
		}
	}
	var stuck *item
	for i, x := range s.items {
		if !done[i] && x.unknown < 0 && (stuck == nil || x.end < stuck.end) {
			stuck = x
		}
	}
	if stuck == nil {
		r.Reason = "no order found"
		return nil
	}
	_, why := s.answer(at.list[0].state, stuck)
	r.Line = stuck.op.Line
	r.Reason = fmt.Sprintf("line %d, process %d: %s; %s (in the state: %s); %d of %d steps fit before it", stuck.op.Line, stuck.op.Process, stuck, why, at, len(longest), len(s.items))
	if o.HTML == nil {
		return nil
	}
	w, err := o.HTML(r.Partition)
	if err != nil {
		return fmt.Errorf("contract: page of partition %d: %w", r.Partition, err)
	}
	if err := errors.Join(porcupine.Visualize(m, info, w), w.Close()); err != nil {
		return fmt.Errorf("contract: page of partition %d: %w", r.Partition, err)
	}
	return nil
}
