package guards

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// toy is an asker of one module, whose checks read the module as it is in the workspace:
// a check is red if a word of its own is not in it.
func toy(t *testing.T, kept string, words map[string]Kind) (*Asker, []Guard) {
	root := t.TempDir()
	for _, d := range []string{"spec", traceModules, samples, filepath.Join("traces", "replay", "testdata"), ".tools"} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, d), 0o777))
	}
	path, text := filepath.Join("spec", "Toy.tla"), "A ==\n    /\\ one\n    /\\ two\n    /\\ three\n    /\\ four\n    /\\ x' = 1\n"
	require.NoError(t, os.WriteFile(filepath.Join(root, path), []byte(text), 0o666))
	a := newAsker(root, kept)
	a.texts, a.paths = map[string]string{"Toy": text}, map[string]string{"Toy": path}
	for w, k := range words {
		a.checks = append(a.checks, check{name: "check of " + w, kind: k, reads: map[string]bool{"Toy": true}, apt: func(*Guard) bool { return true },
			red: func(_ context.Context, s *workspace) (string, error) {
				got, err := os.ReadFile(s.in(path))
				if err != nil || strings.Contains(string(got), w) {
					return "", err
				}
				return w + " is not there", nil
			}})
	}
	require.NoError(t, a.open())
	t.Cleanup(func() { require.NoError(t, a.Close()) })
	of, err := a.Guards()
	require.NoError(t, err)
	require.Len(t, of["Toy"], 4)
	return a, of["Toy"]
}

// walk asks all kinds, and returns whom it asked of what.
func walk(t *testing.T, a *Asker, list []Guard, all bool) []string {
	var out []string
	for _, k := range kinds {
		require.NoError(t, a.Walk(context.Background(), k, [][]Guard{list}, all, 1, func(x Answer) {
			out = append(out, string(k)+" "+x.Text+" "+x.of(k).By)
		}))
	}
	return out
}

// Guards are asked for until one is noticed, by each kind of check; what was answered is
// not asked again.
func TestWalk(t *testing.T) {
	kept := t.TempDir()
	a, list := toy(t, kept, map[string]Kind{"two": Model, "three": Tie})
	require.Equal(t, []string{"model one ", "model two check of two", "tie one ", "tie two ", "tie three check of three"}, walk(t, a, list, false))
	require.Empty(t, walk(t, a, list, false))
	b, list := toy(t, kept, map[string]Kind{"two": Model, "three": Tie})
	require.Empty(t, walk(t, b, list, false), "answers are kept")
	require.Equal(t, []string{"model four ", "tie four "}, walk(t, b, list, true))
	require.True(t, b.Asked(list[0]))
	page := b.Page(map[string][]Guard{"Toy": list})
	require.Contains(t, page, "| Toy | 4 | 4 | 1 | 1 | 2 |")
	require.Contains(t, page, "| Toy | A | `three` | dropped | not asked | check of three: three is not there |")
}

// A kind of check that notices none gives up, if another notices one.
func TestWalkGivesUp(t *testing.T) {
	a, list := toy(t, t.TempDir(), map[string]Kind{"one": Model, "x'": Tie})
	require.Equal(t, []string{"model one check of one", "tie one ", "tie two ", "tie two ", "tie three ", "tie three "}, walk(t, a, list, false), "of what ties do not notice models are asked")
	a, list = toy(t, t.TempDir(), map[string]Kind{"x'": Model})
	require.Len(t, walk(t, a, list, false), 4)
}

// A check that is red without a change counts for nothing.
func TestRedWithoutAChange(t *testing.T) {
	a, list := toy(t, t.TempDir(), map[string]Kind{"five": Model})
	err := a.Walk(context.Background(), Model, [][]Guard{list}, false, 1, func(Answer) {})
	require.ErrorContains(t, err, "check of five: is red without a change: five is not there")
}

// A check without an answer in time has not been asked.
func TestLate(t *testing.T) {
	a, list := toy(t, t.TempDir(), map[string]Kind{"one": Model})
	red := a.checks[0].red
	a.checks[0].red = func(context.Context, *workspace) (string, error) { return "", errLate }
	require.Len(t, walk(t, a, list[:1], false), 1)
	require.False(t, a.Asked(list[0]))
	require.Contains(t, a.Page(map[string][]Guard{"Toy": list}), "none of 1, 1 without an answer in time")
	a.checks[0].red = red
	require.Equal(t, []string{"model one check of one"}, walk(t, a, list[:1], false))
	require.True(t, a.Asked(list[0]))
}
