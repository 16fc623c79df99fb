package minimize

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/linearizability/check"
	"purgelab/linearizability/foreign/contract"
	"purgelab/linearizability/history"
	"purgelab/linearizability/judge"
	"purgelab/linearizability/run"
	"purgelab/linearizability/verdict"
)

func events(t testing.TB, lines ...string) []history.Event {
	e, err := history.Parse("theirs.jsonl", strings.NewReader(strings.Join(lines, "\n")))
	require.NoError(t, err)
	return e
}

func recorded(t testing.TB, s run.Settings) []history.Event {
	r, err := run.Run(context.Background(), s)
	require.NoError(t, err)
	return r.History
}

// of is a history that is judged by a contract.
func of(t testing.TB, semantics string, e []history.Event) *Recorded {
	c, err := contract.Find(semantics)
	require.NoError(t, err)
	r, err := Events(&c, "theirs.jsonl", e)
	require.NoError(t, err)
	return r
}

func smaller(t testing.TB, h *Recorded, o HistoryOptions) *HistoryResult {
	r, err := History(context.Background(), h, o)
	require.NoError(t, err)
	require.NoError(t, r.Ended)
	require.Equal(t, verdict.Fail, r.Result.Verdict)
	return r
}

// theirs is a small wrong history of two partitions: what was purged in partition 1 comes
// back.
var theirs = []string{
	`{"process":0,"type":"invoke","f":"append","value":{"payloads":["x"]},"time":1,"partition":0}`,
	`{"process":0,"type":"ok","f":"append","value":{"position":"i1:g0:0"},"time":2,"partition":0}`,
	`{"process":0,"type":"invoke","f":"append","value":{"payloads":["a","b"]},"time":3,"partition":1}`,
	`{"process":0,"type":"ok","f":"append","value":{"position":"i1:g0:0"},"time":4,"partition":1}`,
	`{"process":1,"type":"invoke","f":"store-bookmark","value":{"key":"consumer-1","at":"i1:g0:1"},"time":5,"partition":1}`,
	`{"process":1,"type":"ok","f":"store-bookmark","time":6,"partition":1}`,
	`{"process":0,"type":"invoke","f":"purge","value":{},"time":7,"partition":1}`,
	`{"process":0,"type":"ok","f":"purge","value":{"position":"i1:g1:0"},"time":8,"partition":1}`,
	`{"process":1,"type":"invoke","f":"poll","value":{"strategy":"first","max":10},"time":9,"partition":1}`,
	`{"process":1,"type":"ok","f":"poll","value":{"position":"i1:g1:0","records":["a","b"]},"time":10,"partition":1}`,
	`{"process":2,"type":"invoke","f":"list-offsets","value":{"which":"latest"},"time":11,"partition":1}`,
	`{"process":2,"type":"ok","f":"list-offsets","value":{"position":"i1:g1:0","found":true},"time":12,"partition":1}`,
}

func TestReasonStays(t *testing.T) {
	whole := events(t, theirs...)
	r := smaller(t, of(t, "restart", whole), HistoryOptions{})
	require.Equal(t, 6, r.Before)
	require.EqualValues(t, judge.PurgedReturned, r.Result.Class)
	require.LessOrEqual(t, len(r.Ops), 3)
	for _, e := range pick(whole, r.Ops, r.Until) {
		require.EqualValues(t, 1, e.Partition)
	}

	whole = recorded(t, run.Settings{Seed: 3, Design: "advance", Faults: "network", Defect: "end-from-records"})
	r = smaller(t, of(t, "continue", whole), HistoryOptions{})
	require.EqualValues(t, judge.LostAppend, r.Result.Class)
	require.Len(t, r.Ops, 2)
}

// refused is a wrong history for which the judge has no reason: a bookmark that may be
// stored is refused.
var refused = []string{
	`{"process":0,"type":"invoke","f":"append","value":{"payloads":["a","b"]},"time":1,"partition":0}`,
	`{"process":0,"type":"ok","f":"append","value":{"position":"i1:g0:0"},"time":2,"partition":0}`,
	`{"process":1,"type":"invoke","f":"poll","value":{"strategy":"first","max":10},"time":3,"partition":0}`,
	`{"process":1,"type":"ok","f":"poll","value":{"position":"i1:g0:0","records":["a","b"]},"time":4,"partition":0}`,
	`{"process":1,"type":"invoke","f":"store-bookmark","value":{"key":"consumer-1","at":"i1:g0:0"},"time":5,"partition":0}`,
	`{"process":1,"type":"ok","f":"store-bookmark","value":{"code":"invalid-offset","position":"i1:g0:-1","end":2},"time":6,"partition":0}`,
	`{"process":1,"type":"invoke","f":"get-bookmark","value":{"key":"consumer-2"},"time":7,"partition":0}`,
	`{"process":1,"type":"ok","f":"get-bookmark","value":{"found":false},"time":8,"partition":0}`,
}

// Without a reason of the judge, what the search wants of the decisive answer stays, so
// that the operations which it follows from are left.
func TestWantedAnswerStays(t *testing.T) {
	whole := events(t, refused...)
	o := HistoryOptions{Jobs: 1}
	ops, err := history.Pair("whole", whole)
	require.NoError(t, err)
	before, _, err := check.Check(context.Background(), ops, check.Options{})
	require.NoError(t, err)
	r := smaller(t, of(t, "restart", whole), o)
	require.Empty(t, r.Result.Class)
	require.Equal(t, wanted(before.Reason), wanted(r.Result.Reason))
	require.NotEmpty(t, wanted(r.Result.Reason))
	require.Less(t, len(r.Ops), r.Before)
	// But for the decisive answer it is right.
	ops, err = history.Pair("part", pick(whole, r.Ops, r.Until-1))
	require.NoError(t, err)
	v, _, err := check.Check(context.Background(), ops, check.Options{})
	require.NoError(t, err)
	require.Equal(t, verdict.Pass, v.Verdict, v.Reason)

	o.Jobs = 3
	again := smaller(t, of(t, "restart", whole), o)
	require.Equal(t, r, again)
}

// TestJudgeThatFails: a part that cannot be judged ends the work, which is then not taken
// for done.
func TestJudgeThatFails(t *testing.T) {
	h := of(t, "restart", events(t, refused...))
	judge, bad := h.Judge, errors.New("cannot be read")
	h.Judge = func(ctx context.Context, ops []int, until int64) ([]check.Result, error) {
		if len(ops) == 1 {
			return nil, bad
		}
		return judge(ctx, ops, until)
	}
	_, err := History(context.Background(), h, HistoryOptions{Jobs: 1})
	require.ErrorIs(t, err, bad)
}

func TestHistoryThatIsRightStaysAsItIs(t *testing.T) {
	var e *NotWrongError
	_, err := History(context.Background(), of(t, "restart", events(t, theirs[:8]...)), HistoryOptions{})
	require.ErrorAs(t, err, &e)
	require.Equal(t, verdict.Pass, e.Result.Verdict)
	stopped, stop := context.WithCancel(context.Background())
	stop()
	_, err = History(stopped, of(t, "restart", events(t, theirs...)), HistoryOptions{})
	require.ErrorIs(t, err, context.Canceled)
}
