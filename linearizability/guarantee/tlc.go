package guarantee

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"purgelab/linearizability/faults"
	"purgelab/traces/tlc"
)

// Models asks TLC: each subject under each class is one or several bounded models
// (levels.go), in which exactly the faults of the class may happen. All properties
// that a model can express are checked at once; one that is violated is noted with
// the shortest way there and left out, until the rest holds. What is violated without
// any fault is violated under every class and is not asked again.
//
// A Models remembers each answer, since subjects and classes share models; it may be
// used by several goroutines.
type Models struct {
	tool tlc.Tool
	o    ModelOptions

	mu    sync.Mutex
	asked map[string]*asked
}

// ModelOptions say how TLC is run.
type ModelOptions struct {
	Dir     string        // of the specification
	Workers int           // of TLC, per model; 0: one
	Timeout time.Duration // per run of TLC; 0: none
}

// asked is one model, or one under way.
type asked struct {
	done   chan struct{}
	answer modelAnswer
}

// modelAnswer is what TLC says of all properties of one model.
type modelAnswer struct {
	violated map[string]Finding
	holds    []string
	states   int    // distinct, of the run in which the rest holds
	open     string // why the rest is undecided, if it is
}

// NewModels prepares to ask.
func NewModels(tool tlc.Tool, o ModelOptions) *Models {
	return &Models{tool: tool, o: o, asked: map[string]*asked{}}
}

// Ask gives a finding for each property that the models of a subject express. What
// TLC did not decide, for want of time or of a tool, is undecided. An error is an
// interruption, or a specification that cannot be read.
func (m *Models) Ask(ctx context.Context, s Subject, class faults.Class) (map[string]Finding, error) {
	out := map[string]Finding{}
	if Unasked(s, class) != "" {
		return out, nil
	}
	var plain map[string]Finding
	if class != faults.None {
		var err error
		if plain, err = m.none(ctx, s); err != nil {
			return nil, err
		}
		for p, f := range plain {
			if f.Outcome == Violated {
				out[p] = f
			}
		}
	}
	known := slices.Sorted(maps.Keys(out))
	for _, l := range levels(s, class) {
		a, err := m.level(ctx, l, known)
		if err != nil {
			return nil, fmt.Errorf("%s, %s: %w", s.Name(), class, err)
		}
		l.add(out, a)
	}
	return out, nil
}

// none asks about no faults. Of a subject that is not run without any, its models
// are asked all the same: the class that it is run under has them too.
func (m *Models) none(ctx context.Context, s Subject) (map[string]Finding, error) {
	out := map[string]Finding{}
	for _, l := range levels(s, faults.None) {
		a, err := m.level(ctx, l, nil)
		if err != nil {
			return nil, fmt.Errorf("%s, no faults: %w", s.Name(), err)
		}
		l.add(out, a)
	}
	return out, nil
}

// add merges what a level says: a violation at one level outweighs the rest, and what
// is open at one level is not held by another.
func (l *level) add(out map[string]Finding, a modelAnswer) {
	for p, f := range a.violated {
		if have, ok := out[p]; !ok || have.Outcome != Violated {
			out[p] = f
		}
	}
	for _, p := range a.holds {
		f := Finding{Outcome: Holds, Runs: a.states, Evidence: l.name}
		if a.open != "" {
			f = Finding{Outcome: Undecided, Evidence: l.name, Text: a.open}
		} else if slices.Contains(l.refutes, p) {
			continue // it can be shown to fail, not to hold
		}
		have, ok := out[p]
		switch {
		case !ok:
		case have.Outcome == Violated, have.Outcome == Undecided:
			continue
		case f.Outcome == Holds:
			f.Runs += have.Runs
			if !strings.Contains(have.Evidence, f.Evidence) {
				f.Evidence = have.Evidence + ", " + f.Evidence
			} else {
				f.Evidence = have.Evidence
			}
		}
		out[p] = f
	}
}

// level answers from memory, or asks TLC.
func (m *Models) level(ctx context.Context, l *level, known []string) (modelAnswer, error) {
	c, err := l.config(m.o.Dir, known)
	if err != nil {
		return modelAnswer{}, err
	}
	key := l.module + "\n" + c.String()
	for {
		m.mu.Lock()
		x, ok := m.asked[key]
		if !ok {
			x = &asked{done: make(chan struct{})}
			m.asked[key] = x
		}
		m.mu.Unlock()
		if !ok {
			x.answer, err = m.ask(ctx, l, c)
			if err != nil {
				m.mu.Lock()
				delete(m.asked, key) // whoever waits asks itself
				m.mu.Unlock()
			}
			close(x.done)
			return x.answer, err
		}
		select {
		case <-x.done:
		case <-ctx.Done():
			return modelAnswer{}, ctx.Err()
		}
		m.mu.Lock()
		_, ok = m.asked[key]
		m.mu.Unlock()
		if ok {
			return x.answer, nil
		}
	}
}

// ask runs TLC until what is left holds.
func (m *Models) ask(ctx context.Context, l *level, c *config) (modelAnswer, error) {
	out := modelAnswer{violated: map[string]Finding{}}
	for {
		left := c.all()
		if len(left) == 0 {
			return out, nil
		}
		res, err := m.run(ctx, l, c)
		if err := ctx.Err(); err != nil {
			return out, err
		}
		if err != nil {
			res = &tlc.Result{Reason: err.Error()}
		}
		if res.Verdict == tlc.Fail && !slices.Contains(left, res.Property) {
			// TLC names no property of this kind: each is asked by itself.
			if res, err = m.which(ctx, l, c); err != nil {
				return out, err
			}
		}
		switch res.Verdict {
		case tlc.Pass:
			out.holds, out.states = l.named(left), int(res.Distinct)
			return out, nil
		case tlc.Undecided:
			out.holds, out.open = l.named(left), res.Reason
			return out, nil
		}
		out.violated[l.called(res.Property)] = Finding{
			Outcome: Violated, Runs: int(res.Distinct), Evidence: fmt.Sprintf("%s, %d steps", l.name, len(res.Trace)-1), Text: way(res.Trace),
		}
		c = c.only(func(p string) bool { return p != res.Property })
	}
}

// which finds a property that is violated among those that TLC does not name.
func (m *Models) which(ctx context.Context, l *level, c *config) (*tlc.Result, error) {
	for _, p := range c.all() {
		res, err := m.run(ctx, l, c.only(func(q string) bool { return p == q }))
		if err != nil {
			return &tlc.Result{Reason: err.Error()}, ctx.Err()
		}
		if res.Verdict == tlc.Fail {
			res.Property = p
		}
		if res.Verdict != tlc.Pass {
			return res, ctx.Err()
		}
	}
	return &tlc.Result{Reason: "a property is violated, and none of them by itself"}, nil
}

// run starts TLC on one configuration, which is written beside no other file.
func (m *Models) run(ctx context.Context, l *level, c *config) (*tlc.Result, error) {
	into, err := os.MkdirTemp("", "purgelab-matrix-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(into)
	if err := os.WriteFile(filepath.Join(into, "model.cfg"), []byte(c.String()), 0o666); err != nil {
		return nil, err
	}
	spec, err := filepath.Abs(m.o.Dir)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(spec, filepath.FromSlash(l.dir))
	config, err := filepath.Rel(dir, filepath.Join(into, "model.cfg"))
	if err != nil {
		return nil, err
	}
	return tlc.Run(ctx, m.tool, tlc.Options{
		Dir: dir, Module: l.module + ".tla", Config: config, Library: []string{spec},
		Workers: m.o.Workers, Timeout: m.o.Timeout, Short: true, Name: l.name,
	})
}
