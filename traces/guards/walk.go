package guards

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"
)

// few is how many guards of a module ties are asked for in vain before models are.
const few = 3

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
			ask := func(g *Guard, k Kind) (bool, error) {
				noticed, err := a.ask(ctx, w, g, k)
				done(g, a.Answer(g))
				return noticed, err
			}
			for list := range work {
				if err := walk(list, all, a.askable, ask); err != nil {
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

// walk asks ties for a few guards of a module until they notice one, then models; or for
// all guards, of each first ties and then models.
func walk(list []Guard, all bool, askable func(*Guard, Kind) bool, ask func(*Guard, Kind) (bool, error)) error {
	if all {
		for i := range list {
			if noticed, err := ask(&list[i], Tie); err != nil {
				return err
			} else if noticed {
				continue
			}
			if _, err := ask(&list[i], Model); err != nil {
				return err
			}
		}
		return nil
	}
	for _, k := range []Kind{Tie, Model} {
		asked := 0
		for i := range list {
			if !askable(&list[i], k) || k == Tie && asked == few {
				continue
			}
			asked++
			if noticed, err := ask(&list[i], k); noticed || err != nil {
				return err
			}
		}
	}
	return nil
}
