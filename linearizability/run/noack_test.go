package run

import (
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/linearizability/history"
	"purgelab/model/op"
)

// Requests whose answer nobody awaits are in the history as unknown, carry no
// session, and take effect at most once: most do when nothing is lost.
func TestUnacknowledgedRequests(t *testing.T) {
	var sent, seen int
	for seed := uint64(1); seed <= 12; seed++ {
		r := mustRun(t, Settings{Seed: seed, Faults: "none", Ops: 400})
		ops, err := history.Pair("history", r.History)
		require.NoError(t, err)
		stored := map[op.Payload]bool{}
		for i := range ops {
			if o := &ops[i]; o.Reply != nil {
				for _, rec := range o.Reply.Records {
					stored[rec.Payload] = true
				}
			}
		}
		unknown := 0
		for i := range ops {
			o := &ops[i]
			if o.Outcome != history.Unknown || o.Request.Session != 0 || o.Request.Kind == op.Purge {
				continue
			}
			unknown++
			if o.Request.Kind == op.Append {
				sent++
				if stored[o.Request.Payloads[0]] {
					seen++
				}
			}
		}
		require.Positive(t, r.Effects.Unacknowledged, "seed %d", seed)
		require.Equal(t, r.Effects.Unacknowledged, unknown, "seed %d", seed)
	}
	require.Greater(t, 2*seen, sent, "of %d appends that nobody awaited %d were read", sent, seen)
}
