package guarantee

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
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
	Keep    string        // a folder for answers; empty: they are not kept
}

// asked is one model, or one under way.
type asked struct {
	done   chan struct{}
	answer *Model
}

// NewModels prepares to ask.
func NewModels(tool tlc.Tool, o ModelOptions) *Models {
	return &Models{tool: tool, o: o, asked: map[string]*asked{}}
}

// Ask gives the models of a subject with the faults of a class. What TLC did not
// decide, for want of time or of a tool, is undecided. An error is an interruption, or
// a specification that cannot be read.
func (m *Models) Ask(ctx context.Context, s Subject, class faults.Class) ([]*Model, error) {
	if class == faults.None {
		return m.none(ctx, s)
	}
	if Unasked(s, class) != "" {
		return nil, nil
	}
	plain, err := m.none(ctx, s)
	if err != nil {
		return nil, err
	}
	var known []string
	for _, x := range plain {
		known = slices.AppendSeq(known, maps.Keys(x.Violated))
	}
	slices.Sort(known)
	known = slices.Compact(known)
	return m.levels(ctx, levels(s, class), known)
}

// none asks about no faults. Of a subject that is not run without any, its models
// are asked all the same: the class that it is run under has them too.
func (m *Models) none(ctx context.Context, s Subject) ([]*Model, error) {
	return m.levels(ctx, levels(s, faults.None), nil)
}

func (m *Models) levels(ctx context.Context, list []*level, known []string) ([]*Model, error) {
	var out []*Model
	for _, l := range list {
		x, err := m.level(ctx, l, known)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", l.name, err)
		}
		if x = l.of(x); len(x.Violated)+len(x.Rest) > 0 {
			out = append(out, x)
		}
	}
	return out, nil
}

// of is an answer as far as the level can give it.
func (l *level) of(x *Model) *Model {
	out := *x
	if out.Open == "" { // what can be shown to fail, not to hold
		out.Rest = slices.DeleteFunc(slices.Clone(x.Rest), func(p string) bool { return slices.Contains(l.refutes, p) })
	}
	return &out
}

// level answers from memory, or asks TLC.
func (m *Models) level(ctx context.Context, l *level, known []string) (*Model, error) {
	c, err := l.config(m.o.Dir, known)
	if err != nil {
		return nil, err
	}
	key, err := m.question(l, c)
	if err != nil {
		return nil, err
	}
	for {
		m.mu.Lock()
		x, ok := m.asked[key]
		if !ok {
			x = &asked{done: make(chan struct{})}
			m.asked[key] = x
		}
		m.mu.Unlock()
		if !ok {
			if x.answer, err = m.answer(ctx, key, l, c); err != nil {
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
			return nil, ctx.Err()
		}
		m.mu.Lock()
		_, ok = m.asked[key]
		m.mu.Unlock()
		if ok {
			return x.answer, nil
		}
	}
}

// answer is one that was kept, or that of TLC.
func (m *Models) answer(ctx context.Context, question string, l *level, c *config) (*Model, error) {
	x, err := m.kept(question)
	if x != nil || err != nil {
		return x, err
	}
	if x, err = m.ask(ctx, l, c); err != nil {
		return nil, err
	}
	return x, m.keep(question, x)
}

// ask runs TLC until what is left holds.
func (m *Models) ask(ctx context.Context, l *level, c *config) (*Model, error) {
	out := &Model{Name: l.name, Violated: map[string]Shortest{}}
	for {
		left := c.all()
		if len(left) == 0 {
			return out, nil
		}
		res, err := m.run(ctx, l, c)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err != nil {
			res = &tlc.Result{Reason: err.Error()}
		}
		if res.Verdict == tlc.Fail && !slices.Contains(left, res.Property) {
			// TLC names no property of this kind: each is asked by itself.
			if res, err = m.which(ctx, l, c); err != nil {
				return nil, err
			}
		}
		switch res.Verdict {
		case tlc.Pass:
			out.Rest, out.States = l.named(left), int(res.Distinct)
			return out, nil
		case tlc.Undecided:
			out.Rest, out.Open = l.named(left), res.Reason
			return out, nil
		}
		out.Violated[l.called(res.Property)] = Shortest{len(res.Trace) - 1, int(res.Distinct), clip(way(res.Trace))}
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
