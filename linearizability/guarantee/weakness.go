package guarantee

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"purgelab/linearizability/faults"
	"purgelab/linearizability/run"
)

// Folder of the plans that show known weaknesses, from the root of the project.
const Folder = "linearizability/guarantee/weaknesses"

//go:embed weaknesses/*.json
var kept embed.FS

// Weakness is a plan of faults that shows that a subject violates properties under
// a class.
type Weakness struct {
	File       string // from the root of the project
	Says       string
	Subject    Subject
	Class      faults.Class
	Properties []string
	Settings   run.Settings // with the plan
}

// Weaknesses reads the plans that are kept.
func Weaknesses() ([]Weakness, error) { return readWeaknesses(kept, "weaknesses", Folder) }

func readWeaknesses(files fs.FS, dir, called string) ([]Weakness, error) {
	names, err := fs.Glob(files, path.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	var out []Weakness
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		w, err := readWeakness(path.Join(called, path.Base(name)), text)
		if err != nil {
			return nil, err
		}
		out = append(out, *w)
	}
	return out, nil
}

func readWeakness(file string, text []byte) (*Weakness, error) {
	plan, err := faults.Parse(file, bytes.NewReader(text), 5)
	if err != nil {
		return nil, err
	}
	if plan.Shows == nil {
		return nil, fmt.Errorf("%s: want \"shows\": what it is there to show", file)
	}
	w := &Weakness{File: file, Says: plan.Shows.Says, Class: plan.Shows.Class, Properties: plan.Shows.Properties}
	if w.Settings, err = run.Kept(plan.Shows); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	w.Settings.Faults, w.Settings.Plan, w.Settings.NoTrace = file, plan, true
	if err := w.Settings.Complete(); err != nil {
		return nil, fmt.Errorf("%s: settings: %w", file, err)
	}
	w.Subject = SubjectOf(&w.Settings)
	if !slices.Contains(Subjects, w.Subject) {
		return nil, fmt.Errorf("%s: settings: %s is not in the matrix", file, w.Subject.Name())
	}
	if !slices.Contains(faults.Matrix, w.Class) {
		return nil, fmt.Errorf("%s: class %q: want one of %v", file, w.Class, faults.Matrix)
	}
	for _, p := range w.Properties {
		if !slices.Contains(w.Subject.Properties(), p) {
			return nil, fmt.Errorf("%s: property %q: want one of %v", file, p, w.Subject.Properties())
		}
	}
	if len(w.Properties) == 0 {
		return nil, fmt.Errorf("%s: want the properties that it shows to be violated", file)
	}
	return w, nil
}

// on is the command that makes the run of another row of the design.
func (w *Weakness) on(s Subject) string {
	out := fmt.Sprintf("purgelab run --design %s --faults %s", s.Design, w.File)
	if s.Variant != w.Subject.Variant {
		out += fmt.Sprintf(" --variant=%s", s.Variant)
	}
	if s.Positions != w.Subject.Positions {
		out += fmt.Sprintf(" --positions %s", s.Positions)
	}
	return out
}

// fits tells whether the plan can be run for a row under a class: its own, or one
// that differs in variant or positions alone.
func (w *Weakness) fits(s Subject, class faults.Class) bool {
	like := w.Subject
	like.Variant, like.Positions = s.Variant, s.Positions
	return w.Class == class && like == s
}

// Show makes the run for a row that it fits and gives what is violated, with reasons.
// It is an error if in its own row something that it is to show holds.
func (w *Weakness) Show(ctx context.Context, s Subject) (map[string]string, error) {
	settings := w.Settings
	settings.Variant, settings.Positions = s.Variant, s.Positions
	r, err := run.Run(ctx, settings)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", w.File, err)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, p := range r.Violated() {
		out[p], _ = r.Violates(p)
	}
	for _, p := range w.Properties {
		if _, red := out[p]; !red && s == w.Subject {
			return nil, fmt.Errorf("%s: %s is not violated; violated are %v", w.File, p, r.Violated())
		}
	}
	return out, nil
}
