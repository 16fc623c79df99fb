package check

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/linearizability/history"
	"purgelab/linearizability/judge"
	"purgelab/linearizability/seeds"
	"purgelab/model"
	"purgelab/model/op"
)

// TestOrdersOfNewIncarnations: the judge alone finds an order of most histories with new
// incarnations that have one.
func TestOrdersOfNewIncarnations(t *testing.T) {
	begun, ordered, lost := 0, 0, 0
	for seed := uint64(1); seed <= max(seeds.Count(), 100); seed++ { // it is a share of them
		r := rand.New(rand.NewPCG(seed, 19))
		s := shape{clients: 2 + r.IntN(4), ops: 20 + r.IntN(60), unknown: 0.2 * r.Float64(), keys: 1 + r.Uint32N(3), begins: 1 + r.IntN(3), loses: op.Losses(r.IntN(8))}
		rec, _ := generate(seed, s)
		ops, err := history.Pair("generated", rec.Events())
		require.NoError(t, err)
		list := Operations(ops, 0)
		found := judge.Judge(model.Semantics{}, list)
		require.Nil(t, found.Reason, "seed %d", seed)
		begins := false
		for i := range list {
			begins = begins || list[i].Request.Kind == op.NewIncarnation
		}
		if !begins {
			continue
		}
		begun++
		if found.Order == nil {
			t.Logf("seed %d: %v", seed, found.GaveUp)
			continue
		}
		ordered++
		for _, x := range found.Order {
			if x.As == model.Cut {
				lost++
				break
			}
		}
	}
	t.Logf("%d histories with new incarnations, %d ordered, in %d of which something is lost", begun, ordered, lost)
	require.Greater(t, 10*ordered, 8*begun)
	require.Greater(t, 10*lost, ordered)
}
