package traces

import (
	"bytes"
	"strings"
	"testing"

	fuzz "github.com/google/gofuzz"
	"github.com/stretchr/testify/require"

	"purgelab/impl/observe"
)

const head = `{"format":"purgelab-trace","version":1,"design":"ordered","replicas":3,"partitions":1}`

func TestMalformedTraces(t *testing.T) {
	good := `{"t":5,"replica":1,"partition":0,"action":"Serve","offset":0,"applied":1,"start":0,"end":0}`
	for _, c := range []struct{ text, want string }{
		{"", `x:1: empty: want a header`},
		{"{}", `x:1: format "": want "purgelab-trace"`},
		{`{"format":"purgelab-behaviour","version":2,"design":"ordered","model":"sim-ordered"}`, `x:1: format "purgelab-behaviour": behaviours of the specification are no trace: purgelab trace replay leads`},
		{strings.Replace(head, `"version":1`, `"version":2`, 1), `x:1: version 2: want 1`},
		{strings.Replace(head, `"ordered"`, `"another"`, 1), `x:1: design "another": want one of ordered, reset-record, advance`},
		{strings.Replace(head, `"replicas":3`, `"replicas":0`, 1), `x:1: 0 replicas: want 1 to 99`},
		{strings.Replace(head, `"replicas":3`, `"replicas":100000000`, 1), `x:1: 100000000 replicas: want 1 to 99`},
		{strings.Replace(head, `"partitions":1`, `"partitions":300000000`, 1), `x:1: 300000000 partitions: want 1 to 9999`},
		{strings.Replace(head, `"design"`, `"plan"`, 1), `x:1: header: json: unknown field "plan"`},
		{head + "\nnot json", `x:2: invalid character 'o' in literal null (expecting 'u')`},
		{head + "\n" + good + "\n" + good[:40], `x:3: not a whole JSON object`},
		{head + "\n\n" + good, `x:2: not a whole JSON object`},
		{head + "\n" + good + good, `x:2: more than one JSON object`},
		{head + "\n" + strings.Replace(good, `"applied":1`, `"applied":1.5`, 1), `x:2: field "applied" is 1.5: want an integer`},
		{head + "\n" + strings.Replace(good, `"applied":1`, `"applied":null`, 1), `x:2: field "applied" is null: want an integer`},
		{head + "\n" + strings.Replace(good, `"applied":1`, `"applied":"1"`, 1), `x:2: field "applied" is the text "1": want an integer`},
		{head + "\n" + strings.Replace(good, `"applied":1`, `"applied":2147483648`, 1), `x:2: field "applied" is 2147483648: want -1 to 2147483647`},
		{head + "\n" + strings.Replace(good, `"applied":1,`, ``, 1), `x:2: no field "applied"`},
		{head + "\n" + strings.Replace(good, `"applied"`, `"done"`, 1), `x:2: no field "applied"`},
		{head + "\n" + strings.Replace(good, `"offset":0`, `"offset":0,"who":1`, 1), `x:2: unknown field "who"`},
		{head + "\n" + strings.Replace(good, `"replica":1`, `"replica":4`, 1), `x:2: replica 4: the header says 1 to 3`},
		{head + "\n" + strings.Replace(good, `"partition":0`, `"partition":1`, 1), `x:2: partition 1: the header says 0 to 0`},
		{head + "\n" + strings.Replace(good, `Serve`, `Purge`, 1), `x:2: action "Purge": want one of Answer, BecomeLeader, Boot,`},
		{head + "\n" + good + "\n" + strings.Replace(good, `"t":5`, `"t":4`, 1), `x:3: time 4: the line before says 5`},
		{head + "\n" + strings.Replace(good, `"offset":0`, `"offset":7`, 1), `x:2: Serve with offset 7: it has none`},
		{head + "\n" + strings.Replace(good, `Serve`, `PurgeBegin`, 1), `x:2: PurgeBegin without op`},
		{head + "\n" + strings.Replace(good, `Serve`, `PowerLoss`, 1), `x:2: PowerLoss shows gen=0 applied=1 start=0 end=0: a machine that is down shows nothing`},
		{head + "\n" + strings.Replace(good, `"Serve"`, `"PurgeBegin","op":4`, 1), `x:2: PurgeBegin without gen`},
		{head + "\n" + strings.Replace(good, `"Serve"`, `"Boot","kind":"none"`, 1), `x:2: Boot without front`},
		{head + "\n" + strings.Replace(good, `"Serve"`, `"Boot","kind":"none","front":1,"last":1`, 1), `x:2: Boot with last 1: it has none`},
		{head + "\n" + strings.Replace(good, `"Serve"`, `"Boot","front":1,"kind":"half"`, 1), `x:2: Boot of kind "half": want one of none, begun, complete`},
		{head + "\n" + strings.Replace(good, `"Serve"`, `"Materialize","op":4,"kind":"append"`, 1), `x:2: Materialize of kind append without count`},
		{head + "\n" + strings.Replace(good, `"Serve","offset":0`, `"Commit","op":4,"term":2,"kind":"append","count":1,"offset":3`, 1), `x:2: Commit of kind append with offset 3: it has none before it takes effect`},
		{head + "\n" + strings.Replace(good, `"Serve"`, `"Materialize","op":4,"kind":"delete","key":"group-1","count":2`, 1), `x:2: Materialize of kind delete with count 2: it has none`},
		{head + "\n" + strings.Replace(good, `"Serve"`, `"NewIncarnation","op":4,"count":2,"key":"group-1"`, 1), `x:2: NewIncarnation: position "group-1": want i<incarnation>`},
		{head + "\n" + strings.Replace(good, `"Serve"`, `"NewIncarnation","incarnation":2,"op":4,"count":8,"key":"i1:g0:3"`, 1), `x:2: NewIncarnation: incarnation 8 begins in incarnation 2`},
		{strings.Replace(head, `ordered`, `reset-record`, 1) + "\n" + strings.Replace(good, `Serve`, `BeginSequence`, 1), `x:2: BeginSequence shows gen=0 applied=1 start=0 end=0: a machine that is down shows nothing`},
		{head + "\n" + strings.Replace(good, `"Serve"`, `"Materialize","op":4,"kind":"delete","key":"a\"b"`, 1), `x:2: field "key" is "a\"b": quotes and backslashes are not allowed`},
	} {
		_, err := Read(strings.NewReader(c.text), "x")
		require.ErrorContains(t, err, c.want)
		var line *LineError
		require.ErrorAs(t, err, &line)
	}
	tr, err := Read(strings.NewReader(head+"\n"+good+"\n"), "x")
	require.NoError(t, err)
	require.Equal(t, 2, tr.Lines[0].Number)
	require.Empty(t, Split(tr), "a trace without a materialized op says nothing")
}

// Whatever legal events are written come back as they were, except that a
// commit is told once.
func TestRoundTrip(t *testing.T) {
	for _, d := range designs {
		f := fuzz.NewWithSeed(1).NilChance(0)
		var events []observe.Event
		for i := range 500 {
			var e observe.Event
			f.Fuzz(&e)
			events = append(events, legal(d.rules[i%len(d.rules)], e, i))
		}
		var buf bytes.Buffer
		w := NewWriter(&buf, Header{Design: d.name, Replicas: 3, Partitions: 2, Settings: []byte(`{"seed":7}`)})
		for _, e := range events {
			w.Observe(e)
			if e.Action == Commit {
				again := e
				again.Replica, again.Applied = 3, e.Applied+1
				w.Observe(again)
			}
		}
		require.NoError(t, w.Close())
		require.Equal(t, len(events), w.Len())
		tr, err := Read(&buf, "x")
		require.NoError(t, err)
		require.Len(t, tr.Lines, len(events))
		for i, l := range tr.Lines {
			require.Equal(t, events[i], l.Event)
		}
	}
}

// legal keeps of a random event what the rule allows.
func legal(r Rule, e observe.Event, i int) observe.Event {
	small := func(n uint64) uint64 { return n%1000 + 1 }
	out := observe.Event{
		Time: int64(i), Replica: i%3 + 1, Partition: e.Partition % 2, Action: r.Action, Generation: e.Generation%9 + 1,
		Applied: e.Applied % 1000, Start: 1, End: 2,
	}
	if r.down() {
		out.Generation, out.Applied, out.Start, out.End = 0, 0, 0, 0
	}
	for _, name := range append(append([]string{}, r.Needs...), r.May...) {
		switch name {
		case "op":
			out.Op = e.Op%1000000 + 1
		case "term":
			out.Term = small(e.Term)
		case "front":
			out.Front = e.Front%1000 + 1
		case "last":
			out.Last = e.Last%1000 + 1
		case "offset":
			out.Offset = 3
		case "count":
			out.Count = 2
		case "key":
			if r.Action == NewIncarnation {
				out.Key, out.Incarnation = "i1:g0:3", 2
			}
			if r.Action == CommitInstall {
				out.Key = "h1"
			}
		case "kind":
			out.Kind = "poll"
			if r.Kinds != nil {
				out.Kind = r.Kinds[i%len(r.Kinds)]
			}
		}
	}
	if r.takesEffect() {
		out.Offset, out.Count = 0, 0
		switch out.Kind {
		case "append":
			if out.Count = 2; !r.asks() {
				out.Offset = 3
			}
		case "store":
			out.Offset, out.Key = 3, "group-1"
		case "delete":
			out.Key = "consumer-1"
		}
	}
	return out
}

// A commit that two replicas tell differently is written twice: the
// specification has to see it.
func TestDifferingCommitsAreKept(t *testing.T) {
	var buf bytes.Buffer
	w := NewWriter(&buf, Header{Design: "ordered", Replicas: 3, Partitions: 1})
	e := observe.Event{Replica: 1, Action: Commit, Op: 4, Term: 1, Kind: "append", Count: 1}
	w.Observe(e)
	e.Replica = 2
	w.Observe(e)
	require.Equal(t, 1, w.Len())
	e.Term = 2
	w.Observe(e)
	require.Equal(t, 2, w.Len())
}
