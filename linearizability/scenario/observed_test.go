package scenario

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/linearizability/check"
	"purgelab/linearizability/history"
	"purgelab/linearizability/verdict"
)

func judged(t *testing.T, r *Result, events []history.Event) verdict.Result {
	ops, err := history.Pair(r.Scenario.File, events)
	require.NoError(t, err)
	v, _, err := check.Check(context.Background(), ops, r.options())
	require.NoError(t, err)
	require.NotEqual(t, verdict.Undecided, v.Verdict, v.Reason)
	return v
}

// unseen are scenarios whose wrong outcome no client can tell from a right one, and
// why.
var unseen = map[string]string{
	"purge-in-advance-keeps-numbers-and-bookmarks": "nothing is wrong in it",
	"reset-record-change-during-the-cleanup":       "what has no answer may be lost",
	"s07-carried-over-and-acknowledged-too-soon":   "who is asked must be confirmed by those who lost it",
	"s08-old-files-of-the-log-pile-up":             "files stay on a disk",
	"s08-old-generations-pile-up":                  "files stay on a disk",
	"s14-start-inside-a-batch-stops-a-follower":    "nobody answers",
	"s30-files-reach-the-disk-in-any-order":        "nobody answers",
	"s31-entry-kept-at-the-end-of-a-snapshot":      "two of three go on without the one that is stuck",
	"s32-renamed-and-not-synced":                   "nobody answers",
	"s33-log-start-kept-in-memory":                 "nobody answers",
	"s34-failed-metadata-comes-back":               "nobody answers",
	"sync-of-a-directory-that-is-tried-again":      "nobody answers",
}

// TestBothOutcomesAsHistories feeds the judge of histories both outcomes of every
// scenario: the expected one must be accepted, and what was observed, be it what the
// defect makes clients see or what the report says, must be rejected.
func TestBothOutcomesAsHistories(t *testing.T) {
	for _, s := range own(t) {
		if s.driven {
			continue // nobody asks
		}
		for _, way := range s.Ways() {
			expected := Play(context.Background(), s, way, false)
			v := judged(t, expected, expected.History)
			require.Equal(t, slices.Contains(s.Listed, check.Property), v.Verdict == verdict.Fail, "%s: %s", s.Name, v.Reason)
			if len(s.Listed) > 0 {
				continue // what is wrong in it is what the design does by nature
			}
			events, other, err := expected.Observed()
			require.NoError(t, err)
			rejected := other && judged(t, expected, events).Verdict == verdict.Fail
			if s.Defect != "" && !rejected {
				broken := Play(context.Background(), s, way, true)
				rejected = judged(t, broken, broken.History).Verdict == verdict.Fail
			}
			require.Equal(t, unseen[s.Name] == "", rejected, "%s, %s", s.Name, way)
		}
	}
}

// TestAnswersReadAsTheyPrint: what is printed of an answer is read as that answer,
// so that the history of what was observed differs in what the file says alone.
func TestAnswersReadAsTheyPrint(t *testing.T) {
	answers := 0
	for _, s := range own(t) {
		r := Play(context.Background(), s, s.Ways()[0], false)
		for i := range s.Steps {
			s.Steps[i].Seen, s.Steps[i].Wrong = "", s.Steps[i].Want
			if at := r.places[i]; at >= 0 && r.History[at].Type == history.OK {
				s.Steps[i].Seen = r.Answers[i]
				answers++
			}
		}
		events, _, err := r.Observed()
		require.NoError(t, err)
		for i := range events {
			require.Equal(t, r.History[i], events[i], s.Name)
		}
	}
	require.Greater(t, answers, 200)
}
