package guards

import (
	"context"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"purgelab/traces/tlc"
)

var (
	which      = flag.String("guards", "few", "few, one for each kind of check; of each module until one is noticed; all; or all of modules, by name")
	pageFile   = flag.String("guards-page", "", "file for the table")
	keptFolder = flag.String("guards-kept", "", "folder in which answers are kept")
)

// asker reads the specification of the project.
func asker(t *testing.T, kept string) (*Asker, map[string][]Guard) {
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	tool, err := tlc.Find(context.Background(), filepath.Join(root, ".tools"), os.Stderr)
	require.NoError(t, err)
	a, err := NewAsker(root, kept, tool)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.Close()) })
	of, err := a.Guards()
	require.NoError(t, err)
	return a, of
}

// TestGuards: of each module a guard that is changed is noticed, and of those that were
// not it is listed why. What is not asked when the time is up is asked the next time.
func TestGuards(t *testing.T) {
	if *which == "few" {
		t.Skip("TestKinds asks for few")
	}
	a, of := asker(t, *keptFolder)
	ctx := context.Background()
	if end, ok := t.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, end.Add(-20*time.Second))
		defer cancel()
	}
	names := slices.Sorted(maps.Keys(of))
	if *which != "all" && *which != "each" {
		names = strings.Split(*which, ",")
	}
	var lists [][]Guard
	for _, m := range names {
		require.Contains(t, of, m)
		half := len(of[m]) / 2
		lists = append(lists, slices.Concat(of[m][half:], of[m][:half]))
	}
	err := a.Walk(ctx, lists, *which != "each", runtime.GOMAXPROCS(0), func(g *Guard, x Answer) { t.Logf("%v: %s", g, x.said(g)) })
	if *pageFile != "" {
		require.NoError(t, os.WriteFile(*pageFile, []byte(a.Page(of)), 0o666))
	}
	require.NoError(t, err)
	for _, m := range names {
		noticed := false
		for i := range of[m] {
			g := &of[m][i]
			x := a.Answer(g)
			noticed = noticed || x.By != ""
			switch why := Why(g); {
			case x.Unnoticed() && why == "":
				t.Errorf("%v: nobody notices, and nothing says why", g)
			case x.By != "" && why != "":
				t.Errorf("%v: is listed as never noticed, and is: %s", g, x.said(g))
			}
		}
		require.True(t, noticed, "%s: no guard that is changed is noticed", m)
	}
}

// What is listed are guards, and the page has each module that has some.
func TestListed(t *testing.T) {
	_, of := asker(t, t.TempDir())
	page, err := os.ReadFile("../../docs/spec-mutations.md")
	require.NoError(t, err)
	for m := range of {
		assert.True(t, strings.Contains(string(page), "\n| "+m+" | "), "%s: make spec-mutations", m)
	}
	for _, l := range listed {
		require.True(t, slices.ContainsFunc(of[l.module], func(g Guard) bool { return g.Name == l.name && strings.HasPrefix(g.Text, l.text) }), "%v: is listed, and no guard", l)
	}
}

// What behaviours are read off is replayed: a tie reads each of these modules itself, and runs
// where a workspace has a place for it.
func TestReplays(t *testing.T) {
	a, _ := asker(t, t.TempDir())
	for _, c := range a.checks {
		require.True(t, c.pkg == "" || slices.Contains(packages, filepath.FromSlash(c.pkg)), "%s: %s", c.name, c.pkg)
	}
	for name := range a.texts {
		if strings.HasPrefix(name, "SIM") {
			require.True(t, slices.ContainsFunc(a.checks, func(c check) bool { return c.kind == Tie && slices.Contains(c.modules, name) }), "no tie replays %s", name)
		}
	}
}

// The contract is asked for first by whoever reads little else.
func TestTiesThatReadTheLeastComeFirst(t *testing.T) {
	a, _ := asker(t, t.TempDir())
	i := slices.IndexFunc(a.checks, func(c check) bool { return c.reads["Contract"] })
	require.Equal(t, "model ≡ specification", a.checks[i].name)
	require.True(t, slices.IsSortedFunc(a.checks, func(x, y check) int { return strings.Compare(string(y.kind), string(x.kind)) }), "ties before models")
}

const sample = `---- MODULE Sample ----
EXTENDS Integers, \* a remark
        Other
(* It's a comment: /\ x = 1 *)
VARIABLE x
SampleInit == /\ x = 0
Low(n) == n < 3
Few == {y \in {1, 2} : y # x} \cup {y : y \in {3}}
Sets(n) == x' = n
Holds == x < 9
(* ACTION Step *)
Step(n) ==
    /\ MayStep(n)
    /\ Taken
    /\ Low(n)
       \* DEFECT Loose: don't
    /\ Loose \/ (x # n
                  /\ x # 4)
    /\ \E m \in 1 .. n :
        /\ m > x
        /\ x' = IF m > 2 THEN m ELSE IF Loose THEN 0 ELSE x
Through ==
    /\ Sets(1)
    /\ UNCHANGED x
Keeps == INSTANCE Other
====
`

func TestFind(t *testing.T) {
	var got []string
	for _, g := range Find(map[string]string{"Sample": sample}, map[string]bool{"Holds": true})["Sample"] {
		got = append(got, g.String()+" -> "+g.in(sample)[g.from:g.from+len(g.instead)])
	}
	require.Equal(t, []string{
		"Sample!Few: y # x: dropped -> TRUE",
		"Sample!Holds: x < 9: always true -> TRUE",
		"Sample!Step: Low(n): dropped -> TRUE",
		`Sample!Step: Loose \/ (x # n /\ x # 4): dropped -> TRUE`,
		"Sample!Step: m > x: dropped -> TRUE",
		"Sample!Step: m > 2: turned round -> ~(m > 2)",
	}, got)
	seen := map[string]bool{}
	read(map[string]string{"Sample": sample, "Other": "EXTENDS Sample", "Step": ""}, "Sample", seen)
	require.Equal(t, map[string]bool{"Sample": true, "Other": true}, seen)
}
