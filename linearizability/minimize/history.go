package minimize

import (
	"context"
	"encoding/binary"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strconv"

	"github.com/cespare/xxhash/v2"

	"purgelab/linearizability/check"
	"purgelab/linearizability/history"
	"purgelab/linearizability/judge"
	"purgelab/linearizability/verdict"
	"purgelab/model/op"
)

// A history is what happened, so an operation that is left out did happen: without an
// append that was acknowledged the next one has a gap before it. What is left must be
// wrong for the reason for which the whole is, and for no other. So:
//
//   - If the judge names a reason, it must name the same one, of the same operations. A
//     reason is sound by itself, whatever else happened.
//   - If only the search finds the history wrong, there is an operation whose answer makes
//     it so: the last one of the shortest wrong beginning. Then what is left must be wrong,
//     and the same must be wanted instead of that answer,
//     and must be right if the outcome of that operation were unknown. And what reads
//     returned and somebody had appended must be appended by an operation that is left.

// HistoryOptions say how a history is made small.
type HistoryOptions struct {
	Check    check.Options
	Jobs     int // candidates at a time; one per core when 0
	State    string
	Progress func(Progress)
}

// HistoryResult is the smallest wrong history that was found.
type HistoryResult struct {
	Events []history.Event
	// Result is the verdict on its one partition.
	Result      check.Result
	Before, Ops int // operations, those that had no effect included
	Runs        int // checks that were made
	Ended       error
}

// NotWrongError says that a history is not wrong, or that nobody knows.
type NotWrongError struct{ Result verdict.Result }

func (e *NotWrongError) Error() string {
	return "want a history that is not linearizable, got verdict " + e.Result.String()
}

// part of a history: which operations are left.
type left struct {
	of  *wrong
	ops []int // by place in of.calls, ascending
}

func (l *left) key() string {
	h := xxhash.New()
	for _, i := range l.ops {
		_ = binary.Write(h, binary.LittleEndian, int64(i)) // a hash takes everything
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

func (l *left) size() (ops, faults int) { return len(l.ops), 0 }

// wrong is a history of one partition that is wrong, with its operations.
type wrong struct {
	events []history.Event
	calls  []call
	check  check.Options
	// Of the reason that must stay: its class and operations; empty: there is none, and
	// answer is the place of the event whose answer makes the history wrong.
	class  judge.Class
	quoted []string
	answer int
	said   string // what is wanted of it instead
	// appended is all that the whole appends.
	appended map[op.Payload]bool
}

// call is an operation: the places of its events; end is -1 if it has none.
type call struct{ invoke, end int }

// History makes a wrong history small. When ctx ends, the result is the best so far.
// Errors: the history cannot be paired, is not wrong (NotWrongError), ctx ended before that
// was known, or State cannot be used.
func History(ctx context.Context, file string, events []history.Event, o HistoryOptions) (*HistoryResult, error) {
	ops, err := history.Pair(file, events)
	if err != nil {
		return nil, err
	}
	total, all, err := check.Check(ctx, ops, o.Check)
	if err != nil {
		return nil, err
	}
	first := slices.IndexFunc(all, func(r check.Result) bool { return r.Verdict == verdict.Fail })
	if first < 0 {
		return nil, &NotWrongError{total}
	}
	w := wrongOf(events, all[first], o.Check)
	out := &HistoryResult{Before: len(ops)}
	m := &job[*left]{jobs: o.Jobs, progress: o.Progress, red: w.isRed}
	begin := w.beginning(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err() // another beginning would be other work
	}
	m.begin(begin)
	m.from.FromOps = len(ops)
	if m.tried, err = remember(o.State, fmt.Sprintf("%s of %s with %d operations", begin.key(), file, len(ops))); err != nil {
		return nil, err
	}
	m.take(ctx, 1, func(int) *left { return w.shown() })
	for before := -1; before != len(m.best.ops) && m.going(ctx); {
		before = len(m.best.ops)
		m.chunks(ctx, part[*left]{func(l *left) int { return len(l.ops) }, withoutCalls})
	}
	if err := m.tried.close(); err != nil {
		return nil, err
	}
	out.Events, out.Ops, out.Runs, out.Ended = w.eventsOf(m.best), len(m.best.ops), m.runs, ctx.Err()
	for i := range out.Events {
		out.Events[i].Line = i + 1
	}
	out.Result, err = w.judged(context.Background(), out.Events)
	return out, err
}

func withoutCalls(l *left, from, to int) *left {
	return &left{l.of, slices.Delete(slices.Clone(l.ops), from, to)}
}

// wrongOf is what events say of the partition of a result, which is wrong. Lines are
// those of the whole, so that reasons of parts name the same operations.
func wrongOf(events []history.Event, r check.Result, o check.Options) *wrong {
	w := &wrong{check: o, class: r.Class, quoted: r.Quoted, answer: -1, appended: map[op.Payload]bool{}}
	w.check.HTML = nil
	open := map[int]int{}
	for i := range events {
		e := events[i]
		if e.Line == 0 {
			e.Line = i + 1
		}
		if e.Partition != r.Partition {
			continue
		}
		if e.Type == history.Invoke {
			open[e.Process] = len(w.calls)
			w.calls = append(w.calls, call{len(w.events), -1})
			for _, p := range e.Request.Payloads {
				w.appended[p] = true
			}
		} else {
			w.calls[open[e.Process]].end = len(w.events)
		}
		w.events = append(w.events, e)
	}
	return w
}

// beginning is the shortest beginning that is wrong as the whole is.
func (w *wrong) beginning(ctx context.Context) *left {
	n := 1 + sort.Search(len(w.events)-1, func(n int) bool {
		if ctx.Err() != nil {
			return true
		}
		r, err := w.judged(ctx, w.events[:n+1])
		return err == nil && w.same(r)
	})
	if n < len(w.events) && ctx.Err() == nil {
		w.events = w.events[:n]
	}
	for i := range w.calls {
		if w.calls[i].end >= len(w.events) {
			w.calls[i].end = -1
		}
	}
	if r, err := w.judged(ctx, w.events); w.class == "" && err == nil {
		w.answer, w.said = len(w.events)-1, wanted(r.Reason)
	}
	l := &left{of: w}
	for i, c := range w.calls {
		if c.invoke < len(w.events) {
			l.ops = append(l.ops, i)
		}
	}
	return l
}

var inState = regexp.MustCompile(`; ([^;]*) \(in the state`)

// wanted is what a reason says that was wanted instead of an answer.
func wanted(reason string) string {
	if m := inState.FindStringSubmatch(reason); m != nil {
		return m[1]
	}
	return ""
}

var lineOf = regexp.MustCompile(`^line (\d+),`)

// shown is what the reason quotes, alone; nil if there is none.
func (w *wrong) shown() *left {
	l := &left{of: w}
	for _, q := range w.quoted {
		if m := lineOf.FindStringSubmatch(q); m != nil {
			line, _ := strconv.Atoi(m[1]) // they are digits
			if i := slices.IndexFunc(w.calls, func(c call) bool { return c.invoke < len(w.events) && w.events[c.invoke].Line == line }); i >= 0 {
				l.ops = append(l.ops, i)
			}
		}
	}
	if len(l.ops) == 0 {
		return nil
	}
	slices.Sort(l.ops)
	l.ops = slices.Compact(l.ops)
	return l
}

// eventsOf are those of the operations that are left, in their order.
func (w *wrong) eventsOf(l *left) []history.Event {
	var at []int
	for _, i := range l.ops {
		at = append(at, w.calls[i].invoke)
		if end := w.calls[i].end; end >= 0 {
			at = append(at, end)
		}
	}
	slices.Sort(at)
	out := make([]history.Event, len(at))
	for i, k := range at {
		out[i] = w.events[k]
	}
	return out
}

// judged is the verdict on events of the one partition.
func (w *wrong) judged(ctx context.Context, events []history.Event) (check.Result, error) {
	ops, err := history.Pair("history", events)
	if err != nil {
		return check.Result{}, err
	}
	_, all, err := check.Check(ctx, ops, w.check)
	if err != nil || len(all) == 0 {
		return check.Result{}, err
	}
	return all[0], nil
}

// same tells whether a verdict is that on the whole, for the same reason.
func (w *wrong) same(r check.Result) bool {
	return r.Verdict == verdict.Fail && r.Class == w.class && slices.Equal(r.Quoted, w.quoted)
}

func (w *wrong) isRed(ctx context.Context, l *left) (bool, error) {
	events := w.eventsOf(l)
	r, err := w.judged(ctx, events)
	if err != nil || !w.same(r) {
		return false, err
	}
	if w.class != "" {
		return true, nil
	}
	last := len(events) - 1
	if wanted(r.Reason) != w.said {
		return false, nil
	}
	if events[last].Time != w.events[w.answer].Time || !w.closed(events) {
		return false, nil
	}
	r, err = w.judged(ctx, events[:last])
	return r.Verdict == verdict.Pass, err
}

// closed tells whether what reads returned is appended by somebody who is left.
func (w *wrong) closed(events []history.Event) bool {
	there := map[op.Payload]bool{}
	for i := range events {
		if e := &events[i]; e.Type == history.Invoke {
			for _, p := range e.Request.Payloads {
				there[p] = true
			}
		}
	}
	for i := range events {
		if e := &events[i]; e.Reply != nil {
			for _, r := range e.Reply.Records {
				if w.appended[r.Payload] && !there[r.Payload] {
					return false
				}
			}
		}
	}
	return true
}
