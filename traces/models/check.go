package models

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"sort"
	"sync"
	"time"

	"purgelab/traces/tlc"
)

// Options say how models are checked.
type Options struct {
	Dir      string        // of the specification
	Workers  int           // of TLC, per model; 0: one
	Jobs     int           // models at once; 0: as many as the processors allow
	Timeout  time.Duration // per model; 0: none
	Keep     string        // folder for TLC's output
	Enough   bool          // end a model, undecided, that has more distinct states than its row says
	Coverage bool          // of models that must pass: count how often each action is taken
}

// shortSeconds is up to how long a model counts as a short one.
const shortSeconds = 10

// Outcome is one model with what TLC said of it.
type Outcome struct {
	Model  Model
	Result *tlc.Result
	// Verdict says whether TLC and the manifest agree: Pass if they do, also
	// when both say that a property is violated.
	Verdict tlc.Verdict
	// Problem says in one line what disagrees, or why there is no verdict.
	Problem string
}

// Got is what TLC found, in the words of the manifest.
func (o Outcome) Got() string {
	switch {
	case o.Result == nil || o.Result.Verdict == tlc.Undecided:
		return "undecided"
	case o.Result.Verdict == tlc.Pass:
		return ExpectPass
	}
	return o.Result.Property
}

// Check runs the models and hands each outcome to done, in the order of the
// list. Long models start first, so that the last one does not run alone for
// long. Outcomes that an ended context prevented are undecided.
func Check(ctx context.Context, tool tlc.Tool, list []Model, o Options, done func(Outcome)) []Outcome {
	jobs := o.Jobs
	if jobs <= 0 {
		jobs = max(1, runtime.NumCPU()/max(1, o.Workers))
	}
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return list[order[a]].Seconds > list[order[b]].Seconds })

	out := make([]Outcome, len(list))
	ready := make([]chan struct{}, len(list))
	for i := range ready {
		ready[i] = make(chan struct{})
	}
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(jobs, len(list)) {
		wg.Go(func() {
			for i := range next {
				out[i] = checkOne(ctx, tool, list[i], o)
				close(ready[i])
			}
		})
	}
	go func() {
		for _, i := range order {
			next <- i
		}
		close(next)
	}()
	for i := range list {
		<-ready[i]
		if done != nil {
			done(out[i])
		}
	}
	wg.Wait()
	return out
}

func checkOne(ctx context.Context, tool tlc.Tool, m Model, o Options) Outcome {
	if ctx.Err() != nil {
		return Outcome{Model: m, Problem: "not started: " + context.Cause(ctx).Error()}
	}
	path := filepath.Join(o.Dir, filepath.FromSlash(m.Module))
	cfg, err := filepath.Rel(filepath.Dir(path), filepath.Join(o.Dir, filepath.FromSlash(m.Cfg)))
	if err != nil {
		return Outcome{Model: m, Problem: err.Error()}
	}
	lib, err := filepath.Abs(o.Dir)
	if err != nil {
		return Outcome{Model: m, Problem: err.Error()}
	}
	opt := tlc.Options{
		Dir: filepath.Dir(path), Module: filepath.Base(path), Config: cfg, Library: []string{lib},
		Workers: o.Workers, Timeout: o.Timeout, Short: m.Seconds > 0 && m.Seconds <= shortSeconds, Deadlock: m.Deadlock, Coverage: o.Coverage && m.Expect == ExpectPass, Keep: o.Keep, Name: m.Name,
	}
	if o.Enough {
		opt.Most = m.Distinct
	}
	if m.Mode == "simulate" {
		opt.Simulate, opt.Depth, opt.Seed = m.Count, m.Steps, m.Seed
	}
	res, err := tlc.Run(ctx, tool, opt)
	if err != nil {
		return Outcome{Model: m, Problem: err.Error()}
	}
	verdict, problem := Compare(m, res, o.Workers > 1)
	return Outcome{Model: m, Result: res, Verdict: verdict, Problem: problem}
}

// Compare holds a result against the manifest. With several workers TLC's
// depth is an estimate and is not compared.
func Compare(m Model, res *tlc.Result, several bool) (tlc.Verdict, string) {
	got := Outcome{Model: m, Result: res}.Got()
	switch {
	case res.Verdict == tlc.Undecided:
		return tlc.Undecided, res.Reason
	case got != m.Expect && m.Expect == ExpectPass:
		return tlc.Fail, "violated: " + got
	case got != m.Expect:
		return tlc.Fail, fmt.Sprintf("expected %s to be violated, got %s", m.Expect, got)
	case got != ExpectPass || m.Mode == "simulate":
		return tlc.Pass, ""
	case res.Distinct != m.Distinct:
		return tlc.Fail, fmt.Sprintf("%d distinct states, the manifest says %d", res.Distinct, m.Distinct)
	case !several && res.Depth != 0 && res.Depth != m.Depth:
		return tlc.Fail, fmt.Sprintf("depth %d, the manifest says %d", res.Depth, m.Depth)
	}
	return tlc.Pass, ""
}
