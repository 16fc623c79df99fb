package run

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/linearizability/faults"
	"purgelab/traces"
)

// A trace says if a disk lost a write and said nothing: nobody could judge it.
func TestTraceTellsOfSilentDisks(t *testing.T) {
	header := func(plan *faults.Plan) (traces.Header, *Result) {
		r := mustRun(t, Settings{Seed: 1, Ops: 120, Plan: plan})
		var b bytes.Buffer
		require.NoError(t, r.WriteTrace(&b))
		tr, err := traces.Read(&b, "trace")
		require.NoError(t, err)
		return tr.Header, r
	}
	h, _ := header(&faults.Plan{})
	require.Empty(t, h.Silent)
	for rule, want := range map[string]string{
		"drop-write path=p0/gen-*/seg-*.log nth=2":              "drop-write",
		"misdirect path=p0/gen-*/seg-*.log by=-512 times=3":     "misdirect",
		"bit-flip op=write path=p0/gen-*/seg-*.log at=70 nth=2": "bit-flip",
	} {
		h, r := header(&faults.Plan{Faults: []faults.Fault{{At: 300, For: 900, Kind: faults.Lie, Rule: rule, Replicas: []int{2}}}})
		require.Positive(t, r.Faults[faults.Lie], rule)
		require.Equal(t, []string{want}, h.Silent, rule)
	}
}
