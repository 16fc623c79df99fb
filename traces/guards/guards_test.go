package guards

import (
	"context"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"purgelab/traces/tlc"
)

var (
	which = flag.String("guards", "few", "few guards of small modules, each module's one, or all")
	page  = flag.String("guards-page", "", "file for the table")
	kept  = flag.String("guards-kept", "", "folder in which answers are kept")
)

// few are modules whose models take a few seconds.
var few = []string{"Intent", "Agreement"}

// chosen are the guards that are asked for. Of each module it is the middle one of those
// that somebody has to notice.
func chosen(a *Asker, of map[string][]Guard) []Guard {
	var out []Guard
	for _, m := range slices.Sorted(maps.Keys(of)) {
		list := of[m]
		if *which != "all" {
			list = slices.DeleteFunc(slices.Clone(list), func(g Guard) bool { return a.Why(g) != "" })
			list = list[len(list)/2:][:min(1, len(list))]
		}
		if *which != "few" || slices.Contains(few, m) {
			out = append(out, list...)
		}
	}
	return out
}

// TestGuards: a guard of the specification that is changed is noticed by a check, or it is
// listed why not. What is not asked when the time is up is asked the next time.
func TestGuards(t *testing.T) {
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	tool, err := tlc.Find(context.Background(), filepath.Join(root, ".tools"), os.Stderr)
	require.NoError(t, err)
	if *kept == "" {
		*kept = t.TempDir()
	}
	a, err := NewAsker(root, *kept, tool)
	require.NoError(t, err)
	defer a.Close()
	of, err := a.Guards()
	require.NoError(t, err)
	ctx := context.Background()
	if end, ok := t.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, end.Add(-20*time.Second))
		defer cancel()
	}
	for _, l := range listed {
		require.True(t, slices.ContainsFunc(of[l.module], func(g Guard) bool { return g.Change != Always && a.Why(g) == l.why }), "%v: is listed, and no guard", l)
	}
	list := chosen(a, of)
	err = a.Ask(ctx, list, runtime.NumCPU(), func(x Answer) { t.Logf("%v: %s %s", &x.Guard, x.NoticedBy, x.Reason) })
	if *page != "" {
		require.NoError(t, os.WriteFile(*page, []byte(a.Page(of)), 0o666))
	}
	require.NoError(t, err)
	for _, g := range list {
		x, asked := a.Answer(g)
		require.True(t, asked, g)
		switch why := a.Why(g); {
		case x.NoticedBy == "" && why == "":
			t.Errorf("%v: %d checks do not notice, and nothing says why", &g, x.Asked)
		case x.NoticedBy != "" && why != "":
			t.Errorf("%v: is listed as never noticed, and is by %s", &g, x.NoticedBy)
		}
	}
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
	for _, g := range Find(map[string]string{"Sample": sample}, "Sample", map[string]bool{"Holds": true}) {
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
