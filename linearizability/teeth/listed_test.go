package teeth

import (
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/linearizability/faults"
	"purgelab/linearizability/guarantee"
	"purgelab/linearizability/run"
	"purgelab/linearizability/verdict"
)

// listing makes the matrix say that reset-record violates OffsetUnique, and nothing
// else.
func listing(t *testing.T) run.Settings {
	s := run.Settings{Design: "reset-record"}
	require.NoError(t, s.Complete())
	known := guarantee.Known
	t.Cleanup(func() { guarantee.Known = known })
	guarantee.Known = func() *guarantee.Matrix {
		return &guarantee.Matrix{Blocks: []*guarantee.Block{{
			Subject: guarantee.SubjectOf(&s), Class: faults.None,
			Simulated: &guarantee.Simulated{Runs: 1, Met: 1, Red: map[string]guarantee.Sighting{"OffsetUnique": {Seed: 1}}},
		}}}
	}
	return s
}

func TestListedWithoutADefect(t *testing.T) {
	s := listing(t)
	red := func(properties ...string) *run.Result {
		r := &run.Result{Settings: s, Verdict: verdict.Fail}
		for _, p := range properties {
			r.Results = append(r.Results, verdict.Result{Verdict: verdict.Fail, Property: p, Reason: "of " + p})
		}
		return r
	}
	require.Empty(t, alone(red("OffsetUnique"), nil), "violated by nature")
	require.Equal(t, "of HeldCommits", alone(red("OffsetUnique", "HeldCommits"), nil))
	require.Equal(t, "violated without the defect as well: of OffsetUnique", alone(red("OffsetUnique"), []string{"OffsetUnique"}),
		"a defect must break what holds without it")

	tooth := &Tooth{Property: "HeldCommits"}
	property, _ := onReplicas(red("OffsetUnique", "HeldCommits"), tooth)
	require.Equal(t, "HeldCommits", property)
	property, _ = onReplicas(red("OffsetUnique"), tooth)
	require.Empty(t, property)
	property, _ = onReplicas(red("OffsetUnique"), &Tooth{Property: "OffsetUnique"})
	require.Equal(t, "OffsetUnique", property)
}
