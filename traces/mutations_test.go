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
	"strings"
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

// unnoticed are the changes that a trace may have and still be accepted, and why: by
// the kind of change, the action, and the fields; * is any.
var unnoticed = []struct{ of, action, fields, why string }{
	{"field", "*", "t", "time is not judged, only its order"},
	{"field", "Commit", "replica", "any replica with the same state may tell a commit first"},
	{"field", "Commit", "term kind key offset count", "of an op without effect only its number counts, and of terms that they do not fall"},
	{"field", "Commit", "gen", "of reset-record it is the era of the replica, which its other events show"},
	{"field", "Answer", "*", "an answer is held to the state of its replica within bounds; what a client may see is judged by its history"},
	{"field", "Journal", "op last gen", "an op that is filtered or never applied may be anything; the era is shown by other events"},
	{"field", "Boot", "front last", "it tells what a power loss left, so another number is another loss"},
	{"field", "Checkpoint", "op", "any op that is applied and not saved may be saved"},
	{"field", "BecomeLeader", "replica term gen applied start end", "who leads is a matter of consensus: one leader a term is what is held"},
	{"field", "ChangeMembers Joined NewIncarnation Rejoin BeginSequence", "*", "membership is a matter of consensus; what a purge needs of it is held"},
	{"field", "Reclaim Hold Release Refuse UnlinkSegments SyncSegments UnlinkBookmarks SyncBookmarks ResetFrontier StepFails SyncFails RecordNotSynced RetryPurge",
		"gen op incarnation offset applied start end replica", "the step is told by its place; the state beside it is shown by other events"},
	{"field", "Serve", "gen", "of a replica that has applied nothing"},
	{"order", "*", "", "the two leave the state as it is, or do not depend on each other"},
}

// why a change is not noticed; empty: there is no reason.
func (m *mutant) why() string {
	action, field, _ := strings.Cut(m.what, ".")
	for _, u := range unnoticed {
		if u.of == m.of && (u.action == "*" || slices.Contains(strings.Fields(u.action), action)) &&
			(u.of != "field" || u.fields == "*" || slices.Contains(strings.Fields(u.fields), field)) {
			return u.why
		}
	}
	return ""
}

// mutated are runs whose traces are mutated: good ones, each design, policy and size
// among them.
var mutated = []run.Settings{
	{Design: "ordered", Replicas: 1, Faults: "all", Seed: 1},
	{Design: "ordered", Replicas: 3, Faults: "all", Seed: 5},
	{Design: "ordered", Replicas: 3, Faults: "power-all", Messages: "replicated", Bookmarks: "replicated", Seed: 6},
	{Design: "ordered", Replicas: 5, Faults: "process", Seed: 2},
	{Design: "advance", Replicas: 1, Faults: "all", Messages: "replicated", Seed: 3},
	{Design: "advance", Replicas: 3, Faults: "all", Seed: 2},
	{Design: "reset-record", Replicas: 1, Faults: "all", Seed: 2},
	{Design: "reset-record", Replicas: 3, Faults: "cleanup", Seed: 19},
	{Design: "reset-record", Replicas: 3, Faults: "power-all", Messages: "replicated", Bookmarks: "replicated", Seed: 1},
}

// mutant is a trace that was changed in one place.
type mutant struct {
	of     string // the kind of change: field, event lost, end lost, order
	what   string // what was changed: Commit.term
	change string // of a field: from what to what, in which line
	text   []byte
	name   string
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
	return mutant{of: of, what: what, text: append(bytes.Join(lines, []byte("\n")), '\n'), name: fmt.Sprintf("%s:%d: %s of %s", x.name, at+1, of, what)}
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

// lost leaves out an event.
func (x *text) lost(r *rand.Rand) mutant {
	i := 1 + r.IntN(len(x.lines)-1)
	return x.mutant("event lost", fmt.Sprint(x.said[i]["action"]), i, slices.Delete(slices.Clone(x.lines), i, i+1))
}

// cut leaves out all events from one on.
func (x *text) cut(r *rand.Rand) mutant {
	i := 2 + r.IntN(len(x.lines)-2)
	return x.mutant("end lost", "trace", i, x.lines[:i])
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
		return x.mutant("order", fmt.Sprintf("%s, %s", a["action"], b["action"]), i, lines)
	}
}

// TestMutations: a good trace that is changed in one place is accepted no more, but
// for changes of which the table says why they are.
func TestMutations(t *testing.T) {
	var texts []text
	for _, s := range mutated {
		texts = append(texts, textOf(t, s))
	}
	r := rand.New(rand.NewPCG(1, 0))
	var all []mutant
	for range *mutations {
		all = append(all, texts[r.IntN(len(texts))].field(t, r))
	}
	for range *mutations / 5 {
		x := &texts[r.IntN(len(texts))]
		all = append(all, x.lost(r), x.cut(r), x.order(t, r))
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
	table := outcomes{counts: map[string]map[string]int{}, kept: map[string]int{}}
	for i := range all {
		table.add(t, &all[i], outcome[i])
	}
	t.Logf("%s", table.page())
	caught := table.total("refused") + table.total("rejected")
	least := 95
	if *mutations < 1000 {
		least = 80 // few say little of the share
	}
	require.GreaterOrEqual(t, caught*100, least*len(all), "%d of %d changes are noticed", caught, len(all))
	if *mutationsPage != "" {
		require.NoError(t, os.WriteFile(*mutationsPage, []byte(table.page()), 0o644))
	}
}

// outcomes counts what became of mutants.
type outcomes struct {
	counts map[string]map[string]int // by kind of change and outcome
	kept   map[string]int            // of those accepted, by kind and why
}

func (o *outcomes) add(t *testing.T, m *mutant, outcome string) {
	if o.counts[m.of] == nil {
		o.counts[m.of] = map[string]int{}
	}
	o.counts[m.of][outcome]++
	switch why := m.why(); {
	case outcome == "undecided":
		t.Errorf("%s: undecided", m.name)
	case outcome == "accepted" && why == "":
		t.Errorf("%s: accepted, and nothing says why it may be", m.name)
	case outcome == "accepted":
		t.Logf("accepted: %s: %s", m.name, m.change)
		o.kept[m.of+" | "+why]++
	}
}

func (o *outcomes) total(outcome string) int {
	n := 0
	for _, c := range o.counts {
		n += c[outcome]
	}
	return n
}

// page is docs/mutations.md.
func (o *outcomes) page() string {
	var b strings.Builder
	b.WriteString(`# Traces that were changed

Good traces of every design, each changed in one place: a field of one event gets the value that it has in another
event; an event is left out; the end is left out; two events of a replica change places. The reader refuses what the
schema does not have, or what lacks events that the header counts; TLC rejects what no behaviour of the specification
explains. ` + "`make mutations`" + ` writes this page.

| change | traces | refused | rejected | accepted |
|---|---|---|---|---|
`)
	sum := map[string]int{}
	row := func(name string, c map[string]int) {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d |\n", name, c["refused"]+c["rejected"]+c["accepted"], c["refused"], c["rejected"], c["accepted"])
	}
	for _, of := range slices.Sorted(maps.Keys(o.counts)) {
		row(of, o.counts[of])
		for k, n := range o.counts[of] {
			sum[k] += n
		}
	}
	row("all", sum)
	b.WriteString("\nThose that are accepted:\n\n| change | why it may be | traces |\n|---|---|---|\n")
	for _, why := range slices.Sorted(maps.Keys(o.kept)) {
		fmt.Fprintf(&b, "| %s | %d |\n", why, o.kept[why])
	}
	return b.String()
}
