package check

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"purgelab/linearizability/history"
	"purgelab/linearizability/verdict"
)

// Twenty operations of unknown outcome around new incarnations have more outcomes
// than any search could list: without a bound this history is never judged, whatever
// the time-out.
func TestManyOutcomesEnd(t *testing.T) {
	ops, err := history.ReadFile("testdata/many-outcomes.jsonl")
	require.NoError(t, err)
	found := make(chan verdict.Verdict, 1)
	go func() {
		total, _, err := Check(context.Background(), ops, Options{Timeout: 20 * time.Second})
		if err != nil {
			total.Verdict = verdict.Undecided
		}
		found <- total.Verdict
	}()
	select {
	case v := <-found:
		require.Equal(t, verdict.Pass, v)
	case <-time.After(time.Minute):
		t.Fatal("no verdict a long time after the time-out")
	}
}
