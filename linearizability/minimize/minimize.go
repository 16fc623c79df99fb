// Package minimize makes a red run small: it leaves out faults, clients and operations,
// and shortens what is left, while the same property stays violated. What is left is
// what a person has to look at.
//
//	minimize.go  the order in which things are tried, until nothing more can go
//	case.go      a run as data that can be cut: settings, faults, what clients ask
//	job.go       which of many candidates is red, several at a time
//	memory.go    what was tried before, in a file, so that an interrupt loses nothing
//	leave.go     what can be left out: faults, clients, operations
//	simplify.go  what can be made plainer: payloads, faults, settings
//	hurry.go     times in which nothing happens
//	words.go     what clients ask and what breaks, in words
//	scenario.go  the result as a scenario, where its language can say it
//	teller.go    the steps of such a scenario
//	history.go   a recorded history instead of a run
//	recorded.go  histories of ours and of other systems, in part
//	table.go     how small the runs get that show the named defects
//	rows.go      those rows in a folder, so that an interrupt loses none
//	kept.go      what those small runs are made of, in a folder
//
// This is delta debugging (Zeller and Hildebrandt, 2002) over lists: chunks go first,
// single parts last, and each change begins another round, until a round changes
// nothing.
//
// A run is decided by a seed, and to leave anything out shifts what is drawn after it:
// who campaigns first, which message is slow. So a candidate that is green under one
// seed is tried under a few others; a candidate is red if any of them is. The later
// rounds, whose runs are short, try more of them.
//
// A run in which a defect is switched on must be green without it, so that what is left
// shows the defect and nothing else.
//
// Nothing depends on how many candidates are tried at a time: the first red one in a
// fixed order is taken. The same run gives the same result and the same count of runs.
package minimize

import (
	"context"
	"errors"
	"fmt"

	"purgelab/linearizability/run"
)

// Options say how a run is made small.
type Options struct {
	// Property that stays violated; empty: the first one that is.
	Property string
	Jobs     int // candidates at a time; one per core when 0
	// State is a file that remembers what was tried. When the same work is begun again,
	// it goes on from there. Empty: nothing is remembered.
	State string
	// Progress, if not nil, is called now and then, one call at a time.
	Progress func(Progress)
}

// Progress is how far a minimisation is.
type Progress struct {
	Runs                int // made until now
	Ops, Faults         int // left
	FromOps, FromFaults int // in the beginning
}

// Result is the smallest red run that was found.
type Result struct {
	Run      *run.Result // made again, with its trace
	Property string
	Reason   string
	Runs     int // made to find it
	// Before is how large it was.
	BeforeOps, BeforeFaults int
	Ops, Faults             int
	// Ended is why it is not the smallest yet: an interrupt. Nil: nothing more can go.
	Ended error
}

// NotRedError says that there is nothing to make small.
type NotRedError struct {
	Property string // that should be violated; empty: any
	Got      string // what came of the run instead
}

func (e *NotRedError) Error() string {
	if e.Property == "" {
		return "want a run in which a property is violated, got one in which " + e.Got
	}
	return fmt.Sprintf("want a run in which %s is violated, got one in which %s", e.Property, e.Got)
}

// seeds are how many other seeds a candidate is tried under, round after round; the last
// round is for what is still large.
var seeds = []int{0, 6, 30, 100}

// What is large: not all of it can be looked at.
const (
	GoalOps    = 10
	GoalFaults = 2
)

// Run makes a run small. When ctx ends, the result is the best so far. Errors: the run
// cannot be made (as of run.Run, or before ctx ended), is not red (NotRedError), or State
// cannot be used.
func Run(ctx context.Context, s run.Settings, o Options) (*Result, error) {
	s.NoTrace = false
	first, err := run.Run(ctx, s)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, ctx.Err() // a part of the run is another run
	}
	if o.Property == "" {
		o.Property, _ = first.Red()
	}
	if _, red := first.Violates(o.Property); !red {
		got := "all hold"
		if p, _ := first.Red(); p != "" {
			got = p + " is"
		}
		return nil, &NotRedError{o.Property, got}
	}
	m := runsOf(o.Property, caseOf(first), o)
	if m.tried, err = remember(o.State, m.best.key()+" "+o.Property); err != nil {
		return nil, err
	}
	out := &Result{Property: o.Property, BeforeOps: m.from.FromOps, BeforeFaults: m.from.FromFaults}
	m.work(ctx)
	if err := errors.Join(m.err, m.tried.close()); err != nil {
		return nil, err
	}
	out.Ended, out.Runs = ctx.Err(), m.runs
	return out, m.finish(out)
}

// runs is the job of a run.
type runs struct {
	job[*aCase]
	property string
}

func runsOf(property string, first *aCase, o Options) *runs {
	m := &runs{property: property}
	m.jobs, m.progress, m.red, m.other = o.Jobs, o.Progress, m.isRed, (*aCase).seeded
	m.begin(first)
	return m
}

// work goes on until nothing more can be left out.
func (m *runs) work(ctx context.Context) {
	if !m.holds(ctx) {
		return
	}
	for round, others := range seeds {
		if ops, faults := m.best.size(); round == len(seeds)-1 && ops <= GoalOps && faults <= GoalFaults {
			break
		}
		m.others = others
		for before := ""; before != m.best.key() && m.going(ctx); {
			before = m.best.key()
			m.leaveOut(ctx)
			m.simplify(ctx)
		}
	}
	m.others = 0
	m.hurry(ctx)
}

// finish makes the smallest run again, to its end, for its files.
func (m *runs) finish(out *Result) error {
	s := m.best.settings()
	s.NoTrace = false
	r, err := run.Run(context.Background(), s)
	if err != nil {
		return err
	}
	reason, red := r.Violates(m.property)
	if !red {
		return &NotRedError{m.property, "it holds the second time: the run is not deterministic"}
	}
	out.Run, out.Reason = r, reason
	out.Ops, out.Faults = m.best.size()
	return nil
}

// holds tells whether the first case is red as it is, and green without its defect.
func (m *runs) holds(ctx context.Context) bool {
	if m.take(ctx, 1, func(int) *aCase { return m.best }) < 0 && m.going(ctx) {
		m.err = &NotRedError{m.property, "it is violated without the defect as well, or not when the run is made from its files"}
	}
	return m.going(ctx)
}

// red makes a run of a case: is the property violated, and with a defect by the defect
// alone?
func (m *runs) isRed(ctx context.Context, c *aCase) (bool, error) {
	s := c.settings()
	r, err := run.Run(ctx, s)
	if err != nil {
		return false, err
	}
	if _, red := r.Violates(m.property); !red || s.Defect == "" {
		return red, nil
	}
	s.Defect = ""
	if r, err = run.Run(ctx, s); err != nil {
		return false, err
	}
	_, anyway := r.Violates(m.property)
	return !anyway, nil
}
