package run

import (
	"bytes"
	"context"
	"fmt"

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

// judgedAtOnce is how many events of waiting runs are judged together: so many that
// TLC's start counts for little, in memory that every machine has.
const judgedAtOnce = 60000

// waiting are runs whose traces are to be judged together.
type waiting struct {
	runs   []*Result
	events int
}

// put adds a run, and takes all out once they are enough.
func (w *waiting) put(r *Result) []*Result {
	w.runs = append(w.runs, r)
	if w.events += len(r.Trace); w.events < judgedAtOnce {
		return nil
	}
	return w.take()
}

func (w *waiting) take() []*Result {
	out := w.runs
	w.runs, w.events = nil, 0
	return out
}

// accepted judges the traces of runs, each of which has a property more then. An
// error says that nothing could be judged.
func (t *TraceJudge) accepted(ctx context.Context, jobs int, runs []*Result) error {
	list := make([]*traces.Trace, len(runs))
	for i, r := range runs {
		var b bytes.Buffer
		if err := r.WriteTrace(&b); err != nil {
			return err
		}
		var err error
		if list[i], err = traces.Read(&b, r.Settings.Replay()); err != nil {
			return fmt.Errorf("run: trace: %w", err)
		}
	}
	reports, err := traces.Validate(ctx, t.Tool, traces.Options{Spec: t.Spec, Jobs: jobs}, list)
	if err != nil || ctx.Err() != nil {
		return err
	}
	for i, r := range runs {
		x := verdict.Result{Property: TraceAccepted, Reason: reports[i].Reason}
		switch reports[i].Verdict {
		case tlc.Pass:
			x.Verdict = verdict.Pass
		case tlc.Fail:
			first := reports[i].Rejections[0]
			first.Replay = r.Settings.ReplayOf(TraceAccepted)
			x.Verdict, x.Reason = verdict.Fail, fmt.Sprintf("line %d of %s: %s", first.Line, TraceFile, first.Reason)
			r.Rejection = first.Explain(TraceFile)
		}
		r.Results = append(r.Results, x)
		r.Verdict = verdict.Worst(r.Verdict, x.Verdict)
	}
	return nil
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
