package guards

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"purgelab/traces/models"
	"purgelab/traces/tlc"
)

// Answer is what came of one change.
type Answer struct {
	Guard
	// NoticedBy names the check that is red; empty: none is.
	NoticedBy string `json:"noticedBy,omitempty"`
	Reason    string `json:"reason,omitempty"` // what it says
	Asked     int    `json:"asked"`            // checks
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

// NewAsker reads the specification of the project in root. Answers are kept in the folder
// kept, in a file that is named after all that TLC may read.
func NewAsker(root, kept string, tool tlc.Tool) (*Asker, error) {
	a := &Asker{root: root, kept: kept, tool: tool, answers: map[string]Answer{}, green: map[string]*sync.Once{}, without: map[string]error{}}
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

// open reads answers that were kept.
func (a *Asker) open() error {
	h := sha256.New()
	fmt.Fprintln(h, a.tool.Build)
	for _, d := range []string{"spec", traceModules} {
		err := fs.WalkDir(os.DirFS(filepath.Join(a.root, d)), ".", func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			text, err := os.ReadFile(filepath.Join(a.root, d, name))
			fmt.Fprintf(h, "%q %q\n", name, text)
			return err
		})
		if err != nil {
			return err
		}
	}
	if err := os.MkdirAll(a.kept, 0o777); err != nil {
		return err
	}
	var err error
	a.file, err = os.OpenFile(filepath.Join(a.kept, hex.EncodeToString(h.Sum(nil)[:8])+".jsonl"), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(a.file)
	for lines.Scan() {
		var x Answer
		if json.Unmarshal(lines.Bytes(), &x) == nil { // else it was cut off
			a.answers[x.String()] = x
		}
	}
	return lines.Err()
}

// Guards lists those of all modules but the bounds of models, by module.
func (a *Asker) Guards() (map[string][]Guard, error) {
	properties, err := a.properties()
	if err != nil {
		return nil, err
	}
	out := map[string][]Guard{}
	for name := range a.texts {
		if strings.HasPrefix(name, "MC") || strings.HasPrefix(name, "Matrix") {
			continue
		}
		seen := map[string]bool{}
		for _, g := range Find(a.texts, name, properties) {
			if !seen[g.String()] { // the same said twice is asked for once
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

// Ask asks for each of the guards what was not answered before, so many at a time.
func (a *Asker) Ask(ctx context.Context, list []Guard, jobs int, done func(Answer)) error {
	dir, err := os.MkdirTemp("", "purgelab-guards-")
	if err != nil {
		return fmt.Errorf("guards: %w", err)
	}
	defer os.RemoveAll(dir)
	work := make(chan Guard)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer close(work)
		for _, x := range list {
			if _, have := a.Answer(x); have {
				continue
			}
			select {
			case work <- x:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	for i := range jobs {
		g.Go(func() error {
			w, err := newWorkspace(a.root, filepath.Join(dir, fmt.Sprint(i)), a.tool)
			if err != nil {
				return err
			}
			for x := range work {
				answer, err := a.one(ctx, w, x)
				if err != nil {
					return fmt.Errorf("%v: %w", &x, err)
				}
				if err := a.keep(answer); err != nil {
					return err
				}
				done(answer)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return fmt.Errorf("guards: %w", err)
	}
	return nil
}

// one asks check after check until one is red.
func (a *Asker) one(ctx context.Context, w *workspace, x Guard) (Answer, error) {
	out := Answer{Guard: x}
	path, text := a.paths[x.Module], a.texts[x.Module]
	for _, c := range a.checks {
		if !c.reads[x.Module] || !c.apt(&x) {
			continue
		}
		if err := w.put(path, x.in(text)); err != nil {
			return out, err
		}
		reason, err := c.red(ctx, w)
		if err := errors.Join(err, w.put(path, text)); err != nil {
			return out, fmt.Errorf("%s: %w", c.name, err)
		}
		out.Asked++
		if reason != "" {
			out.NoticedBy, out.Reason = c.name, reason
			return out, a.isGreen(ctx, w, &c)
		}
	}
	return out, nil
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

// keep writes an answer down.
func (a *Asker) keep(x Answer) error {
	line, err := json.Marshal(x)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answers[x.String()] = x
	_, err = a.file.Write(append(line, '\n'))
	return err
}

// Answer is what is known of a guard.
func (a *Asker) Answer(g Guard) (Answer, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	x, ok := a.answers[g.String()]
	return x, ok
}

// Close closes the file of answers.
func (a *Asker) Close() error { return a.file.Close() }
