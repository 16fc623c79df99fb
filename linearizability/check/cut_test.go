package check

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/linearizability/history"
	"purgelab/linearizability/verdict"
	"purgelab/model"
	"purgelab/model/op"
)

// alone is what the search finds alone, in a history of partition 0.
func alone(t *testing.T, rec *history.Recorder, o Options) Result {
	ops, err := rec.Ops()
	require.NoError(t, err)
	r, err := search(context.Background(), 0, Operations(ops, 0), nil, o)
	require.NoError(t, err)
	return r
}

// Over a cut goes every state that may hold there: of two stores at the same time either
// may be the last, and a store of unknown outcome may take effect later, or never.
func TestAllStatesGoOverACut(t *testing.T) {
	key := op.Key{ID: 1}
	store := func(o op.Offset) *op.Request { return &op.Request{Kind: op.StoreBookmark, Key: key, At: at(o)} }
	for _, x := range []struct {
		found int
		want  verdict.Verdict
	}{{0, verdict.Pass}, {1, verdict.Pass}, {2, verdict.Pass}, {3, verdict.Fail}, {-1, verdict.Fail}} {
		var rec history.Recorder
		rec.Invoke(1, 1, &op.Request{Kind: op.Append, Payloads: []op.Payload{"a", "b", "c", "d"}})
		rec.Answer(1, 2, &op.Reply{Position: at(0)})
		rec.Invoke(3, 3, store(2))
		rec.Unknown(3, 4, 0, "no answer")
		rec.Invoke(1, 5, store(0))
		rec.Invoke(2, 6, store(1))
		rec.Answer(1, 7, &op.Reply{})
		rec.Answer(2, 8, &op.Reply{})
		rec.Invoke(1, 9, &op.Request{Kind: op.GetBookmark, Key: key})
		found := &op.Reply{}
		if x.found >= 0 {
			found.Found, found.Position = true, at(op.Offset(x.found))
		}
		rec.Answer(1, 10, found)
		r := alone(t, &rec, Options{})
		require.Equal(t, x.want, r.Verdict, "bookmark %d: %s", x.found, r.Reason)
		if x.want == verdict.Fail {
			require.Equal(t, 9, r.Line, r.Reason)
		}
	}
}

func at(o op.Offset) op.Position { return op.Position{Incarnation: 1, Offset: o} }

// TestCutsDecide: long histories, right and wrong, that have no verdict as a whole have
// one if clients rest now and then.
func TestCutsDecide(t *testing.T) {
	limits := model.Limits{Steps: 200_000, Bytes: 2 << 20}
	whole, parts := map[verdict.Verdict]int{}, map[verdict.Verdict]int{}
	for seed := uint64(1); seed <= 12; seed++ {
		s := shape{clients: 4, ops: 1500, unknown: 0.02, keys: 2, rest: 8}
		if seed%2 == 0 {
			s.bug = lostAppend
		}
		rec, _, fired := generateWith(seed, s)
		ops, err := rec.Ops()
		require.NoError(t, err)
		list := Operations(ops, 0)
		v, _ := uncut(context.Background(), s.semantics, list, limits)
		whole[v]++
		r := alone(t, rec, Options{MaxSteps: limits.Steps, MaxBytes: limits.Bytes})
		parts[r.Verdict]++
		if !fired {
			require.NotEqual(t, verdict.Fail, r.Verdict, "seed %d: %s", seed, r.Reason)
		}
	}
	t.Log("whole:", whole, "in parts:", parts)
	require.Less(t, 2*parts[verdict.Undecided], whole[verdict.Undecided])
	require.Positive(t, parts[verdict.Fail])
}
