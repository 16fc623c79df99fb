package node

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"purgelab/impl/replica"
	"purgelab/impl/vfs"
	"purgelab/model/op"
)

// compactedMessages is the larger of the two numbers of messages; the smaller one is a
// tenth of it.
var compactedMessages = flag.Int("compacted-messages", 2_000_000, "messages of BenchmarkRecoveryCompacted")

const (
	perAppend = 100 // messages
	tail      = 300 // ops that a boot has to replay, about
)

// BenchmarkRecoveryCompacted opens a replica whose journal was compacted, after one
// number of messages and after ten times as many, with the same number of ops behind
// the checkpoint. ms-to-boot is the median of several boots, until everything that is
// known to be committed is materialized; journal-ops is how much of the journal was
// read for it. Each boot finds the files in the cache. A boot still checks every
// message that is stored, and so takes longer with more of them.
func BenchmarkRecoveryCompacted(b *testing.B) {
	for _, n := range []int{*compactedMessages / 10, *compactedMessages} {
		b.Run(fmt.Sprintf("messages=%d", n), func(b *testing.B) {
			o := benchOptions(b)
			o.Replica.CheckpointOps, o.Replica.JournalBytes = tail, 1<<20
			o.Replica.Compact = replica.Compaction{Ops: tail}
			o.Disk = func(real vfs.FS) vfs.FS { return unsyncedFS{real} }
			p, err := OpenPartition(o, 1)
			require.NoError(b, err)
			appendBatches(b, p, n)
			p.Kill(1)
			syncAll(b, o.Root)
			o.Disk = nil
			var took []time.Duration
			var entries int
			for b.Loop() {
				for range 5 {
					begun := time.Now()
					p, err := OpenPartition(o, 1)
					require.NoError(b, err)
					for {
						v, err := p.Replica(1).View()
						require.NoError(b, err)
						if v.Facts.Applied >= v.Committed && v.Committed > 1 {
							require.GreaterOrEqual(b, int(v.Facts.End), n-perAppend) // the last one may wait for an election
							break
						}
						time.Sleep(time.Millisecond)
					}
					took = append(took, time.Since(begun))
					require.True(b, p.Replica(1).look(func(r *replica.Replica) { entries = r.Report().Journal.Entries }))
					p.Kill(1)
				}
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms-to-boot")
			b.ReportMetric(float64(entries), "journal-ops")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// appendBatches appends n messages, many at a time.
func appendBatches(b *testing.B, p *Partition, n int) {
	payload := op.Payload(strings.Repeat("m", benchPayload))
	req := &op.Request{Kind: op.Append}
	for range perAppend {
		req.Payloads = append(req.Payloads, payload)
	}
	for range n / perAppend {
		r, err := p.Do(context.Background(), req)
		require.NoError(b, err)
		require.Equal(b, op.OK, r.Code)
	}
}
