package check

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"purgelab/linearizability/history"
	"purgelab/linearizability/verdict"
	"purgelab/model/op"
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

// looked is a context that ends when it was looked at so often.
type looked struct {
	context.Context
	left int
}

var errLooked = errors.New("looked at too often")

func (c *looked) Err() error {
	if c.left--; c.left < 0 {
		return errLooked
	}
	return nil
}

// A search is ended inside a step that has many outcomes, and not only after it: here
// all the work is in the answer, which any of many unknown appends may explain.
func TestEndsInsideAStep(t *testing.T) {
	var rec history.Recorder
	const most = 10
	n := 0
	for size := 1; size <= most; size++ {
		r := &op.Request{Kind: op.Append}
		for range size {
			r.Payloads = append(r.Payloads, op.Payload(fmt.Sprintf("m%d", n)))
			n++
		}
		rec.Invoke(size, 1, r)
		rec.Unknown(size, 2, 0, "no answer")
	}
	rec.Invoke(0, 3, &op.Request{Kind: op.ListOffsets, Which: op.LatestOffset})
	rec.Answer(0, 4, &op.Reply{Found: true, Position: op.Position{Incarnation: 1, Offset: 56}})
	ops, err := rec.Ops()
	require.NoError(t, err)
	v, err := search(context.Background(), 0, Operations(ops, 0), nil, Options{})
	require.NoError(t, err)
	require.Equal(t, verdict.Fail, v.Verdict, v.Reason)
	require.Greater(t, v.Steps, int64(5_000))
	const looks = 20
	v, err = search(&looked{context.Background(), looks}, 0, Operations(ops, 0), nil, Options{})
	require.NoError(t, err)
	require.Equal(t, verdict.Undecided, v.Verdict)
	require.Contains(t, v.Reason, errLooked.Error())
	require.Less(t, v.Steps, int64(2_500))
}

// A search that would keep too much ends, and is undecided; the same search passes if
// it may keep that much.
func TestMemoryIsBounded(t *testing.T) {
	rec, _ := generate(1, shape{clients: 4, ops: 3000, unknown: 0.02, keys: 2})
	ops, err := rec.Ops()
	require.NoError(t, err)
	r, err := search(context.Background(), 0, Operations(ops, 0), nil, Options{MaxBytes: 1 << 20})
	require.NoError(t, err)
	require.Equal(t, verdict.Undecided, r.Verdict)
	require.Contains(t, r.Reason, "no verdict within 1 MiB")
	r, err = search(context.Background(), 0, Operations(ops, 0), nil, Options{})
	require.NoError(t, err)
	require.Equal(t, verdict.Pass, r.Verdict, r.Reason)
}
