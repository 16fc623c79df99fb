package guards

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"
)

// few is how many guards of a module ties are asked for in vain before models are.
const few = 4

// asking asks a check for a change: whether that is noticed.
type asking func(*check, *Guard) (bool, error)

// Walk asks for the guards of each list, which are one module's: for all of them, or until
// one is noticed. So many lists are walked at a time.
func (a *Asker) Walk(ctx context.Context, lists [][]Guard, all bool, jobs int, done func(*Guard, Answer)) error {
	dir, err := os.MkdirTemp("", "purgelab-guards-")
	if err != nil {
		return fmt.Errorf("guards: %w", err)
	}
	defer os.RemoveAll(dir)
	work := make(chan []Guard, len(lists))
	for _, l := range lists {
		work <- l
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
			ask := func(c *check, g *Guard) (bool, error) {
				noticed, err := a.notices(ctx, w, c, g)
				done(g, a.Answer(g))
				return noticed, err
			}
			walk := a.each
			if all {
				walk = a.every
			}
			for list := range work {
				if err := walk(list, ask); err != nil {
					return err
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

// every asks for all guards, each until it is noticed.
func (a *Asker) every(list []Guard, ask asking) error {
	for i := range list {
		if _, err := a.until(list[i:i+1], "", ask); err != nil {
			return err
		}
	}
	return nil
}

// each asks for guards until one is noticed: first whoever noticed one when asked last, what
// they read may have changed since; then ties for the first few guards, unless most are
// properties, which they cannot notice; then models for a few at a time, first those that
// the fewest can notice: properties, which few models are there to miss. What no model reads ties are asked all of.
func (a *Asker) each(list []Guard, ask asking) error {
	for _, k := range []Kind{Tie, Model} {
		for i := range list {
			c := a.noticedBy(&list[i])
			if c == nil || c.kind != k {
				continue
			}
			if noticed, err := ask(c, &list[i]); noticed || err != nil {
				return err
			}
		}
	}
	for _, k := range []Kind{Tie, Model} {
		var can []Guard
		for _, g := range list {
			if a.able(&g, k) > 0 {
				can = append(can, g)
			}
		}
		if k == Tie && 2*len(can) < len(list) {
			continue
		}
		slices.SortStableFunc(can, func(x, y Guard) int { return cmp.Compare(a.able(&x, k), a.able(&y, k)) })
		for some := range slices.Chunk(can, few) {
			if noticed, err := a.until(some, k, ask); noticed || err != nil {
				return err
			}
			if k == Tie && slices.ContainsFunc(list, func(g Guard) bool { return a.able(&g, Model) > 0 }) {
				break
			}
		}
	}
	return nil
}

// noticedBy is the check that noticed a guard when it was asked last, if there is one.
func (a *Asker) noticedBy(g *Guard) *check {
	name := a.kept.noticedBy(g)
	i := slices.IndexFunc(a.checks, func(c check) bool { return c.name == name && c.can(g) })
	if i < 0 {
		return nil
	}
	return &a.checks[i]
}

// until asks check after check, each for all of a list, until one notices; without a kind
// all checks.
func (a *Asker) until(list []Guard, k Kind, ask asking) (noticed bool, err error) {
	for i := range a.checks {
		c := &a.checks[i]
		if k != "" && k != c.kind {
			continue
		}
		for j := range list {
			if !c.can(&list[j]) {
				continue
			}
			if noticed, err := ask(c, &list[j]); noticed || err != nil {
				return noticed, err
			}
		}
	}
	return false, nil
}
