package consensus

import (
	"errors"
	"flag"
	"testing"

	"github.com/stretchr/testify/require"

	"purgelab/impl/defect"
)

var (
	seeds = flag.Int("seeds", 80, "runs of each cluster under faults")
	seed  = flag.Uint64("seed", 1, "the first of them")
)

func TestSafetyUnderFaults(t *testing.T) {
	for _, voters := range []int{1, 3, 5} {
		var elections, crashes, losses, answered, committed int
		for s := range *seeds {
			c := newCluster(options{seed: *seed + uint64(s), voters: voters})
			require.NoError(t, c.run(1500), "replay: go test -run TestSafetyUnderFaults -seeds 1 -seed %d; voters %d", c.seed, voters)
			elections += c.elections
			crashes += c.crashes
			losses += c.losses
			answered += c.answered
			committed += len(c.committed)
		}
		t.Logf("voters %d: %d elections, %d crashes, %d of them power losses, %d committed, %d reads answered",
			voters, elections, crashes, losses, committed, answered)
		// Otherwise the runs show nothing.
		require.Greater(t, elections, *seeds)
		require.Greater(t, losses, *seeds/2)
		require.Greater(t, committed, 50**seeds)
		require.Greater(t, answered, 10**seeds)
	}
}

// A defect or a caller that breaks its promise must be seen within some runs. (A
// vote before the sync is too rare here; testdata/vote-before-sync.txt shows it.)
func TestBrokenPromisesAreSeen(t *testing.T) {
	for name, o := range map[string]options{
		"acknowledge before sync": {defects: defect.AckBeforeSync},
		"never sync":              {noSync: true},
	} {
		t.Run(name, func(t *testing.T) {
			for s := range uint64(500) {
				o.seed, o.voters = s, 3
				if err := newCluster(o).run(1500); err != nil {
					t.Logf("run %d: %v", s+1, err)
					return
				}
			}
			t.Fatal("not seen in 500 runs")
		})
	}
}

// TestRejoin: nothing but term, vote and membership is synced. A member that loses
// power comes back under another id and has to be taken in; under its old id it
// would break what was agreed on.
func TestRejoin(t *testing.T) {
	for _, voters := range []int{3, 5} {
		rejoined, losses, committed := 0, 0, 0
		for s := range *seeds {
			c := newCluster(options{seed: *seed + uint64(s), voters: voters, replicated: true})
			require.NoError(t, c.run(1500), "voters %d", voters)
			rejoined += c.rejoined
			losses += c.losses
			committed += len(c.committed)
		}
		t.Logf("voters %d: %d power losses, %d rejoined, %d committed", voters, losses, rejoined, committed)
		require.Greater(t, rejoined, *seeds/2)
		require.Greater(t, committed, 50**seeds)
	}
	t.Run("under the old id", func(t *testing.T) {
		for s := range uint64(500) {
			if err := newCluster(options{seed: s, voters: 3, replicated: true, sameID: true}).run(1500); err != nil {
				t.Logf("run %d: %v", s+1, err)
				return
			}
		}
		t.Fatal("not seen in 500 runs")
	})
}

func TestSameSeedSameBytes(t *testing.T) {
	for s := range uint64(10) {
		o := options{seed: s, voters: 3}
		a, b := newCluster(o), newCluster(o)
		require.NoError(t, errors.Join(a.run(1500), b.run(1500)))
		require.Equal(t, a.digest.Sum64(), b.digest.Sum64())
		require.Equal(t, a.now, b.now)
		require.Equal(t, a.committed, b.committed)

		o.seed += 1000
		d := newCluster(o)
		require.NoError(t, d.run(1500))
		require.NotEqual(t, a.digest.Sum64(), d.digest.Sum64())
	}
}
