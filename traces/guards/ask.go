package guards

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"purgelab/traces/models"
	"purgelab/traces/tlc"
)

// Answer is what came of one change, as far as it was asked.
type Answer struct {
	Guard
	Tie   Notice `json:"tie"`
	Model Notice `json:"model"`
}

// Notice is what checks of one kind say.
type Notice struct {
	By     string `json:"by,omitempty"`     // the check that is red; empty: none is
	Reason string `json:"reason,omitempty"` // what it says
	Asked  int    `json:"asked,omitempty"`  // checks
	Late   int    `json:"late,omitempty"`   // of these without an answer when time was up
}

// Noticed tells that a check is red.
func (a *Answer) Noticed() bool { return a.Tie.By != "" || a.Model.By != "" }

// answered tells that checks were asked, and that all had an answer in time or one is red.
func (n *Notice) answered() bool { return n.By != "" || n.Asked > 0 && n.Late == 0 }

// of is what checks of a kind say.
func (a *Answer) of(k Kind) *Notice {
	if k == Tie {
		return &a.Tie
	}
	return &a.Model
}

// Asker asks for changes of one specification, and keeps what was answered.
type Asker struct {
	root, kept   string
	texts, paths map[string]string
	checks       []check
	tool         tlc.Tool

	mu      sync.Mutex
	file    *os.File
	answers map[string]Answer
	green   map[string]*sync.Once // checks that are green without a change, or being asked
	without map[string]error
}

func newAsker(root, kept string) *Asker {
	return &Asker{root: root, kept: kept, answers: map[string]Answer{}, green: map[string]*sync.Once{}, without: map[string]error{}}
}

// NewAsker reads the specification of the project in root. Answers are kept in the folder
// kept, in a file that is named after all that TLC may read.
func NewAsker(root, kept string, tool tlc.Tool) (*Asker, error) {
	a := newAsker(root, kept)
	a.tool = tool
	list, err := models.Load(filepath.Join(root, "spec"))
	if err != nil {
		return nil, fmt.Errorf("guards: %w", err)
	}
	if a.texts, a.paths, err = modulesOf(root); err != nil {
		return nil, fmt.Errorf("guards: %w", err)
	}
	a.checks = checks(list, a.texts)
	if err := a.open(); err != nil {
		return nil, fmt.Errorf("guards: %w", err)
	}
	return a, nil
}

// askable tells whether a check of one of the kinds can notice the change: of a property,
// a model that has to violate it.
func (a *Asker) askable(g *Guard, kinds ...Kind) bool {
	return slices.ContainsFunc(a.checks, func(c check) bool {
		return slices.Contains(kinds, c.kind) && c.reads[g.Module] && c.apt(g)
	})
}

// Asked tells that all who can notice the change were asked.
func (a *Asker) Asked(g Guard) bool {
	x := a.Answer(g)
	return !slices.ContainsFunc(kinds, func(k Kind) bool { return a.askable(&g, k) && !x.of(k).answered() })
}

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
			if !seen[g.String()] && a.askable(&g, kinds...) { // the same said twice is asked for once
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

// most is how many guards of a module a kind of check is asked for in vain, if another
// kind notices one.
const most = 3

// Walk asks the checks of a kind for the guards of each list in turn: for all that nobody
// notices so far, or until one is noticed. So many lists are walked at a time. What was
// answered before is not asked again.
func (a *Asker) Walk(ctx context.Context, kind Kind, lists [][]Guard, all bool, jobs int, done func(Answer)) error {
	dir, err := os.MkdirTemp("", "purgelab-guards-")
	if err != nil {
		return fmt.Errorf("guards: %w", err)
	}
	defer os.RemoveAll(dir)
	work := make(chan []Guard, len(lists))
	for _, alone := range []bool{true, false} { // whom nobody else can notice first
		for _, l := range lists {
			if alone != slices.ContainsFunc(l, func(g Guard) bool {
				return slices.ContainsFunc(kinds, func(k Kind) bool { return k != kind && a.askable(&g, k) })
			}) {
				work <- l
			}
		}
	}
	close(work)
	tests := &programs{root: a.root, dir: filepath.Join(dir, "tests")}
	g, ctx := errgroup.WithContext(ctx)
	for i := range jobs {
		g.Go(func() error {
			w, err := newWorkspace(a.root, filepath.Join(dir, fmt.Sprint(i)), a.tool, tests)
			if err != nil {
				return err
			}
			for list := range work {
				for x, k := range a.walked(kind, list, all) {
					answer, err := a.one(ctx, w, x, k)
					if errors.Is(err, errLate) {
						continue // whether the check is green is asked the next time
					}
					if err != nil {
						return fmt.Errorf("%v: %w", &x, err)
					}
					if err := a.keep(answer); err != nil {
						return err
					}
					done(answer)
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return fmt.Errorf("guards: %w", err)
	}
	return nil
}

// walked is what is still to be asked of a list, and whom, each guard once what came
// before it is answered. Of what ties do not notice models are asked, too.
func (a *Asker) walked(kind Kind, list []Guard, all bool) iter.Seq2[Guard, Kind] {
	return func(yield func(Guard, Kind) bool) {
		list := slices.DeleteFunc(slices.Clone(list), func(g Guard) bool { return !a.askable(&g, kind) })
		whom := slices.Compact([]Kind{kind, Model})
		noticed := slices.ContainsFunc(list, func(g Guard) bool { x := a.Answer(g); return x.Noticed() })
		for i, g := range list {
			x := a.Answer(g)
			if all && x.Noticed() {
				continue
			}
			for _, k := range whom {
				if a.askable(&g, k) && !x.of(k).answered() && (k == kind || !x.Noticed()) {
					if !yield(g, k) {
						return
					}
					x = a.Answer(g)
				}
			}
			noticed = noticed || x.Noticed()
			if n := x.of(kind); !all && (n.By != "" && n.Reason != senseless || noticed && i+1 >= most) {
				return
			}
		}
	}
}

// one asks check after check of a kind until one is red.
func (a *Asker) one(ctx context.Context, w *workspace, x Guard, kind Kind) (Answer, error) {
	out := a.Answer(x)
	n := out.of(kind)
	*n = Notice{}
	for _, c := range a.checks {
		if c.kind != kind || !c.reads[x.Module] || !c.apt(&x) {
			continue
		}
		n.Asked++
		reason, err := a.red(ctx, w, &c, &x)
		if errors.Is(err, errLate) {
			n.Late, err = n.Late+1, nil
		}
		if err != nil {
			return out, fmt.Errorf("%s: %w", c.name, err)
		}
		if reason != "" {
			n.By, n.Reason = c.name, reason
			return out, a.isGreen(ctx, w, &c)
		}
	}
	return out, nil
}

// red asks a check for a change, which is taken back.
func (a *Asker) red(ctx context.Context, w *workspace, c *check, x *Guard) (string, error) {
	path, text := a.paths[x.Module], a.texts[x.Module]
	if err := w.put(path, x.in(text)); err != nil {
		return "", err
	}
	reason, err := c.red(ctx, w)
	if back := w.put(path, text); back != nil {
		err = errors.Join(err, back)
	}
	return reason, err
}

// isGreen asks a check, once, for the specification as it is.
func (a *Asker) isGreen(ctx context.Context, w *workspace, c *check) error {
	a.mu.Lock()
	once := a.green[c.name]
	if once == nil {
		once = &sync.Once{}
		a.green[c.name] = once
	}
	a.mu.Unlock()
	once.Do(func() {
		reason, err := c.red(ctx, w)
		if err == nil && reason != "" {
			err = fmt.Errorf("is red without a change: %s", reason)
		}
		if err == nil {
			err = a.write(line{Green: c.name})
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", c.name, err)
		}
		a.mu.Lock()
		a.without[c.name] = err
		a.mu.Unlock()
	})
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.without[c.name]
}
