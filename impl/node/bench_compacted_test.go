package node

import (
	"context"
	"flag"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"purgelab/impl/replica"
	"purgelab/impl/vfs"
	"purgelab/model/op"
)

// compactedMessages is the larger of the two numbers of messages; the smaller one is a
// tenth of it.
var compactedMessages = flag.Int("compacted-messages", 10_000_000, "messages of BenchmarkRecoveryCompacted")

const (
	perAppend    = 500 // messages
	smallPayload = 16  // bytes
	tail         = 300 // ops that a boot has to replay
)

// BenchmarkRecoveryCompacted opens a replica whose journal was compacted, after one
// number of messages and after ten times as many, by turns, with the same ops behind the
// checkpoint. few-ms and many-ms are the medians of the boots, until everything that is
// known to be committed is materialized; few-cpu-ms and many-cpu-ms what they took of all
// cores, which other work on the machine changes less, and ratio is what is between these.
// Each boot finds the files in the cache. few-files and many-files are how many files a boot
// opens, few-KB and many-KB what it reads of them: these do not depend on what else the
// machine does. few-MB and many-MB are what the open replica
// holds in memory then. checked-ms is when the messages that the boot of many took on
// trust are checked.
func BenchmarkRecoveryCompacted(b *testing.B) {
	few, many := newCompacted(b, *compactedMessages/10), newCompacted(b, *compactedMessages)
	for b.Loop() {
		for range 40 {
			few.boot(b)
			many.boot(b)
		}
	}
	require.InEpsilon(b, few.entries, many.entries, 0.05, "the same tail, but for what shares a file of the journal with it")
	b.ReportMetric(ms(few.took), "few-ms")
	b.ReportMetric(ms(many.took), "many-ms")
	b.ReportMetric(ms(few.cpu), "few-cpu-ms")
	b.ReportMetric(ms(many.cpu), "many-cpu-ms")
	b.ReportMetric(ms(many.cpu)/ms(few.cpu), "ratio")
	b.ReportMetric(float64(few.files), "few-files")
	b.ReportMetric(float64(many.files), "many-files")
	b.ReportMetric(few.kb, "few-KB")
	b.ReportMetric(many.kb, "many-KB")
	b.ReportMetric(few.heap, "few-MB")
	b.ReportMetric(many.heap, "many-MB")
	b.ReportMetric(float64(many.entries), "journal-ops")
	b.ReportMetric(many.checked(b), "checked-ms")
	b.ReportMetric(0, "ns/op")
}

// compacted is a replica with messages, which is down.
type compacted struct {
	o         Options
	end       op.Offset
	took, cpu []time.Duration // boots
	entries   int             // of its journal
	heap      float64         // MB
	files     int64           // that the last boot opened
	kb        float64         // that it read of them
	counted
}

// counted are files that were opened, and bytes that were read.
type counted struct{ opened, read atomic.Int64 }

type countedFS struct {
	vfs.FS
	c *counted
}

type countedFile struct {
	vfs.File
	c *counted
}

func (f countedFS) Open(path string) (vfs.File, error) {
	f.c.opened.Add(1)
	h, err := f.FS.Open(path)
	return countedFile{h, f.c}, err
}

func (f countedFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(p, off)
	f.c.read.Add(int64(n))
	return n, err
}

// newCompacted fills a replica with n messages and some ops behind its last checkpoint.
func newCompacted(b *testing.B, n int) *compacted {
	o := benchOptions(b)
	o.Replica.SegmentBytes, o.Replica.JournalBytes = 0, 64<<10
	o.Disk = func(real vfs.FS) vfs.FS { return unsyncedFS{real} }
	run := func(checkpointOps, appends int, idle bool) {
		o.Replica.CheckpointOps, o.Replica.Compact = checkpointOps, replica.Compaction{Ops: checkpointOps}
		p, err := OpenPartition(o, 1)
		require.NoError(b, err)
		appendBatches(b, p, appends)
		for idle {
			v, err := p.Replica(1).View()
			require.NoError(b, err)
			idle = !v.Idle
		}
		p.Kill(1)
		syncAll(b, o.Root)
	}
	run(tail, n/perAppend-1, false)
	run(1, 1, true)
	run(1<<30, tail, false)
	c := &compacted{o: o, end: op.Offset(n + (tail-1)*perAppend)}
	c.o.Disk = func(real vfs.FS) vfs.FS { return countedFS{real, &c.counted} }
	return c
}

// boot opens the replica, and ends it.
func (c *compacted) boot(b *testing.B) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	c.opened.Store(0)
	c.read.Store(0)
	begun, cpu := time.Now(), cpuTime(b)
	p, err := OpenPartition(c.o, 1)
	require.NoError(b, err)
	for {
		v, err := p.Replica(1).View()
		require.NoError(b, err)
		if v.Facts.Applied >= v.Committed && v.Facts.End >= c.end {
			break
		}
		time.Sleep(100 * time.Microsecond)
	}
	c.files, c.kb = c.opened.Load(), float64(c.read.Load())/1000
	c.took, c.cpu = append(c.took, time.Since(begun)), append(c.cpu, cpuTime(b)-cpu)
	require.True(b, p.Replica(1).look(func(r *replica.Replica) { c.entries = r.Report().Journal.Entries }))
	runtime.GC()
	runtime.ReadMemStats(&after)
	c.heap = (float64(after.HeapAlloc) - float64(before.HeapAlloc)) / (1 << 20)
	p.Kill(1)
}

// ms is the median.
func ms(took []time.Duration) float64 {
	slices.Sort(took)
	return float64(took[len(took)/2].Microseconds()) / 1000
}

// checked opens the replica and waits until it has nothing left to do.
func (c *compacted) checked(b *testing.B) float64 {
	begun := time.Now()
	p, err := OpenPartition(c.o, 1)
	require.NoError(b, err)
	for idle := false; !idle; time.Sleep(time.Millisecond) {
		v, err := p.Replica(1).View()
		require.NoError(b, err)
		idle = v.Idle
	}
	p.Kill(1)
	return float64(time.Since(begun).Milliseconds())
}

// appendBatches appends many messages at a time.
func appendBatches(b *testing.B, p *Partition, batches int) {
	payload := op.Payload(strings.Repeat("m", smallPayload))
	req := &op.Request{Kind: op.Append}
	for range perAppend {
		req.Payloads = append(req.Payloads, payload)
	}
	for range batches {
		r, err := p.Do(context.Background(), req)
		require.NoError(b, err)
		require.Equal(b, op.OK, r.Code)
	}
}
