package teeth

import (
	"context"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"purgelab/linearizability/run"
	"purgelab/linearizability/scenario"
	"purgelab/linearizability/verdict"
	"purgelab/traces/models"
	"purgelab/traces/tlc"
)

// DefaultRuns is how many runs may be needed to catch a defect.
const DefaultRuns = 2000

// Options say how the matrix is made.
type Options struct {
	Teeth  []Tooth
	Layers []Layer
	Runs   int // at most, per defect; 0: DefaultRuns
	Jobs   int // at a time; 0: one per core
	// Tool, Spec and Models are needed for the layers spec and trace. Tool is asked
	// once, and only then; without it those layers are undecided.
	Tool   func(context.Context) (tlc.Tool, error)
	Spec   string // folder of the specification
	Models []models.Model
	// Scenarios are needed for the layer scenario.
	Scenarios []*scenario.Scenario
	// Progress, if not nil, is called when one more of all cells is known, one call
	// at a time.
	Progress func(done, all int)
}

// Row is one defect in all layers, in the order of Layers.
type Row struct {
	Tooth Tooth
	Cells [5]Cell
}

// Control says what a layer found without a defect.
type Control struct {
	Of      string  `json:"withoutDefect"` // the layers
	Outcome Outcome `json:"outcome"`
	Runs    int     `json:"runs"` // runs, traces or models
	Reason  string  `json:"reason,omitempty"`
	Replay  string  `json:"replay,omitempty"`
}

// Outcomes of a control.
const (
	Holds Outcome = "holds"
	Red   Outcome = "red without a defect"
)

func (c *Control) red(reason, replay string) {
	if c.Outcome != Red {
		c.Outcome, c.Reason, c.Replay = Red, reason, replay
	}
}

func (c *Control) undecided(reason string) {
	if c.Outcome == Holds {
		c.Outcome, c.Reason = Undecided, reason
	}
}

// Matrix is the kill matrix.
type Matrix struct {
	Rows     []Row
	Layers   []Layer // that were asked
	Controls []Control
}

// Verdict is pass if every layer that has to catch a defect caught it by a named
// property, and none was red without one.
func (m *Matrix) Verdict() verdict.Verdict {
	v := verdict.Pass
	add := func(o Outcome) {
		switch o {
		case Missed, Other, Red:
			v = verdict.Fail
		case Undecided:
			v = verdict.Worst(v, verdict.Undecided)
		}
	}
	for i := range m.Rows {
		for _, c := range m.Rows[i].Cells {
			add(c.Outcome)
		}
	}
	for _, c := range m.Controls {
		add(c.Outcome)
	}
	return v
}

// job is a matrix in the making.
type job struct {
	o         Options
	mu        sync.Mutex
	done, all int
}

func (m *job) jobs() int {
	if m.o.Jobs > 0 {
		return m.o.Jobs
	}
	return runtime.GOMAXPROCS(0)
}

func (m *job) step() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done++
	if m.o.Progress != nil {
		m.o.Progress(m.done, m.all)
	}
}

// Make fills in the matrix. When ctx ends, what is not known is undecided.
func Make(ctx context.Context, o Options) *Matrix {
	if o.Runs == 0 {
		o.Runs = DefaultRuns
	}
	m := &job{o: o}
	out := &Matrix{Layers: o.Layers, Rows: make([]Row, len(o.Teeth))}
	column := func(l Layer) []*Cell {
		var cells []*Cell
		for i := range out.Rows {
			cells = append(cells, &out.Rows[i].Cells[slices.Index(Layers, l)])
		}
		return cells
	}
	for i, t := range o.Teeth {
		out.Rows[i].Tooth = t
		for k, l := range Layers {
			c := &out.Rows[i].Cells[k]
			if *c = start(&t, l, o.Layers); c.Outcome == "" {
				m.all++
			}
		}
	}
	wanted := func(l Layer) bool {
		return slices.ContainsFunc(column(l), func(c *Cell) bool { return c.Outcome == "" })
	}
	runs, traced, modelled := wanted(Boot) || wanted(History), wanted(Trace), wanted(Spec)
	var hunts []*hunt
	if runs || traced {
		hunts = m.hunted(ctx)
		for i, h := range hunts {
			*column(Boot)[i], *column(History)[i] = h.boot, h.history
		}
	}
	if runs {
		out.Controls = append(out.Controls, m.quiet(ctx, hunts))
	}
	if wanted(Scenario) {
		out.Controls = append(out.Controls, m.scripted(ctx, o.Teeth, column(Scenario)))
	}
	if !traced && !modelled {
		return out
	}
	tool, err := o.Tool(ctx)
	if traced {
		out.Controls = append(out.Controls, m.judged(ctx, tool, err, hunts, column(Trace)))
	}
	if modelled {
		if err != nil {
			out.Controls = append(out.Controls, m.without(Spec, err, column(Spec)))
		} else {
			out.Controls = append(out.Controls, m.modelled(ctx, tool, o.Teeth, column(Spec)))
		}
	}
	return out
}

// hunted runs all hunts, some at a time.
func (m *job) hunted(ctx context.Context) []*hunt {
	hunts := make([]*hunt, len(m.o.Teeth))
	var g errgroup.Group
	g.SetLimit(m.jobs())
	for i, t := range m.o.Teeth {
		h := newHunt(t, m.o.Layers)
		hunts[i] = h
		open := [2]bool{h.boot.Outcome == "", h.history.Outcome == ""}
		g.Go(func() error {
			h.until(ctx, m.o.Runs, func() bool { return !h.open() })
			h.close(ctx.Err())
			for _, was := range open {
				if was {
					m.step()
				}
			}
			return nil
		})
	}
	_ = g.Wait() // a hunt keeps its own error
	return hunts
}

// quietRuns is how many runs of a hunt are made again without the defect, besides
// those that caught it.
const quietRuns = 10

// quiet makes runs of the hunts again, without a defect. What the design violates by
// nature is no failure of it; but a defect must break a property that holds without.
func (m *job) quiet(ctx context.Context, hunts []*hunt) Control {
	control := Control{Of: "history, boot", Outcome: Holds}
	var list []run.Settings
	caught := map[string][]string{} // by run, the properties that showed a defect
	for _, h := range hunts {
		for _, seed := range h.told() {
			s := h.tooth.settings(seed)
			s.Defect = ""
			key := s.Replay()
			if _, have := caught[key]; !have {
				list = append(list, s)
			}
			caught[key] = append(caught[key], h.caughtAt(seed)...)
		}
	}
	var g errgroup.Group
	g.SetLimit(m.jobs())
	for _, s := range list {
		g.Go(func() error {
			r, err := run.Run(ctx, s)
			m.mu.Lock()
			defer m.mu.Unlock()
			if err != nil {
				control.undecided(err.Error())
				return nil
			}
			control.Runs++
			switch r.Verdict {
			case verdict.Fail:
				if reason := alone(r, caught[s.Replay()]); reason != "" {
					control.red(reason, r.Settings.Replay())
				}
			case verdict.Undecided:
				control.undecided("a run was not judged to its end: " + r.Settings.Replay())
			}
			return nil
		})
	}
	_ = g.Wait() // a control keeps its own reasons
	return control
}

// judged is the layer trace, with its control.
func (m *job) judged(ctx context.Context, tool tlc.Tool, missing error, hunts []*hunt, cells []*Cell) Control {
	if missing != nil {
		return m.without(Trace, missing, cells)
	}
	open := 0
	for i, c := range cells {
		if c.Outcome == "" {
			open++
		} else {
			hunts[i].met = nil // its traces are nobody's business
		}
	}
	err := m.rejected(ctx, tool, hunts, cells)
	if err != nil {
		for _, c := range cells {
			if c.Outcome == "" {
				c.fail(err.Error())
			}
		}
	}
	for range open {
		m.step()
	}
	if err != nil {
		return Control{Of: string(Trace), Outcome: Undecided, Reason: err.Error()}
	}
	control, err := m.accepted(ctx, tool, hunts)
	if err != nil {
		control.undecided(err.Error())
	}
	return control
}

// without ends a layer that cannot work.
func (m *job) without(l Layer, err error, cells []*Cell) Control {
	for _, c := range cells {
		if c.Outcome == "" {
			c.fail(err.Error())
			m.step()
		}
	}
	return Control{Of: string(l), Outcome: Undecided, Reason: err.Error()}
}
