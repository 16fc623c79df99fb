package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"purgelab/impl/vfs"
	"purgelab/model/op"
)

// BenchmarkRecovery opens a replica whose whole log has to be replayed, since no
// checkpoint was ever made. One message is one op; µs/message, from the beginning
// until all that is known to be committed is materialized, should not grow with
// their number; cpu-µs/message is the same without the waiting. ms-to-answer has the election in it, which the timers decide.
// heap-MB is what the open replica holds, alloc-MB what it took to open it.
func BenchmarkRecovery(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("messages=%d", n), func(b *testing.B) {
			o := benchOptions(b)
			o.Replica.CheckpointOps = 1 << 30
			o.Disk = func(real vfs.FS) vfs.FS { return unsyncedFS{real} }
			p, err := OpenPartition(o, 1)
			require.NoError(b, err)
			appendUpTo(b, p, n)
			p.Kill(1)
			syncAll(b, o.Root)
			o.Disk = nil
			var replayed, worked, answered time.Duration
			var before, after runtime.MemStats
			for b.Loop() {
				runtime.GC()
				runtime.ReadMemStats(&before)
				begun, cpu := time.Now(), cpuTime(b)
				p, err := OpenPartition(o, 1)
				require.NoError(b, err)
				for {
					v, err := p.Replica(1).View()
					require.NoError(b, err)
					if v.Facts.Applied >= v.Committed && v.Committed > 1 {
						break
					}
					time.Sleep(time.Millisecond)
				}
				replayed, worked = replayed+time.Since(begun), worked+cpuTime(b)-cpu
				r, err := p.Do(context.Background(), &op.Request{Kind: op.ListOffsets, Which: op.LatestOffset})
				require.NoError(b, err)
				answered += time.Since(begun)
				require.EqualValues(b, n, r.Position.Offset)
				runtime.ReadMemStats(&after)
				alloc := after.TotalAlloc - before.TotalAlloc
				runtime.GC()
				runtime.ReadMemStats(&after)
				b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "heap-MB")
				b.ReportMetric(float64(alloc)/(1<<20), "alloc-MB")
				p.Kill(1)
			}
			b.ReportMetric(float64(replayed.Microseconds())/float64(b.N)/float64(n), "µs/message")
			b.ReportMetric(float64(worked.Microseconds())/float64(b.N)/float64(n), "cpu-µs/message")
			b.ReportMetric(float64(answered.Milliseconds())/float64(b.N), "ms-to-answer")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// appendUpTo appends n messages by many clients.
func appendUpTo(b *testing.B, p *Partition, n int) {
	payload := op.Payload(strings.Repeat("m", benchPayload))
	work := make(chan struct{}, 1024)
	done := make(chan error, 128)
	for range cap(done) {
		go func() {
			for range work {
				r, err := p.Do(context.Background(), &op.Request{Kind: op.Append, Payloads: []op.Payload{payload}})
				if err == nil && r.Code != op.OK {
					err = fmt.Errorf("append: %v", r.Code)
				}
				if err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range n {
		work <- struct{}{}
	}
	close(work)
	for range cap(done) {
		require.NoError(b, <-done)
	}
}

// cpuTime is what this process has used of all cores.
func cpuTime(b *testing.B) time.Duration {
	var r syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &r))
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// syncAll makes all files below root durable, so that the next one who syncs
// does not pay for what was left out.
func syncAll(b *testing.B, root string) {
	require.NoError(b, filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), f.Close())
	}))
}

// unsyncedFS leaves out the syncs: to fill a disk faster, never to keep anything.
type unsyncedFS struct{ vfs.FS }

type unsyncedFile struct{ vfs.File }

func (u unsyncedFS) Create(l vfs.Label, path string) (vfs.File, error) {
	f, err := u.FS.Create(l, path)
	return unsyncedFile{f}, err
}

func (unsyncedFS) SyncDir(vfs.Label, string) error { return nil }
func (unsyncedFile) Sync(vfs.Label) error          { return nil }
