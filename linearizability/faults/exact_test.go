package faults

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What each class of the matrix may draw, in a cluster of five.
var drawsOnly = map[Class]func(f *Fault) bool{
	Retry:         func(f *Fault) bool { return f.Kind == Storm || f.Kind == Isolate && f.OneWay == "out" },
	LeaderChange:  func(f *Fault) bool { return f.Kind == Partition && len(f.Replicas) == 1 },
	OneProcess:    func(f *Fault) bool { return crashes(f, 1, ProcessCrash) && !f.Power },
	PowerOne:      func(f *Fault) bool { return crashes(f, 1, PowerLoss) },
	PowerMinority: func(f *Fault) bool { return crashes(f, 2, PowerLoss) },
	PowerMajority: func(f *Fault) bool { return crashes(f, 3, PowerLoss) },
	PowerAll:      func(f *Fault) bool { return crashes(f, 5, PowerLoss) },
	DirSync:       func(f *Fault) bool { return f.Kind == DiskFault && strings.Contains(f.Rule, "op=syncdir") },
	SyncError:     func(f *Fault) bool { return f.Kind == DiskFault && strings.HasPrefix(f.Rule, "sync-") },
	Damaged:       func(f *Fault) bool { return f.Kind == Rot && f.Record != "" },
	Second:        func(f *Fault) bool { return f.Kind == CrashAt && f.Again > 0 },
	Topic:         func(f *Fault) bool { return f.Kind == CrashAmid },
	Transfer: func(f *Fault) bool {
		return f.Kind == Partition && len(f.Replicas) == 1 || crashes(f, 1, ProcessCrash) || crashes(f, 1, PowerLoss)
	},
}

func crashes(f *Fault, n int, plain Kind) bool {
	aimed := f.Kind == CrashAt && f.Within > 0 && f.Again == 0 && f.Power == (plain == PowerLoss)
	return len(f.Replicas) == n && (aimed || f.Kind == plain)
}

func TestClassesOfTheMatrixDrawWhatTheyName(t *testing.T) {
	require.Len(t, drawsOnly, len(Matrix)-1)
	for _, class := range Matrix[1:] {
		for seed := uint64(1); seed <= 200; seed++ {
			p, err := Draw(class, 5, 1500, rand.New(rand.NewPCG(seed, 1)))
			require.NoError(t, err)
			require.NotEmpty(t, p.Faults, "%s, seed %d", class, seed)
			for i := range p.Faults {
				f := &p.Faults[i]
				require.True(t, drawsOnly[class](f), "%s draws %+v", class, f)
				if i > 0 {
					last := &p.Faults[i-1]
					require.GreaterOrEqual(t, f.At, last.At+last.Within+last.For, "%s: two at a time", class)
				}
			}
		}
	}
}

func TestMinorityAndMajority(t *testing.T) {
	for _, c := range []struct{ n, minority, majority int }{{1, 1, 1}, {3, 1, 2}, {5, 2, 3}} {
		require.Equal(t, c.minority, minority(c.n))
		require.Equal(t, c.majority, majority(c.n))
	}
}
