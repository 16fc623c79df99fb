package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/sim"
	"purgelab/linearizability/faults"
	"purgelab/linearizability/run"
)

// TestEffectsThatCanHappen: the table has the rows of what can happen, and of
// what did.
func TestEffectsThatCanHappen(t *testing.T) {
	shown := func(s run.Settings, planned map[faults.Kind]int, e sim.Effects) string {
		require.NoError(t, s.Complete())
		var b bytes.Buffer
		require.NoError(t, effects(&s, planned, &e).write(&b))
		return b.String()
	}
	none := shown(run.Settings{}, nil, sim.Effects{Repeated: 3})
	require.NotContains(t, none, "fault ")
	require.NotContains(t, none, "crashes")
	require.NotContains(t, none, "partitions created")
	require.Regexp(t, `requests repeated +3\n`, none)
	require.Contains(t, shown(run.Settings{Recreate: 1}, nil, sim.Effects{}), "partitions created again")
	require.NotContains(t, none, "transfer")
	require.Contains(t, shown(run.Settings{CompactOps: 40}, nil, sim.Effects{}), "transfers completed ")
	require.NotContains(t, shown(run.Settings{Design: "reset-record", Faults: "all"}, nil, sim.Effects{}), "foreign")
	power := shown(run.Settings{Faults: "power-all"}, nil, sim.Effects{})
	require.Contains(t, power, "fault power-loss ")
	require.Contains(t, power, "power losses with unsynced data ")
	require.NotContains(t, power, "messages lost")
	require.NotContains(t, power, "fault storm")
	// What happened is shown, whatever was expected.
	odd := shown(run.Settings{}, map[faults.Kind]int{faults.Rot: 1}, sim.Effects{PowerLosses: 2})
	require.Contains(t, odd, "fault rot ")
	require.Regexp(t, `power losses +2\n`, odd)

	// Every effect with causes is one that there is.
	names := map[string]bool{}
	new(sim.Effects).Each(func(name string, _ int) { names[name] = true })
	for name := range causes {
		require.True(t, names[name], "no effect is called %q", name)
	}
}
