package node

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"purgelab/impl/replica"
	"purgelab/impl/vfs"
	"purgelab/model/op"
)

const (
	benchClients = 16
	benchPayload = 100 // bytes
	benchTurn    = 400 // appends
)

// benchOptions are those of one replica as a broker would run it.
func benchOptions(b *testing.B) Options {
	o := options(b)
	o.Tick = DefaultTick
	o.Replica.CheckpointOps, o.Replica.SegmentBytes, o.Replica.JournalBytes = 100_000, 64<<20, 64<<20
	return o
}

// BenchmarkAppend is what a client waits for: 16 of them append one message at a
// time to one replica. Beside it, in turns and in the same run, stands a bare
// loop that writes the bytes that the journal wrote, in the same batches, with
// as many calls of fdatasync. of-bare is how much of its speed is left: the median
// of many short turns, since whatever else the machine does falls on some of them.
// The journal makes its files long before it fills them, see journal.Options; the
// bare loop appends, and of-bare-room is what is left of one that has such room, too.
func BenchmarkAppend(b *testing.B) {
	for _, d := range []replica.Durability{replica.Persisted, replica.Replicated} {
		b.Run(d.String(), func(b *testing.B) {
			o := benchOptions(b)
			o.Replica.Policy = replica.Policy{Messages: d, Bookmarks: d}
			var log journalLog
			o.Disk = func(fs vfs.FS) vfs.FS { return watchedFS{fs, &log} }
			p, err := OpenPartition(o, 1)
			require.NoError(b, err)
			defer p.Close()
			appendMany(b, p, 100) // a leader, and files
			appends, fills := newBare(b, 0), newBare(b, 64<<20)
			var here time.Duration
			var ofAppends, ofFills []float64
			batches := 0
			b.ReportAllocs()
			b.ResetTimer()
			for left := b.N; left > 0; {
				n := min(left, benchTurn)
				left -= n
				log.take()
				took := appendMany(b, p, n)
				b.StopTimer()
				here += took
				calls := log.take()
				ofAppends = append(ofAppends, float64(appends.run(b, calls))/float64(took))
				ofFills = append(ofFills, float64(fills.run(b, calls))/float64(took))
				for _, c := range calls {
					if c == syncCall || d == replica.Replicated && c > 0 {
						batches++
					}
				}
				b.StartTimer()
			}
			b.ReportMetric(median(ofAppends), "of-bare")
			b.ReportMetric(median(ofFills), "of-bare-room")
			b.ReportMetric(float64(b.N)/float64(max(1, batches)), "ops/batch")
			b.ReportMetric(float64(b.N)/here.Seconds(), "ops/s")
		})
	}
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// appendMany appends n messages from all clients and returns how long it took.
func appendMany(b *testing.B, p *Partition, n int) time.Duration {
	var wg sync.WaitGroup
	begun := time.Now()
	for c := range benchClients {
		wg.Add(1)
		go func() {
			defer wg.Done()
			payload := op.Payload(strings.Repeat("m", benchPayload))
			for i := c; i < n; i += benchClients {
				r, err := p.Do(context.Background(), &op.Request{Kind: op.Append, Payloads: []op.Payload{payload}})
				if err != nil || r.Code != op.OK {
					b.Errorf("append: %v %v", r.Code, err)
					return
				}
			}
		}()
	}
	wg.Wait()
	return time.Since(begun)
}

// syncCall stands in a journalLog for a sync; other entries are lengths of writes.
const syncCall = -1

// journalLog is what was done to the files of the journal, in order.
type journalLog struct {
	mu    sync.Mutex
	calls []int
}

func (l *journalLog) note(c int) {
	l.mu.Lock()
	l.calls = append(l.calls, c)
	l.mu.Unlock()
}

func (l *journalLog) take() []int {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := l.calls
	l.calls = nil
	return out
}

// watchedFS notes what is done to the files of the journal.
type watchedFS struct {
	vfs.FS
	log *journalLog
}

type watchedFile struct {
	vfs.File
	log *journalLog
}

func (w watchedFS) Create(l vfs.Label, path string) (vfs.File, error) {
	f, err := w.FS.Create(l, path)
	if err != nil || !strings.Contains(path, "journal/") {
		return f, err
	}
	return watchedFile{f, w.log}, nil
}

func (w watchedFile) WriteAt(l vfs.Label, p []byte, off int64) (int, error) {
	w.log.note(len(p))
	return w.File.WriteAt(l, p, off)
}

func (w watchedFile) Sync(l vfs.Label) error {
	w.log.note(syncCall)
	return w.File.Sync(l)
}

// bare is a file that is only ever appended to, or filled if it has room.
type bare struct {
	f   *os.File
	off int64
	buf []byte
}

func newBare(b *testing.B, room int64) *bare {
	f, err := os.Create(filepath.Join(b.TempDir(), "bare.log"))
	require.NoError(b, err)
	require.NoError(b, f.Truncate(room))
	require.NoError(b, f.Sync())
	b.Cleanup(func() { f.Close() })
	buf := make([]byte, 1<<20)
	for i := range buf {
		buf[i] = byte(i * 7)
	}
	return &bare{f: f, buf: buf}
}

// run makes the calls and returns how long they took.
func (r *bare) run(b *testing.B, calls []int) time.Duration {
	begun := time.Now()
	for _, c := range calls {
		if c == syncCall {
			require.NoError(b, syscall.Fdatasync(int(r.f.Fd())))
			continue
		}
		_, err := r.f.WriteAt(r.buf[:c], r.off)
		require.NoError(b, err)
		r.off += int64(c)
	}
	return time.Since(begun)
}
