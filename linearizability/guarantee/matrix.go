package guarantee

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
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"purgelab/linearizability/faults"
)

// Matrix is all that was found. It is the same whenever it is computed by the same
// program, however often it was interrupted.
type Matrix struct {
	Runs   int      `json:"runs"` // of each subject under each class
	Blocks []*Block `json:"blocks"`
}

// Block is one subject under one class of faults.
type Block struct {
	Subject
	Class faults.Class `json:"class"`
	// Simulated is nil if the class was not run; then Why says why.
	Simulated *Simulated `json:"simulated,omitempty"`
	Why       string     `json:"why,omitempty"`
	// Shown are the properties that a plan which is kept shows to be violated.
	Shown map[string]Directed `json:"shown,omitempty"`
	// Models is what TLC says, empty if it was not asked.
	Models []Answer `json:"models,omitempty"`
}

// Directed is the run of a plan that is kept.
type Directed struct {
	Command string `json:"command"`
	Reason  string `json:"reason"`
}

// Answer is one finding of TLC that several properties share.
type Answer struct {
	Finding
	Properties []string `json:"properties"`
}

// together groups findings that are the same, in the order of the first property
// of each.
func together(of map[string]Finding) []Answer {
	var out []Answer
	for _, property := range slices.Sorted(maps.Keys(of)) {
		i := slices.IndexFunc(out, func(a Answer) bool { return a.Finding == of[property] })
		if i < 0 {
			i = len(out)
			out = append(out, Answer{Finding: of[property]})
		}
		out[i].Properties = append(out[i].Properties, property)
	}
	return out
}

// Options say how the matrix is computed.
type Options struct {
	Subjects []Subject      // Subjects
	Classes  []faults.Class // faults.Matrix
	Runs     int            // DefaultRuns
	Jobs     int            // at a time; one per core
	// State is a folder in which what is found is kept, so that an interrupted
	// computation can go on; empty: nothing is kept. Versions are those of the
	// program: what another one found is not its own.
	State    string
	Versions map[string]string
	// Models asks TLC about one subject under one class: a finding for each property
	// that its models express. Nil: TLC is not asked.
	Models func(context.Context, Subject, faults.Class) (map[string]Finding, error)
	// Weaknesses are the plans that are run besides.
	Weaknesses []Weakness
	// Progress, if not nil, is called after each part, and Resumed with the parts
	// that were there before; one call at a time.
	Progress func(done, all int)
	Resumed  func(done, all int)
}

// half is a part of the work: a block, by simulation or by TLC.
type half struct {
	block *Block
	tlc   bool
}

// job is a matrix in the making.
type job struct {
	o         Options
	mu        sync.Mutex
	done, all int
}

// Make computes the matrix. When ctx ends it returns an error; what was found is in
// the state.
func Make(ctx context.Context, o Options) (*Matrix, error) {
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
	// Plans that do not show what they say are found out at once.
	for i := range o.Weaknesses {
		if _, err := o.Weaknesses[i].Show(ctx, o.Weaknesses[i].Subject); err != nil {
			return nil, err
		}
	}
	j := &job{o: o}
	out := &Matrix{Runs: o.Runs}
	var todo []half
	for _, s := range o.Subjects {
		for _, c := range o.Classes {
			b, simulated, modelled, err := j.resume(s, c)
			if err != nil {
				return nil, err
			}
			out.Blocks = append(out.Blocks, b)
			for _, h := range []struct{ have, want, tlc bool }{{simulated, true, false}, {modelled, o.Models != nil, true}} {
				switch {
				case !h.want:
				case h.have:
					j.done++
				default:
					todo = append(todo, half{b, h.tlc})
				}
			}
		}
	}
	j.all = j.done + len(todo)
	if j.done > 0 && o.Resumed != nil {
		o.Resumed(j.done, j.all)
	}
	g, inner := errgroup.WithContext(ctx)
	g.SetLimit(o.Jobs)
	for _, h := range todo {
		if inner.Err() != nil {
			break
		}
		g.Go(func() error { return j.make(inner, h) })
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return out, ctx.Err()
}

// make computes one half.
func (j *job) make(ctx context.Context, h half) error {
	b := h.block
	var models []Answer
	var simulated *Simulated
	shown := map[string]Directed{}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case h.tlc:
		found, err := j.o.Models(ctx, b.Subject, b.Class)
		if err != nil {
			return fmt.Errorf("%s, %s: %w", b.Name(), b.Class, err)
		}
		models = together(found)
	default:
		var err error
		if Unasked(b.Subject, b.Class) == "" {
			if simulated, err = Simulate(ctx, b.Subject, b.Class, j.o.Runs, 1, nil); err != nil {
				return err
			}
		}
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
				if _, ok := shown[p]; !ok {
					shown[p] = Directed{w.on(b.Subject), seen[p]}
				}
			}
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if h.tlc {
		b.Models = models
	} else {
		b.Simulated, b.Why, b.Shown = simulated, Unasked(b.Subject, b.Class), shown
	}
	if err := j.save(b, h.tlc); err != nil {
		return err
	}
	j.done++
	if j.o.Progress != nil {
		j.o.Progress(j.done, j.all)
	}
	return nil
}

// keptBlock is the file of a block.
type keptBlock struct {
	Versions map[string]string `json:"versions"`
	Runs     int               `json:"runs"`
	// Simulation and Models tell which halves are there.
	Simulation bool   `json:"simulationMade"`
	Models     bool   `json:"modelsAsked"`
	Block      *Block `json:"block"`
}

func stateFile(dir string, s Subject, c faults.Class) string {
	name := strings.Join([]string{s.Design, s.Variant, s.Positions, s.Messages, s.Bookmarks, fmt.Sprint(s.Replicas), string(c)}, "_")
	return filepath.Join(dir, strings.ReplaceAll(name, ",", "+")+".json")
}

// Clear removes what a computation left in a folder.
func Clear(dir string) error {
	for _, s := range Subjects {
		for _, c := range faults.Matrix {
			if err := os.Remove(stateFile(dir, s, c)); err != nil && !errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("matrix: %w", err)
			}
		}
	}
	return nil
}

// ErrOther marks a state of another program or of other settings.
var ErrOther = errors.New("begin anew with --fresh, or choose another folder")

// resume reads what is there of a block.
func (j *job) resume(s Subject, c faults.Class) (b *Block, simulated, modelled bool, err error) {
	fresh := &Block{Subject: s, Class: c}
	if j.o.State == "" {
		return fresh, false, false, nil
	}
	file := stateFile(j.o.State, s, c)
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return fresh, false, false, nil
	}
	if err != nil {
		return nil, false, false, fmt.Errorf("matrix: %w", err)
	}
	var k keptBlock
	if err := json.Unmarshal(text, &k); err != nil || k.Block == nil {
		return nil, false, false, fmt.Errorf("matrix: %s: %w: %w", file, err, ErrOther)
	}
	switch {
	case !maps.Equal(k.Versions, j.o.Versions):
		return nil, false, false, fmt.Errorf("matrix: %s is of program %v, this one is %v: %w", file, k.Versions, j.o.Versions, ErrOther)
	case k.Runs != j.o.Runs:
		return nil, false, false, fmt.Errorf("matrix: %s has %d runs, not %d: %w", file, k.Runs, j.o.Runs, ErrOther)
	}
	return k.Block, k.Simulation, k.Models, nil
}

// save writes a block, whole or not at all.
func (j *job) save(b *Block, tlc bool) error {
	if j.o.State == "" {
		return nil
	}
	if err := os.MkdirAll(j.o.State, 0o755); err != nil {
		return fmt.Errorf("matrix: %w", err)
	}
	_, simulated, modelled, err := j.resume(b.Subject, b.Class)
	if err != nil {
		return err
	}
	k := keptBlock{j.o.Versions, j.o.Runs, simulated || !tlc, modelled || tlc, b}
	text, err := json.Marshal(k)
	if err != nil {
		return err
	}
	file := stateFile(j.o.State, b.Subject, b.Class)
	if err := os.WriteFile(file+".new", text, 0o644); err != nil {
		return fmt.Errorf("matrix: %w", err)
	}
	return os.Rename(file+".new", file)
}
