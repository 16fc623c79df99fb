package guarantee

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"purgelab/linearizability/check"
	"purgelab/linearizability/faults"
	"purgelab/linearizability/run"
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

// A part is computed anew, the rest is that of a base; what the base does not have is
// run as well, and TLC is asked about all.
func TestPart(t *testing.T) {
	withoutAnswers(t)
	o := few()
	o.Classes, o.Base = []faults.Class{faults.PowerAll}, &Matrix{}
	o.Subjects = []Subject{ordered}
	for _, s := range Subjects {
		for _, c := range faults.Matrix {
			if s != ordered || c != faults.None {
				o.Base.Blocks = append(o.Base.Blocks, &Block{Subject: s, Class: c, Simulated: &Simulated{Runs: 5, Met: 5}})
			}
		}
	}
	o.Models = saying("SessionOnce", Holds)
	m := made(t, o)
	require.Len(t, m.Blocks, len(Subjects)*len(faults.Matrix))
	for _, b := range m.Blocks {
		want := 5
		if b.Subject == ordered && (b.Class == faults.PowerAll || b.Class == faults.None) {
			want = 6
		}
		require.Equal(t, want, b.Simulated.Runs, "%s, %s", b.Name(), b.Class)
		require.Len(t, b.Models, 1)
	}
}

// A reader finds again what is said once: a violation without faults under every
// class, one that drawn faults show, and a model of many blocks.
func TestDataSayThingsOnce(t *testing.T) {
	withoutAnswers(t)
	red := func(p ...string) map[string]Sighting {
		out := map[string]Sighting{}
		for _, p := range p {
			out[p] = Sighting{Seed: 3, In: 1, Reason: "two"}
		}
		return out
	}
	shown := func(p ...string) map[string]Directed {
		out := map[string]Directed{}
		for _, p := range p {
			out[p] = Directed{"purgelab run", "kept"}
		}
		return out
	}
	x := &Model{Name: "x", States: 7, Rest: []string{"SessionOnce"}, Violated: map[string]Shortest{"NextContract": {Steps: 3, Way: "Boot"}}}
	m := &Matrix{Runs: 5, Blocks: []*Block{
		{Subject: resets, Class: faults.None, Simulated: &Simulated{Runs: 5, Met: 5, Red: red("OffsetUnique")}, Shown: shown("AckDurable"), Models: []*Model{x}},
		{Subject: resets, Class: faults.PowerAll, Simulated: &Simulated{Runs: 5, Met: 5, Red: red("OffsetUnique", "NextContract")},
			Shown: shown("OffsetUnique", "AckDurable", "NextContract", "StartMonotone"), Models: []*Model{x, x}},
	}}
	before := m.Cells()
	m.prune()
	b := m.Blocks[1]
	require.Equal(t, red("NextContract"), b.Simulated.Red)
	require.Equal(t, shown("StartMonotone"), b.Shown)
	require.Equal(t, before, m.Cells())
	text, err := m.Encode()
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(text), `"name":"x"`))
	again, err := Decode(text)
	require.NoError(t, err)
	require.Equal(t, m, again)
	_, err = Decode([]byte(`{"models": [], "blocks": [{"class": "none", "models": [0]}]}`))
	require.EqualError(t, err, "matrix: block 0 has model 0 of 0")
	_, err = Decode([]byte(`{"blocks": 3}`))
	require.Error(t, err)
}

// What was acknowledged is lost only where the policy says so.
func TestLost(t *testing.T) {
	m := &Matrix{Blocks: []*Block{
		{Subject: ordered, Class: faults.None, Simulated: &Simulated{Runs: 5, Met: 5}},
		{Subject: ordered, Class: faults.PowerAll, Simulated: &Simulated{Runs: 5, Met: 5}},
	}}
	require.Empty(t, m.Problems())
	m.Blocks[1].Simulated.Lost = 2
	require.Len(t, m.Problems(), 1)
	require.Equal(t, "ordered, power-all, AckDurable: 2 acknowledged operations were lost, and the policy lets none be", m.Problems()[0].String())
	for _, b := range m.Blocks {
		b.Messages = replicated
	}
	require.Empty(t, m.Problems())
	require.Equal(t, "power-all 2", m.lost(m.Blocks[1].Subject))
}

// saying answers for TLC: the outcome for one property.
func saying(property string, outcome Outcome) func(context.Context, Subject, faults.Class) ([]*Model, error) {
	x := &Model{Name: "a model"}
	switch outcome {
	case Holds:
		x.Rest = []string{property}
	case Violated:
		x.Violated = map[string]Shortest{property: {Steps: 2}}
	case Undecided:
		x.Rest, x.Open = []string{property}, "no time"
	}
	return func(context.Context, Subject, faults.Class) ([]*Model, error) { return []*Model{x}, nil }
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
		{"CommittedPrefixSafe", Violated, verdict.Fail, "violated in a model, 2 steps, and no run shows it"},
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

	o.Models = func(context.Context, Subject, faults.Class) ([]*Model, error) {
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
	require.NoError(t, page(Ref{Subject: ordered, Properties: []string{"NextContract"}, Outcome: Holds, Lost: Nothing}))
	require.EqualError(t, page(Ref{Subject: ordered, Properties: []string{"NextContract"}, Outcome: Holds, Lost: Some}),
		`answer "Because.": ordered, []: 0 acknowledged operations were lost, not some`)
	require.ErrorContains(t, page(Ref{Subject: resets, Outcome: Holds}), "no cell says holds")
	require.ErrorContains(t, page(Ref{Subject: ordered, Properties: []string{"NextContract"}, Outcome: Violated, Somewhere: true}), "no cell says violated")
}

// The tables by policy say of each policy where a property is violated, and what was lost.
func TestPolicies(t *testing.T) {
	volatile := ordered.under(policies[3])
	m := &Matrix{Blocks: []*Block{
		{Subject: ordered, Class: faults.None, Simulated: &Simulated{Runs: 5, Met: 5}},
		{Subject: ordered, Class: faults.PowerAll, Simulated: &Simulated{Runs: 5, Met: 5}},
		{Subject: volatile, Class: faults.None, Simulated: &Simulated{Runs: 5, Met: 5}},
		{Subject: volatile, Class: faults.PowerAll, Simulated: &Simulated{Runs: 5, Met: 5, Lost: 3, Red: map[string]Sighting{"NextContract": {Seed: 1}}}},
		{Subject: theAdvance, Class: faults.None, Simulated: &Simulated{Runs: 5, Met: 5}},
	}}
	p := &page{m: m}
	p.byPolicy()
	text := p.b.String()
	for _, line := range []string{
		"| property | [both persisted](#ordered) | [both replicated](#ordered-replicated) |",
		"| NextContract | runs | **violated**: power-all |",
		"| OffsetUnique | runs | runs |",
		"| *what may be lost* | nothing | any of the last, a purge among them |",
		"| *acknowledged operations that were lost* | none | power-all 3 |",
	} {
		require.Contains(t, text, line+"\n")
	}
	require.NotContains(t, text, "advance", "one policy is no table")
	m.Blocks[2].Simulated.Red = m.Blocks[3].Simulated.Red
	require.Equal(t, "**violated**", m.underAll(volatile, "NextContract"))
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
	// The halves agree, and nothing is open.
	for _, p := range m.Problems() {
		require.Fail(t, p.String())
	}
	require.Less(t, len(data), 250_000, "what is said twice is said once")
}

// A run in which nobody was answered leaves open what clients see, and does so for no
// other run; one that gave up is open.
func TestNobodyAnswered(t *testing.T) {
	gaveUp := verdict.Result{Property: check.Property, Verdict: verdict.Undecided, Reason: "gave up"}
	for judged, want := range map[int]int{0: 0, 7: 1} {
		m := &Simulated{Red: map[string]Sighting{}, Open: map[string]string{}}
		m.add(faults.None, &run.Result{Results: []verdict.Result{gaveUp}, Checked: []check.Result{{Operations: judged}}})
		require.Len(t, m.Open, want, "%d operations judged", judged)
		require.Equal(t, 1, m.Runs)
	}
}
