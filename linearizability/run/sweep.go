package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sort"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"purgelab/impl/sim"
	"purgelab/linearizability/faults"
	"purgelab/linearizability/verdict"
)

// Sweep runs many seeds of the same settings.
type Sweep struct {
	Settings Settings // Seed is ignored
	From, To uint64   // both included
	Jobs     int      // runs at a time; one per core when 0
	// Out is a folder for the state of the sweep, so that it can go on after an
	// interrupt, and for one folder per red or undecided run. Empty: nothing is
	// kept.
	Out string
	// Resumed, if not nil, is called when an interrupted sweep goes on, with the
	// number of runs that were made before.
	Resumed func(done int)
	// Progress, if not nil, is called after each run, one call at a time.
	Progress func(s *Summary)
	// StopAtRed ends the sweep at the first red run.
	StopAtRed bool
	// Traces, if not nil, judges the trace of every run, those of many runs at once.
	Traces *TraceJudge

	lines []runLine     // not yet written
	made  func(*Result) // of tests: called after each run, before it is finished
}

// Red is a run that did not pass.
type Red struct {
	Seed     uint64          `json:"seed"`
	Verdict  verdict.Verdict `json:"verdict"`
	Property string          `json:"property"`
	Violated []string        `json:"violated,omitempty"` // every property that is
	Reason   string          `json:"reason"`
	Steps    uint64          `json:"steps"` // that the run took
	Replay   string          `json:"replay"`
	Dir      string          `json:"dir,omitempty"`
}

// Summary is what a sweep has found so far.
type Summary struct {
	// Flags are those of the settings; a state of other ones is not continued.
	Flags []string `json:"flags"`
	// Versions are those of the program: what another one found is not its own.
	Versions   map[string]string   `json:"versions"`
	From       uint64              `json:"from"`
	To         uint64              `json:"to"`
	Traces     bool                `json:"traces,omitempty"` // traces are judged, too
	Done       []bool              `json:"done"`             // by seed - From
	Runs       int                 `json:"runs"`
	Operations int                 `json:"operations"`
	Steps      uint64              `json:"steps"`
	Millis     int64               `json:"simulatedMilliseconds"`
	Effects    sim.Effects         `json:"effects"`
	Faults     map[faults.Kind]int `json:"faultsInEffect"`
	// Rested and Served are the longest of all runs, see RestTicks.
	Rested int64 `json:"restedTicks"`
	Served int64 `json:"servedTicks"`
	// Reds are violated, Undecided were not brought to an end; by seed.
	Reds      []Red `json:"reds,omitempty"`
	Undecided []Red `json:"undecided,omitempty"`
}

// Verdict of the whole: undecided unless every seed was run.
func (s *Summary) Verdict() verdict.Verdict {
	switch {
	case len(s.Reds) > 0:
		return verdict.Fail
	case len(s.Undecided) > 0 || s.Runs == 0 || slices.Contains(s.Done, false):
		return verdict.Undecided
	}
	return verdict.Pass
}

// stateFile is rewritten after every stateEvery runs, or more seldom where it is long,
// and at the end.
const (
	stateFile  = "sweep.json"
	stateEvery = 50
	maxRuns    = 10_000_000
)

// Run carries the sweep out. When ctx ends, the summary holds the runs that were
// finished, of those whose traces are judged the decided ones; the others are run when the
// same sweep is started again with the same Out.
func (w *Sweep) Run(ctx context.Context) (*Summary, error) {
	if w.To < w.From {
		return nil, fmt.Errorf("seeds %d..%d: want the first not above the last", w.From, w.To)
	}
	if n := w.To - w.From; n >= maxRuns {
		return nil, fmt.Errorf("seeds %d..%d: want at most %d seeds, got %d more than one", w.From, w.To, maxRuns, n)
	}
	if err := w.Settings.Complete(); err != nil {
		return nil, err
	}
	sum, err := w.resume()
	if err != nil {
		return nil, err
	}
	if err := w.dropLines(sum); err != nil {
		return nil, err
	}
	if sum.Runs > 0 && w.Resumed != nil {
		w.Resumed(sum.Runs)
	}
	jobs := w.Jobs
	if jobs <= 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var g errgroup.Group
	g.SetLimit(jobs)
	var mu sync.Mutex
	var untold waiting
	// finish notes runs, and has their traces judged before that. Those that an interrupt
	// leaves undecided are not noted: they are made again.
	finish := func(jobs int, runs []*Result) error {
		if w.Traces != nil {
			var err error
			if runs, err = w.Traces.decide(ctx, jobs, runs); err != nil {
				return err
			}
		}
		for _, r := range runs {
			if err := w.keep(r); err != nil {
				return err
			}
		}
		mu.Lock()
		defer mu.Unlock()
		for _, r := range runs {
			if err := w.add(sum, r); err != nil {
				return err
			}
			if w.StopAtRed && r.Verdict == verdict.Fail {
				stop()
			}
		}
		return nil
	}
	for i := range sum.Done {
		seed := w.From + uint64(i)
		if sum.Done[i] {
			continue
		}
		if ctx.Err() != nil {
			break
		}
		g.Go(func() error {
			if ctx.Err() != nil {
				return nil
			}
			s := w.Settings
			s.Seed = seed
			s.NoTrace = w.Out == "" && w.Traces == nil
			r, err := Run(ctx, s)
			if err != nil {
				return err
			}
			if ctx.Err() != nil && r.Verdict == verdict.Undecided {
				return nil // cut off, not judged: it is run again
			}
			if w.made != nil {
				w.made(r)
			}
			runs := []*Result{r}
			if w.Traces != nil {
				mu.Lock()
				runs = untold.put(r, time.Now())
				mu.Unlock()
			}
			if len(runs) == 0 {
				return nil
			}
			return finish(1, runs)
		})
	}
	if err = g.Wait(); err == nil && len(untold.runs) > 0 {
		err = finish(jobs, untold.take())
	}
	sum.sort()
	return sum, errors.Join(err, w.save(sum))
}

// folder is where a run is kept; empty: it is not.
func (w *Sweep) folder(r *Result) string {
	if w.Out == "" || r.Verdict == verdict.Pass {
		return ""
	}
	return filepath.Join(w.Out, fmt.Sprintf("seed-%d", r.Settings.Seed))
}

// keep writes the folder of a run, if it has one. Several may be written at a time: a
// sweep in which most runs are red would wait for its files otherwise.
func (w *Sweep) keep(r *Result) error {
	if dir := w.folder(r); dir != "" {
		return r.Write(dir)
	}
	return nil
}

func (w *Sweep) add(sum *Summary, r *Result) error {
	sum.Done[r.Settings.Seed-w.From] = true
	sum.Runs++
	sum.Operations += r.Ops
	sum.Steps += r.Steps
	sum.Millis += r.Millis
	sum.Effects.Add(r.Effects)
	sum.Rested, sum.Served = max(sum.Rested, r.Rested), max(sum.Served, r.Served)
	for _, k := range faults.Kinds {
		if n := r.Faults[k]; n > 0 {
			sum.Faults[k] += n
		}
	}
	if r.Verdict != verdict.Pass {
		red := Red{Seed: r.Settings.Seed, Verdict: r.Verdict, Steps: r.Steps, Replay: r.replay()}
		red.Property, red.Reason = r.Red()
		red.Violated = r.Violated()
		if r.Verdict == verdict.Undecided {
			red.Property, red.Reason = r.undecided()
		}
		red.Dir = w.folder(r)
		if r.Verdict == verdict.Fail {
			sum.Reds = append(sum.Reds, red)
		} else {
			sum.Undecided = append(sum.Undecided, red)
		}
	}
	w.note(r)
	if w.Progress != nil {
		w.Progress(sum)
	}
	if sum.Runs%max(stateEvery, len(sum.Done)/100) == 0 {
		return w.save(sum)
	}
	return nil
}

func (r *Result) undecided() (property, reason string) {
	for _, x := range r.Results {
		if x.Verdict == verdict.Undecided {
			return x.Property, x.Reason
		}
	}
	return "", ""
}

// sort orders what parallel runs left in the order in which they happened to end.
func (s *Summary) sort() {
	sort.Slice(s.Reds, func(i, j int) bool { return s.Reds[i].Seed < s.Reds[j].Seed })
	sort.Slice(s.Undecided, func(i, j int) bool { return s.Undecided[i].Seed < s.Undecided[j].Seed })
}

// resume reads the state of an earlier start of the same sweep.
func (w *Sweep) resume() (*Summary, error) {
	fresh := &Summary{
		Flags: w.Settings.Flags(), Versions: Versions(), From: w.From, To: w.To,
		Traces: w.Traces != nil, Done: make([]bool, w.To-w.From+1), Faults: map[faults.Kind]int{},
	}
	if w.Out == "" {
		return fresh, nil
	}
	text, err := os.ReadFile(filepath.Join(w.Out, stateFile))
	if errors.Is(err, os.ErrNotExist) {
		return fresh, nil
	}
	if err != nil {
		return nil, fmt.Errorf("sweep: %w", err)
	}
	old := new(Summary)
	if err := json.Unmarshal(text, old); err != nil {
		return nil, fmt.Errorf("sweep: %s: %w", filepath.Join(w.Out, stateFile), err)
	}
	if !slices.Equal(old.Flags, fresh.Flags) || old.From != w.From || old.To != w.To || len(old.Done) != len(fresh.Done) {
		return nil, fmt.Errorf("sweep: %s is of seeds %d..%d with flags %v, not of seeds %d..%d with flags %v: choose another folder",
			w.Out, old.From, old.To, old.Flags, w.From, w.To, fresh.Flags)
	}
	if old.Traces != fresh.Traces {
		return nil, fmt.Errorf("sweep: %s is of a sweep that judges traces: %t, this one: %t: choose another folder", w.Out, old.Traces, fresh.Traces)
	}
	if !maps.Equal(old.Versions, fresh.Versions) {
		return nil, fmt.Errorf("sweep: %s was begun by a program of revision %s, this one is of revision %s: begin anew with --fresh, or choose another folder",
			w.Out, revision(old.Versions), revision(fresh.Versions))
	}
	if old.Faults == nil {
		old.Faults = map[faults.Kind]int{}
	}
	return old, nil
}

func revision(v map[string]string) string {
	if v["modified"] != "" {
		return v["purgelab"] + ", modified"
	}
	return v["purgelab"]
}

// save writes the state, whole or not at all.
func (w *Sweep) save(sum *Summary) error {
	if w.Out == "" {
		return nil
	}
	text, err := json.Marshal(sum)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(w.Out, 0o755); err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	if err := w.writeLines(); err != nil {
		return err
	}
	path := filepath.Join(w.Out, stateFile)
	if err := os.WriteFile(path+".new", text, 0o644); err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	return os.Rename(path+".new", path)
}
