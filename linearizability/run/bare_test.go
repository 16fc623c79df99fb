package run

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"purgelab/impl/consensus/barebench"
	"purgelab/linearizability/history"
)

// BenchmarkAgainstBare measures simulated client operations per second, with
// three replicas, all faults, full history and trace, beside a bare loop of
// three raft nodes in memory, one proposal at a time. Both work in turns in the
// same process, so that their ratio says more than either figure: run it with
// -cpu 1, for both are of one thread.
//
// heap-B/op is what a run holds at its end per operation: history, trace, the
// journals on the simulated disks, and the account of the invariants. It must
// not grow with the length of the run.
func BenchmarkAgainstBare(b *testing.B) {
	for _, ops := range []int{5_000, 20_000} {
		b.Run(fmt.Sprintf("ops=%d", ops), func(b *testing.B) { againstBare(b, ops) })
	}
}

func againstBare(b *testing.B, ops int) {
	bare, err := barebench.New(3)
	require.NoError(b, err)
	data := make([]byte, 100)
	var ours, theirs time.Duration
	var done, proposed, bytes, held int
	for seed := uint64(1); b.Loop(); seed++ {
		begun := time.Now()
		for range 20_000 {
			require.NoError(b, bare.Propose(data))
		}
		proposed += 20_000
		theirs += time.Since(begun)

		before := heap()
		begun = time.Now()
		s := Settings{Seed: seed, Faults: "all", Ops: ops, Clients: 16}
		require.NoError(b, s.Complete())
		m, err := simulate(context.Background(), &s, nil)
		require.NoError(b, err)
		ours += time.Since(begun)
		done += m.script.ended
		held += heap() - before
		runtime.KeepAlive(m)
		var n counter
		require.NoError(b, history.Write(&n, m.script.rec.Events()))
		bytes += int(n)
	}
	rate, bareRate := float64(done)/ours.Seconds(), float64(proposed)/theirs.Seconds()
	b.ReportMetric(rate, "ops/s")
	b.ReportMetric(bareRate, "bare-ops/s")
	b.ReportMetric(rate/bareRate, "of-bare")
	b.ReportMetric(float64(held)/float64(done), "heap-B/op")
	b.ReportMetric(float64(bytes)/float64(done), "history-B/op")
	b.ReportMetric(0, "ns/op")
}

// heap is what is in use after a collection.
func heap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// counter counts bytes.
type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
