package minimize

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sort"

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

// Recorded is a history that can be judged in part.
type Recorded struct {
	Name  string // the file, and by what it is judged
	Calls []Call // its operations
	// Judge gives the verdict on each partition of what is left: the operations with
	// these indexes, ascending, that were called up to an instant; the outcome of those
	// that were not over by then is unknown. Lines are those of the whole.
	Judge func(ctx context.Context, ops []int, until int64) ([]check.Result, error)
}

// Call is what has to be known of an operation. No two operations of a partition share an
// instant, but for those that were asked for together.
type Call struct {
	Partition    op.Partition
	Line         int
	Call, Return int64        // Return: history.Never if it has no end
	Appends      []op.Payload // also if nobody knows whether it did
	Reads        []op.Payload
}

// HistoryOptions say how a history is made small.
type HistoryOptions struct {
	Jobs     int // candidates at a time; one per core when 0
	State    string
	Progress func(Progress)
}

// HistoryResult is the smallest wrong history that was found.
type HistoryResult struct {
	Ops    []int // what is left, ascending
	Until  int64 // the instant at which it ends
	Result check.Result
	Before int // operations, those that had no effect included
	Runs   int // checks that were made
	Ended  error
}

// NotWrongError says that a history is not wrong, or that nobody knows.
type NotWrongError struct{ Result verdict.Result }

func (e *NotWrongError) Error() string {
	return "want a history that is not linearizable, got verdict " + e.Result.String()
}

// left are the operations that are left.
type left struct{ ops []int }

func (l *left) key() string {
	h := xxhash.New()
	for _, i := range l.ops {
		_ = binary.Write(h, binary.LittleEndian, int64(i)) // a hash takes everything
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

func (l *left) size() (ops, faults int) { return len(l.ops), 0 }

// wrong is a history of one partition that is wrong.
type wrong struct {
	*Recorded
	partition op.Partition
	until     int64 // its end
	// Of the reason that must stay: its class and operations; empty: there is none, and
	// the answer at the end makes the history wrong.
	class  judge.Class
	quoted []string
	shown  []verdict.Shown
	said   string // what is wanted instead of that answer
	// appended is all that the whole appends.
	appended map[op.Payload]bool
}

// History makes a wrong history small. When ctx ends, the result is the best so far.
// Errors: the history cannot be judged, is not wrong (NotWrongError), ctx ended before that
// was known, or State cannot be used.
func History(ctx context.Context, r *Recorded, o HistoryOptions) (*HistoryResult, error) {
	var ops []int
	for i := range r.Calls {
		ops = append(ops, i)
	}
	all, err := r.Judge(ctx, ops, history.Never)
	if err != nil {
		return nil, err
	}
	first := slices.IndexFunc(all, func(r check.Result) bool { return r.Verdict == verdict.Fail })
	if first < 0 {
		return nil, notWrong(all)
	}
	w := &wrong{
		Recorded: r, partition: all[first].Partition, until: history.Never,
		class: all[first].Class, quoted: all[first].Quoted, shown: all[first].Shown, appended: map[op.Payload]bool{},
	}
	out := &HistoryResult{Before: len(r.Calls)}
	m := &job[*left]{jobs: o.Jobs, progress: o.Progress, red: w.isRed}
	begin := w.beginning(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err() // another beginning would be other work
	}
	m.begin(begin)
	m.from.FromOps = len(r.Calls)
	if m.tried, err = remember(o.State, fmt.Sprintf("%s of %s with %d operations", begin.key(), r.Name, len(r.Calls))); err != nil {
		return nil, err
	}
	m.take(ctx, 1, func(int) *left { return w.alone() })
	for before := -1; before != len(m.best.ops) && m.going(ctx); {
		before = len(m.best.ops)
		m.chunks(ctx, part[*left]{func(l *left) int { return len(l.ops) }, withoutCalls})
	}
	if err := errors.Join(m.err, m.tried.close()); err != nil {
		return nil, err
	}
	out.Ops, out.Until, out.Runs, out.Ended = m.best.ops, w.until, m.runs, ctx.Err()
	out.Result, err = w.judged(context.Background(), m.best.ops, w.until)
	return out, err
}

func notWrong(all []check.Result) error {
	total := verdict.Result{Verdict: verdict.Pass, Property: check.Property}
	for _, r := range all {
		if worst := verdict.Worst(total.Verdict, r.Verdict); worst != total.Verdict {
			total = r.Result
		}
	}
	if len(all) == 0 {
		total.Verdict, total.Reason = verdict.Undecided, "the history has no operation that can be judged"
	}
	return &NotWrongError{total}
}

func withoutCalls(l *left, from, to int) *left {
	return &left{slices.Delete(slices.Clone(l.ops), from, to)}
}

// beginning is the shortest beginning that is wrong as the whole is.
func (w *wrong) beginning(ctx context.Context) *left {
	var ops []int
	var instants []int64
	for i := range w.Calls {
		c := &w.Calls[i]
		if c.Partition != w.partition {
			continue
		}
		ops, instants = append(ops, i), append(instants, c.Call)
		if c.Return != history.Never {
			instants = append(instants, c.Return)
		}
		for _, p := range c.Appends {
			w.appended[p] = true
		}
	}
	slices.Sort(instants)
	n := sort.Search(len(instants)-1, func(n int) bool {
		if ctx.Err() != nil {
			return true
		}
		r, err := w.judged(ctx, ops, instants[n])
		return err == nil && w.same(r)
	})
	w.until = instants[n]
	if r, err := w.judged(ctx, ops, w.until); w.class == "" && err == nil {
		w.said = wanted(r.Reason)
	}
	ops = slices.DeleteFunc(ops, func(i int) bool { return w.Calls[i].Call > w.until })
	return &left{ops}
}

var inState = regexp.MustCompile(`; ([^;]*) \(in the state`)

// wanted is what a reason says that was wanted instead of an answer; all of it, if it
// needs no state.
func wanted(reason string) string {
	if m := inState.FindStringSubmatch(reason); m != nil {
		return m[1]
	}
	return reason
}

// alone is what the reason shows, and nothing else; nil if it shows nothing.
func (w *wrong) alone() *left {
	l := &left{}
	for _, s := range w.shown {
		if i := slices.IndexFunc(w.Calls, func(c Call) bool { return c.Partition == w.partition && c.Line == s.Line }); i >= 0 {
			l.ops = append(l.ops, i)
		}
	}
	if len(l.ops) == 0 {
		return nil
	}
	slices.Sort(l.ops)
	l.ops = slices.Compact(l.ops)
	return l
}

// judged is the verdict on operations of the one partition.
func (w *wrong) judged(ctx context.Context, ops []int, until int64) (check.Result, error) {
	all, err := w.Judge(ctx, ops, until)
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
	r, err := w.judged(ctx, l.ops, w.until)
	if err != nil || !w.same(r) {
		return false, err
	}
	if w.class != "" {
		return true, nil
	}
	decisive := func(i int) bool { return w.Calls[i].Call == w.until || w.Calls[i].Return == w.until }
	if wanted(r.Reason) != w.said || !slices.ContainsFunc(l.ops, decisive) || !w.closed(l.ops) {
		return false, nil
	}
	r, err = w.judged(ctx, l.ops, w.until-1)
	return r.Verdict == verdict.Pass, err
}

// closed tells whether what reads returned is appended by somebody who is left.
func (w *wrong) closed(ops []int) bool {
	there := map[op.Payload]bool{}
	for _, i := range ops {
		for _, p := range w.Calls[i].Appends {
			there[p] = true
		}
	}
	for _, i := range ops {
		for _, p := range w.Calls[i].Reads {
			if w.Calls[i].Return <= w.until && w.appended[p] && !there[p] {
				return false
			}
		}
	}
	return true
}
