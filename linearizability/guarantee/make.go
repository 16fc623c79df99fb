package guarantee

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"purgelab/linearizability/faults"
)

// Options say how the matrix is computed.
type Options struct {
	Subjects []Subject      // Subjects
	Classes  []faults.Class // faults.Matrix
	Runs     int            // DefaultRuns
	Jobs     int            // at a time; one per core
	// Base, if not nil, has the runs of what Subjects and Classes leave out; what it
	// does not have is run all the same. TLC is asked about everything: its answers
	// are kept.
	Base *Matrix
	// State is a folder in which what runs found is kept, so that an interrupted
	// computation can go on; empty: nothing is kept. Versions are those of the
	// program: what another one found is not its own.
	State    string
	Versions map[string]string
	// Models asks TLC about one subject under one class. Nil: TLC is not asked.
	Models func(context.Context, Subject, faults.Class) ([]*Model, error)
	// Weaknesses are the plans that are run besides.
	Weaknesses []Weakness
	// Progress, if not nil, is called after each part, and Resumed with the parts
	// that were there before; one call at a time.
	Progress func(done, all int)
	Resumed  func(done, all int)
}

// complete fills in the defaults.
func (o *Options) complete() {
	if o.Runs == 0 {
		o.Runs = DefaultRuns
	}
	if o.Jobs <= 0 {
		o.Jobs = runtime.GOMAXPROCS(0)
	}
	if o.Subjects == nil {
		o.Subjects = Subjects
	}
	if o.Classes == nil {
		o.Classes = faults.Matrix
	}
}

// job is a matrix in the making. Its parts are halves of blocks in two queues: those
// of TLC, of which several may wait for the answer of one model, and runs, which wait
// for nothing.
type job struct {
	o         Options
	mu        sync.Mutex
	models    []*Block
	runs      []*Block
	done, all int
}

// Make computes the matrix. When ctx ends it returns an error; what runs found is in
// the state.
func Make(ctx context.Context, o Options) (*Matrix, error) {
	o.complete()
	out := &Matrix{Runs: o.Runs}
	j := &job{o: o}
	for _, s := range Subjects {
		for _, c := range faults.Matrix {
			b, err := j.block(s, c)
			if err != nil {
				return nil, err
			}
			if b != nil {
				out.Blocks = append(out.Blocks, b)
			}
		}
	}
	// Plans that do not show what they say are found out at once.
	for i := range o.Weaknesses {
		w := &o.Weaknesses[i]
		if !slices.ContainsFunc(j.runs, func(b *Block) bool { return w.fits(b.Subject, b.Class) }) {
			continue
		}
		if _, err := w.Show(ctx, w.Subject); err != nil {
			return nil, err
		}
	}
	j.all = j.done + len(j.runs) + len(j.models)
	if j.done > 0 && o.Resumed != nil {
		o.Resumed(j.done, j.all)
	}
	g, inner := errgroup.WithContext(ctx)
	for worker := range o.Jobs {
		g.Go(func() error { return j.work(inner, worker == 0) })
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	out.prune()
	return out, nil
}

// block is the one that the matrix gets, with what is there before: of the state, or
// of the base. The parts that are to be made come into the queues. It is nil if it was
// not asked for.
func (j *job) block(s Subject, c faults.Class) (b *Block, err error) {
	if !slices.Contains(j.o.Subjects, s) || !slices.Contains(j.o.Classes, c) {
		if j.o.Base == nil {
			return nil, nil
		}
		b = j.o.Base.Block(s, c)
	}
	if b == nil {
		if b, err = j.resume(s, c); err != nil {
			return nil, err
		}
	}
	switch {
	case b != nil:
		b.Models = nil
		j.done++
	default:
		b = &Block{Subject: s, Class: c}
		if Unasked(s, c) == "" {
			j.runs = append(j.runs, b)
		}
	}
	if j.o.Models != nil {
		j.models = append(j.models, b)
	}
	return b, nil
}

// work takes parts until there is none: one worker begins with the models, so that no
// two of them wait for the same one as long as there are runs.
func (j *job) work(ctx context.Context, modelsFirst bool) error {
	for ctx.Err() == nil {
		b, models := j.take(modelsFirst)
		if b == nil {
			return nil
		}
		part := j.run
		if models {
			part = j.ask
		}
		if err := part(ctx, b); err != nil {
			return err
		}
		j.mu.Lock()
		j.done++
		if j.o.Progress != nil {
			j.o.Progress(j.done, j.all)
		}
		j.mu.Unlock()
	}
	return ctx.Err()
}

func (j *job) take(modelsFirst bool) (b *Block, models bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	models = len(j.models) > 0 && (modelsFirst || len(j.runs) == 0)
	queue := &j.runs
	if models {
		queue = &j.models
	}
	if len(*queue) == 0 {
		return nil, false
	}
	b, *queue = (*queue)[0], (*queue)[1:]
	return b, models
}

// ask is the part of TLC.
func (j *job) ask(ctx context.Context, b *Block) (err error) {
	if b.Models, err = j.o.Models(ctx, b.Subject, b.Class); err != nil {
		return fmt.Errorf("%s, %s: %w", b.Name(), b.Class, err)
	}
	return nil
}

// run is the part of the simulator: drawn faults, then the plans that are kept.
func (j *job) run(ctx context.Context, b *Block) (err error) {
	if b.Simulated, err = Simulate(ctx, b.Subject, b.Class, j.o.Runs, 1, nil); err != nil {
		return err
	}
	b.Shown = map[string]Directed{}
	for i := range j.o.Weaknesses {
		w := &j.o.Weaknesses[i]
		if !w.fits(b.Subject, b.Class) {
			continue
		}
		seen, err := w.Show(ctx, b.Subject)
		if err != nil {
			return err
		}
		for _, p := range slices.Sorted(maps.Keys(seen)) {
			if _, ok := b.Shown[p]; !ok {
				b.Shown[p] = Directed{w.on(b.Subject), clip(seen[p])}
			}
		}
	}
	return j.save(b)
}
