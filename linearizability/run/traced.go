package run

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"purgelab/linearizability/verdict"
	"purgelab/traces"
	"purgelab/traces/tlc"
)

// TraceAccepted is the property of a run whose trace the specification accepts, as
// far as it is asked.
const TraceAccepted = "TraceAccepted"

// TraceJudge is who is asked: TLC, of the specification in a folder.
type TraceJudge struct {
	Tool tlc.Tool
	Spec string
}

// judgedAtOnce is how many events of waiting runs are judged together at most: so many
// that TLC's start counts for little, in memory that every machine has. The first batches
// are smaller, each twice as large as the one before, and where runs take long none waits
// longer than judgedAfter: a sweep has something to tell soon, and to keep when it is
// interrupted.
const (
	judgedFirst  = 4000
	judgedAtOnce = 60000
	judgedAfter  = 10 * time.Second
)

// waiting are runs whose traces are to be judged together.
type waiting struct {
	runs   []*Result
	events int
	since  time.Time // the first of them
	limit  int       // of events, 0 for judgedFirst
}

// put adds a run, and takes all out once they are enough, or have waited long enough.
func (w *waiting) put(r *Result, now time.Time) []*Result {
	if len(w.runs) == 0 {
		w.since, w.limit = now, max(w.limit, judgedFirst)
	}
	w.runs = append(w.runs, r)
	if w.events += len(r.Trace); w.events < w.limit && now.Sub(w.since) < judgedAfter {
		return nil
	}
	w.limit = min(2*w.limit, judgedAtOnce)
	return w.take()
}

func (w *waiting) take() []*Result {
	out := w.runs
	w.runs, w.events = nil, 0
	return out
}

// decide judges the traces of runs, each of which has a property more then. It returns
// those that are decided: all, or after an interrupt those that TLC had come to the end
// of and those that are red whatever their traces say. An error says that nothing could
// be judged.
func (t *TraceJudge) decide(ctx context.Context, jobs int, runs []*Result) (decided []*Result, err error) {
	reports := make([]traces.Report, len(runs))
	if ctx.Err() == nil {
		if reports, err = t.judge(ctx, jobs, runs); err != nil {
			return nil, err
		}
	}
	for i, r := range runs {
		if cut := ctx.Err() != nil && reports[i].Verdict == tlc.Undecided; !cut {
			r.judged(&reports[i])
		} else if r.Verdict != verdict.Fail {
			continue // it is made again
		}
		decided = append(decided, r)
	}
	return decided, nil
}

func (t *TraceJudge) judge(ctx context.Context, jobs int, runs []*Result) ([]traces.Report, error) {
	list := make([]*traces.Trace, len(runs))
	for i, r := range runs {
		var b bytes.Buffer
		if err := r.WriteTrace(&b); err != nil {
			return nil, err
		}
		var err error
		if list[i], err = traces.Read(&b, r.Settings.Replay()); err != nil {
			return nil, fmt.Errorf("run: trace: %w", err)
		}
	}
	return traces.Validate(ctx, t.Tool, traces.Options{Spec: t.Spec, Jobs: jobs, Timeout: traces.Limit}, list)
}

// judged notes what is said of the run's trace.
func (r *Result) judged(report *traces.Report) {
	x := verdict.Result{Property: TraceAccepted, Reason: report.Reason}
	switch report.Verdict {
	case tlc.Pass:
		x.Verdict = verdict.Pass
	case tlc.Fail:
		first := report.Rejections[0]
		first.Replay = r.Settings.ReplayOf(TraceAccepted)
		x.Verdict, x.Reason = verdict.Fail, fmt.Sprintf("line %d of %s: %s", first.Line, TraceFile, first.Reason)
		r.Rejection = first.Explain(TraceFile)
	}
	r.Results = append(r.Results, x)
	r.Verdict = verdict.Worst(r.Verdict, x.Verdict)
}

// replay is the line that comes to the same verdict again: the run, unless only its trace,
// which is judged last, has that verdict.
func (r *Result) replay() string {
	for _, x := range r.Results {
		if x.Verdict == r.Verdict {
			return r.Settings.ReplayOf(x.Property)
		}
	}
	return r.Settings.Replay()
}
