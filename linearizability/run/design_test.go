package run

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/linearizability/history"
	"purgelab/linearizability/seeds"
	"purgelab/linearizability/verdict"
	"purgelab/model/op"
)

// TestSeedsAdvance: the design in which numbering goes on, with both kinds of
// position.
func TestSeedsAdvance(t *testing.T) {
	for _, positions := range []string{"tagged", "bare"} {
		s := Settings{Design: "advance", Faults: "all", Positions: positions}
		sum, err := (&Sweep{Settings: s, From: 1, To: seeds.Count()}).Run(context.Background())
		require.NoError(t, err)
		for _, bad := range append(sum.Reds, sum.Undecided...) {
			t.Errorf("%v %s: %s\nreplay: %s", bad.Verdict, bad.Property, bad.Reason, bad.Replay)
		}
	}
}

// TestAdvanceReachesItsCases: the runs that pass are not vacuous.
func TestAdvanceReachesItsCases(t *testing.T) {
	seen := map[string]int{}
	for seed := uint64(1); seed <= 4; seed++ {
		r := mustRun(t, Settings{Seed: seed, Design: "advance", Faults: "network", Ops: 600})
		require.Equal(t, verdict.Pass, r.Verdict, r.Settings.Replay())
		ops, err := history.Pair("history.jsonl", r.History)
		require.NoError(t, err)
		for i := range ops {
			o := &ops[i]
			if o.Outcome != history.Answered {
				continue
			}
			q, a := o.Request, o.Reply
			require.Zero(t, a.Position.Generation, "there is one generation")
			switch {
			case q.Kind == op.Purge && a.Code == op.OK:
				require.NotZero(t, q.Session, "a purge is numbered")
				if seen["purge"]++; a.Position.Offset > 0 {
					seen["numbering goes on"]++
				}
			case q.Kind == op.Purge && a.Code == op.Mismatch:
				seen["mismatch"]++
			case q.Kind == op.Poll && q.Strategy == op.Next && q.Reset == op.Fail && a.Code == op.OffsetOutOfRange:
				seen["below the start, error"]++
			case q.Kind == op.DeleteRecords && a.Code == op.OffsetOutOfRange:
				seen["cutoff out of range"]++
			}
		}
	}
	for _, name := range []string{"purge", "numbering goes on", "mismatch", "below the start, error", "cutoff out of range"} {
		require.NotZero(t, seen[name], name)
	}
}
