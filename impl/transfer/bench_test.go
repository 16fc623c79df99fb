package transfer

import (
	"flag"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"purgelab/impl/engine"
	"purgelab/impl/segment"
	"purgelab/impl/vfs"
	"purgelab/impl/vfs/osfs"
	"purgelab/model/op"
)

var size = flag.Int("transfer-mib", 64, "size of the state that BenchmarkTransfer moves, in MiB")

// BenchmarkTransfer moves a state from one folder of the machine to another, beside a
// plain copy of the same files, each synced, and their folder, in files of the usual size
// and in small ones: of-copy is 1 if it is as fast. It demands no more memory than 64 MiB
// over what was in use before.
func BenchmarkTransfer(b *testing.B) {
	for _, kib := range []int{segment.DefaultSegmentBytes >> 10, 128} {
		b.Run(fmt.Sprintf("KiB=%d", kib), func(b *testing.B) { moveAll(b, kib<<10) })
	}
}

func moveAll(b *testing.B, segmentBytes int) {
	root, err := osfs.New(b.TempDir())
	require.NoError(b, err)
	for _, d := range []string{"from", "to", "copy"} {
		require.NoError(b, root.Mkdir("bench", d))
	}
	l := layouts[0]
	o := on(root, first, "from", 0)
	o.SegmentBytes, o.IndexEvery = segmentBytes, 0
	e, err := l.open(o)
	require.NoError(b, err)
	payload := op.Payload(strings.Repeat("x", 1000))
	batch := engine.Effect{Kind: engine.Append, Timestamp: 1}
	for range 16 {
		batch.Payloads = append(batch.Payloads, payload)
	}
	for n := op.Number(2); int(n)*16*1000 < *size<<20; n++ {
		require.NoError(b, e.Apply(n, batch))
	}
	finish(b, e.Checkpoint(nil))
	var copying, moving, opening time.Duration
	var most uint64
	rounds := 0
	for b.Loop() {
		rounds++
		start := time.Now()
		copyFiles(b, root, "from/gen-0", fmt.Sprintf("copy/%d", rounds))
		copying += time.Since(start)
		removeAll(b, root, fmt.Sprintf("copy/%d", rounds))

		idle, peak := inUse(true), uint64(0)
		start = time.Now()
		s := NewSender(SenderOptions{})
		m, err := s.Offer(other, e, termOf)
		require.NoError(b, err)
		to := on(root, other, fmt.Sprintf("to/%d", rounds), 0)
		to.SegmentBytes, to.IndexEvery = segmentBytes, 0
		p, err := Begin(PullOptions{Engine: to, Import: l.imp}, m, Own{Incarnation: 1})
		require.NoError(b, err)
		for chunks := 0; p.Left() > 0; chunks++ {
			if q := p.Ask(false); q != nil {
				require.Nil(b, s.Request(other, q))
			}
			_, c, err := s.Next()
			require.NoError(b, err)
			_, err = p.Take(c.Chunk)
			require.NoError(b, err)
			if chunks%64 == 0 {
				peak = max(peak, inUse(false))
			}
		}
		finish(b, p)
		p.Close()
		s.Close()
		moving += time.Since(start)
		peak = max(peak, inUse(false))
		start = time.Now()
		got, err := l.open(to)
		require.NoError(b, err)
		opening += time.Since(start)
		peak = max(peak, inUse(false))
		require.Equal(b, e.Facts(), got.Facts())
		got.Close()
		removeAll(b, root, fmt.Sprintf("to/%d", rounds))
		if peak > idle {
			most = max(most, peak-idle)
		}
	}
	mib := float64(*size * rounds)
	b.ReportMetric(mib/copying.Seconds(), "copy-MiB/s")
	b.ReportMetric(mib/moving.Seconds(), "transfer-MiB/s")
	b.ReportMetric(copying.Seconds()/moving.Seconds(), "of-copy")
	b.ReportMetric(mib/opening.Seconds(), "open-MiB/s")
	b.ReportMetric(float64(most)/(1<<20), "MiB-over-idle")
	require.LessOrEqual(b, most, uint64(64<<20))
}

// inUse is the memory of the heap; after a collection if asked.
func inUse(collect bool) uint64 {
	if collect {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}

// copyFiles copies the files of a folder into a new one, and syncs all of it.
func copyFiles(b *testing.B, fs vfs.FS, from, to string) {
	require.NoError(b, fs.Mkdir("bench", to))
	names, err := fs.List(from)
	require.NoError(b, err)
	buf := make([]byte, DefaultChunkBytes)
	for _, name := range names {
		src, err := fs.Open(from + "/" + name)
		require.NoError(b, err)
		dst, err := fs.Create("bench", to+"/"+name)
		require.NoError(b, err)
		for at := int64(0); ; {
			n, err := src.ReadAt(buf, at)
			_, werr := dst.WriteAt("bench", buf[:n], at)
			require.NoError(b, werr)
			if at += int64(n); err == io.EOF {
				break
			}
			require.NoError(b, err)
		}
		require.NoError(b, dst.Sync("bench"))
		src.Close()
		dst.Close()
	}
	require.NoError(b, fs.SyncDir("bench", to))
}

func removeAll(b *testing.B, fs vfs.FS, dir string) {
	names, err := fs.List(dir)
	require.NoError(b, err)
	for _, name := range names {
		if sub, folder := strings.CutSuffix(name, "/"); folder {
			removeAll(b, fs, dir+"/"+sub)
			continue
		}
		require.NoError(b, fs.Remove("bench", dir+"/"+name))
	}
	require.NoError(b, fs.Remove("bench", dir))
}
