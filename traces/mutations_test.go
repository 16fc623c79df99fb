package traces_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"purgelab/linearizability/run"
	"purgelab/traces"
	"purgelab/traces/tlc"
)

var (
	mutations     = flag.Int("mutations", 40, "single-field mutations of traces; of the other kinds a fifth each")
	mutationsPage = flag.String("mutations-page", "", "file for the table")
)

// mutated are runs whose traces are mutated: good ones, each design, policy and size
// among them.
var mutated = []run.Settings{
	{Design: "ordered", Replicas: 1, Faults: "all", Seed: 1},
	{Design: "ordered", Replicas: 3, Faults: "all", Seed: 5},
	{Design: "ordered", Replicas: 3, Faults: "power-all", Messages: "replicated", Bookmarks: "replicated", Seed: 6},
	{Design: "ordered", Replicas: 5, Faults: "process", Seed: 2},
	{Design: "ordered", Replicas: 3, Faults: "all", CompactOps: 4, Seed: 10},
	{Design: "ordered", Replicas: 3, Faults: "power-all", Messages: "replicated", Bookmarks: "replicated", CompactOps: 4, Seed: 12},
	{Design: "advance", Replicas: 1, Faults: "all", Messages: "replicated", Seed: 3},
	{Design: "advance", Replicas: 3, Faults: "all", Seed: 2},
	{Design: "advance", Replicas: 3, Faults: "memory", CompactOps: 4, Seed: 3},
	{Design: "reset-record", Replicas: 1, Faults: "all", Seed: 2},
	{Design: "reset-record", Replicas: 3, Faults: "cleanup", Seed: 19},
	{Design: "reset-record", Replicas: 3, Faults: "power-all", Messages: "replicated", Bookmarks: "replicated", Seed: 1},
	{Design: "reset-record", Replicas: 3, Faults: "all", CompactOps: 4, Seed: 6},
}

// mutant is a trace that was changed in one place.
type mutant struct {
	of     string // the kind of change, as the table names it
	what   string // what was changed: Commit.term
	change string // of a field: from what to what, in which line
	text   []byte
	name   string
	in     *text // that was changed, at line at
	at     int
}

// text is a trace as lines, and as what they say.
type text struct {
	name  string
	lines [][]byte
	said  []map[string]any
}

func textOf(t *testing.T, s run.Settings) text {
	s.Ops = 40
	r, err := run.Run(context.Background(), s)
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, r.WriteTrace(&b))
	out := text{name: r.Settings.Replay(), lines: bytes.Split(bytes.TrimSpace(b.Bytes()), []byte("\n"))}
	for _, l := range out.lines {
		out.said = append(out.said, said(t, l))
	}
	return out
}

func said(t *testing.T, line []byte) map[string]any {
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.UseNumber()
	var m map[string]any
	require.NoError(t, dec.Decode(&m))
	return m
}

func (x *text) mutant(of, what string, at int, lines [][]byte) mutant {
	return mutant{of: of, what: what, in: x, at: at, text: append(bytes.Join(lines, []byte("\n")), '\n'), name: fmt.Sprintf("%s:%d: %s of %s", x.name, at+1, of, what)}
}

// field gives one field of a random event another value: that of another event, or, if
// all have the same, one beside it.
func (x *text) field(t *testing.T, r *rand.Rand) mutant {
	i := 1 + r.IntN(len(x.lines)-1)
	e := maps.Clone(x.said[i])
	names := slices.Sorted(maps.Keys(e))
	name := names[r.IntN(len(names))]
	var others []any
	for _, o := range x.said[1:] {
		if v, ok := o[name]; ok && v != e[name] {
			others = append(others, v)
		}
	}
	old := e[name]
	switch n, number := old.(json.Number); {
	case len(others) > 0:
		e[name] = others[r.IntN(len(others))]
	case number:
		v, err := n.Int64()
		require.NoError(t, err)
		e[name] = v + []int64{-1, 1}[r.IntN(2)]
	default:
		e[name] = fmt.Sprint(old, "x")
	}
	lines := slices.Clone(x.lines)
	var err error
	lines[i], err = json.Marshal(e)
	require.NoError(t, err)
	m := x.mutant("field", fmt.Sprintf("%s.%s", e["action"], name), i, lines)
	m.change = fmt.Sprintf("%v -> %v in %s", old, e[name], x.lines[i])
	return m
}

// lost leaves out an event; the header may count the others.
func (x *text) lost(t *testing.T, r *rand.Rand, counted bool) mutant {
	i := 1 + r.IntN(len(x.lines)-1)
	lines := slices.Delete(slices.Clone(x.lines), i, i+1)
	m := x.left(t, "event lost", fmt.Sprint(x.said[i]["action"]), i, lines, counted)
	m.change = string(x.lines[i])
	return m
}

// cut leaves out all events from one on, behind the first op that took effect; the header
// may count the others.
func (x *text) cut(t *testing.T, r *rand.Rand, counted bool) mutant {
	first := 1 + slices.IndexFunc(x.said, func(e map[string]any) bool { return e["action"] == "Materialize" })
	i := first + r.IntN(len(x.lines)-first)
	return x.left(t, "end lost", "trace", i, x.lines[:i], counted)
}

func (x *text) left(t *testing.T, of, what string, at int, lines [][]byte, counted bool) mutant {
	if counted {
		of += corrected
		h := maps.Clone(x.said[0])
		h["events"] = len(lines) - 1
		header, err := json.Marshal(h)
		require.NoError(t, err)
		lines = slices.Clone(lines)
		lines[0] = header
	}
	return x.mutant(of, what, at, lines)
}

// order exchanges two events of a replica; times stay in order.
func (x *text) order(t *testing.T, r *rand.Rand) mutant {
	for {
		i, j := 1+r.IntN(len(x.lines)-1), 1+r.IntN(len(x.lines)-1)
		a, b := maps.Clone(x.said[i]), maps.Clone(x.said[j])
		if i >= j || a["replica"] != b["replica"] || a["partition"] != b["partition"] {
			continue
		}
		a["t"], b["t"] = b["t"], a["t"]
		if maps.Equal(b, x.said[i]) {
			continue
		}
		lines := slices.Clone(x.lines)
		var errA, errB error
		lines[i], errA = json.Marshal(b)
		lines[j], errB = json.Marshal(a)
		require.NoError(t, errors.Join(errA, errB))
		m := x.mutant("order", fmt.Sprintf("%s, %s", a["action"], b["action"]), i, lines)
		m.change = fmt.Sprintf("%s <-> %s", x.lines[i], x.lines[j])
		return m
	}
}

// TestMutations: a good trace that is changed in one place is accepted no more, but
// for changes of which the table says why they are.
func TestMutations(t *testing.T) {
	var texts []text
	for _, s := range mutated {
		texts = append(texts, textOf(t, s))
	}
	// A kind has draws of its own, so that few changes are the first of many.
	draws := func(kind uint64, change func(*text, *rand.Rand) mutant) func() mutant {
		r := rand.New(rand.NewPCG(1, kind))
		return func() mutant { return change(&texts[r.IntN(len(texts))], r) }
	}
	field := draws(0, func(x *text, r *rand.Rand) mutant { return x.field(t, r) })
	others := []func() mutant{
		draws(1, func(x *text, r *rand.Rand) mutant { return x.lost(t, r, false) }),
		draws(2, func(x *text, r *rand.Rand) mutant { return x.lost(t, r, true) }),
		draws(3, func(x *text, r *rand.Rand) mutant { return x.cut(t, r, false) }),
		draws(4, func(x *text, r *rand.Rand) mutant { return x.cut(t, r, true) }),
		draws(5, func(x *text, r *rand.Rand) mutant { return x.order(t, r) }),
	}
	var all []mutant
	for range *mutations {
		all = append(all, field())
	}
	for range *mutations / 5 {
		for _, change := range others {
			all = append(all, change())
		}
	}
	var list []*traces.Trace
	var of []int
	outcome := make([]string, len(all))
	for i, m := range all {
		tr, err := traces.Read(bytes.NewReader(m.text), m.name)
		if err != nil {
			outcome[i] = "refused"
			continue
		}
		list, of = append(list, tr), append(of, i)
	}
	tool, err := tlc.Find(context.Background(), "../.tools", io.Discard)
	require.NoError(t, err)
	reports, err := traces.Validate(context.Background(), tool, traces.Options{Spec: "../spec", Jobs: 2, Timeout: 10 * time.Minute}, list)
	require.NoError(t, err)
	for k, rep := range reports {
		switch rep.Verdict {
		case tlc.Fail:
			outcome[of[k]] = "rejected"
		case tlc.Pass:
			outcome[of[k]] = "accepted"
		default:
			outcome[of[k]] = "undecided"
		}
	}
	table := outcomes{counts: map[string]map[string]int{}, kept: map[string]int{}, used: map[int]bool{}}
	for i := range all {
		table.add(t, &all[i], outcome[i])
	}
	t.Logf("%s", table.page())
	for of, least := range leastNoticed {
		if *mutations < 1000 {
			least -= 15 // few say little of the share
		}
		caught, count := table.caught(of), table.total(of)
		require.GreaterOrEqual(t, caught*100, least*count, "%s: %d of %d are noticed", of, caught, count)
	}
	require.Zero(t, table.counts[prefix]["rejected"], "a beginning of a good trace is a good trace")
	if *mutations >= 1000 {
		for i, u := range unnoticed {
			require.True(t, table.used[i], "%v excuses nothing", u)
		}
	}
	if *mutationsPage != "" {
		require.NoError(t, os.WriteFile(*mutationsPage, []byte(table.page()), 0o644))
	}
}
