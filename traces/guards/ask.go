package guards

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/singleflight"

	"purgelab/traces/models"
	"purgelab/traces/tlc"
)

// Asker asks for changes of one specification, and keeps what was answered.
type Asker struct {
	root         string
	texts, paths map[string]string
	checks       []check // ties, those that read the fewest modules first; models, the cheapest first
	tool         tlc.Tool
	kept         *kept
	green        singleflight.Group
}

// NewAsker reads the specification of the project in root. Answers are kept in the folder
// kept.
func NewAsker(root, kept string, tool tlc.Tool) (*Asker, error) {
	a := &Asker{root: root, tool: tool}
	list, err := models.Load(filepath.Join(root, "spec"))
	if err != nil {
		return nil, fmt.Errorf("guards: %w", err)
	}
	if a.texts, a.paths, err = modulesOf(root); err != nil {
		return nil, fmt.Errorf("guards: %w", err)
	}
	checks, err := a.all(list)
	if err != nil {
		return nil, fmt.Errorf("guards: %w", err)
	}
	return a, a.open(kept, checks)
}

// open readies the checks, and what they answered before.
func (a *Asker) open(kept string, checks []check) (err error) {
	for i := range checks {
		if err := checks[i].ready(a); err != nil {
			return fmt.Errorf("guards: %s: %w", checks[i].name, err)
		}
	}
	distance := func(c check) int {
		if c.kind == Model {
			return math.MaxInt // they are in order
		}
		return len(c.reads)
	}
	slices.SortStableFunc(checks, func(x, y check) int { return cmp.Compare(distance(x), distance(y)) })
	a.checks = checks
	if a.kept, err = openKept(kept); err != nil {
		return fmt.Errorf("guards: %w", err)
	}
	return nil
}

// Close closes the file of answers.
func (a *Asker) Close() error { return a.kept.close() }

// Guards lists those of all modules but the bounds of models, by module: what a check can
// notice the change of.
func (a *Asker) Guards() (map[string][]Guard, error) {
	properties, err := a.properties()
	if err != nil {
		return nil, err
	}
	out := map[string][]Guard{}
	for name, list := range Find(a.texts, properties) {
		if strings.HasPrefix(name, "MC") || strings.HasPrefix(name, "Matrix") {
			continue
		}
		seen := map[string]bool{}
		for _, g := range list {
			if !seen[g.String()] && a.able(&g, Tie)+a.able(&g, Model) > 0 { // the same said twice is asked for once
				seen[g.String()] = true
				out[name] = append(out[name], g)
			}
		}
	}
	return out, nil
}

// properties are those that the configurations of models name.
func (a *Asker) properties() (map[string]bool, error) {
	out := map[string]bool{}
	spec := filepath.Join(a.root, "spec")
	for _, pattern := range []string{"*.cfg", "*/*.cfg"} {
		files, err := filepath.Glob(filepath.Join(spec, pattern))
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			c, err := tlc.ReadConfig(f)
			if err != nil {
				return nil, err
			}
			for _, p := range slices.Concat(c.Invariants, c.Properties) {
				out[p] = true
			}
		}
	}
	return out, nil
}

// able is how many checks of the kind can notice the change.
func (a *Asker) able(g *Guard, k Kind) (n int) {
	for i := range a.checks {
		if c := &a.checks[i]; c.kind == k && c.can(g) {
			n++
		}
	}
	return n
}

// notices tells that a check is red for a change and makes sense of it, and green without;
// one that has no answer in time is not.
func (a *Asker) notices(ctx context.Context, w *workspace, c *check, g *Guard) (bool, error) {
	says, err := a.says(ctx, w, c, g)
	if err == nil && says != "" && says != senseless {
		_, err, _ = a.green.Do(c.name, func() (any, error) {
			says, err := a.says(ctx, w, c, nil)
			if err == nil && says != "" {
				err = fmt.Errorf("is red without a change: %s", says)
			}
			return nil, err
		})
		if err == nil {
			return true, nil
		}
	}
	if err == nil || errors.Is(err, errLate) {
		return false, nil
	}
	return false, fmt.Errorf("%v: %s: %w", g, c.name, err)
}

// says is what a check says of a change, or, without one, of the specification as it is:
// nothing if it is green. Nobody is asked twice.
func (a *Asker) says(ctx context.Context, w *workspace, c *check, g *Guard) (string, error) {
	q := c.question(g)
	if says, ok := a.kept.answer(q); ok {
		return says, nil
	}
	says, err := a.red(ctx, w, c, g)
	if err != nil {
		return "", err
	}
	return says, a.kept.keep(q, says)
}

// red asks a check in a workspace, in which the change is taken back.
func (a *Asker) red(ctx context.Context, w *workspace, c *check, g *Guard) (string, error) {
	if g == nil {
		return c.red(ctx, w)
	}
	path, text := a.paths[g.Module], a.texts[g.Module]
	if err := w.put(path, g.in(text)); err != nil {
		return "", err
	}
	says, err := c.red(ctx, w)
	return says, errors.Join(err, w.put(path, text))
}

// Answer is what came of one change, as far as it was asked.
type Answer struct {
	Kind      Kind   // of the check that notices it
	By        string // its name; empty: none does so far
	Says      string // why it is red
	Asked     int    // checks that were asked
	Senseless int    // of these those for which TLC cannot evaluate the change
	Left      int    // checks that could notice it and were not asked
}

// Answer is what is known of a guard.
func (a *Asker) Answer(g *Guard) (out Answer) {
	for i := range a.checks {
		c := &a.checks[i]
		if !c.can(g) {
			continue
		}
		says, ok := a.kept.answer(c.question(g))
		if !ok {
			out.Left++
			continue
		}
		out.Asked++
		switch {
		case says == senseless:
			out.Senseless++
		case says != "":
			if without, ok := a.kept.answer(c.question(nil)); !ok || without != "" {
				out.Left++ // it is not known to be green without a change
				continue
			}
			out.Kind, out.By, out.Says = c.kind, c.name, says
			return out
		}
	}
	return out
}

// Unnoticed tells that all who could notice a change were asked, and that none did.
func (x *Answer) Unnoticed() bool { return x.By == "" && x.Left == 0 && x.Senseless == 0 }
