package guards

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// says is a check of the toy: it is red if a word is not in the module.
type says struct {
	kind Kind
	text string
}

// toy is an asker of a module with five guards, whose checks read the module as it is in
// the workspace.
func toy(t *testing.T, folder string, others map[string]string, words ...says) (*Asker, []Guard) {
	root := t.TempDir()
	for _, d := range []string{"spec", traceModules, samples, filepath.Join("traces", "replay", "testdata"), ".tools"} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, d), 0o777))
	}
	path, text := filepath.Join("spec", "Toy.tla"), "EXTENDS More\nA ==\n    /\\ one\n    /\\ two\n    /\\ three\n    /\\ four\n    /\\ five\n    /\\ x' = 1\n"
	require.NoError(t, os.WriteFile(filepath.Join(root, path), []byte(text), 0o666))
	a := &Asker{root: root, texts: map[string]string{"Toy": text}, paths: map[string]string{"Toy": path}}
	maps.Copy(a.texts, others)
	var checks []check
	for _, w := range words {
		checks = append(checks, check{name: "check of " + w.text, kind: w.kind, modules: []string{"Toy"},
			red: func(_ context.Context, s *workspace) (string, error) {
				got, err := os.ReadFile(s.in(path))
				if err != nil || strings.Contains(string(got), w.text) {
					return "", err
				}
				return w.text + " is not there", nil
			}})
	}
	require.NoError(t, a.open(folder, checks))
	t.Cleanup(func() { require.NoError(t, a.Close()) })
	of, err := a.Guards()
	require.NoError(t, err)
	require.Len(t, of["Toy"], 5)
	return a, of["Toy"]
}

// asked walks, and returns what checks were asked, and for what.
func asked(t *testing.T, a *Asker, list []Guard, all bool) (out []string) {
	for i := range a.checks {
		c := &a.checks[i]
		red := c.red
		c.red = func(ctx context.Context, w *workspace) (string, error) {
			got, err := os.ReadFile(w.in(a.paths["Toy"]))
			require.NoError(t, err)
			changed := "nothing"
			for _, g := range list {
				if !strings.Contains(string(got), g.Text) {
					changed = g.Text
				}
			}
			out = append(out, c.name+": "+changed)
			return red(ctx, w)
		}
		defer func() { c.red = red }()
	}
	require.NoError(t, a.Walk(context.Background(), [][]Guard{list}, all, 1, func(*Guard, Answer) {}))
	return out
}

// Ties are asked until one notices a guard, and then whether it is green without. What was
// answered is not asked again.
func TestWalk(t *testing.T) {
	folder := t.TempDir()
	words := []says{{Tie, "three"}, {Model, "two"}}
	a, list := toy(t, folder, nil, words...)
	want := []string{"check of three: one", "check of three: two", "check of three: three", "check of three: nothing"}
	require.Equal(t, want, asked(t, a, list, false))
	require.Empty(t, asked(t, a, list, false))

	b, list := toy(t, folder, nil, words...)
	require.Empty(t, asked(t, b, list, false), "answers are kept")
	require.Equal(t, []string{"check of two: one", "check of two: two", "check of two: nothing", "check of three: four", "check of two: four", "check of three: five", "check of two: five"}, asked(t, b, list, true))
	require.Contains(t, b.Page(map[string][]Guard{"Toy": list}), "| Toy | 5 | 5 | 1 | 1 | 0 | 3 |")
	require.Contains(t, b.Page(map[string][]Guard{"Toy": list}), "| Toy | A | `three` | dropped | check of three: three is not there |")
	slices.Reverse(list)
	require.Empty(t, asked(t, b, list, false), "one is known to be noticed")
	x, y := b.Answer(&list[4]), b.Answer(&list[3])
	require.True(t, x.Unnoticed())
	require.False(t, y.Unnoticed())
}

// Answers hold while what a check reads is the same, whatever else is changed.
func TestAnswersHold(t *testing.T) {
	folder := t.TempDir()
	a, list := toy(t, folder, nil, says{Tie, "one"})
	require.NotEmpty(t, asked(t, a, list, false))
	a, list = toy(t, folder, map[string]string{"Other": "A == TRUE\n"}, says{Tie, "one"})
	require.Empty(t, asked(t, a, list, false))
	a, list = toy(t, folder, map[string]string{"More": "A == TRUE\n"}, says{Tie, "one"})
	require.NotEmpty(t, asked(t, a, list, false))
}

// When what they read was changed, who noticed a guard is asked for it first.
func TestWhoNoticedIsAskedAgain(t *testing.T) {
	folder := t.TempDir()
	a, list := toy(t, folder, nil, says{Tie, "five"}, says{Tie, "three"})
	require.Len(t, asked(t, a, list, false), 4+3+1)
	a, list = toy(t, folder, map[string]string{"More": "A == TRUE\n"}, says{Tie, "five"}, says{Tie, "three"})
	require.Equal(t, []string{"check of three: three", "check of three: nothing"}, asked(t, a, list, false))
}

// One tie is asked for a few guards before the next one is.
func TestTiesInTurn(t *testing.T) {
	a, list := toy(t, t.TempDir(), nil, says{Tie, "five"}, says{Tie, "two"})
	require.Equal(t, []string{"check of five: one", "check of five: two", "check of five: three", "check of five: four", "check of two: one", "check of two: two", "check of two: nothing"}, asked(t, a, list, false))
}

// Models are asked when ties notice none of a few guards, or do not read the module: for
// all guards.
func TestModelsComeLast(t *testing.T) {
	a, list := toy(t, t.TempDir(), nil, says{Tie, "five"}, says{Model, "two"})
	require.Equal(t, []string{"check of five: one", "check of five: two", "check of five: three", "check of five: four", "check of two: one", "check of two: two", "check of two: nothing"}, asked(t, a, list, false))
	a, list = toy(t, t.TempDir(), nil, says{Model, "x'"})
	require.Len(t, asked(t, a, list, false), 5)

	a, list = toy(t, t.TempDir(), nil, says{Tie, "x'"})
	require.Len(t, asked(t, a, list, false), 5, "where there are no models ties are asked for all")

	a, list = toy(t, t.TempDir(), nil, says{Tie, "one"}, says{Model, "x'"})
	a.checks[0].notices = func(g *Guard) bool { return g.Text == "one" }
	require.Len(t, asked(t, a, list, false), 5, "most are not what a tie can notice")

	a, list = toy(t, t.TempDir(), nil, says{Model, "x'"}, says{Model, "one"})
	a.checks[1].notices = func(g *Guard) bool { return g.Text != "two" }
	require.Equal(t, "check of x': two", asked(t, a, list, false)[0], "whom the fewest can notice")
}

// A check that is red without a change counts for nothing.
func TestRedWithoutAChange(t *testing.T) {
	a, list := toy(t, t.TempDir(), nil, says{Model, "six"})
	err := a.Walk(context.Background(), [][]Guard{list}, false, 1, func(*Guard, Answer) {})
	require.ErrorContains(t, err, "check of six: is red without a change: six is not there")
	require.Empty(t, a.Answer(&list[0]).By)
}

// A change of which TLC makes nothing is not noticed, and needs no reason.
func TestSenseless(t *testing.T) {
	a, list := toy(t, t.TempDir(), nil, says{Tie, "one"})
	a.checks[0].red = func(context.Context, *workspace) (string, error) { return senseless, nil }
	require.Len(t, asked(t, a, list[:1], false), 1)
	x := a.Answer(&list[0])
	require.Equal(t, Answer{Asked: 1, Senseless: 1}, x)
	require.False(t, x.Unnoticed())
	require.Contains(t, a.Page(map[string][]Guard{"Toy": list}), "| Toy | 5 | 1 | 0 | 0 | 1 | 0 |")
}

// A check without an answer in time has not been asked.
func TestLate(t *testing.T) {
	a, list := toy(t, t.TempDir(), nil, says{Model, "one"})
	red := a.checks[0].red
	a.checks[0].red = func(context.Context, *workspace) (string, error) { return "", errLate }
	require.Len(t, asked(t, a, list[:1], false), 1)
	require.Equal(t, Answer{Left: 1}, a.Answer(&list[0]))
	a.checks[0].red = red
	require.Equal(t, []string{"check of one: one", "check of one: nothing"}, asked(t, a, list[:1], false))
	require.Equal(t, Answer{Kind: Model, By: "check of one", Says: "one is not there", Asked: 1}, a.Answer(&list[0]))
}
