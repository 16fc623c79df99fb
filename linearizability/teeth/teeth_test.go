package teeth

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/defect"
	"purgelab/impl/replica"
	"purgelab/linearizability/scenario"
	"purgelab/linearizability/verdict"
	"purgelab/traces/models"
	"purgelab/traces/tlc"
)

// TestBoot switches on each defect that replicas show and demands a red by a
// property that it is known to break, and none without. The whole matrix is `make
// teeth`: histories need more runs, and the layers of TLC more time; what TLC says
// of the models is in the smoke tier.
func TestBoot(t *testing.T) {
	m := Make(context.Background(), Options{Teeth: Table, Layers: []Layer{Boot}})
	for i := range m.Rows {
		for _, c := range m.Rows[i].Cells {
			if c.Outcome != NotExpected && c.Outcome != Caught {
				t.Errorf("%s: %s: %s\nreplay: %s", c.Defect, c.Short(), c.Reason, c.Replay)
			}
		}
	}
	require.Equal(t, verdict.Pass, m.Verdict(), "%v", m.Controls)
}

// TestHistory does the same for those that clients see soon.
func TestHistory(t *testing.T) {
	quick, err := Select(Table, []string{"replay-below-boundary", "local-boundary", "read-moved", "start-not-stored", "sessions-lost-at-purge"})
	require.NoError(t, err)
	m := Make(context.Background(), Options{Teeth: quick, Layers: []Layer{History}})
	require.Equal(t, verdict.Pass, m.Verdict(), "%+v", m)
}

// TestTable: every switch of the implementation has a row, names are names, and a
// row that TLC has to catch has a model that violates what the row names.
func TestTable(t *testing.T) {
	list, err := models.Load("../../spec")
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, x := range Table {
		require.False(t, seen[x.Name], x.Name)
		seen[x.Name] = true
		_, err := replica.ParseDesign(x.Design)
		require.NoError(t, err)
		require.NotEmpty(t, x.Must, x.Name)
		model, modelled := modelOf(x.Name, list)
		require.True(t, modelled || !x.must(Spec), x.Name)
		if x.must(Spec) {
			require.True(t, x.names(model.Expect), "%s: the manifest says %s", x.Name, model.Expect)
		}
		require.Equal(t, slices.Contains(defect.Names(), x.Name), x.must(Boot) || x.must(History) || x.must(Scenario), "%s: there is a switch, or none", x.Name)
	}
	for _, name := range defect.Names() {
		require.True(t, seen[name], "%s is in no row of the table", name)
	}
}

// TestScenarios: scripts that name a defect go wrong with it as they say, and only
// with it.
func TestScenarios(t *testing.T) {
	own, err := scenario.Own()
	require.NoError(t, err)
	table := WithScenarios(Table, own)
	m := Make(context.Background(), Options{Teeth: table, Layers: []Layer{Scenario}, Scenarios: own})
	require.Equal(t, verdict.Pass, m.Verdict(), "%v", m.Controls)
	_, caught, _, _ := m.Sum()
	require.Greater(t, caught, 30)

	none := Tooth{Name: "vote-before-sync", Must: onlyScript}
	m = Make(context.Background(), Options{Teeth: []Tooth{none}, Layers: []Layer{Scenario}})
	require.Equal(t, Missed, m.Rows[0].Cells[4].Outcome, "no scenario")
	wrong := *of(own, "sync-retried")[0]
	wrong.Red = "SessionOnce"
	m = Make(context.Background(), Options{Teeth: []Tooth{{Name: "sync-retried", Must: onlyScript}}, Layers: []Layer{Scenario}, Scenarios: []*scenario.Scenario{&wrong}})
	require.Equal(t, Missed, m.Rows[0].Cells[4].Outcome, "red by another property")
	ended, end := context.WithCancel(context.Background())
	end()
	m = Make(ended, Options{Teeth: table, Layers: []Layer{Scenario}, Scenarios: own})
	require.Equal(t, verdict.Undecided, m.Verdict())
}

// TestNotCaught: a check that nothing trips is seen to be missed, and a
// red by another property is not taken for the right one.
func TestNotCaught(t *testing.T) {
	none := Tooth{Name: "vote-before-sync", Design: "ordered", Property: "AckDurable", Must: []Layer{Boot, History}, Faults: "none"}
	m := Make(context.Background(), Options{Teeth: []Tooth{none}, Layers: Layers, Runs: 2})
	require.Equal(t, Missed, m.Rows[0].Cells[1].Outcome)
	require.Equal(t, Missed, m.Rows[0].Cells[3].Outcome)
	require.Equal(t, NotExpected, m.Rows[0].Cells[0].Outcome)
	require.Equal(t, verdict.Fail, m.Verdict())

	wrong := Tooth{Name: "end-from-records", Design: "advance", Property: "OffsetUnique", Must: []Layer{Boot}, Faults: "network"}
	m = Make(context.Background(), Options{Teeth: []Tooth{wrong}, Layers: Layers})
	require.Equal(t, Other, m.Rows[0].Cells[3].Outcome)
	require.Equal(t, verdict.Fail, m.Verdict())
}

// TestUndecided: without TLC, and after an interrupt, nothing is caught and nothing
// is missed.
func TestUndecided(t *testing.T) {
	list, err := models.Load("../../spec")
	require.NoError(t, err)
	one, err := Select(Table, []string{"marker-no-dirsync"})
	require.NoError(t, err)
	o := Options{Teeth: one, Layers: []Layer{Spec, Trace}, Models: list, Spec: "../../spec", Tool: func(context.Context) (tlc.Tool, error) {
		return tlc.Tool{}, errors.New("no Java")
	}}
	done := 0
	o.Progress = func(n, all int) { done = n; require.Equal(t, 2, all) }
	m := Make(context.Background(), o)
	require.Equal(t, 2, done)
	require.Equal(t, verdict.Undecided, m.Verdict())
	require.Contains(t, m.Rows[0].Cells[0].Reason, "no Java")

	ended, end := context.WithCancel(context.Background())
	end()
	m = Make(ended, Options{Teeth: Table, Layers: []Layer{Boot, History}})
	require.Equal(t, verdict.Undecided, m.Verdict())
	_, caught, missed, undecided := m.Sum()
	require.Zero(t, caught+missed)
	require.NotZero(t, undecided)
}

func TestSelect(t *testing.T) {
	_, err := Select(Table, []string{"no-such"})
	require.ErrorContains(t, err, `defect "no-such": want one of ack-before-sync, `)
	extra := WithModels(Table, []models.Model{{Name: "defect-new", Module: "MCAdvance.tla", Expect: "StartMonotone", Defect: "new"}, {Defect: "local-boundary"}, {Defect: "bookmark-unbounded", Expect: "BookmarkBound"}})
	require.Len(t, extra, len(Table)+1)
	require.Equal(t, Tooth{Name: "new", Design: "advance", Property: "StartMonotone", Must: onlySpec}, extra[len(Table)])
	i := slices.IndexFunc(extra, func(t Tooth) bool { return t.Name == "bookmark-unbounded" })
	require.Equal(t, append(slices.Clone(played), Spec), extra[i].Must)
	require.Equal(t, played, Table[i].Must, "the table itself is as it was")
}

// TestConditions: every defect that a trace has to show has a condition that the reason
// names, and any other reason is none.
func TestConditions(t *testing.T) {
	for _, x := range Table {
		require.Equal(t, x.must(Trace), conditions[x.Name] != nil, x.Name)
	}
	require.Len(t, conditions, len(slices.DeleteFunc(slices.Clone(Table), func(x Tooth) bool { return !x.must(Trace) })))
	require.Equal(t, "is settled already", condition("duplicate-purge-wipes", "generation 1: 1 is settled already"))
	require.Equal(t, "was told before as", condition("start-not-replayed", `op 9 was told before as advance to offset 1`))
	require.Empty(t, condition("duplicate-purge-wipes", "the replica is down"))
	require.Empty(t, condition("no-such", "the replica is down"))
}
