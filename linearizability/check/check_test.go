package check

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/linearizability/verdict"
)

func TestGeneratedHistoriesPass(t *testing.T) {
	for _, s := range []shape{
		{clients: 4, ops: 300, keys: 2},
		{clients: 4, ops: 300, unknown: 0.05, keys: 3},
		{clients: 3, ops: 100, unknown: 0.1, keys: 3, sessions: true},
	} {
		for seed := uint64(1); seed <= 30; seed++ {
			rec, _ := generate(seed, s)
			ops, err := rec.Ops()
			require.NoError(t, err)
			v, _, err := Check(context.Background(), ops, Options{Semantics: s.semantics})
			require.NoError(t, err)
			require.Equal(t, verdict.Pass, v.Verdict, fmt.Sprintf("seed %d of %+v: %s", seed, s, v))
		}
	}
}
