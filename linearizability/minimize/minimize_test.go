package minimize

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/linearizability/run"
	"purgelab/linearizability/scenario"
	"purgelab/linearizability/teeth"
)

// forgets is a run that is red because a purge forgets the sessions.
var forgets = run.Settings{Seed: 4, Faults: "network", Defect: "sessions-lost-at-purge"}

// small makes a run small.
func small(t testing.TB, s run.Settings, o Options) *Result {
	r, err := Run(context.Background(), s, o)
	require.NoError(t, err)
	return r
}

func TestRunBecomesSmall(t *testing.T) {
	r := small(t, forgets, Options{Jobs: 1})
	require.NoError(t, r.Ended)
	require.LessOrEqual(t, r.Ops, GoalOps)
	require.LessOrEqual(t, r.Faults, GoalFaults)
	require.Equal(t, 300, r.BeforeOps)

	// What was written is red by the same property, and green without the defect.
	dir := t.TempDir()
	require.NoError(t, r.Run.Write(dir))
	again := r.Run.Settings
	again.Plan, again.Script = nil, nil
	again.Faults, again.Workload = filepath.Join(dir, run.PlanFile), filepath.Join(dir, run.ScriptFile)
	red, err := run.Run(context.Background(), again)
	require.NoError(t, err)
	require.Contains(t, red.Violated(), r.Property)
	again.Defect = ""
	green, err := run.Run(context.Background(), again)
	require.NoError(t, err)
	require.Empty(t, green.Violated())

	// Nothing more can go: without any one operation it is green.
	m := runsOf(r.Property, caseOf(red), Options{Jobs: 1})
	for i := range m.best.steps {
		if len(m.best.steps) > 1 {
			isRed, err := m.red(context.Background(), withoutSteps(m.best, i, i+1))
			require.NoError(t, err)
			require.False(t, isRed, "without operation %d", i)
		}
	}
}

// The result, and the number of runs that it took, do not depend on how many are made
// at a time.
func TestJobsChangeNothing(t *testing.T) {
	one, three := small(t, forgets, Options{Jobs: 1}), small(t, forgets, Options{Jobs: 3})
	require.Equal(t, one.Runs, three.Runs)
	require.Equal(t, caseOf(one.Run).key(), caseOf(three.Run).key())
	require.Equal(t, one.Reason, three.Reason)
}

// What was interrupted goes on where it was, and comes to the same end.
func TestInterruptLosesNothing(t *testing.T) {
	whole := small(t, forgets, Options{Jobs: 1})
	o := Options{Jobs: 1, State: filepath.Join(t.TempDir(), "tried")}
	ctx, stop := context.WithCancel(context.Background())
	o.Progress = func(p Progress) {
		if p.Runs > whole.Runs/2 {
			stop()
		}
	}
	half, err := Run(ctx, forgets, o)
	require.NoError(t, err)
	require.ErrorIs(t, half.Ended, context.Canceled)
	require.Less(t, half.Ops, half.BeforeOps)
	require.Contains(t, half.Run.Violated(), whole.Property)

	stopped, stop := context.WithCancel(context.Background())
	stop()
	_, err = Run(stopped, forgets, o)
	require.ErrorIs(t, err, context.Canceled)

	o.Progress = nil
	rest := small(t, forgets, o)
	require.Equal(t, whole.Runs, rest.Runs)
	require.Equal(t, caseOf(whole.Run).key(), caseOf(rest.Run).key())

	_, err = Run(context.Background(), run.Settings{Seed: 5, Faults: "network", Defect: "sessions-lost-at-purge"}, o)
	require.ErrorContains(t, err, "is of other work")
}

func TestWhatIsNotRedStaysAsItIs(t *testing.T) {
	var e *NotRedError
	_, err := Run(context.Background(), run.Settings{Seed: 1, Ops: 40}, Options{})
	require.ErrorAs(t, err, &e)
	_, err = Run(context.Background(), forgets, Options{Property: "HistoryAgreement"})
	require.ErrorAs(t, err, &e)
	require.Equal(t, "HistoryAgreement", e.Property)

	// A violation that is there without the defect as well says nothing of it.
	s := run.Settings{Seed: 1, Design: "reset-record", Ops: 200, Defect: "held-reordered"}
	_, err = Run(context.Background(), s, Options{Property: "BoundaryAgreement"})
	require.ErrorContains(t, err, "without the defect as well")
}

// Some runs that show defects can be told as scenarios, which then show them.
func TestSmallRunIsAScenario(t *testing.T) {
	for _, name := range []string{"sessions-lost-at-purge", "end-from-records", "start-not-stored", "read-moved"} {
		t.Run(name, func(t *testing.T) {
			sel, err := teeth.Select(teeth.Table, []string{name})
			require.NoError(t, err)
			shown, property, err := sel[0].Shown(context.Background(), 200)
			require.NoError(t, err)
			r := small(t, shown.Settings, Options{Property: property})
			text, err := Scenario(context.Background(), "small", property, r.Run)
			require.NoError(t, err)
			s, err := scenario.Parse("small.txt", text)
			require.NoError(t, err)
			for _, defective := range []bool{false, true} {
				require.Empty(t, scenario.Play(context.Background(), s, s.Ways()[0], defective).Trouble(), text)
			}
		})
	}
}
