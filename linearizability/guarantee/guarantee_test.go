package guarantee

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"purgelab/linearizability/faults"
	"purgelab/linearizability/verdict"
)

var (
	ordered = Subject{"ordered", "", "tagged", persisted, persisted, 0}
	resets  = Subject{"reset-record", "", "tagged", persisted, persisted, 0}
)

// few is a small matrix of real runs.
func few() Options {
	return Options{
		Subjects: []Subject{ordered, resets}, Classes: []faults.Class{faults.None, faults.PowerAll}, Runs: 6,
		Versions: map[string]string{"purgelab": "this"},
	}
}

func made(t *testing.T, o Options) *Matrix {
	t.Helper()
	m, err := Make(context.Background(), o)
	require.NoError(t, err)
	return m
}

func text(t *testing.T, m *Matrix) string {
	t.Helper()
	b, err := json.Marshal(m)
	require.NoError(t, err)
	page, err := m.Markdown("purgelab matrix")
	require.NoError(t, err)
	return string(b) + page
}

func withoutAnswers(t *testing.T) {
	kept := Answers
	Answers = nil
	t.Cleanup(func() { Answers = kept })
}

func TestFew(t *testing.T) {
	withoutAnswers(t)
	o := few()
	o.Jobs = 1
	m := made(t, o)
	require.Equal(t, verdict.Pass, m.Verdict(), "%v", m.Problems())
	require.True(t, m.Listed(resets, "BoundaryAgreement"))
	require.False(t, m.Listed(ordered, "BoundaryAgreement"))
	require.False(t, m.Listed(Subject{Design: "ordered"}, "BoundaryAgreement"), "of another row")
	require.False(t, m.Listed(resets, "CommittedPrefixSafe"))
	o.Jobs = 2
	require.Equal(t, text(t, m), text(t, made(t, o)), "the same whenever it is computed")
}

// An interrupted computation goes on where it was, and comes to the same.
func TestInterruptedAndResumed(t *testing.T) {
	withoutAnswers(t)
	want := text(t, made(t, few()))
	o := few()
	o.State, o.Jobs = t.TempDir(), 1
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	o.Progress = func(done, all int) {
		require.Equal(t, 4, all)
		if done == 2 {
			stop()
		}
	}
	_, err := Make(ctx, o)
	require.ErrorIs(t, err, context.Canceled)

	o.Progress = nil
	before := 0
	o.Resumed = func(done, all int) { before = done }
	require.Equal(t, want, text(t, made(t, o)))
	require.Equal(t, 2, before)

	o.Versions = map[string]string{"purgelab": "another"}
	_, err = Make(context.Background(), o)
	require.ErrorIs(t, err, ErrOther)
	o.Versions, o.Runs = few().Versions, 7
	_, err = Make(context.Background(), o)
	require.ErrorIs(t, err, ErrOther)
	require.NoError(t, Clear(o.State))
	left, err := os.ReadDir(o.State)
	require.NoError(t, err)
	require.Empty(t, left)
}

// saying answers for TLC: the outcome for one property, and that all others hold.
func saying(property string, outcome Outcome) func(context.Context, Subject, faults.Class) (map[string]Finding, error) {
	return func(_ context.Context, s Subject, _ faults.Class) (map[string]Finding, error) {
		out := map[string]Finding{}
		for _, p := range s.Properties() {
			out[p] = Finding{Outcome: NotAsked}
		}
		out[property] = Finding{Outcome: outcome, Evidence: "a model"}
		return out, nil
	}
}

func TestHalvesThatDisagree(t *testing.T) {
	o := few()
	o.Subjects, o.Classes = []Subject{resets}, []faults.Class{faults.None}
	for _, c := range []struct {
		property string
		tlc      Outcome
		want     verdict.Verdict
		says     string
	}{
		{"BoundaryAgreement", Violated, verdict.Pass, ""},
		{"BoundaryAgreement", NotAsked, verdict.Pass, ""},
		{"BoundaryAgreement", Holds, verdict.Fail, "violated in simulation, holds in a model"},
		{"CommittedPrefixSafe", Holds, verdict.Pass, ""},
		{"CommittedPrefixSafe", Violated, verdict.Fail, "violated in a model, and no run shows it"},
		{"CommittedPrefixSafe", Undecided, verdict.Undecided, "a model"},
	} {
		o.Models = saying(c.property, c.tlc)
		m := made(t, o)
		require.Equal(t, c.want, m.Verdict(), "%s %s", c.property, c.tlc)
		if c.says != "" {
			require.Len(t, m.Problems(), 1)
			require.Contains(t, m.Problems()[0].Text, c.says)
		}
	}
	// A kept plan shows what no drawn seed does.
	o.Models = saying("CommittedPrefixSafe", Violated)
	m := made(t, o)
	m.Blocks[0].Shown = map[string]Directed{"CommittedPrefixSafe": {Command: "x"}}
	require.Equal(t, verdict.Pass, m.Verdict())

	o.Models = func(context.Context, Subject, faults.Class) (map[string]Finding, error) {
		return nil, errors.New("no java")
	}
	_, err := Make(context.Background(), o)
	require.ErrorContains(t, err, "reset-record, none: no java")
}

// What is violated without faults is violated under every class; a class of which
// nothing took effect is not settled.
func TestCells(t *testing.T) {
	red := map[string]Sighting{"OffsetUnique": {Seed: 3, In: 1, Reason: "two"}}
	m := &Matrix{Blocks: []*Block{
		{Subject: resets, Class: faults.None, Simulated: &Simulated{Runs: 5, Met: 5, Red: red}},
		{Subject: resets, Class: faults.PowerAll, Simulated: &Simulated{Runs: 5, Met: 5}},
		{Subject: resets, Class: faults.Retry, Simulated: &Simulated{Runs: 5}},
	}}
	require.Equal(t, Violated, m.Cell(m.Blocks[1], "OffsetUnique").Simulation.Outcome)
	require.Contains(t, m.Cell(m.Blocks[1], "OffsetUnique").Simulation.Evidence, "--seed 3 ")
	require.Equal(t, Holds, m.Cell(m.Blocks[1], "SessionOnce").Simulation.Outcome)
	require.Equal(t, NotMet, m.Cell(m.Blocks[2], "SessionOnce").Simulation.Outcome)
	require.Equal(t, verdict.Undecided, m.Verdict())
	require.Equal(t, verdict.Undecided, new(Matrix).Verdict())
}

func TestAnswersMustBeTrue(t *testing.T) {
	m := &Matrix{Blocks: []*Block{{
		Subject: ordered, Class: faults.None,
		Simulated: &Simulated{Runs: 5, Met: 5, Red: map[string]Sighting{"NoLateProgress": {Seed: 1}}},
	}}}
	page := func(r Ref) error {
		return (&page{m: m}).answers([]Question{{"Why?", []Claim{{"Because.", []Ref{r}}}}})
	}
	require.NoError(t, page(Ref{Subject: ordered, Properties: []string{"NoLateProgress"}, Outcome: Violated}))
	require.NoError(t, page(Ref{Subject: ordered, Properties: []string{"NextContract"}, Outcome: Holds}))
	require.EqualError(t, page(Ref{Subject: ordered, Outcome: Holds}),
		`answer "Because.": ordered, none, NoLateProgress: violated, not holds`)
	require.ErrorContains(t, page(Ref{Subject: resets, Outcome: Holds}), "no cell says holds")
	require.ErrorContains(t, page(Ref{Subject: ordered, Properties: []string{"NextContract"}, Outcome: Violated, Somewhere: true}), "no cell says violated")
}

func TestKeptPlansShowWhatTheySay(t *testing.T) {
	list, err := Weaknesses()
	require.NoError(t, err)
	require.NotEmpty(t, list)
	for i := range list {
		_, err := list[i].Show(context.Background(), list[i].Subject)
		require.NoError(t, err)
	}
}

func TestBadPlans(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{"faults": []}`, `w/x.json: want "shows"`},
		{`{"shows": {"class": "none", "properties": ["OffsetUnique"], "settings": {"sead": 1}}}`, `w/x.json: settings: json: unknown field "sead"`},
		{`{"shows": {"class": "none", "properties": ["OffsetUnique"], "settings": {"replicas": 2}}}`, "w/x.json: settings: replicas 2"},
		{`{"shows": {"class": "none", "properties": ["OffsetUnique"], "settings": {"design": "reset-record", "variant": "keep-floor,retry-sync"}}}`, "is not in the matrix"},
		{`{"shows": {"class": "rain", "properties": ["OffsetUnique"], "settings": {}}}`, `class "rain": want one of`},
		{`{"shows": {"class": "none", "properties": ["Luck"], "settings": {}}}`, `property "Luck": want one of`},
		{`{"shows": {"class": "none", "settings": {}}}`, "want the properties"},
	} {
		_, err := readWeaknesses(fstest.MapFS{"d/x.json": {Data: []byte(c.text)}}, "d", "w")
		require.ErrorContains(t, err, c.want)
	}
	// One that lists what does not happen.
	list, err := readWeaknesses(fstest.MapFS{"d/x.json": {Data: []byte(`{"shows": {"class": "none", "properties": ["CommittedPrefixSafe"], "settings": {"design": "reset-record", "ops": 20}}}`)}}, "d", "w")
	require.NoError(t, err)
	_, err = list[0].Show(context.Background(), list[0].Subject)
	require.ErrorContains(t, err, "w/x.json: CommittedPrefixSafe is not violated")
}

// Nearly every run of a class meets one of its faults.
func TestClassesAreMet(t *testing.T) {
	const n = 12
	for _, s := range []Subject{ordered, resets} {
		for _, c := range faults.Matrix {
			m, err := Simulate(context.Background(), s, c, n, 0, nil)
			require.NoError(t, err)
			require.Equal(t, n, m.Runs)
			require.GreaterOrEqual(t, m.Met, n/2, "%s, %s", s.Name(), c)
		}
	}
}

// The page is what the data say.
func TestDocument(t *testing.T) {
	m := Known()
	require.Len(t, m.Blocks, len(Subjects)*len(faults.Matrix))
	want, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(Document)))
	require.NoError(t, err)
	got, err := m.Markdown(m.Command(Document))
	require.NoError(t, err)
	require.Equal(t, string(want), got)
	encoded, err := m.Encode()
	require.NoError(t, err)
	require.Equal(t, string(data), string(encoded))
	// What a model shows and no run does yet is told on the page; a run that shows what
	// a model excludes means that one of them is wrong.
	for _, p := range m.Problems() {
		require.NotEqual(t, Holds, p.Cell.TLC.Outcome, p.String())
	}
	// Of the others there may be no more than there were.
	require.LessOrEqual(t, len(m.Problems()), 15)
}
