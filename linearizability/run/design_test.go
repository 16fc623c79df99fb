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

// TestDeletionDefects: what real engines got wrong about a deletion of records.
func TestDeletionDefects(t *testing.T) {
	for name, property := range map[string]string{
		"whole-batch-deleted":    "NoFreshLoss",
		"earliest-from-records":  "StartMonotone",
		"delete-moves-bookmarks": "HistoryAgreement",
	} {
		t.Run(name, func(t *testing.T) {
			s := Settings{Design: "advance", Defect: name}
			sum, err := (&Sweep{Settings: s, From: 1, To: 50, StopAtRed: true}).Run(context.Background())
			require.NoError(t, err)
			require.NotEmpty(t, sum.Reds, "not caught in %d runs", sum.Runs)
			require.Equal(t, property, sum.Reds[0].Property, sum.Reds[0].Reason)
		})
	}
}

// TestSeedsResetRecord: alone, a replica that purges by a reset record keeps every
// promise.
func TestSeedsResetRecord(t *testing.T) {
	for _, variant := range []string{"", "tagged-bookmarks"} {
		s := Settings{Design: "reset-record", Replicas: 1, Faults: "all", Variant: variant}
		sum, err := (&Sweep{Settings: s, From: 1, To: seeds.Count()}).Run(context.Background())
		require.NoError(t, err)
		for _, bad := range append(sum.Reds, sum.Undecided...) {
			t.Errorf("%v %s: %s\nreplay: %s", bad.Verdict, bad.Property, bad.Reason, bad.Replay)
		}
	}
}

// TestResetRecordIsNotAgreed: three replicas choose floors of their own, which is
// the nature of the design and must be seen.
func TestResetRecordIsNotAgreed(t *testing.T) {
	sum, err := (&Sweep{Settings: Settings{Design: "reset-record"}, From: 1, To: 4}).Run(context.Background())
	require.NoError(t, err)
	require.NotEmpty(t, sum.Reds)
	for _, red := range sum.Reds {
		require.Equal(t, "BoundaryAgreement", red.Property, red.Replay)
	}
}

// TestResetRecordDefects: each rule that a defect leaves out is missed by a
// property that holds without it.
func TestResetRecordDefects(t *testing.T) {
	for name, property := range map[string]string{
		"retry-resets-again":      "RetryIdempotent",
		"complete-before-cleanup": "CompletionLast",
		"bookmark-no-dirsync":     "NoResurrectedBookmark",
		"held-dropped":            "HeldCommits",
		"floor-not-kept":          "BoundaryScope",
	} {
		t.Run(name, func(t *testing.T) {
			s := Settings{Design: "reset-record", Replicas: 1, Faults: "all", Defect: name}
			sum, err := (&Sweep{Settings: s, From: 1, To: 200, StopAtRed: true}).Run(context.Background())
			require.NoError(t, err)
			require.NotEmpty(t, sum.Reds, "not caught in %d runs", sum.Runs)
			require.Equal(t, property, sum.Reds[0].Property, sum.Reds[0].Reason)
		})
	}
}
